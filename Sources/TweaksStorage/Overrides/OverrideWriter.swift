// The storage's thread: takes what changed, writes it, says what came of it, and tries again.

import Tweaks

/// What the storage's thread works with.
struct OverrideWriter: ~Copyable {
    private let settings: OverrideSettings
    private let mailbox: OverrideMailbox
    private var directory: StateDirectory
    private var book: OverrideBook

    /// Something is not on disk.
    private var isDirty = false
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
        retry = Retry(settings)
    }

    // MARK: Opening

    /// Reads what is stored and leaves it in the mailbox.
    mutating func open() {
        if case .success(let path) = settings.place { facts.path = "\(path)/\(StateDirectory.fileName)" }
        let (file, failure) = directory.prepare(book.anchor)
        if let file { book.load(file) }
        let entries = file?.entries.map(\.stored) ?? []
        status = SaveStatus(saved: book.revision, tried: book.revision)
        if let failure {
            reported = failure
            facts.lastFailure = failure.reason
            if failure.isFinal { status = SaveStatus(saved: 0, tried: .max, failure: failure.reason) }
            if failure != directory.announced { settings.onEvent(.unusable(reason: failure.sentence)) }
        } else {
            settings.onEvent(.opened(path: facts.path, entries: entries.count))
        }
        mailbox.found(entries, revision: book.revision)
        publish(failure)
    }

    // MARK: Running

    /// Writes until the mailbox closes.
    mutating func run() {
        while true {
            mailbox.wait(until: nextAttempt)
            let (orders, batch, isClosing) = mailbox.take()
            take(batch)
            for order in orders { take(order) }
            if isDirty, isClosing || nextAttempt.map({ $0 <= settings.time.now }) ?? true { attempt() }
            if isClosing { return close() }
        }
    }

    private mutating func take(_ batch: OverrideJournal.Batch) {
        if batch.changes.isEmpty, !batch.hasRisen { return }
        book.apply(batch)
        (isDirty, hasNews) = (true, true)
    }

    private mutating func take(_ order: OverrideMailbox.Order) {
        switch order {
        case .propose(let changes, let body): proposals.append(Proposal(changes: changes, body: body))
        case .withdraw(let keys): if !book.withdraw(keys) { return }
        }
        (isDirty, hasNews) = (true, true)
    }

    /// When to try; nil for whenever there is something to write.
    private var nextAttempt: ContinuousClock.Instant? {
        isDirty ? retry.next(hasNews: hasNews) : nil
    }

    // MARK: Writing

    private mutating func attempt() {
        let proposals = proposals
        (self.proposals, hasNews) = ([], false)
        var failure: StorageFailure?
        do throws(StorageFailure) {
            try write(proposals.map(\.changes))
        } catch {
            failure = error
        }
        if let failure { note(failure) } else { noteSuccess(proposals) }
        publish(failure)
        for proposal in proposals { proposal.body(failure?.reason) }
    }

    private mutating func write(_ proposals: [OverrideChanges]) throws(StorageFailure) {
        let (found, failure) = directory.prepare(book.anchor)
        if let found {
            book.load(found)
            settings.onEvent(.foundLate(path: facts.path, entries: found.entries.count))
        }
        if let failure { throw failure }
        try directory.write(book.text(program: settings.program, proposing: proposals))
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
        facts.setAside = directory.lastSetAside
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

/// When to try again: soon at first, then ever less often; and at once for something new, but not in a frenzy.
private struct Retry {
    /// So many sets a second can be told that the disk is full; more share an answer.
    private static let shortest = Duration.milliseconds(20)

    private let time: any StorageTime
    private let first: Duration
    private let most: Duration
    private var delay: Duration
    /// Nil while all is well.
    private var lastFailure: ContinuousClock.Instant?
    private var due: ContinuousClock.Instant?

    init(_ settings: OverrideSettings) {
        (time, first, most, delay) = (settings.time, settings.firstRetry, settings.lastRetry, settings.firstRetry)
    }

    func next(hasNews: Bool) -> ContinuousClock.Instant? {
        guard let lastFailure, let due else { return nil }
        return hasNews ? min(due, lastFailure.advanced(by: Self.shortest)) : due
    }

    mutating func succeeded() { (lastFailure, due, delay) = (nil, nil, first) }

    mutating func failed() {
        let now = time.now
        lastFailure = now
        // New changes have their own attempts, and do not put off the next one of these.
        if let due, due > now { return }
        due = now.advanced(by: delay)
        delay = min(delay * 2, most)
    }
}
