// Writes actions and refusals to their files on the audit thread.

import Synchronization
import Tweaks
import TweaksSystem

/// The job of the audit thread.
struct AuditWriter: WorkerJob, ~Copyable {
    private let mailbox: AuditMailbox
    private let time: any StorageTime
    private var actions: AuditChannel
    private var refusals: AuditChannel
    private let shippers: [AuditShipper?]
    private var info: AuditTrail.Info
    /// The last revision that was read.
    private var lastRead: UInt64
    /// The last revision whose lines are in the file.
    private var lastWritten: UInt64
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
        lastWritten = lastRead
        shippers = [false, true].map {
            AuditShipper(settings.destinations, program: settings.program, isRefusals: $0, time)
        }
        actions = AuditChannel(
            AuditFile(settings.path, settings, files, time), bytesPerDay: settings.bytesPerDay, shippers[0], time,
            onEvent: onEvent)
        refusals = AuditChannel(
            AuditFile(settings.refusedPath, settings, ceiling: settings.maxRefusedBytes, files, time), shippers[1],
            time, onEvent: onEvent)
    }

    /// Opens the file, so that problems are found before there is something to write.
    mutating func open() {
        mailbox.began(0, time)
        actions.attempt()
        mailbox.ended()
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
        for order in orders { follow(order) }
        mailbox.began(actions.waiting + refusals.waiting, time)
        // While writing fails, commits and notes stay in their queues, whose sizes are limited.
        if isLast, !actions.isWritten { actions.attempt() }
        if actions.isWritten, isLast || !isPaused { readPending() }
        let wasWritten = actions.isWritten
        let anchor = TimeAnchor(time)
        actions.endFolds(anchor, isLast: isLast)
        refusals.endFolds(anchor, isLast: isLast)
        mailbox.began(actions.waiting + refusals.waiting, time)
        actions.write(isLast: isLast)
        refusals.write(isLast: isLast)
        mailbox.ended()
        publish(isLast: isLast)
        // Replies that wait for the lines of this run have been sent.
        if !isLast, actions.continueRecovery() { publishExhausted() }
        // Notes queued during a failure have already sent their wakeup, so a turn is scheduled here.
        if !wasWritten, actions.isWritten, pausedUntil == nil { pausedUntil = time.now }
        if !isLast { return }
        actions.close()
        refusals.close()
    }

    private mutating func follow(_ order: AuditMailbox.Order) {
        switch order {
        case .flush: break
        case .complete: complete()
        case .recover: actions.beginRecovery(TimeAnchor(time))
        case .start(let values):
            // In an audit that begins there is nothing that the file could have set before.
            if values.isEmpty, actions.isNew { return }
            actions.append(AuditStart(values).lines(after: actions.lastStart, at: time.wall))
        }
    }

    /// Appends lines of earlier runs that the file lacks: the kernel had them, but the disk did not.
    private mutating func complete() {
        guard let progress = earlierProgress.take() else { return }
        var bytes: [UInt8] = []
        let commits = mailbox.earlierCommits(from: progress.revision)
        for item in AuditItem.all(commits, []) where progress.lacks(item) {
            AuditLineEncoder.append(item, isCut: false, TimeAnchor(time), to: &bytes)
        }
        actions.append(bytes)
    }

    private var isPaused: Bool { pausedUntil.map { $0 > time.now } ?? false }

    private mutating func readPending() {
        pausedUntil = nil
        // Read first: commits up to here are among those that follow.
        lastRead = mailbox.revision
        let (commits, events) = (mailbox.follower.drain(), mailbox.notes.takeAll())
        if commits.isEmpty, events.entries.isEmpty { return }
        info.leftOut += commits.lost.count
        info.commits += commits.records.count { $0.kind != nil }
        info.events += events.count
        // Created anew each time, because the wall clock may have been set.
        let anchor = TimeAnchor(time)
        let items = AuditItem.all(commits.records, events.entries)
        var lost: [UInt8] = []
        AuditLineEncoder.append(leftOut: commits.lost, at: anchor.wall, to: &lost)
        actions.add(items.lazy.filter { !$0.isRefusal }, anchor, leftOut: lost)
        refusals.add(items.lazy.filter(\.isRefusal), anchor)
        pausedUntil = time.now.advanced(by: Self.interval)
    }

    private mutating func publish(isLast: Bool = false) {
        if actions.isWritten { lastWritten = lastRead }
        var info = info
        let failure = actions.failure ?? refusals.failure
        info.state = failure.map { "unwritten: \($0.reason)" } ?? "written"
        info.head = actions.head
        info.refusedHead = refusals.head
        info.waiting = actions.waiting + refusals.waiting
        info.leftOut += actions.leftOut + refusals.leftOut
        info.folded = actions.folded + refusals.folded
        info.dropped = actions.dropped + refusals.dropped
        info.rotations = actions.rotations + refusals.rotations
        info.failures = actions.failures + refusals.failures
        let counts = shippers.compactMap { $0?.info }
        if !counts.isEmpty { info.shipped = counts.reduce(0) { $0 + $1.shipped } }
        info.shipLost = counts.reduce(0) { $0 + $1.lost }
        mailbox.info = info
        publishExhausted()
        // Replies do not wait for lines whose write failed: they say so.
        var status = SaveStatus(saved: lastWritten, attempted: lastWritten)
        if let failure = actions.failure { (status.attempted, status.failure) = (.max, failure.reason) }
        // Nor for those after the end, of which there are none.
        if isLast { status = SaveStatus(saved: .max, attempted: .max) }
        if mailbox.status.value != status { mailbox.status.publish(status) }
    }

    private mutating func publishExhausted() {
        let exhausted = actions.exhausted
        if exhausted.isEmpty, !mailbox.hasExhausted.load(ordering: .relaxed) { return }
        mailbox.exhausted.withLock { $0 = exhausted }
        mailbox.hasExhausted.store(!exhausted.isEmpty, ordering: .relaxed)
    }
}
