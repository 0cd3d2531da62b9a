// Records what callbacks, programs and threads report, and lets tests wait for one of the reports.

import Foundation
import Synchronization

/// Elements in the order of their arrival.
package final class Recorder<Element: Sendable>: Sendable {
    private struct Waiter {
        let accepts: (Element) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    // The condition guards the state: waiting for an element needs both.
    private let condition = NSCondition()
    nonisolated(unsafe) private var elements: [Element] = []
    nonisolated(unsafe) private var waiters: [Waiter] = []
    nonisolated(unsafe) private var taken = 0

    /// Creates an empty recorder.
    package init() {}

    /// All elements so far.
    package var all: [Element] { condition.withLock { elements } }

    /// Appends an element.
    package func note(_ element: Element) {
        let awake = condition.withLock {
            elements.append(element)
            condition.broadcast()
            let awake = waiters.filter { $0.accepts(element) }
            if !awake.isEmpty { waiters.removeAll { $0.accepts(element) } }
            return awake
        }
        for waiter in awake { waiter.continuation.resume() }
    }

    /// Blocks until an element at or after an index is accepted.
    /// - Returns: The result of `accept`, and the index after the element; nil when none comes within the timeout.
    package func first<Result>(
        from start: Int = 0, _ accept: (Element) throws -> Result?
    ) rethrows -> (value: Result, end: Int)? {
        try condition.withLock { try find(from: start, accept) }
    }

    /// Blocks until an element at or after an index matches.
    /// - Returns: Its index; nil when none comes within the timeout.
    package func firstIndex(
        from start: Int = 0, within timeout: Duration = .milliseconds(TestClient.timeout),
        where matches: (Element) -> Bool
    ) -> Int? {
        condition.withLock { find(from: start, within: timeout) { matches($0) ? true : nil } }.map { $0.end - 1 }
    }

    /// Blocks until an element matches that is later than all that this function has returned or passed over.
    /// - Returns: Nil when none comes within the timeout.
    package func takeNext(where matches: (Element) -> Bool = { _ in true }) -> Element? {
        condition.withLock {
            let found = find(from: taken) { matches($0) ? $0 : nil }
            taken = found?.end ?? elements.count
            return found?.value
        }
    }

    /// Whether ``takeNext(where:)`` has returned or passed over all elements.
    package var isTaken: Bool { condition.withLock { taken == elements.count } }

    /// The elements since the last call of this function or of ``takeNext(where:)``.
    package func takeAll() -> [Element] {
        condition.withLock {
            defer { taken = elements.count }
            return Array(elements[taken...])
        }
    }

    /// Suspends the task until an element matches, an earlier one, too.
    package func wait(where matches: @escaping (Element) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isThere = condition.withLock {
                if elements.contains(where: matches) { return true }
                waiters.append(Waiter(accepts: matches, continuation: continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    private func find<Result>(
        from start: Int, within timeout: Duration = .milliseconds(TestClient.timeout),
        _ accept: (Element) throws -> Result?
    ) rethrows -> (value: Result, end: Int)? {
        let deadline = Date(timeIntervalSinceNow: timeout / .seconds(1))
        var next = start
        while true {
            while next < elements.count {
                next += 1
                if let result = try accept(elements[next - 1]) { return (result, next) }
            }
            guard condition.wait(until: deadline) else { return nil }
        }
    }
}

/// The lines that a program has logged so far.
package typealias LogLines = Recorder<String>

extension Recorder<String> {
    /// Whether a line contains a text.
    package func contains(_ text: String) -> Bool { all.contains { $0.contains(text) } }

    /// Suspends the task until a line contains one of the texts.
    package func wait(for texts: String...) async { await wait { line in texts.contains(where: line.contains) } }
}

/// A variable that threads share.
package final class Box<Value: Sendable>: Sendable {
    private let content: Mutex<Value>

    /// Creates a variable.
    package init(_ value: Value) { content = Mutex(value) }

    /// The current value.
    package var value: Value {
        get { content.withLock { $0 } }
        set { content.withLock { $0 = newValue } }
    }
}
