// Writes actions and refusals to their files on the audit thread, and retries failures.

import Synchronization
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
    /// The last revision whose lines are in the file.
    private var lastWritten: UInt64
    /// The progress of earlier runs, until their missing lines are written.
    private var earlierProgress: AuditProgress?
    /// The reading of the last day's lines; nil when it is over.
    private var recovery: AuditRecovery?
    private let bytesPerDay: Int
    /// No more commits are read before this time, so that a busy program does not write to disk at each commit.
    private var pausedUntil: Moment?

    private static let interval = Duration.seconds(1)

    init(
        _ settings: AuditSettings, _ mailbox: AuditMailbox, _ files: any FileSystem, _ time: any StorageTime,
        onEvent: @escaping @Sendable (AuditTrail.Event) -> Void
    ) {
        self.mailbox = mailbox
        self.time = time
        info = mailbox.info
        lastRead = mailbox.status.value.saved
        lastWritten = lastRead
        bytesPerDay = settings.bytesPerDay
        let shipper = { (isRefusals: Bool) in
            AuditShipper(settings.destinations, program: settings.program, isRefusals: isRefusals, time)
        }
        actions = AuditChannel(
            AuditFile(settings.path, settings, shipper(false), files, time), bytesPerDay: bytesPerDay, time, onEvent)
        let refused = AuditFile(
            settings.refusedPath, settings, ceiling: settings.maxRefusedBytes, shipper(true), files, time)
        refusals = AuditChannel(refused, bytesPerDay: .max, time, onEvent)
    }

    /// Opens the file, so that problems are found before there is something to write.
    mutating func open() {
        mailbox.began(0, time)
        actions.attempt()
        mailbox.ended()
        // Before any line of this run is written.
        earlierProgress = actions.file.progress
        publish()
    }

    var nextWake: Moment? {
        if recovery != nil { return time.now }
        return [actions.next, refusals.next, actions.file.isWritten ? pausedUntil : nil].compactMap(\.self).min()
    }

    /// Writes new commits and notes, and retries unwritten lines.
    mutating func turn(_ orders: [AuditMailbox.Order], isLast: Bool) {
        if !orders.isEmpty { pausedUntil = nil }
        for order in orders { follow(order) }
        mailbox.began(waiting, time)
        // While writing fails, commits and notes stay in their queues, whose sizes are limited.
        if isLast, !actions.file.isWritten { actions.attempt() }
        if actions.file.isWritten, isLast || pausedUntil.map({ $0 <= time.now }) ?? true { readPending() }
        let wasWritten = actions.file.isWritten
        let anchor = TimeAnchor(time)
        actions.endFolds(anchor, isLast: isLast)
        refusals.endFolds(anchor, isLast: isLast)
        mailbox.began(waiting, time)
        actions.write(isLast: isLast)
        refusals.write(isLast: isLast)
        mailbox.ended()
        publish(isLast: isLast)
        // Replies that wait for the lines of this run have been sent.
        if !isLast { continueRecovery() }
        // Notes queued during a failure have already sent their wakeup, so a turn is scheduled here.
        if !wasWritten, actions.file.isWritten, pausedUntil == nil { pausedUntil = time.now }
        if !isLast { return }
        actions.file.close()
        refusals.file.close()
    }

    /// The number of lines that are not in the files.
    private var waiting: Int { actions.file.waiting + refusals.file.waiting }

    private mutating func follow(_ order: AuditMailbox.Order) {
        switch order {
        case .flush: break
        case .complete: complete()
        case .recover: recovery = AuditRecovery(actions.file, bytesPerDay: bytesPerDay, TimeAnchor(time))
        case .start(let values):
            // In an audit that begins there is nothing that the file could have set before.
            if values.isEmpty, actions.file.isNew { return }
            actions.file.append(AuditFormat.start(values, after: actions.file.lastStart, at: time.wall))
        }
    }

    /// Appends lines of earlier runs that the file lacks: the kernel had them, but the disk did not.
    private mutating func complete() {
        guard let progress = earlierProgress.take() else { return }
        var bytes: [UInt8] = []
        let commits = mailbox.earlierCommits(from: progress.revision)
        for item in AuditItem.all(commits, []) where progress.lacks(item) {
            AuditFormat.append(item, isCut: false, TimeAnchor(time), to: &bytes)
        }
        actions.file.append(bytes)
    }

    /// Reads the next slice of the last day's lines, and counts them once all are read.
    private mutating func continueRecovery() {
        recovery?.advance()
        guard let done = recovery, done.isComplete else { return }
        recovery = nil
        actions.folds.budgets.add(earlier: done.budgets, time.now)
        mailbox.publish(exhausted: actions.folds.budgets.exhausted)
    }

    private mutating func readPending() {
        pausedUntil = nil
        // Read first: commits up to here are among those that follow.
        lastRead = mailbox.revision
        let (commits, notes) = (mailbox.follower.drain(), mailbox.notes.takeAll())
        if commits.isEmpty, notes.items.isEmpty { return }
        info.leftOut += commits.lost.count
        info.commits += commits.records.count { $0.kind != nil }
        info.events += notes.count
        // Created anew each time, because the wall clock may have been set.
        let anchor = TimeAnchor(time)
        let items = AuditItem.all(commits.records, notes.items)
        actions.add(items.lazy.filter { !$0.isRefusal }, anchor, lost: commits.lost)
        refusals.add(items.lazy.filter(\.isRefusal), anchor)
        pausedUntil = time.now.advanced(by: Self.interval)
    }

    private mutating func publish(isLast: Bool = false) {
        if actions.file.isWritten { lastWritten = lastRead }
        var info = info
        let failure = actions.failure ?? refusals.failure
        info.state = failure.map { "unwritten: \($0.reason)" } ?? "written"
        info.head = actions.file.head.map { String(decoding: $0, as: UTF8.self) }
        info.refusedHead = refusals.file.head.map { String(decoding: $0, as: UTF8.self) }
        info.waiting = waiting
        actions.count(in: &info)
        refusals.count(in: &info)
        mailbox.info = info
        mailbox.publish(exhausted: actions.folds.budgets.exhausted)
        // Replies do not wait for lines whose write failed: they say so.
        var status = SaveStatus(saved: lastWritten, attempted: lastWritten)
        if let failure = actions.failure { (status.attempted, status.failure) = (.max, failure.reason) }
        // Nor for those after the end, of which there are none.
        if isLast { status = SaveStatus(saved: .max, attempted: .max) }
        if mailbox.status.value != status { mailbox.status.publish(status) }
    }
}

