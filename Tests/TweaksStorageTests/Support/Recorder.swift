// Records what callbacks receive on other threads.

import Synchronization

/// Elements in the order of their arrival.
final class Recorder<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    var all: [Element] { elements.withLock { $0 } }

    func append(_ element: Element) { elements.withLock { $0.append(element) } }
}
