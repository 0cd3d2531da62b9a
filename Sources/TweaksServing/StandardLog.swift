// Writes the log of a program that brings no handler of its own to standard error.

import Synchronization
import Tweaks
package import TweaksInterface
import TweaksStorage
import TweaksSystem

/// One line for each event; several where it has several parts.
package struct StandardLog: Sendable {
    private let name: String
    private let gate: LogGate

    package init(_ name: String) {
        self.name = name
        gate = LogGate { StandardError.write("\(name): \($0)\n") }
    }

    package func write(_ event: TweakDaemonEvent) {
        switch event {
        case .changed(let commit) where Self.isNoNews(commit.origin): return
        case .changed(let commit):
            let name = AuditNote.name(of: commit.origin)
            return gate.pass(event.lines, count: Self.lineCount(commit.changes.count), of: name)
        case .session(let session):
            let (lines, name) = (event.lines, AuditNote.name(of: session.session.identity, session.session.peer))
            return gate.pass(lines, count: lines.count, of: name)
        case .stopping: gate.end()
        default: break
        }
        // The reader of the log may be gone; that is no reason to end.
        StandardError.write(event.lines.map { "\(name): \($0)\n" }.joined())
    }

    /// Whether nothing is to be written of a commit, beside how many such lines there were.
    func isLeftOut(_ origin: TweakOrigin, _ moment: Moment, _ changes: Int) -> Bool {
        Self.isNoNews(origin) || gate.holds(Self.lineCount(changes), of: origin, at: moment)
    }

    /// What the program does itself is no news to its own log; what a file did is said by the reload.
    private static func isNoNews(_ origin: TweakOrigin) -> Bool { origin == .code || origin == .configFile }

    /// No more lines are written of one commit.
    private static func lineCount(_ changes: Int) -> Int { min(changes, 21) }
}
