// What many threads were told.

import Synchronization

/// A list that any thread may add to.
final class Answered: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock { $0 } }

    func add(_ text: String) { texts.withLock { $0.append(text) } }
}
