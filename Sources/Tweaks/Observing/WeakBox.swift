// Provides a weak reference for closures that are created before the object they refer to.

import Synchronization

/// A thread-safe weak reference that can be set later.
final class WeakBox<Object: AnyObject & Sendable>: Sendable {
    private struct Reference { weak var object: Object? }
    private let reference = Mutex(Reference())

    var value: Object? {
        get { reference.withLock { $0.object } }
        set { reference.withLock { $0.object = newValue } }
    }
}
