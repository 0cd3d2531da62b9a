// Writes the audit of a registry's commits and its sessions' actions.

import Synchronization
package import Tweaks
package import TweaksSystem

/// Appends every commit of a registry and every noted session action to a file, on its own thread. Replies wait for it;
/// commits do not.
package final class AuditTrail: CommitSink {
    /// An event worth a line in the log.
    package enum Event: Sendable, Equatable {
        /// Commits are not written. Once per reason.
        case failed(reason: String)
        /// They are written again.
        case recovered(path: String)
        /// Other users could have written the file. Once per reason.
        case exposed(path: String, reason: String)
        /// Audit data was removed to make room, or not written for lack of space.
        case lost(AuditLoss)
    }

    /// Information for `stats`.
    package struct Info: Sendable, Equatable {
        package var path = ""
        /// The path of the file for refused actions.
        package var refusedPath = ""
        /// `written`, or `unwritten: …` while it retries.
        package var state = "written"
        package var commits = 0
        /// The number of session actions other than commits.
        package var events = 0
        /// The number of dropped commits and events.
        package var leftOut = 0
        /// The number of commits and events merged into other lines.
        package var folded = 0
        /// The bytes of removed old files.
        package var dropped: Int64 = 0
        package var rotations = 0
        package var failures = 0
    }

    private let mailbox: AuditMailbox
    private let time: any StorageTime

    /// Opens the file, and starts writing commits.
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

    /// Writes the commits of earlier runs that the history has and the file lacks after a machine crash. Returns at
    /// once.
    package func complete() { _ = mailbox.worker.post(.complete) }

    /// Writes a session action. Returns at once, on any thread.
    package func note(_ note: AuditNote) {
        if mailbox.notes.add(note, at: time.now) { mailbox.worker.wake() }
    }

    /// Writes pending items, once, and ends the thread.
    package func close() {
        mailbox.worker.close()
        mailbox.worker.waitForEnd()
    }

    package var info: Info { mailbox.info }

    /// The last revision passed to the kernel; the maximum if writing fails, because replies do not wait for that.
    package var status: SaveStatus { mailbox.status.value }

    package func observe(_ body: @escaping @Sendable (SaveStatus) -> Void) -> StoreObservation {
        mailbox.status.observe(body)
    }

    package func flush() { _ = mailbox.worker.post(.flush) }
}

extension AuditTrail.Event: CustomStringConvertible {
    /// One line: the subject, the problem, and the remedy.
    package var description: String {
        switch self {
        case .failed(let reason): reason
        case .recovered(let path): "the audit is written again to \(path)"
        case .exposed(let path, let reason): "the audit \(path) is not trustworthy: \(reason)"
        case .lost(.file(let path, let bytes, let from, let to)):
            "the audit has dropped the old file \(path): \(bytes) bytes, \(from ?? "…") to \(to); keep more of them, "
                + "or ship them elsewhere"
        case .lost(.lines(let count, let path)):
            "the audit does not write to \(path) until its old files can be removed: it has reached its size "
                + "limit; \(count) lines are left out so far. Find out who is refused so often, and move the files away"
        }
    }
}

/// Exchanges orders and results between the audit thread and other threads.
final class AuditMailbox: Sendable {
    /// An order for the audit thread.
    enum Order: Sendable {
        /// A reply waits: write the commits now.
        case flush
        /// The history has the commits of earlier runs: write those that the file lacks.
        case complete
    }

    let follower: CommitFollower
    let notes = AuditNoteQueue()
    let worker: Worker<Order>
    let status: StatusPublisher
    private weak let registry: TweakRegistry?
    private let lastInfo: Mutex<AuditTrail.Info>

    init(_ settings: AuditSettings, _ registry: TweakRegistry, _ time: any StorageTime) {
        let worker = Worker<Order>("tweaks.audit", time: time)
        (self.worker, self.registry) = (worker, registry)
        follower = registry.follow(.drops) { worker.wake() }
        status = StatusPublisher(SaveStatus(saved: registry.revision, attempted: registry.revision))
        lastInfo = Mutex(AuditTrail.Info(path: settings.path, refusedPath: settings.refusedPath))
    }

    /// The registry's revision, up to which commits can be read. The maximum if the registry no longer exists.
    var revision: UInt64 { registry?.revision ?? .max }

    func earlierCommits(from revision: UInt64) -> [CommitRecord] { registry?.earlierCommits(from: revision) ?? [] }

    var info: AuditTrail.Info {
        get { lastInfo.withLock { $0 } }
        set { lastInfo.withLock { $0 = newValue } }
    }
}
