// Reads, appends to, and replaces the history file in the state directory.

import Tweaks
import TweaksSystem

/// The history file. Used on the storage thread, which holds the directory's lock while writing.
struct HistoryFile {
    static let name = "history.jsonl"
    /// A larger file is replaced by one with the last commits, up to half this size.
    static let sizeLimit = 16_777_216

    private let program: String
    /// Converts the times of this run's commits, and of all temporary overrides, whose ends are instants of this run.
    var anchor: TimeAnchor
    /// Converts the times of earlier runs' commits, so that they print as they were read even if the wall clock
    /// changes.
    private var loaded: (anchor: TimeAnchor, last: UInt64)?
    /// The file's size after our last write; nil if it must be written as a whole.
    private var knownSize: Int64?
    /// The file open for appending, until it is replaced.
    private var file: OpenFile?
    /// Whether all appended lines are flushed to disk.
    private var isFlushed = true
    private(set) var lines = 0
    /// The file's identities known from reading and writing it.
    private var ownVersions: [FileInfo] = []
    /// Whether it was read or is known to be missing.
    private(set) var isLoaded = false

    init(program: String, anchor: TimeAnchor) { (self.program, self.anchor) = (program, anchor) }

    /// Whether the whole history must be written, not only new commits.
    var isUnknown: Bool { knownSize == nil }

    // MARK: Reading

    /// Reads the file. An unreadable file is quarantined, and there is no history then.
    /// - Parameter revision: Commits above it are dropped, because their overrides were never written.
    mutating func load(
        _ directory: StateDirectory, upTo revision: UInt64?, mayMove: Bool
    ) throws(StorageFailure) -> [History.Record] {
        guard let folder = directory.folder else { return [] }
        let content: (info: FileInfo, bytes: [UInt8])?
        do throws(FileProblem) {
            content = try folder.content(of: Self.name, limit: 4 * Self.sizeLimit)
        } catch {
            if error.isResourceShortage { throw Self.failure(error, directory.path) }
            try quarantine(error.reason, directory, mayMove: mayMove)
            isLoaded = mayMove
            return []
        }
        guard let (info, bytes) = content else {
            isLoaded = true
            return []
        }
        do throws(OverridesFile.Refusal) {
            var reading = try HistoryDecoder(bytes, anchor)
            let isAhead = revision.map { reading.drop(above: $0) } ?? false
            // Appending to an incomplete line would corrupt the next one.
            knownSize = reading.endsMidLine || isAhead || bytes.isEmpty ? nil : info.size
            ownVersions = [info]
            lines = reading.lines
            isLoaded = true
            loaded = reading.records.map(\.number).max().map { (anchor, $0) }
            return reading.records
        } catch {
            switch error {
            case .malformed(let reason): try quarantine(reason, directory, mayMove: mayMove)
            case .newerVersion(let version): throw newerVersion(version, directory)
            }
            isLoaded = mayMove
            return []
        }
    }

    private func newerVersion(_ version: Int64, _ directory: StateDirectory) -> StorageFailure {
        StorageFailure(
            "\(Self.name) was written by a newer version",
            sentence:
                "\(directory.path)/\(Self.name) is left alone, and history is not saved: it was written by a newer "
                + "version (format \(version), and this is \(HistoryEncoder.version)); run that version, or move the "
                + "file away", isFinal: true)
    }

    private mutating func quarantine(_ reason: String, _ state: StateDirectory, mayMove: Bool) throws(StorageFailure) {
        guard let folder = state.folder, mayMove else { return }
        // Some network file systems cannot rename an open file.
        self.file = nil
        let file = "\(state.path)/\(Self.name)"
        let name: String
        do throws(FileProblem) {
            name = try state.rename(Self.name, in: folder)
        } catch {
            throw StorageFailure(
                "\(Self.name) cannot be read: \(reason)",
                sentence:
                    "\(file) cannot be read (\(reason)) nor renamed (\(error.reason)), so history is not saved; move "
                    + "it away, and start again", isFinal: true)
        }
        state.report(.historyQuarantined(file: file, as: name, reason: reason))
    }

    // MARK: Writing

    /// Updates the file; appended lines are on disk after ``flush(_:)``.
    /// - Returns: False, with nothing written, if all commits are needed.
    mutating func write(_ batch: HistoryBatch, _ state: StateDirectory) throws(StorageFailure) -> Bool {
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
            bytes +=
                batch.marked.contains(record.number)
                ? HistoryEncoder.statusLine(record) : line(record)
        }
        let size = now.size + Int64(bytes.count)
        let isTooLong = lines + batch.records.count > 2 * batch.limit + 64
        if isTooLong || size > Self.sizeLimit { return false }
        try append(bytes, to: now, state, folder)
        knownSize = size
        lines += batch.records.count
        return true
    }

    /// Quarantines the file if another process has replaced or changed it.
    /// - Returns: The file's metadata; nil if it does not exist or was quarantined.
    private mutating func quarantineIfChanged(
        _ state: StateDirectory, _ folder: Folder, _ knownSize: Int64?
    ) throws(StorageFailure) -> FileInfo? {
        guard let now = try? folder.info(Self.name) else { return nil }
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
            let file = isCurrent ? file : try folder.open(Self.name, for: .appending)
            self.file = file
            try file?.write(bytes)
            isFlushed = false
        } catch {
            throw Self.failure(error, state.path)
        }
    }

    /// Flushes appended lines to disk.
    mutating func flush(_ path: String) throws(StorageFailure) {
        if isFlushed { return }
        isFlushed = true
        do throws(FileProblem) {
            try file?.flush()
        } catch {
            knownSize = nil
            throw Self.failure(error, path)
        }
    }

    private mutating func replace(
        _ batch: HistoryBatch, _ state: StateDirectory, _ folder: Folder
    ) throws(StorageFailure) {
        let kept = newest(batch.records)
        var bytes = HistoryEncoder.head(program: program)
        // Appended line by line: a joined sequence would be copied byte by byte.
        for line in kept.reversed() { bytes.append(contentsOf: line) }
        file = nil
        do throws(FileProblem) {
            let temporary = StateDirectory.temporaryName(for: Self.name)
            try folder.replace(
                Self.name, with: bytes, temporary: temporary, isWritten: { ownVersions = ownVersions.prefix(1) + [$0] })
            try folder.flush()
            (knownSize, lines) = (ownVersions.last?.size, kept.count + 1)
        } catch {
            throw Self.failure(error, state.path)
        }
    }

    private func line(_ record: History.Record) -> [UInt8] {
        let isOlder = loaded.map { record.number <= $0.last } ?? false
        return HistoryEncoder.line(record, isOlder ? loaded?.anchor ?? anchor : anchor, temporaries: anchor)
    }

    /// The lines of the last commits that fit half of the size limit, newest first.
    private func newest(_ records: [History.Record]) -> [[UInt8]] {
        var kept: [[UInt8]] = []
        var size = 0
        for record in records.reversed() {
            let line = line(record)
            size += line.count
            // A single commit may exceed half of the limit; one above the limit could not be read back.
            if size > Self.sizeLimit / 2, !kept.isEmpty || line.count > Self.sizeLimit { break }
            kept.append(line)
        }
        return kept
    }

    // MARK: Errors

    private static func failure(_ problem: FileProblem, _ path: String) -> StorageFailure {
        StorageFailure(problem, in: path, of: "history is")
    }
}
