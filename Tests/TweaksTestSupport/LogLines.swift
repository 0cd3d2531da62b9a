// Collects log lines and lets tests wait for one.

import Foundation

/// The lines that a program has logged so far.
package final class LogLines: Sendable {
    // The condition guards the state: waiting for a line needs both.
    private let condition = NSCondition()
    nonisolated(unsafe) private var lines: [String] = []

    /// Creates an empty log.
    package init() {}

    /// All lines so far.
    package var all: [String] { condition.withLock { lines } }

    /// Appends a line.
    package func add(_ line: String) {
        condition.withLock {
            lines.append(line)
            condition.broadcast()
        }
    }

    /// Waits for the first matching line at or after a position.
    /// - Returns: Its index; nil when it does not arrive within the timeout.
    package func firstIndex(from start: Int, where matches: (String) -> Bool) -> Int? {
        let deadline = Date(timeIntervalSinceNow: Double(TestClient.timeout) / 1_000)
        return condition.withLock {
            var next = start
            while true {
                if let found = lines[next...].firstIndex(where: matches) { return found }
                next = lines.count
                guard condition.wait(until: deadline) else { return nil }
            }
        }
    }
}
