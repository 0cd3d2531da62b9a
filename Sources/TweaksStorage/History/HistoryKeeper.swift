// The history on disk: when it is written, and what is said when it cannot be.

import Tweaks

/// Sees to it that the history file follows the registry within a second. Belongs to the storage's thread.
struct HistoryKeeper {
    /// Commits in quick succession, as of a drag, are written once.
    private static let delay = Duration.milliseconds(500)

    private var file: HistoryFile
    private let time: any StorageTime
    /// When to write; nil while there is nothing to write.
    private var due: ContinuousClock.Instant?
    private var mustTakeAll = false
    private var reported: StorageFailure?
    private var retry: Retry
    /// Nothing is written in this run.
    private(set) var isOff = false
    private(set) var facts = OverrideStore.HistoryFacts(state: "saved")

    init(_ settings: OverrideSettings, _ anchor: TimeAnchor) {
        file = HistoryFile(program: settings.program, anchor: anchor)
        time = settings.time
        retry = Retry(settings.time, first: settings.firstRetry, most: settings.lastRetry)
    }

    /// Reads what was saved.
    /// - Parameter failure: Why nothing can be written now.
    mutating func open(_ directory: StateDirectory, _ failure: StorageFailure?) -> [StoredRecord] {
        var records: [StoredRecord] = []
        do throws(StorageFailure) {
            records = try file.load(directory, mayMove: failure == nil)
        } catch {
            note(error, directory)
        }
        if let failure, failure.isFinal { turnOff(failure) }
        facts.lines = file.lines
        return records
    }

    /// There will be no writing: the directory is somebody else's.
    mutating func turnOff(_ failure: StorageFailure) {
        (isOff, due) = (true, nil)
        facts.state = "off: \(failure.reason)"
    }

    /// The wall clock was set: all commits are to be written anew, since temporary overrides are among them.
    mutating func reanchor(_ anchor: TimeAnchor) {
        file.anchor = anchor
        postpone()
    }

    // MARK: When

    /// Notes that there is something to write.
    mutating func listen(hasNews: Bool) {
        if hasNews, due == nil, !isOff { due = time.now.advanced(by: Self.delay) }
    }

    /// When to write; nil while there is nothing to write.
    var next: ContinuousClock.Instant? {
        guard let due else { return nil }
        return retry.next(hasNews: false).map { max($0, due) } ?? due
    }

    var isDue: Bool { next.map { $0 <= time.now } ?? false }

    /// Takes what there is to write. To be done before the overrides are taken: the file must not know of a commit of
    /// which they do not.
    mutating func take(_ mailbox: OverrideMailbox, _ directory: StateDirectory) -> HistoryJournal.Batch? {
        if isOff { return nil }
        due = nil
        if !file.isLoaded, !loadLate(mailbox, directory) { return nil }
        var batch = mailbox.takeHistory(all: mustTakeAll || file.isUnknown)
        batch.hasNews = batch.hasNews || mustTakeAll
        mustTakeAll = false
        return batch
    }

    /// Reads what could not be read at the start. False when it still cannot be.
    private mutating func loadLate(_ mailbox: OverrideMailbox, _ directory: StateDirectory) -> Bool {
        let records = open(directory, nil)
        if !file.isLoaded {
            postpone()
            return false
        }
        if records.isEmpty { return true }
        mustTakeAll = true
        guard let registry = mailbox.registry else { return false }
        registry.loadHistory(mailbox.history, records)
        return true
    }

    /// What was taken is not written now.
    mutating func postpone() {
        mustTakeAll = true
        if due == nil, !isOff { due = time.now.advanced(by: Self.delay) }
    }

    // MARK: Writing

    /// Writes what was taken.
    mutating func write(_ batch: HistoryJournal.Batch, _ mailbox: OverrideMailbox, _ directory: StateDirectory) {
        if isOff || !batch.hasNews { return }
        do throws(StorageFailure) {
            if try !file.write(batch, directory) {
                _ = try file.write(mailbox.takeHistory(all: true), directory)
            }
            if reported != nil { directory.report(.historyRecovered(path: "\(directory.path)/\(HistoryFile.name)")) }
            reported = nil
            retry.succeeded()
            facts.state = "saved"
        } catch {
            note(error, directory)
            retry.failed()
            postpone()
        }
        facts.lines = file.lines
    }

    private mutating func note(_ failure: StorageFailure, _ directory: StateDirectory) {
        if reported != failure { directory.report(.historyFailed(reason: failure.sentence)) }
        reported = failure
        facts.failures += 1
        facts.state = "unsaved: \(failure.reason)"
        if failure.isFinal { turnOff(failure) }
    }
}
