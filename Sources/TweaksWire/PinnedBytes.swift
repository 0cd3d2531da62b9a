// Counts memory that several replies hold together, such as the snapshot that they are made from.

import Synchronization

/// Counted once in a total, from the first reply that holds it to the last.
package final class PinnedBytes: Sendable {
    /// The sum of all that are pinned.
    package final class Total: Sendable {
        private let sum = Atomic<Int>(0)

        package init() {}

        package var bytes: Int { sum.load(ordering: .relaxed) }

        fileprivate func add(_ bytes: Int) { sum.wrappingAdd(bytes, ordering: .relaxed) }
    }

    package let bytes: Int
    private let total: Total

    package init(_ bytes: Int, in total: Total) {
        (self.bytes, self.total) = (bytes, total)
        total.add(bytes)
    }

    deinit { total.add(-bytes) }
}
