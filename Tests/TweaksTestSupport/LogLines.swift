// A log that is being written, and somebody who waits for a line of it.

import Foundation

/// The lines that a program has logged so far.
package final class LogLines: Sendable {
    // The condition guards the state: waiting for a line needs both.
    private let condition = NSCondition()
    nonisolated(unsafe) private var lines: [String] = []

    /// An empty one.
    package init() {}

    /// All lines so far.
    package var all: [String] { condition.withLock { lines } }

    /// A line more.
    package func add(_ line: String) {
        condition.withLock {
            lines.append(line)
            condition.broadcast()
        }
    }

    /// Waits for the first line from a position on that fits.
    /// - Returns: Where it is; nil when it does not come for very long.
    package func firstIndex(from start: Int, where fits: (String) -> Bool) -> Int? {
        let deadline = Date(timeIntervalSinceNow: Double(TestClient.patience) / 1_000)
        return condition.withLock {
            var next = start
            while true {
                if let found = lines[next...].firstIndex(where: fits) { return found }
                next = lines.count
                guard condition.wait(until: deadline) else { return nil }
            }
        }
    }
}
