// Writes overrides and history on the storage thread, and retries after failures.

import Tweaks
import TweaksSystem

/// The job of the storage thread.
struct OverrideWriter: WorkerJob, ~Copyable {
    private let settings: OverrideSettings
    private let mailbox: OverrideMailbox
    private var directory: StateDirectory
    private var table: OverrideTable
    /// Nil if the history is not stored.
    private var history: HistoryWriter?

    /// Changes that no reply waits for are written with the next urgent change, or after this time: dragging a slider
    /// costs one or two writes instead of sixty per second.
    private static let writeDelay = Duration.seconds(10)

    private static let clockCheckInterval = Duration.seconds(60)

    /// Whether there are unsaved changes.
    private var isDirty = false
    /// When to write changes that no reply waits for.
    private var delayedUntil: Moment?
    /// Whether some changes have not been tried yet.
    private var hasUpdates = false
    private var proposals: [Proposal] = []
    private var status = SaveStatus(saved: 0, attempted: 0)
    private var info = OverrideStore.Info()
    /// The last reported failure; nil after a success.
    private var reported: StorageFailure?
    private var retry: Retry

    private struct Proposal {
        let changes: OverrideChanges
        let body: @Sendable (String?) -> Void
    }

    init(_ settings: OverrideSettings, _ mailbox: OverrideMailbox) {
        self.settings = settings
        self.mailbox = mailbox
        directory = StateDirectory(settings.place, settings.files, settings.time) { event in
            settings.onEvent(event)
        }
        table = OverrideTable(anchor: TimeAnchor(settings.time))
        history = settings.keepsHistory ? HistoryWriter(settings, table.anchor) : nil
        retry = Retry(settings.time, first: settings.firstRetry, longest: settings.lastRetry)
    }

    // MARK: Opening

    /// Loads the stored state into the mailbox.
    mutating func open() {
        if case .success(let path) = settings.place { info.path = "\(path)/\(StateDirectory.fileName)" }
        let (file, failure) = directory.prepare(table.anchor)
        if let file { load(file) }
        let entries = file?.entries.compactMap(\.stored) ?? []
        status = SaveStatus(saved: table.revision, attempted: table.revision)
        if let failure {
            reported = failure
            info.lastFailure = failure.reason
            if failure.isFinal { status = SaveStatus(saved: 0, attempted: .max, failure: failure.reason) }
            if failure != directory.announcedFailure { settings.onEvent(.unusable(reason: failure.sentence)) }
        } else {
            settings.onEvent(.opened(path: info.path, entries: entries.count))
        }
        let records = history?.open(directory, failure, upTo: file?.revision) ?? []
        mailbox.setLoaded(entries, revision: table.revision, records)
        publish(failure)
    }

    private mutating func load(_ file: OverridesFile, isLate: Bool = false) {
        table.load(file, isLate: isLate)
        let rejected = file.rejected
        for entry in rejected.prefix(Self.maxReported) {
            settings.onEvent(.entryQuarantined(file: info.path, reason: entry.reason))
        }
        let rest = rejected.count - Self.maxReported
        if rest > 0 { settings.onEvent(.entryQuarantined(file: info.path, reason: "… and \(rest) more")) }
    }

    /// The maximum number of quarantined entries that are reported separately.
    private static let maxReported = 20

    // MARK: Running

    /// Writes what is due; in the last turn, everything.
    mutating func turn(_ orders: [OverrideMailbox.Order], isLast: Bool) {
        reanchor()
        apply(mailbox.takeStored(.nothing))
        for order in orders { handle(order) }
        if isDirty, isLast || nextAttempt.map({ $0 <= settings.time.now }) ?? true {
            attempt()
        } else if history?.isDue(isLast: isLast) ?? false {
            writeHistory()
            flushHistory()
            history?.report(directory)
            mailbox.update(info)
        }
        if isLast { close() }
    }

    /// Renews the anchor if the wall clock was set.
    private mutating func reanchor() {
        guard let anchor = table.anchor.renewed(settings.time) else { return }
        if table.reanchor(anchor) { markUrgent() }
        history?.reanchor(anchor)
    }

    var nextWake: Moment? {
        // The system does not notify about changes of the wall clock; it is polled while temporary overrides exist.
        let clockCheck = table.hasTemporary ? settings.time.now.advanced(by: Self.clockCheckInterval) : nil
        return [nextAttempt, history?.next, clockCheck].compactMap { $0 }.min()
    }

