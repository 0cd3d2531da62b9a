// Writes the audit of a registry's commits and its sessions' actions.

import Synchronization
package import Tweaks
package import TweaksSystem
import TweaksWire

/// The location of the audit and its retention.
package struct AuditSettings: Sendable {
    /// An absolute path.
    package let path: String
    /// The maximum bytes of a file; it is rotated before it would exceed them.
    package let maximumSize: Int
    /// The number of older files that are always kept.
    package let keep: Int
    /// More older files are kept until their content reaches this age.
    package let minimumAge: Duration
    /// The maximum bytes of one origin's changes on one day; beyond it, clients are refused.
    package let bytesPerDay: Int
    /// Where each line is sent, too.
    package let destinations: [AuditDestination]
    /// The name under which lines are sent.
    package let program: String
    /// Whether nothing is written in a location that others can write; otherwise that is only reported.
    package let isStrict: Bool

    /// Thirty days.
    package static let defaultMinimumAge = Duration.seconds(30 * 86_400)

    package init(
        path: String, maximumSize: Int = 10_485_760, keep: Int = 5,
        minimumAge: Duration = AuditSettings.defaultMinimumAge, bytesPerDay: Int = 33_554_432,
        destinations: [AuditDestination] = [], program: String = "tweaks", isStrict: Bool = false
    ) {
        self.path = path
        self.maximumSize = max(1, maximumSize)
        self.keep = min(max(0, keep), 1_000_000)
        self.minimumAge = max(.zero, minimumAge)
        self.bytesPerDay = bytesPerDay
        self.isStrict = isStrict
        self.destinations = destinations
        self.program = program
    }

    /// The file for refused actions, beside the main file: `audit-refused.log` for `audit.log`.
    package var refusedPath: String {
        let name = path.lastIndex(of: "/").map { path[$0...].dropFirst() } ?? path[...]
        let point = name.dropFirst().lastIndex(of: ".") ?? path.endIndex
        return "\(path[..<point])-refused\(path[point...])"
    }

    /// The maximum bytes of all refusal files, because any client can cause refusals.
    var maxRefusedBytes: Int {
        let (most, isTooMuch) = maximumSize.multipliedReportingOverflow(by: 10 * (keep + 1))
        return isTooMuch ? .max : most
    }
}

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
        /// A file was removed to make room, with its size and its time span.
        case dropped(path: String, bytes: Int64, from: String?, to: String)
        /// This many lines did not fit, because no file was old enough to remove.
        case full(path: String, lines: Int)
    }

    /// Information for `stats`.
    package struct Info: Sendable, Equatable {
        package var path = ""
        /// The path of the file for refused actions.
        package var refusedPath = ""
        /// `written`, `unwritten: …` while it retries, or `behind since …` while a write hangs.
        package var state = "written"
        /// The links of the last lines of both files; nil before the first one.
        package var head: String?
        package var refusedHead: String?
        package var commits = 0
        /// The number of session actions other than commits.
        package var events = 0
        /// The number of commits, session actions and lines that are not in the files.
        package var waiting = 0
        /// The number of dropped commits and lines.
        package var leftOut = 0
        /// The number of commits and events merged into other lines.
        package var folded = 0
        /// The bytes of removed old files.
        package var dropped: Int64 = 0
        package var rotations = 0
        package var failures = 0
        /// The number of lines sent to the system's log, and of those that it did not take; nil if none are sent.
        package var shipped: Int?
        package var shipLost = 0
    }

    private let mailbox: AuditMailbox
    private let time: any StorageTime

    /// Opens the file, and starts writing commits.
    package init(
        _ settings: AuditSettings, registry: TweakRegistry, fileSystem: any FileSystem = PosixFileSystem(),
        time: any StorageTime = SystemTime(), onEvent: @escaping @Sendable (Event) -> Void
    ) {
        let mailbox = AuditMailbox(settings, registry, time)
        self.mailbox = mailbox
        self.time = time
        mailbox.worker.start {
            var writer = AuditWriter(settings, mailbox, fileSystem, time, onEvent: onEvent)
            writer.open()
            return writer
        }
        // Not before the start: that may be long files to read.
        _ = mailbox.worker.post(.recover)
    }

    deinit { mailbox.worker.close() }

    /// Writes the commits of earlier runs that the history has and the file lacks after a machine crash. Returns at
    /// once.
    package func complete() { _ = mailbox.worker.post(.complete) }

    /// Writes the values with which the config file begins this run, because no copy shows what it was in the previous one.
    /// A start is no change, so they have no revision, and are in no history. Returns at once.
    package func noteStart(_ values: [TweakHistoryEntry.Change]) { _ = mailbox.worker.post(.start(values)) }

    /// Writes a session action. Returns at once, on any thread.
    package func note(_ note: AuditNote) {
        if mailbox.notes.add(note, at: time.now) { mailbox.worker.wake() }
    }

    /// Writes pending items, once, and ends the thread.
    package func close() {
        mailbox.worker.close()
        mailbox.worker.waitForEnd()
    }

    package var info: Info { mailbox.currentInfo(time) }

    /// The last revision passed to the kernel, and why later ones are not.
    package var status: SaveStatus { mailbox.status.value }

    package func observe(_ body: @escaping @Sendable (SaveStatus) -> Void) -> StoreObservation {
        mailbox.status.observe(body)
    }

    package func flush() { _ = mailbox.worker.post(.flush) }

    /// Why a client may not change anything now: its audit of this day is full. The process's own user and root are
    /// never refused.
    package func refusal(of origin: TweakOrigin) -> String? {
        guard mailbox.hasExhausted.load(ordering: .relaxed) else { return nil }
        let name = origin.client
        if name == "uid 0" || name == "uid \(ThisProcess.user)" { return nil }
        guard let end = mailbox.endOfDay(of: name), end > time.now else { return nil }
        let minutes = Int64((end - time.now) / .seconds(60)) + 1
        return "throttled: the audit has as many bytes of \(name) as it takes on one day; wait \(minutes / 60)h"
            + "\(minutes % 60)m, or ask the process's own user or root to change it; nothing was changed"
    }
}

