// Collects what a daemon logs, for a test to wait for.

import Synchronization
import Testing
import TweaksDaemon

/// The lines of a daemon's events.
final class Log: Sendable {
    private let lines: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation
    private let all = Mutex<[String]>([])

    init() { (lines, continuation) = AsyncStream.makeStream(of: String.self) }

    /// The problems so far.
    var problems: [String] { all.withLock { $0 } }

    func note(_ event: TweakDaemonEvent) {
        guard event.isProblem else { return }
        all.withLock { $0.append("\(event)") }
        continuation.yield("\(event)")
    }

    /// Waits for a problem with a text; those before it are gone. An empty one if the time of the test is over.
    func first(_ texts: String...) async -> String {
        for await line in lines where texts.allSatisfy(line.contains) { return line }
        Issue.record("no problem with \(texts) in \(problems)")
        return ""
    }
}
