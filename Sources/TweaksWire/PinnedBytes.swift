// Counts memory that several replies share, such as the snapshot that they are generated from.

import Synchronization

/// A share of memory, counted once in a total until the last reply that references it is gone.
package final class PinnedBytes: Sendable {
    /// The sum of all pinned bytes.
    package final class Total: Sendable {
        private let sum = Atomic<Int>(0)

        package init() {}

        package var bytes: Int { sum.load(ordering: .relaxed) }

        fileprivate func add(_ bytes: Int) { sum.wrappingAdd(bytes, ordering: .relaxed) }
    }

    package let bytes: Int
    private let total: Total

    package init(_ bytes: Int, in total: Total) {
        self.bytes = bytes
        self.total = total
        total.add(bytes)
    }

    deinit { total.add(-bytes) }
}
