// The history on disk: when it is written, and what is said when it cannot be.

import Tweaks

/// Writes the history file in the rounds of the storage, and tries again where that fails. Belongs to the storage's thread.
struct HistoryKeeper {
    private var file: HistoryFile
    private let time: any StorageTime
    /// What was taken and is not written.
    private var batch: HistoryBatch?
    private var mustTakeAll = false
    /// Why the last attempt failed.
    private var failure: StorageFailure?
    /// What was last said of that.
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
    /// - Parameters:
    ///   - failure: Why nothing can be written now.
    ///   - revision: That of the overrides file, which is written after this one: what is above it has not happened.
    mutating func open(
        _ directory: StateDirectory, _ failure: StorageFailure?, upTo revision: UInt64?
    ) -> [History.Record] {
        var records: [History.Record] = []
        do throws(StorageFailure) {
            records = try file.load(directory, upTo: revision, mayMove: failure == nil)
        } catch {
            note(error)
            tell(directory)
        }
        if let failure, failure.isFinal { turnOff(failure) }
        facts.lines = file.lines
        return records
    }

    /// Reads what could not be read at the start, if it can be now.
    mutating func loadLate(_ mailbox: OverrideMailbox, _ directory: StateDirectory) {
        if file.isLoaded || isOff { return }
        let records = open(directory, nil, upTo: nil)
        if !file.isLoaded { return retry.failed() }
        if !records.isEmpty, mailbox.load(records) { mustTakeAll = true }
    }

    /// There will be no writing: the directory is somebody else's.
    mutating func turnOff(_ failure: StorageFailure) {
        isOff = true
        facts.state = "off: \(failure.reason)"
    }

    /// The wall clock was set: all commits are to be written anew, since temporary overrides are among them.
    mutating func reanchor(_ anchor: TimeAnchor) {
        file.anchor = anchor
        mustTakeAll = true
    }

    // MARK: When

    /// When to try again; nil while there is no need.
    var next: ContinuousClock.Instant? { isOff ? nil : retry.next(hasNews: false) ?? (mustTakeAll ? time.now : nil) }

    /// Whether it is to be written now, be it without overrides.
    func isDue(isLast: Bool) -> Bool {
        isLast ? batch?.hasNews ?? false || mustTakeAll : next.map { $0 <= time.now } ?? false
    }

    /// What is to be taken of it.
    var share: HistoryShare {
        if isOff || !file.isLoaded { return .nothing }
        return mustTakeAll || file.isUnknown ? .all : .news
    }

    // MARK: Writing

    /// Takes what there is to write.
    mutating func take(_ batch: HistoryBatch) {
        if batch.hasNews || batch.isWhole { self.batch = batch }
    }

    /// Writes what was taken; it is on disk after ``flush(_:)``.
    /// - Returns: False, and nothing is written, when it has to be all commits.
    mutating func write(_ directory: StateDirectory) -> Bool {
        guard let batch, !isOff, batch.hasNews || mustTakeAll else {
            // Without a registry there is nothing to be had.
            if batch == nil { mustTakeAll = false }
            return true
        }
        do throws(StorageFailure) {
            if try !file.write(batch, directory) {
                mustTakeAll = true
                return false
            }
            (self.batch, mustTakeAll, failure) = (nil, false, nil)
            retry.succeeded()
            facts.state = "saved"
        } catch {
            fail(error)
        }
        facts.lines = file.lines
        return true
    }

    /// Has the disk take what was written to the file in this directory.
    mutating func flush(_ path: String) {
        do throws(StorageFailure) {
            try file.flush(path)
        } catch {
            fail(error)
        }
    }

    private mutating func fail(_ failure: StorageFailure) {
        note(failure)
        retry.failed()
        mustTakeAll = true
    }

    /// Says once what has become of it. Where the overrides are not written either, that says enough.
    mutating func tell(_ directory: StateDirectory) {
        if failure == reported { return }
        directory.report(
            failure.map { .historyFailed(reason: $0.sentence) }
                ?? .historyRecovered(path: "\(directory.path)/\(HistoryFile.name)"))
        reported = failure
    }

    private mutating func note(_ failure: StorageFailure) {
        self.failure = failure
        facts.failures += 1
        facts.state = "unsaved: \(failure.reason)"
        if failure.isFinal { turnOff(failure) }
    }
}