extension AuditTrail.Event: CustomStringConvertible {
    /// One line: the subject, the problem, and the remedy.
    package var description: String {
        switch self {
        case .failed(let reason): reason
        case .recovered(let path): "the audit is written again to \(path)"
        case .exposed(let path, let reason): "the audit \(path) is not trustworthy: \(reason)"
        case .dropped(let path, let bytes, let from, let to):
            "the audit has dropped the old file \(path): \(bytes) bytes, \(from ?? "…") to \(to); keep more of them, "
                + "or ship them elsewhere"
        case .full(let path, let count):
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
        /// Count what clients have written today before this run.
        case recover
        /// Write the values with which the config file begins this run.
        case start([TweakHistoryEntry.Change])
    }

    private struct State {
        var info: AuditTrail.Info
        /// The write in progress: when it began, and how many lines wait.
        var write: (began: Moment, wall: Int64, lines: Int)?
        /// The origins that have written as much as they may on one day, and until when.
        var exhausted: [String: Moment] = [:]
    }

    let follower: CommitFollower
    let notes = AuditNoteQueue()
    let worker: Worker<Order>
    let status: StatusPublisher
    /// Whether any origin has written as much as it may; read at each change by a client.
    let hasExhausted = Atomic(false)
    private weak let registry: TweakRegistry?
    private let state: Mutex<State>

    /// A write of this length counts as hanging.
    private static let patience = Duration.milliseconds(200)

    init(_ settings: AuditSettings, _ registry: TweakRegistry, _ time: any StorageTime) {
        let worker = Worker<Order>("tweaks.audit", time: time)
        self.worker = worker
        self.registry = registry
        follower = registry.follow(.drops) { worker.wake() }
        status = StatusPublisher(SaveStatus(saved: registry.revision, attempted: registry.revision))
        state = Mutex(State(info: AuditTrail.Info(path: settings.path, refusedPath: settings.refusedPath)))
    }

    /// The registry's revision, up to which commits can be read. The maximum if the registry no longer exists.
    var revision: UInt64 { registry?.revision ?? .max }

    func earlierCommits(from revision: UInt64) -> [CommitRecord] { registry?.earlierCommits(from: revision) ?? [] }

    // MARK: Information

    var info: AuditTrail.Info {
        get { state.withLock { $0.info } }
        set { state.withLock { $0.info = newValue } }
    }

    /// The information as of now: the audit thread cannot update it while a write hangs.
    func currentInfo(_ time: any StorageTime) -> AuditTrail.Info {
        let (published, write) = state.withLock { ($0.info, $0.write) }
        var info = published
        info.waiting = max(info.waiting, write?.lines ?? 0) + follower.unreadCount + notes.count
        guard let write, time.now - write.began >= Self.patience else { return info }
        let lines = info.waiting == 1 ? "1 line waits" : "\(info.waiting) lines wait"
        info.state = "behind since \(TimeText.print(write.wall)): a write has not returned, \(lines)"
        return info
    }

    /// Notes that a write begins.
    func began(_ lines: Int, _ time: any StorageTime) {
        state.withLock { $0.write = (time.now, time.wall, lines) }
    }

    /// Notes that it has ended.
    func ended() { state.withLock { $0.write = nil } }

    func publish(exhausted: [String: Moment]) {
        if exhausted.isEmpty, !hasExhausted.load(ordering: .relaxed) { return }
        state.withLock { $0.exhausted = exhausted }
        hasExhausted.store(!exhausted.isEmpty, ordering: .relaxed)
    }

    /// Until when an origin that has written as much as it may is refused.
    func endOfDay(of origin: String) -> Moment? { state.withLock { $0.exhausted[origin] } }
}
