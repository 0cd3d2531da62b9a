// Writes daemon events to standard error for programs without their own event handler.

import Synchronization
import Tweaks
package import TweaksInterface
import TweaksStorage
import TweaksSystem

/// Writes one line per event, or several for events with several parts.
package struct StandardLog: Sendable {
    private let name: String
    private let limiter: LogRateLimiter

    package init(_ name: String) {
        self.name = name
        limiter = LogRateLimiter { StandardError.write("\(name): \($0)\n") }
    }

    package func write(_ event: TweakDaemonEvent) {
        switch event {
        case .changed(let commit) where Self.isUnlogged(commit.origin): return
        case .changed(let commit):
            let name = AuditNote.name(of: commit.origin)
            return limiter.write(event.lines, count: Self.lineCount(commit.changes.count), of: name)
        case .session(let session):
            let (lines, name) = (event.lines, AuditNote.name(of: session.session.identity, session.session.peer))
            return limiter.write(lines, count: lines.count, of: name)
        case .stopping: limiter.reportSuppressed()
        default: break
        }
        // The reader of the log may have closed the pipe, which must not end the process.
        StandardError.write(event.lines.map { "\(name): \($0)\n" }.joined())
    }

    /// Whether a commit is not logged. Counts suppressed lines.
    func isLeftOut(_ origin: TweakOrigin, _ moment: Moment, _ changes: Int) -> Bool {
        Self.isUnlogged(origin) || limiter.suppresses(Self.lineCount(changes), of: origin, at: moment)
    }

    /// The program's own changes are not logged; changes by the config file are logged by the reload.
    private static func isUnlogged(_ origin: TweakOrigin) -> Bool { origin == .code || origin == .configFile }

    /// One commit writes at most this many lines.
    private static func lineCount(_ changes: Int) -> Int { min(changes, 21) }
}
