// The audit, as the rest of the process sees it: opened, asked, closed.

import Dispatch
import Foundation
import Synchronization
package import Tweaks

/// Appends every commit of a registry to a file, and what it is told of sessions, on a thread of its own. Nobody waits
/// for it.
package final class AuditTrail: Sendable {
    /// Something worth a line in a log.
    package enum Event: Sendable, Equatable {
        /// Commits are not written. Once for each reason.
        case failed(reason: String)
        /// They are written again.
        case recovered(path: String)
    }

    /// Figures for people.
    package struct Facts: Sendable, Equatable {
        package var path = ""
        /// `written`, or `unwritten: …` while it tries again.
        package var state = "written"
        package var commits = 0
        /// What sessions did beside these.
        package var events = 0
        /// Commits and events for which there was no room.
        package var leftOut = 0
        package var rotations = 0
        package var failures = 0
    }

    private let registry: TweakRegistry
    private let mailbox: AuditMailbox
    private let time: any StorageTime

    /// Opens the file, and writes what is committed from now on.
    package init(
        _ settings: AuditSettings, registry: TweakRegistry, fileSystem: any FileSystem = PosixFileSystem(),
        time: any StorageTime = SystemTime(), onEvent: @escaping @Sendable (Event) -> Void
    ) {
        let mailbox = AuditMailbox(path: settings.path)
        (self.registry, self.mailbox, self.time) = (registry, mailbox, time)
        registry.add(mailbox.log)
        mailbox.life.enter()
        let isOpen = DispatchSemaphore(value: 0)
        let thread = Thread {
            var writer = AuditWriter(settings, mailbox, fileSystem, time, onEvent: onEvent)
            writer.open()
            isOpen.signal()
            writer.run()
            mailbox.life.leave()
        }
        thread.name = "tweaks.audit"
        thread.start()
        isOpen.wait()
    }

    deinit { mailbox.close() }

    /// Has something written that is no commit. Returns at once, on any thread.
    package func note(_ note: AuditNote) {
        if mailbox.notes.add(note, at: time.now) { mailbox.bell.ring() }
    }

    /// Writes what was noted, once, and ends the thread.
    package func close() {
        registry.remove(mailbox.log)
        mailbox.close()
        mailbox.life.wait()
    }

    package var facts: Facts { mailbox.facts }
}

extension AuditTrail.Event: CustomStringConvertible {
    /// One line: the subject, what is wrong, and the remedy.
    package var description: String {
        switch self {
        case .failed(let reason): reason
        case .recovered(let path): "the audit is written again to \(path)"
        }
    }
}

/// What other threads and the audit's thread have to say to each other.
final class AuditMailbox: Sendable {
    private struct State {
        var isClosing = false
        var facts: AuditTrail.Facts
    }

    let log: CommitLog
    let notes = AuditNotes()
    let bell: Bell
    let life = DispatchGroup()
    private let state: Mutex<State>

    init(path: String) {
        let bell = Bell()
        self.bell = bell
        log = CommitLog { bell.ring() }
        state = Mutex(State(facts: AuditTrail.Facts(path: path)))
    }

    var isClosing: Bool { state.withLock { $0.isClosing } }
    var facts: AuditTrail.Facts { state.withLock { $0.facts } }

    func close() {
        state.withLock { $0.isClosing = true }
        bell.ring()
    }

    func publish(_ facts: AuditTrail.Facts) { state.withLock { $0.facts = facts } }
}
