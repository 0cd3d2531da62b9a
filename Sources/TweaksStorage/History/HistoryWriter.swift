// Schedules writes of the history file, retries failed ones, and reports failures.

import Tweaks

/// Writes the history file as part of the storage's turns, and retries failures. Used on the storage thread only.
struct HistoryWriter {
    private var file: HistoryFile
    private let time: any StorageTime
    /// The batch that is not written yet.
    private var batch: HistoryBatch?
    private var needsWholeHistory = false
    /// Why the last attempt failed.
    private var failure: StorageFailure?
    /// The last reported failure.
    private var reported: StorageFailure?
    private var retry: Retry
    /// Whether this run writes nothing.
    private(set) var isDisabled = false
    private(set) var info = OverrideStore.HistoryInfo(state: "saved")

    init(_ settings: OverrideSettings, _ anchor: TimeAnchor) {
        file = HistoryFile(program: settings.program, anchor: anchor)
        time = settings.time
        retry = Retry(settings.time, first: settings.firstRetry, longest: settings.lastRetry)
    }

    /// Reads the saved history.
    /// - Parameters:
    ///   - failure: Why nothing can be written now.
    ///   - revision: The revision of the overrides file, which is written after this file; later commits are dropped.
    mutating func open(
        _ directory: StateDirectory, _ failure: StorageFailure?, upTo revision: UInt64?
    ) -> [History.Record] {
        var records: [History.Record] = []
        do throws(StorageFailure) {
            records = try file.load(directory, upTo: revision, mayMove: failure == nil)
        } catch {
            record(error)
            report(directory)
        }
        if let failure, failure.isFinal { disable(failure) }
        info.lines = file.lines
        return records
    }

    /// Reads a file that was unreadable at the start, if it is readable now.
    mutating func loadLate(_ mailbox: OverrideMailbox, _ directory: StateDirectory) {
        if file.isLoaded || isDisabled { return }
        let records = open(directory, nil, upTo: nil)
        if !file.isLoaded { return retry.failed() }
        if !records.isEmpty, mailbox.load(records) { needsWholeHistory = true }
    }

    /// Disables writing: another process holds the directory.
    mutating func disable(_ failure: StorageFailure) {
        isDisabled = true
        info.state = "off: \(failure.reason)"
    }

    /// After the wall clock was set, all commits are rewritten, because they contain temporary overrides.
    mutating func reanchor(_ anchor: TimeAnchor) {
        file.anchor = anchor
        needsWholeHistory = true
    }

    // MARK: Schedule

    /// When to try again; nil if there is no need.
    var next: ContinuousClock.Instant? {
        isDisabled ? nil : retry.next(hasUpdates: false) ?? (needsWholeHistory ? time.now : nil)
    }

    /// Whether it must be written now, even without overrides.
    func isDue(isLast: Bool) -> Bool {
        isLast ? batch?.hasUpdates ?? false || needsWholeHistory : next.map { $0 <= time.now } ?? false
    }

    /// The part of the history to request.
    var requestedShare: HistorySelection {
        if isDisabled || !file.isLoaded { return .nothing }
        return needsWholeHistory || file.isUnknown ? .all : .news
    }

    // MARK: Writing

    /// Accepts a batch for writing.
    mutating func accept(_ batch: HistoryBatch) {
        if batch.hasUpdates || batch.isWhole { self.batch = batch }
    }

    /// Writes the batch; it is on disk after ``flush(_:)``.
    /// - Returns: False, with nothing written, if all commits are needed.
    mutating func write(_ directory: StateDirectory) -> Bool {
        guard let batch, !isDisabled, batch.hasUpdates || needsWholeHistory else {
            // Without a registry there is no history to request.
            if batch == nil { needsWholeHistory = false }
            return true
        }
        do throws(StorageFailure) {
            if try !file.write(batch, directory) {
                needsWholeHistory = true
                return false
            }
            (self.batch, needsWholeHistory, failure) = (nil, false, nil)
            retry.succeeded()
            info.state = "saved"
        } catch {
            fail(error)
        }
        info.lines = file.lines
        return true
    }

    /// Flushes the file to disk.
    mutating func flush(_ path: String) {
        do throws(StorageFailure) {
            try file.flush(path)
        } catch {
            fail(error)
        }
    }

    private mutating func fail(_ failure: StorageFailure) {
        record(failure)
        retry.failed()
        needsWholeHistory = true
    }

    /// Reports a change of state once. Not called while the overrides are not written either, which is reported
    /// already.
    mutating func report(_ directory: StateDirectory) {
        if failure == reported { return }
        directory.report(
            failure.map { .historyFailed(reason: $0.sentence) }
                ?? .historyRecovered(path: "\(directory.path)/\(HistoryFile.name)"))
        reported = failure
    }

    private mutating func record(_ failure: StorageFailure) {
        self.failure = failure
        info.failures += 1
        info.state = "unsaved: \(failure.reason)"
        if failure.isFinal { disable(failure) }
    }
}
