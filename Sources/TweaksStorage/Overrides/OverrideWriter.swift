// The storage's thread: takes what changed, writes it, says what came of it, and tries again.

import Tweaks

/// What the storage's thread works with.
struct OverrideWriter: WorkerJob, ~Copyable {
    private let settings: OverrideSettings
    private let mailbox: OverrideMailbox
    private var directory: StateDirectory
    private var book: OverrideBook
    /// Nil where the history is not kept.
    private var history: HistoryKeeper?

    /// What nobody waits for is written with what somebody does, or after so long: a slider that is dragged costs a write
    /// or two, not sixty a second.
    private static let patience = Duration.seconds(10)

    private static let lookInterval = Duration.seconds(60)

    /// Something is not on disk.
    private var isDirty = false
    /// When to write it, where nobody waits.
    private var calm: ContinuousClock.Instant?
    /// Some of that has not been tried yet.
    private var hasNews = false
    private var proposals: [Proposal] = []
    private var status = SaveStatus(saved: 0, tried: 0)
    private var facts = OverrideStore.Facts()
    /// The failure that was last reported; nil after a success.
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
        book = OverrideBook(anchor: TimeAnchor(settings.time))
        history = settings.keepsHistory ? HistoryKeeper(settings, book.anchor) : nil
        retry = Retry(settings.time, first: settings.firstRetry, most: settings.lastRetry)
    }

    // MARK: Opening

    /// Reads what is stored and leaves it in the mailbox.
    mutating func open() {
        if case .success(let path) = settings.place { facts.path = "\(path)/\(StateDirectory.fileName)" }
        let (file, failure) = directory.prepare(book.anchor)
        if let file { take(file) }
        let entries = file?.entries.compactMap(\.stored) ?? []
        status = SaveStatus(saved: book.revision, tried: book.revision)
        if let failure {
            reported = failure
            facts.lastFailure = failure.reason
            if failure.isFinal { status = SaveStatus(saved: 0, tried: .max, failure: failure.reason) }
            if failure != directory.announced { settings.onEvent(.unusable(reason: failure.sentence)) }
        } else {
            settings.onEvent(.opened(path: facts.path, entries: entries.count))
        }
        let records = history?.open(directory, failure, upTo: file?.revision) ?? []
        mailbox.found(entries, revision: book.revision, records)
        publish(failure)
    }

    private mutating func take(_ file: OverridesFile, isLate: Bool = false) {
        book.load(file, isLate: isLate)
        let rejected = file.rejected
        for entry in rejected.prefix(Self.mostReported) {
            settings.onEvent(.entrySetAside(file: facts.path, reason: entry.reason))
        }
        let rest = rejected.count - Self.mostReported
        if rest > 0 { settings.onEvent(.entrySetAside(file: facts.path, reason: "… and \(rest) more")) }
    }

    /// So many entries that are set aside have a line of their own.
    private static let mostReported = 20

    // MARK: Running

    /// Writes what is due; in the last turn, everything.
    mutating func turn(_ orders: [OverrideMailbox.Order], isLast: Bool) {
        reanchor()
        take(mailbox.takeStored(.nothing))
        for order in orders { take(order) }
        if isDirty, isLast || nextAttempt.map({ $0 <= settings.time.now }) ?? true {
            attempt()
        } else if history?.isDue(isLast: isLast) ?? false {
            writeHistory()
            flushHistory()
            history?.tell(directory)
            mailbox.note(facts)
        }
        if isLast { close() }
    }

    /// Takes note of it where somebody has set the wall clock.
    private mutating func reanchor() {
        guard let anchor = book.anchor.renewed(settings.time) else { return }
        if book.reanchor(anchor) { hurry() }
        history?.reanchor(anchor)
    }

    var nextWake: ContinuousClock.Instant? {
        // Nobody tells that the wall clock was set; while something depends on it, it is looked at.
        let look = book.hasTemporary ? settings.time.now.advanced(by: Self.lookInterval) : nil
        return [nextAttempt, history?.next, look].compactMap { $0 }.min()
    }

    private mutating func take(_ batch: StoreBatch) {
        history?.take(batch.history)
        if !batch.hasNews { return }
        book.apply(batch)
        if batch.isUrgent { return hurry() }
        if isDirty { return }
        (isDirty, calm) = (true, settings.time.now.advanced(by: Self.patience))
        facts.state = "waiting: a drag has not ended"
        mailbox.note(facts)
    }

    private mutating func hurry() { (isDirty, hasNews, calm) = (true, true, nil) }

    private mutating func take(_ order: OverrideMailbox.Order) {
        switch order {
        case .propose(let changes, let body): proposals.append(Proposal(changes: changes, body: body))
        case .withdraw(let changes): if !book.withdraw(changes) { return }
        case .hurry: if calm == nil { return }
        }
        hurry()
    }

    /// When to try; nil for whenever there is something to write.
    private var nextAttempt: ContinuousClock.Instant? {
        isDirty ? calm ?? retry.next(hasNews: hasNews) : nil
    }

    // MARK: Writing

    private mutating func attempt() {
        var failure: StorageFailure?
        let proposals: [Proposal]
        do throws(StorageFailure) {
            try prepare()
            // Before the overrides: who has set a value that is found after a crash, and what it was before, can be told.
            writeHistory()
        } catch {
            failure = error
        }
        (proposals, self.proposals, hasNews, calm) = (self.proposals, [], false, nil)
        if failure == nil {
            do throws(StorageFailure) {
                let text = book.text(program: settings.program, proposing: proposals.map(\.changes))
                let path = directory.path
                try directory.write(text, isProposal: !proposals.isEmpty) { history?.flush(path) }
            } catch {
                failure = error
            }
        }
        flushHistory()
        if let failure { note(failure) } else { noteSuccess(proposals) }
        if failure == nil { history?.tell(directory) }
        publish(failure)
        for proposal in proposals { proposal.body(failure?.reason) }
    }

    private mutating func prepare() throws(StorageFailure) {
        let (found, failure) = directory.prepare(book.anchor)
        if let found {
            take(found, isLate: true)
            settings.onEvent(.foundLate(path: facts.path, entries: found.entries.count))
        }
        if let failure { throw failure }
    }

    /// Brings the history up to what is committed now, and takes the overrides that belong to it.
    private mutating func writeHistory() {
        guard history != nil else { return }
        if let refusal = directory.refusal { history?.turnOff(refusal) }
        history?.loadLate(mailbox, directory)
        // Twice where it turns out that all of it has to be written.
        for _ in 0..<2 {
            take(mailbox.takeStored(history?.share ?? .nothing))
            if history?.write(directory) ?? true { break }
        }
    }

    private mutating func flushHistory() {
        history?.flush(directory.path)
        facts.history = history?.facts ?? facts.history
    }

    private mutating func noteSuccess(_ proposals: [Proposal]) {
        for proposal in proposals { book.accept(proposal.changes) }
        status = SaveStatus(saved: book.revision, tried: book.revision)
        facts.writes += 1
        isDirty = false
        retry.succeeded()
        if reported != nil { settings.onEvent(.recovered(path: facts.path)) }
        reported = nil
    }

    private mutating func note(_ failure: StorageFailure) {
        status.tried = failure.isFinal ? .max : book.revision
        status.failure = failure.reason
        facts.failures += 1
        facts.lastFailure = failure.reason
        if failure.isFinal {
            // Nothing is tried any more, so there is nothing to wait for; only proposals have to be answered, at once.
            isDirty = false
            retry.succeeded()
        } else {
            retry.failed()
        }
        if reported != failure, failure != directory.announced { settings.onEvent(.failed(reason: failure.sentence)) }
        reported = failure
    }

    private mutating func publish(_ failure: StorageFailure?) {
        facts.entries = book.count
        facts.history = history?.facts ?? OverrideStore.HistoryFacts(state: "off")
        facts.setAside = directory.lastSetAside
        facts.entriesSetAside = book.aside.count
        facts.holder = directory.holder
        facts.state = failure.map { $0.isFinal ? "off: \($0.reason)" : "unsaved: \($0.reason)" } ?? "saved"
        mailbox.publish(status, facts)
    }

    // MARK: Closing

    private mutating func close() {
        directory.close()
        // Whoever asks from now on must not wait.
        if status.failure == nil { status.failure = OverrideMailbox.closed }
        status.tried = .max
        mailbox.publish(status, facts)
    }
}