    private mutating func apply(_ batch: StoreBatch) {
        history?.accept(batch.history)
        if !batch.hasUpdates { return }
        table.apply(batch)
        if batch.isUrgent { return markUrgent() }
        if isDirty { return }
        (isDirty, delayedUntil) = (true, settings.time.now.advanced(by: Self.writeDelay))
        info.state = "waiting: a drag has not ended"
        mailbox.update(info)
    }

    private mutating func markUrgent() { (isDirty, hasUpdates, delayedUntil) = (true, true, nil) }

    private mutating func handle(_ order: OverrideMailbox.Order) {
        switch order {
        case .propose(let changes, let body): proposals.append(Proposal(changes: changes, body: body))
        case .withdraw(let changes): if !table.withdraw(changes) { return }
        case .flush: if delayedUntil == nil { return }
        }
        markUrgent()
    }

    /// When to try; nil for at once.
    private var nextAttempt: Moment? {
        isDirty ? delayedUntil ?? retry.next(hasUpdates: hasUpdates) : nil
    }

    // MARK: Writing

    private mutating func attempt() {
        var failure: StorageFailure?
        let proposals: [Proposal]
        do throws(StorageFailure) {
            try prepare()
            // The history comes first, so that it explains every value loaded after a crash.
            writeHistory()
        } catch {
            failure = error
        }
        proposals = self.proposals
        self.proposals = []
        hasUpdates = false
        delayedUntil = nil
        if failure == nil {
            do throws(StorageFailure) {
                let text = table.text(program: settings.program, proposing: proposals.map(\.changes))
                let path = directory.path
                try directory.write(text, isProposal: !proposals.isEmpty) { history?.flush(path) }
            } catch {
                failure = error
            }
        }
        flushHistory()
        if let failure { record(failure) } else { recordSuccess(proposals) }
        if failure == nil { history?.report(directory) }
        publish(failure)
        for proposal in proposals { proposal.body(failure?.reason) }
    }

    private mutating func prepare() throws(StorageFailure) {
        let (loaded, failure) = directory.prepare(table.anchor)
        if let loaded {
            load(loaded, isLate: true)
            settings.onEvent(.foundLate(path: info.path, entries: loaded.entries.count))
        }
        if let failure { throw failure }
    }

    /// Writes the history up to the latest commit, and reads the overrides that belong to it.
    private mutating func writeHistory() {
        guard history != nil else { return }
        if let finalFailure = directory.finalFailure { history?.disable(finalFailure) }
        history?.loadLate(mailbox, directory)
        // A second pass, if the whole history must be written.
        for _ in 0..<2 {
            apply(mailbox.takeStored(history?.requestedShare ?? .nothing))
            if history?.write(directory) ?? true { break }
        }
    }

    private mutating func flushHistory() {
        history?.flush(directory.path)
        info.history = history?.info ?? info.history
    }

    private mutating func recordSuccess(_ proposals: [Proposal]) {
        for proposal in proposals { table.addProposals(proposal.changes) }
        history?.noteSavedOverrides()
        status = SaveStatus(saved: table.revision, attempted: table.revision)
        info.writes += 1
        isDirty = false
        retry.succeeded()
        if reported != nil { settings.onEvent(.recovered(path: info.path)) }
        reported = nil
    }

    private mutating func record(_ failure: StorageFailure) {
        status.attempted = failure.isFinal ? .max : table.revision
        status.failure = failure.reason
        info.failures += 1
        info.lastFailure = failure.reason
        if failure.isFinal {
            // Nothing is retried, so nothing must wait; only proposals need an immediate answer.
            isDirty = false
            retry.succeeded()
        } else {
            retry.failed()
        }
        if reported != failure, failure != directory.announcedFailure {
            settings.onEvent(.failed(reason: failure.sentence))
        }
        reported = failure
    }

    private mutating func publish(_ failure: StorageFailure?) {
        info.entries = table.count
        info.history = history?.info ?? OverrideStore.HistoryInfo(state: "off")
        info.lastQuarantined = directory.lastQuarantined
        info.entriesQuarantined = table.quarantined.count
        info.holder = directory.holder
        info.state = failure.map { $0.isFinal ? "off: \($0.reason)" : "unsaved: \($0.reason)" } ?? "saved"
        mailbox.publish(status, info)
    }

    // MARK: Closing

    private mutating func close() {
        directory.close()
        // Callers from now on must not wait.
        if status.failure == nil { status.failure = OverrideMailbox.closed }
        status.attempted = .max
        mailbox.publish(status, info)
    }
}
