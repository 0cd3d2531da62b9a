// The audit's thread: takes what was noted, and has it written, what was done to one file and what was refused to another.

import Tweaks
import TweaksSystem

/// What the audit's thread works with.
struct AuditWriter: WorkerJob, ~Copyable {
    private let mailbox: AuditMailbox
    private let time: any StorageTime
    private var acts: AuditChannel
    private var refusals: AuditChannel
    private var facts: AuditTrail.Facts
    /// Everything up to this revision was taken.
    private var taken: UInt64
    /// What the file had of earlier runs, until that was completed.
    private var end: AuditEnd?
    /// Until then nothing more is taken: a busy program does not have the disk at each commit.
    private var rest: ContinuousClock.Instant?

    private static let interval = Duration.seconds(1)

    init(
        _ settings: AuditSettings, _ mailbox: AuditMailbox, _ files: any FileSystem, _ time: any StorageTime,
        onEvent: @escaping @Sendable (AuditTrail.Event) -> Void
    ) {
        (self.mailbox, self.time, facts) = (mailbox, time, mailbox.facts)
        taken = mailbox.status.value.saved
        acts = AuditChannel(AuditFile(settings.path, settings, files, time), time, onEvent: onEvent)
        refusals = AuditChannel(
            AuditFile(settings.refusedPath, settings, ceiling: settings.mostRefused, files, time), time,
            onEvent: onEvent)
    }

    /// Opens the file, so that trouble is known before there is something to write.
    mutating func open() {
        acts.attempt()
        // Before anything of this run is in it.
        end = acts.end
        publish()
    }

    var nextWake: ContinuousClock.Instant? {
        [acts.next, refusals.next, acts.isWritten ? rest : nil].compactMap(\.self).min()
    }

    /// Writes what was committed and noted, or what the disk has refused before.
    mutating func turn(_ orders: [AuditMailbox.Order], isLast: Bool) {
        if !orders.isEmpty { rest = nil }
        for case .complete in orders { complete() }
        // While the disk refuses, what is noted stays where there is a limit to it.
        if isLast, !acts.isWritten { acts.attempt() }
        if acts.isWritten, isLast || !isResting { take() }
        let wasWritten = acts.isWritten
        acts.write(TimeAnchor(time), isLast: isLast)
        refusals.write(TimeAnchor(time), isLast: isLast)
        // Whatever was noted while the disk refused has rung once, and was not taken.
        if !wasWritten, acts.isWritten, rest == nil { rest = time.now }
        publish(isLast: isLast)
        if !isLast { return }
        acts.close()
        refusals.close()
    }

    /// Appends what the file lacks of earlier runs: the kernel had it, and the disk did not.
    private mutating func complete() {
        guard let end = end.take() else { return }
        var bytes: [UInt8] = []
        let commits = mailbox.earlierCommits(from: end.revision)
        for item in AuditItem.all(commits, AuditNotes.Batch()) where end.lacks(item) {
            AuditLine.append(item, TimeAnchor(time), to: &bytes)
        }
        acts.append(bytes)
    }

    private var isResting: Bool { rest.map { $0 > time.now } ?? false }

    private mutating func take() {
        rest = nil
        // First: what was committed up to here is among what is taken.
        taken = mailbox.revision
        let (commits, events) = (mailbox.follower.take(), mailbox.notes.takeAll())
        if commits.isEmpty, events.isEmpty { return }
        facts.leftOut += commits.lost.count + events.leftOut.acts + events.leftOut.refusals
        facts.commits += commits.records.count { $0.kind != nil }
        facts.events += events.notes.count
        // Anew each time: the wall clock may have been set.
        let anchor = TimeAnchor(time)
        let items = AuditItem.all(commits.records, events)
        var (done, refused): ([UInt8], [UInt8]) = ([], [])
        AuditLine.append(leftOut: commits.lost, at: anchor.wall, to: &done)
        AuditLine.append(leftOut: events.leftOut.acts, at: anchor.wall, to: &done)
        AuditLine.append(leftOut: events.leftOut.refusals, at: anchor.wall, to: &refused)
        acts.add(items.lazy.filter { !$0.isRefusal }, anchor, leftOut: done)
        refusals.add(items.lazy.filter(\.isRefusal), anchor, leftOut: refused)
        rest = time.now.advanced(by: Self.interval)
    }

    private mutating func publish(isLast: Bool = false) {
        var facts = facts
        facts.state = (acts.failure ?? refusals.failure).map { "unwritten: \($0.reason)" } ?? "written"
        facts.leftOut += acts.leftOut + refusals.leftOut
        facts.folded = acts.folded + refusals.folded
        facts.dropped = acts.dropped + refusals.dropped
        facts.rotations = acts.rotations + refusals.rotations
        facts.failures = acts.failures + refusals.failures
        mailbox.facts = facts
        // A refused line is kept, and written later: that is nothing to wait for, nor is what comes after the end.
        let revision = isLast || !acts.isWritten || acts.failure != nil ? .max : taken
        if mailbox.status.value.saved != revision {
            mailbox.status.publish(SaveStatus(saved: revision, tried: revision))
        }
    }
}
