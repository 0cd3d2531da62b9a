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
    /// Until then nothing more is taken: a busy program does not have the disk at each commit.
    private var rest: ContinuousClock.Instant?

    private static let interval = Duration.seconds(1)

    init(
        _ settings: AuditSettings, _ mailbox: AuditMailbox, _ files: any FileSystem, _ time: any StorageTime,
        onEvent: @escaping @Sendable (AuditTrail.Event) -> Void
    ) {
        (self.mailbox, self.time, facts) = (mailbox, time, mailbox.facts)
        acts = AuditChannel(AuditFile(settings.path, settings, files, time), time, onEvent: onEvent)
        refusals = AuditChannel(
            AuditFile(settings.refusedPath, settings, ceiling: settings.mostRefused, files, time), time,
            onEvent: onEvent)
    }

    /// Opens the file, so that trouble is known before there is something to write.
    mutating func open() {
        acts.attempt()
        publish()
    }

    var nextWake: ContinuousClock.Instant? {
        [acts.next, refusals.next, acts.isWritten ? rest : nil].compactMap(\.self).min()
    }

    /// Writes what was noted, or what the disk has refused before.
    mutating func turn(_ orders: [Never], isLast: Bool) {
        if isLast { return close() }
        // While the disk refuses, what is noted stays where there is a limit to it.
        if acts.isWritten, !isResting { take() }
        let wasWritten = acts.isWritten
        acts.write(TimeAnchor(time))
        refusals.write(TimeAnchor(time))
        // Whatever was noted while the disk refused has rung once, and was not taken.
        if !wasWritten, acts.isWritten, rest == nil { rest = time.now }
        publish()
    }

    private mutating func close() {
        if !acts.isWritten { acts.attempt() }
        if acts.isWritten { take() }
        acts.write(TimeAnchor(time), isLast: true)
        refusals.write(TimeAnchor(time), isLast: true)
        publish()
        acts.close()
        refusals.close()
    }

    private var isResting: Bool { rest.map { $0 > time.now } ?? false }

    private mutating func take() {
        rest = nil
        let (commits, events) = (mailbox.log.takeAll(), mailbox.notes.takeAll())
        if commits.isEmpty, events.isEmpty { return }
        facts.leftOut += commits.leftOut.count + events.leftOut.acts + events.leftOut.refusals
        facts.commits += commits.notes.count
        facts.events += events.notes.count
        // Anew each time: the wall clock may have been set.
        let anchor = TimeAnchor(time)
        let items = AuditItem.all(commits, events)
        var (done, refused): ([UInt8], [UInt8]) = ([], [])
        AuditLine.append(leftOut: commits, at: anchor.wall, to: &done)
        AuditLine.append(leftOut: events.leftOut.acts, at: anchor.wall, to: &done)
        AuditLine.append(leftOut: events.leftOut.refusals, at: anchor.wall, to: &refused)
        acts.add(items.lazy.filter { !$0.isRefusal }, anchor, leftOut: done)
        refusals.add(items.lazy.filter(\.isRefusal), anchor, leftOut: refused)
        rest = time.now.advanced(by: Self.interval)
    }

    private mutating func publish() {
        var facts = facts
        facts.state = (acts.failure ?? refusals.failure).map { "unwritten: \($0.reason)" } ?? "written"
        facts.leftOut += acts.leftOut + refusals.leftOut
        facts.folded = acts.folded + refusals.folded
        facts.dropped = acts.dropped + refusals.dropped
        facts.rotations = acts.rotations + refusals.rotations
        facts.failures = acts.failures + refusals.failures
        mailbox.facts = facts
    }
}