/// One of the two audit files, with the folds of its items and its retry state.
private struct AuditChannel {
    var file: AuditFile
    var folds: AuditFolds
    /// Why writing fails, as reported; nil after a success.
    private(set) var failure: StorageFailure?
    private var failures = 0
    /// The last reported exposure to other users.
    private var reportedExposure: String?
    private var retry: Retry
    private let time: any StorageTime
    private let onEvent: @Sendable (AuditTrail.Event) -> Void

    /// - Parameter bytesPerDay: What an origin may write on one day before it is refused.
    init(
        _ file: AuditFile, bytesPerDay: Int, _ time: any StorageTime,
        _ onEvent: @escaping @Sendable (AuditTrail.Event) -> Void
    ) {
        self.file = file
        self.time = time
        self.onEvent = onEvent
        folds = AuditFolds(bytesPerDay: bytesPerDay)
        retry = Retry(time, first: .milliseconds(100), longest: .seconds(30))
    }

    /// When there is something to do; nil for never.
    var next: Moment? { retry.next(hasUpdates: false) ?? folds.next }

    /// Adds items, and a line about commits that were dropped.
    mutating func add(_ items: some Sequence<AuditItem>, _ anchor: TimeAnchor, lost: CommitStream.Lost? = nil) {
        var bytes: [UInt8] = []
        for item in items { folds.add(item, anchor, to: &bytes) }
        if let lost, !lost.isEmpty {
            let fields: [(String, JSON)] = [
                ("commits", .count(lost.count)), ("from revision", .unsigned(lost.revisions.lowerBound)),
                ("to revision", .unsigned(lost.revisions.upperBound)),
            ]
            bytes += AuditFormat.line("left out", fields, at: anchor.wall)
        }
        file.append(bytes)
    }

    /// Ends folds that are due, and adds their lines and those about lines that a destination has not taken.
    mutating func endFolds(_ anchor: TimeAnchor, isLast: Bool) {
        var bytes: [UInt8] = []
        folds.end(time.now, isLast: isLast, anchor, to: &bytes)
        for lost in file.shipper?.takeLost() ?? [] {
            let fields: [(String, JSON)] = [("to", .string(lost.to)), ("lines", .count(lost.lines))]
            bytes += AuditFormat.line("not shipped", fields, at: anchor.wall)
        }
        file.append(bytes)
    }

    /// Writes pending lines if they are due.
    mutating func write(isLast: Bool = false) {
        let isDue = retry.next(hasUpdates: false).map { $0 <= time.now } ?? true
        if isLast ? !file.isWritten : isDue && (!file.isWritten || failure != nil) { attempt() }
    }

    /// Writes pending lines; without any, it opens the file, so that problems are found early.
    mutating func attempt() {
        do throws(StorageFailure) {
            try file.write()
            if failure != nil { onEvent(.recovered(path: file.path)) }
            failure = nil
            retry.succeeded()
            if let exposure = file.exposure, exposure != reportedExposure {
                onEvent(.exposed(path: file.path, reason: exposure))
            }
            reportedExposure = file.exposure
        } catch {
            failures += 1
            if failure != error { onEvent(.failed(reason: error.sentence)) }
            failure = error
            retry.failed()
        }
        for loss in file.takeLosses() { onEvent(loss) }
    }

    /// Adds its numbers to those of the other one.
    func count(in info: inout AuditTrail.Info) {
        info.leftOut += file.leftOut
        info.folded += folds.folded
        info.dropped += file.dropped
        info.rotations += file.rotations
        info.failures += failures
        guard let shipped = file.shipper?.info else { return }
        info.shipped = (info.shipped ?? 0) + shipped.shipped
        info.shipLost += shipped.lost
    }
}
