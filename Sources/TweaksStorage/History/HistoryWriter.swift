// Reads, appends to, and replaces the history file in the state directory, and retries failed writes.

import Tweaks
import TweaksSystem

/// The history file, written as part of the storage's turns. Used on the storage thread only, which holds the
/// directory's lock while writing.
package struct HistoryWriter {
    package static let fileName = "history.jsonl"
    /// A larger file is replaced by one with the last commits, up to half this size.
    package static let sizeLimit = 16_777_216

    private let program: String
    private let time: any StorageTime
    /// Converts the times of this run's commits, and of all temporary overrides, whose ends are instants of this run.
    private var anchor: TimeAnchor
    /// Converts the times of earlier runs' commits, so that they print as they were read even if the wall clock
    /// changes.
    private var loaded: (anchor: TimeAnchor, last: UInt64)?
    /// The file's size after our last write; nil if it must be written as a whole.
    private var knownSize: Int64?
    /// The file open for appending, until it is replaced.
    private var file: OpenFile?
    /// Whether all appended lines are flushed to disk.
    private var isFlushed = true
    /// The file's identities known from reading and writing it.
    private var ownVersions: [FileInfo] = []
    /// Whether it was read or is known to be missing.
    private var isLoaded = false
    /// The batch that is not written yet.
    private var batch: HistoryBatch?
    /// The last commit, as accepted and as the overrides on disk have it. Further steps of a drag can change no other.
    private var last: (accepted: History.Record?, saved: History.Record?)
    private var needsWholeHistory = false
    /// Why the last attempt failed.
    private var failure: StorageFailure?
    /// The last reported failure.
    private var reported: StorageFailure?
    private var retry: Retry
    /// Whether this run writes nothing.
    private var isDisabled = false
    private(set) var info = OverrideStore.HistoryInfo(state: "saved")

    init(_ settings: OverrideSettings, _ anchor: TimeAnchor) {
        program = settings.program
        time = settings.time
        self.anchor = anchor
        retry = Retry(settings.time, first: settings.firstRetry, longest: settings.lastRetry)
    }

    // MARK: Reading

    /// Reads the saved history.
    /// - Parameters:
    ///   - failure: Why nothing can be written now.
    ///   - revision: The revision of the overrides file, which is written after this file; later commits are dropped.
    mutating func open(
        _ directory: StateDirectory, _ failure: StorageFailure?, upTo revision: UInt64?
    ) -> [History.Record] {
        var records: [History.Record] = []
        do throws(StorageFailure) {
            records = try load(directory, upTo: revision, mayMove: failure == nil)
        } catch {
            record(error)
            report(directory)
        }
        if let failure, failure.isFinal { disable(failure) }
        return records
    }

    /// Reads a file that was unreadable at the start, if it is readable now.
    mutating func loadLate(_ mailbox: OverrideMailbox, _ directory: StateDirectory) {
        if isLoaded || isDisabled { return }
        let records = open(directory, nil, upTo: nil)
        if !isLoaded { return retry.failed() }
        if !records.isEmpty, mailbox.load(records) { needsWholeHistory = true }
    }

    /// Disables writing: another process holds the directory.
    mutating func disable(_ failure: StorageFailure) {
        isDisabled = true
        info.state = "off: \(failure.reason)"
    }

    /// After the wall clock was set, all commits are rewritten, because they contain temporary overrides.
    mutating func reanchor(_ anchor: TimeAnchor) {
        self.anchor = anchor
        needsWholeHistory = true
    }

    /// Reads the file. An unreadable file is quarantined, and there is no history then.
    /// - Parameter revision: Commits above it are dropped, because their overrides were never written.
    private mutating func load(
        _ directory: StateDirectory, upTo revision: UInt64?, mayMove: Bool
    ) throws(StorageFailure) -> [History.Record] {
        guard let folder = directory.folder else { return [] }
        let content: (info: FileInfo, bytes: [UInt8])?
        do throws(FileProblem) {
            content = try folder.content(of: Self.fileName, limit: 4 * Self.sizeLimit)
        } catch {
            if error.isResourceShortage { throw StorageFailure(error, in: directory.path, of: "history is") }
            try quarantine(error.reason, directory, mayMove: mayMove)
            isLoaded = mayMove
            return []
        }
        guard let (metadata, bytes) = content else {
            isLoaded = true
            return []
        }
        do throws(OverridesFile.Refusal) {
            let reading = try HistoryDecoder(bytes, anchor, upTo: revision)
            let isAhead = reading.laterCount > 0
            // Appending to an incomplete line would corrupt the next one.
            knownSize = reading.endsMidLine || isAhead || bytes.isEmpty ? nil : metadata.size
            ownVersions = [metadata]
            info.lines = reading.lines
            isLoaded = true
            loaded = reading.records.last.map { (anchor, $0.number) }
            last = (reading.records.last, reading.records.last)
            return reading.records
        } catch {
            switch error {
            case .malformed(let reason): try quarantine(reason, directory, mayMove: mayMove)
            case .newerVersion(let version):
                throw StorageFailure(
                    newerVersion: version, than: HistoryFormat.version, "\(directory.path)/\(Self.fileName)",
                    of: "history is")
            }
            isLoaded = mayMove
            return []
        }
    }

    private mutating func quarantine(_ reason: String, _ state: StateDirectory, mayMove: Bool) throws(StorageFailure) {
        guard let folder = state.folder, mayMove else { return }
        // Some network file systems cannot rename an open file.
        file = nil
        let name = try state.setAside(Self.fileName, reason, in: folder, of: "history is")
        state.report(.historyQuarantined(file: "\(state.path)/\(Self.fileName)", as: name, reason: reason))
    }

    // MARK: Schedule

    /// When to try again; nil if there is no need.
    var next: Moment? {
        isDisabled ? nil : retry.next(hasUpdates: false) ?? (needsWholeHistory ? time.now : nil)
    }

    /// Whether it must be written now, even without overrides.
    func isDue(isLast: Bool) -> Bool {
        isLast ? batch?.hasUpdates ?? false || needsWholeHistory : next.map { $0 <= time.now } ?? false
    }

    /// The part of the history to request.
    var requestedShare: HistorySelection {
        if isDisabled || !isLoaded { return .nothing }
        return needsWholeHistory || knownSize == nil ? .all : .news
    }

    /// Accepts a batch for writing.
    mutating func accept(_ batch: HistoryBatch) {
        if batch.hasUpdates || batch.isWhole { self.batch = batch }
        guard let newest = batch.records.last, newest.number >= last.accepted?.number ?? 0 else { return }
        last.accepted = newest
    }

    /// Notes that the overrides of the accepted commits are on disk.
    mutating func noteSavedOverrides() { last.saved = last.accepted }

    /// Writes the batch; it is on disk after ``flush(_:)``.
    /// - Returns: False, with nothing written, if all commits are needed.
    mutating func write(_ directory: StateDirectory) -> Bool {
        guard let batch, !isDisabled, batch.hasUpdates || needsWholeHistory else {
            // Without a registry there is no history to request.
            if batch == nil { needsWholeHistory = false }
            return true
        }
        do throws(StorageFailure) {
            if try !write(batch, directory) {
                needsWholeHistory = true
                return false
            }
            self.batch = nil
            needsWholeHistory = false
            failure = nil
            retry.succeeded()
            info.state = "saved"
        } catch {
            fail(error)
        }
        return true
    }

    /// Flushes appended lines to disk.
    mutating func flush(_ path: String) {
        if isFlushed { return }
        isFlushed = true
        do throws(FileProblem) {
            try file?.flush()
        } catch {
            knownSize = nil
            fail(StorageFailure(error, in: path, of: "history is"))
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
                ?? .historyRecovered(path: "\(directory.path)/\(Self.fileName)"))
        reported = failure
    }

    private mutating func record(_ failure: StorageFailure) {
        self.failure = failure
        info.failures += 1
        info.state = "unsaved: \(failure.reason)"
        if failure.isFinal { disable(failure) }
    }

    // MARK: Writing

    private mutating func write(_ batch: HistoryBatch, _ state: StateDirectory) throws(StorageFailure) -> Bool {
        guard let folder = state.folder else { return true }
        let previousSize = knownSize
        // Unknown until the write is complete.
        knownSize = nil
        let now = try quarantineIfChanged(state, folder, previousSize)
        if batch.isWhole {
            try replace(batch, state, folder)
            return true
        }
        guard let now, previousSize != nil else { return false }
        if batch.records.isEmpty {
            knownSize = previousSize
            return true
        }
        var bytes: [UInt8] = []
        for record in batch.records {
            bytes += batch.marked.contains(record.number) ? HistoryFormat.statusLine(record) : line(record)
        }
        let size = now.size + Int64(bytes.count)
        let isTooLong = info.lines + batch.records.count > 2 * batch.limit + 64
        if isTooLong || size > Self.sizeLimit { return false }
        try append(bytes, to: now, state, folder)
        knownSize = size
        info.lines += batch.records.count
        return true
    }

    /// Quarantines the file if another process has replaced or changed it.
    /// - Returns: The file's metadata; nil if it does not exist or was quarantined.
    private mutating func quarantineIfChanged(
        _ state: StateDirectory, _ folder: Folder, _ knownSize: Int64?
    ) throws(StorageFailure) -> FileInfo? {
        guard let now = try? folder.info(Self.fileName) else { return nil }
        if let own = ownVersions.first(where: { $0.isSameFile(as: now) }), knownSize.map({ $0 == now.size }) ?? true {
            ownVersions = [own]
            return now
        }
        try quarantine("another program changed it while this process ran", state, mayMove: true)
        return nil
    }

    /// - Parameter now: The current file of this name; the open file is reused while it is the same and valid.
    private mutating func append(
        _ bytes: [UInt8], to now: FileInfo, _ state: StateDirectory, _ folder: Folder
    ) throws(StorageFailure) {
        do throws(FileProblem) {
            let isCurrent = file.map { $0.info.isSameFile(as: now) && FileRules().fault(now) == nil } ?? false
            let file = isCurrent ? file : try folder.open(Self.fileName, for: .appending)
            self.file = file
            try file?.write(bytes)
            isFlushed = false
        } catch {
            throw StorageFailure(error, in: state.path, of: "history is")
        }
    }

    private mutating func replace(
        _ batch: HistoryBatch, _ state: StateDirectory, _ folder: Folder
    ) throws(StorageFailure) {
        let kept = newest(batch.records)
        var bytes = HistoryFormat.head(program: program)
        // Appended line by line: a joined sequence would be copied byte by byte.
        for line in kept.reversed() { bytes.append(contentsOf: line) }
        file = nil
        do throws(FileProblem) {
            let temporary = StateDirectory.temporaryName(for: Self.fileName)
            try folder.replace(
                Self.fileName, with: bytes, temporary: temporary,
                isWritten: { ownVersions = ownVersions.prefix(1) + [$0] })
            try folder.flush()
            knownSize = ownVersions.last?.size
            info.lines = kept.count + 1
        } catch {
            throw StorageFailure(error, in: state.path, of: "history is")
        }
    }

    /// The lines of a commit in a new file. If the overrides on disk lack its last steps, a line without these comes
    /// first, which counts after a crash.
    private func lines(_ record: History.Record) -> [UInt8] {
        guard let saved = last.saved, saved.number == record.number, saved.revision < record.revision else {
            return line(record)
        }
        return line(saved) + line(record)
    }

    private func line(_ record: History.Record) -> [UInt8] {
        let isOlder = loaded.map { record.number <= $0.last } ?? false
        return HistoryFormat.line(record, isOlder ? loaded?.anchor ?? anchor : anchor, temporaries: anchor)
    }

    /// The lines of the last commits that fit half of the size limit, newest first.
    private func newest(_ records: [History.Record]) -> [[UInt8]] {
        var kept: [[UInt8]] = []
        var size = 0
        for record in records.reversed() {
            let lines = lines(record)
            size += lines.count
            // A single commit may exceed half of the limit; one above the limit could not be read back.
            if size > Self.sizeLimit / 2, !kept.isEmpty || lines.count > Self.sizeLimit { break }
            kept.append(lines)
        }
        return kept
    }
}
