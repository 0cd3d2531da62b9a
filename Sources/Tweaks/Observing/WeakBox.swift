// A weak reference for closures that are made before the object they speak of.

import Synchronization

/// A weak reference that can be filled later.
final class WeakBox<Object: AnyObject & Sendable>: Sendable {
    private struct Reference { weak var object: Object? }
    private let reference = Mutex(Reference())

    var value: Object? {
        get { reference.withLock { $0.object } }
        set { reference.withLock { $0.object = newValue } }
    }
}
