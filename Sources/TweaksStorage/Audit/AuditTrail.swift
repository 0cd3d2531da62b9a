// The audit, as the rest of the process sees it: opened, asked, closed.

import Synchronization
package import Tweaks
package import TweaksSystem

/// Appends every commit of a registry to a file, and what it is told of sessions, on a thread of its own. Replies wait
/// for it, commits never.
package final class AuditTrail: CommitWitness {
    /// Something worth a line in a log.
    package enum Event: Sendable, Equatable {
        /// Commits are not written. Once for each reason.
        case failed(reason: String)
        /// They are written again.
        case recovered(path: String)
        /// Others could have written it. Once for each reason.
        case exposed(path: String, reason: String)
        /// Something was removed to make room, or not written for want of it.
        case lost(AuditLoss)
    }

    /// Figures for people.
    package struct Facts: Sendable, Equatable {
        package var path = ""
        /// The file of what was refused.
        package var refusedPath = ""
        /// `written`, or `unwritten: …` while it tries again.
        package var state = "written"
        package var commits = 0
        /// What sessions did beside these.
        package var events = 0
        /// Commits and events for which there was no room.
        package var leftOut = 0
        /// Commits and events that share the line of another one.
        package var folded = 0
        /// Bytes of old files that were removed.
        package var dropped: Int64 = 0
        package var rotations = 0
        package var failures = 0
    }

    private let mailbox: AuditMailbox
    private let time: any StorageTime

    /// Opens the file, and writes what is committed from now on.
    package init(
        _ settings: AuditSettings, registry: TweakRegistry, fileSystem: any FileSystem = PosixFileSystem(),
        time: any StorageTime = SystemTime(), onEvent: @escaping @Sendable (Event) -> Void
    ) {
        let mailbox = AuditMailbox(settings, registry, time)
        (self.mailbox, self.time) = (mailbox, time)
        mailbox.worker.start {
            var writer = AuditWriter(settings, mailbox, fileSystem, time, onEvent: onEvent)
            writer.open()
            return writer
        }
    }

    deinit { mailbox.worker.close() }

    /// Has those commits of earlier runs written that the registry's history has and the file has not, because the
    /// machine has crashed. Returns at once.
    package func complete() { _ = mailbox.worker.post(.complete) }

    /// Has something written that is no commit. Returns at once, on any thread.
    package func note(_ note: AuditNote) {
        if mailbox.notes.add(note, at: time.now) { mailbox.worker.wake() }
    }

    /// Writes what was noted, once, and ends the thread.
    package func close() {
        mailbox.worker.close()
        mailbox.worker.waitForEnd()
    }

    package var facts: Facts { mailbox.facts }

    /// Up to which revision the kernel has the lines; all, where the disk refuses them: replies do not wait for that.
    package var status: SaveStatus { mailbox.status.value }

    package func observe(_ body: @escaping @Sendable (SaveStatus) -> Void) -> StoreObservation {
        mailbox.status.observe(body)
    }

    package func hurry() { _ = mailbox.worker.post(.hurry) }
}

extension AuditTrail.Event: CustomStringConvertible {
    /// One line: the subject, what is wrong, and the remedy.
    package var description: String {
        switch self {
        case .failed(let reason): reason
        case .recovered(let path): "the audit is written again to \(path)"
        case .exposed(let path, let reason): "the audit \(path) proves little: \(reason)"
        case .lost(.file(let path, let bytes, let from, let to)):
            "the audit has dropped \(path), which was old: \(bytes) bytes, \(from ?? "…") to \(to); keep more of them, "
                + "or ship them elsewhere"
        case .lost(.lines(let count, let path)):
            "the audit does not write to \(path) until what is in it is old enough to go: there is no more room for "
                + "it; \(count) lines are left out so far. Look who is refused so often, and move the files away"
        }
    }
}

/// What other threads and the audit's thread have to say to each other.
final class AuditMailbox: Sendable {
    /// What the audit's thread is asked for.
    enum Order: Sendable {
        /// A client waits: what was committed is written now.
        case hurry
        /// The history has the commits of earlier runs: of these, the file gets what it lacks.
        case complete
    }

    let follower: CommitFollower
    let notes = AuditNotes()
    let worker: Worker<Order>
    let status: StatusBoard
    private weak let registry: TweakRegistry?
    private let lastFacts: Mutex<AuditTrail.Facts>

    init(_ settings: AuditSettings, _ registry: TweakRegistry, _ time: any StorageTime) {
        let worker = Worker<Order>("tweaks.audit", time: time)
        (self.worker, self.registry) = (worker, registry)
        follower = registry.follow(.drops) { worker.wake() }
        status = StatusBoard(SaveStatus(saved: registry.revision, tried: registry.revision))
        lastFacts = Mutex(AuditTrail.Facts(path: settings.path, refusedPath: settings.refusedPath))
    }

    /// Where the registry is; what it has committed so far can be taken. All, where there is none any more.
    var revision: UInt64 { registry?.revision ?? .max }

    func earlierCommits(from revision: UInt64) -> [CommitRecord] { registry?.earlierCommits(from: revision) ?? [] }

    var facts: AuditTrail.Facts {
        get { lastFacts.withLock { $0 } }
        set { lastFacts.withLock { $0 = newValue } }
    }
}
