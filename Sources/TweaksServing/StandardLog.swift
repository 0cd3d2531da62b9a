// Writes daemon events to standard error for programs without their own event handler.

import Tweaks
package import TweaksInterface
import TweaksSystem

/// Writes one line per event, or several for events with several parts.
package struct StandardLog: Sendable {
    private let limiter: TweakLogLimiter

    package init(_ name: String) {
        // The reader of the log may have closed the pipe, which must not end the process.
        limiter = TweakLogLimiter { line, _ in StandardError.write("\(name): \(line)\n") }
    }

    package func write(_ event: TweakDaemonEvent) {
        if case .changed(let commit) = event, Self.isUnlogged(commit.origin) { return }
        limiter.write(event)
    }

    /// Whether a commit is not logged. Counts suppressed lines.
    func isLeftOut(_ origin: TweakOrigin, _ moment: Moment, _ changes: Int) -> Bool {
        Self.isUnlogged(origin) || limiter.omits(changes, of: origin, at: moment)
    }

    /// The program's own changes are not logged; changes by the config file are logged by the reload.
    private static func isUnlogged(_ origin: TweakOrigin) -> Bool { origin == .code || origin == .configFile }
}
