// Writes actions and refusals to their files on the audit thread.

import Tweaks
import TweaksSystem

/// The job of the audit thread.
struct AuditWriter: WorkerJob, ~Copyable {
    private let mailbox: AuditMailbox
    private let time: any StorageTime
    private var actions: AuditChannel
    private var refusals: AuditChannel
    private var info: AuditTrail.Info
    /// The last revision that was read.
    private var lastRead: UInt64
    /// The progress of earlier runs, until their missing lines are written.
    private var earlierProgress: AuditProgress?
    /// No more commits are read before this time, so that a busy program does not write to disk at each commit.
    private var pausedUntil: ContinuousClock.Instant?

    private static let interval = Duration.seconds(1)

    init(
        _ settings: AuditSettings, _ mailbox: AuditMailbox, _ files: any FileSystem, _ time: any StorageTime,
        onEvent: @escaping @Sendable (AuditTrail.Event) -> Void
    ) {
        (self.mailbox, self.time, info) = (mailbox, time, mailbox.info)
        lastRead = mailbox.status.value.saved
        actions = AuditChannel(AuditFile(settings.path, settings, files, time), time, onEvent: onEvent)
        refusals = AuditChannel(
            AuditFile(settings.refusedPath, settings, ceiling: settings.maxRefusedBytes, files, time), time,
            onEvent: onEvent)
    }

    /// Opens the file, so that problems are found before there is something to write.
    mutating func open() {
        actions.attempt()
        // Before any line of this run is written.
        earlierProgress = actions.progress
        publish()
    }

    var nextWake: ContinuousClock.Instant? {
        [actions.next, refusals.next, actions.isWritten ? pausedUntil : nil].compactMap(\.self).min()
    }

    /// Writes new commits and notes, and retries unwritten lines.
    mutating func turn(_ orders: [AuditMailbox.Order], isLast: Bool) {
        if !orders.isEmpty { pausedUntil = nil }
        for case .complete in orders { complete() }
        // While writing fails, notes stay in the queue, whose size is limited.
        if isLast, !actions.isWritten { actions.attempt() }
        if actions.isWritten, isLast || !isPaused { readPending() }
        let wasWritten = actions.isWritten
        actions.write(TimeAnchor(time), isLast: isLast)
        refusals.write(TimeAnchor(time), isLast: isLast)
        // Notes queued during a failure have already sent their wakeup, so a turn is scheduled here.
        if !wasWritten, actions.isWritten, pausedUntil == nil { pausedUntil = time.now }
        publish(isLast: isLast)
        if !isLast { return }
        actions.close()
        refusals.close()
    }

    /// Appends lines of earlier runs that the file lacks: the kernel had them, but the disk did not.
    private mutating func complete() {
        guard let progress = earlierProgress.take() else { return }
        var bytes: [UInt8] = []
        let commits = mailbox.earlierCommits(from: progress.revision)
        for item in AuditItem.all(commits, AuditNoteQueue.Batch()) where progress.lacks(item) {
            AuditLineEncoder.append(item, TimeAnchor(time), to: &bytes)
        }
        actions.append(bytes)
    }

    private var isPaused: Bool { pausedUntil.map { $0 > time.now } ?? false }

    private mutating func readPending() {
        pausedUntil = nil
        // Read first: commits up to here are among those that follow.
        lastRead = mailbox.revision
        let (commits, events) = (mailbox.follower.drain(), mailbox.notes.takeAll())
        if commits.isEmpty, events.isEmpty { return }
        info.leftOut += commits.lost.count + events.leftOut.actions + events.leftOut.refusals
        info.commits += commits.records.count { $0.kind != nil }
        info.events += events.notes.count
        // Created anew each time, because the wall clock may have been set.
        let anchor = TimeAnchor(time)
        let items = AuditItem.all(commits.records, events)
        var (done, refused): ([UInt8], [UInt8]) = ([], [])
        AuditLineEncoder.append(leftOut: commits.lost, at: anchor.wall, to: &done)
        AuditLineEncoder.append(leftOut: events.leftOut.actions, at: anchor.wall, to: &done)
        AuditLineEncoder.append(leftOut: events.leftOut.refusals, at: anchor.wall, to: &refused)
        actions.add(items.lazy.filter { !$0.isRefusal }, anchor, leftOut: done)
        refusals.add(items.lazy.filter(\.isRefusal), anchor, leftOut: refused)
        pausedUntil = time.now.advanced(by: Self.interval)
    }

    private mutating func publish(isLast: Bool = false) {
        var info = info
        info.state = (actions.failure ?? refusals.failure).map { "unwritten: \($0.reason)" } ?? "written"
        info.leftOut += actions.leftOut + refusals.leftOut
        info.folded = actions.folded + refusals.folded
        info.dropped = actions.dropped + refusals.dropped
        info.rotations = actions.rotations + refusals.rotations
        info.failures = actions.failures + refusals.failures
        mailbox.info = info
        // Neither lines whose write failed nor those after the end delay replies; failed ones are written later.
        let revision = isLast || !actions.isWritten || actions.failure != nil ? .max : lastRead
        if mailbox.status.value.saved != revision {
            mailbox.status.publish(SaveStatus(saved: revision, attempted: revision))
        }
    }
}
