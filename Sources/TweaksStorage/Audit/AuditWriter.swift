// The audit's thread: takes what was noted, writes it, and tries again where the disk refuses.

import Tweaks

/// What the audit's thread works with.
struct AuditWriter: ~Copyable {
    private let mailbox: AuditMailbox
    private let time: any StorageTime
    private let onEvent: @Sendable (AuditTrail.Event) -> Void
    private var file: AuditFile
    private var lines = AuditLines()
    private var facts = AuditTrail.Facts()
    private var retry: Retry
    /// The failure that was last reported; nil after a success.
    private var reported: StorageFailure?
    /// Until then nothing more is taken: a busy program does not have the disk at each commit.
    private var rest: ContinuousClock.Instant?

    private static let interval = Duration.seconds(1)

    init(
        _ settings: AuditSettings, _ mailbox: AuditMailbox, _ files: any FileSystem, _ time: any StorageTime,
        onEvent: @escaping @Sendable (AuditTrail.Event) -> Void
    ) {
        (self.mailbox, self.time, self.onEvent) = (mailbox, time, onEvent)
        file = AuditFile(settings, files)
        retry = Retry(time, first: .milliseconds(100), most: .seconds(30))
        facts.path = settings.path
    }

    /// Opens the file, so that trouble is known before there is something to write.
    mutating func open() { attempt() }

    /// Writes until the mailbox closes.
    mutating func run() {
        while !mailbox.isClosing {
            mailbox.bell.wait(until: retry.next(hasNews: false) ?? rest, time)
            // While the disk refuses, what is noted stays where there is a limit to it.
            if lines.isEmpty, !isResting { take() }
            if !lines.isEmpty || reported != nil, isDue { attempt() }
        }
        if !lines.isEmpty { attempt() }
        if lines.isEmpty {
            take()
            attempt()
        }
        file.close()
    }

    private var isResting: Bool { rest.map { $0 > time.now } ?? false }

    private var isDue: Bool { retry.next(hasNews: false).map { $0 <= time.now } ?? true }

    private mutating func take() {
        rest = nil
        let (commits, events) = (mailbox.log.takeAll(), mailbox.notes.takeAll())
        if commits.isEmpty, events.isEmpty { return }
        facts.leftOut += commits.leftOut.count + events.leftOut
        facts.commits += commits.notes.count
        facts.events += events.notes.count
        var bytes: [UInt8] = []
        // Anew each time: the wall clock may have been set.
        let anchor = TimeAnchor(time)
        AuditLine.append(commits, events, anchor, to: &bytes)
        AuditLine.append(leftOut: commits, events, anchor, to: &bytes)
        lines = AuditLines(bytes)
        rest = time.now.advanced(by: Self.interval)
    }

    private mutating func attempt() {
        do throws(StorageFailure) {
            try file.write(&lines)
            lines = AuditLines()
            if reported != nil { onEvent(.recovered(path: facts.path)) }
            reported = nil
            retry.succeeded()
            facts.state = "written"
        } catch {
            facts.failures += 1
            facts.state = "unwritten: \(error.reason)"
            if reported != error { onEvent(.failed(reason: error.sentence)) }
            reported = error
            retry.failed()
        }
        facts.rotations = file.rotations
        mailbox.publish(facts)
    }
}
