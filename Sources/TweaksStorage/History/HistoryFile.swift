// The history file in the state directory: read once, appended to, and replaced as a whole when it has grown too long.

import Tweaks
import TweaksSystem

/// The file. Belongs to the storage's thread, which has the directory's lock when it writes.
struct HistoryFile {
    static let name = "history.jsonl"
    /// A larger one is replaced by one with the last commits that fit half of it.
    static let sizeLimit = 16_777_216

    private let program: String
    /// For what this run has committed, and for all temporary overrides: their ends are moments of this run, too.
    var anchor: TimeAnchor
    /// For when earlier runs have committed: that prints as it was read, whatever clock this run began with.
    private var loaded: (anchor: TimeAnchor, last: UInt64)?
    /// The size of the file as we left it; nil when it has to be written as a whole.
    private var known: Int64?
    /// Where lines are appended, from the first one on until the file is another one.
    private var file: OpenFile?
    /// Whether the disk has all of them.
    private var isFlushed = true
    private(set) var lines = 0
    /// What was the file, as far as we have read or written it.
    private var ours: [FileFacts] = []
    /// Whether it was read, or is known to be none.
    private(set) var isLoaded = false

    init(program: String, anchor: TimeAnchor) { (self.program, self.anchor) = (program, anchor) }

    /// Whether everything has to be written, and not only what is new.
    var isUnknown: Bool { known == nil }

    // MARK: Reading

    /// Reads the file. One that cannot be read is set aside, and there is no history then.
    /// - Parameter revision: What is above it has not happened.
    mutating func load(
        _ directory: StateDirectory, upTo revision: UInt64?, mayMove: Bool
    ) throws(StorageFailure) -> [History.Record] {
        guard let folder = directory.folder else { return [] }
        let content: (facts: FileFacts, bytes: [UInt8])?
        do throws(FileProblem) {
            content = try folder.content(of: Self.name, limit: 4 * Self.sizeLimit)
        } catch {
            if error.isShortage { throw Self.failure(error, directory.path) }
            try setAside(error.reason, directory, mayMove: mayMove)
            isLoaded = mayMove
            return []
        }
        guard let (facts, bytes) = content else {
            isLoaded = true
            return []
        }
        do throws(OverridesFile.Refusal) {
            var reading = try HistoryReading(bytes, anchor)
            let isAhead = revision.map { reading.drop(above: $0) } ?? false
            // A line without an end must not be the beginning of another one.
            known = reading.isTorn || isAhead || bytes.isEmpty ? nil : facts.size
            ours = [facts]
            lines = reading.lines
            isLoaded = true
            loaded = reading.records.map(\.number).max().map { (anchor, $0) }
            return reading.records
        } catch {
            switch error {
            case .malformed(let reason): try setAside(reason, directory, mayMove: mayMove)
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
                + "version (format \(version), and this is \(HistoryLines.version)); run that version, or move the file "
                + "away", isFinal: true)
    }

    private mutating func setAside(_ reason: String, _ state: StateDirectory, mayMove: Bool) throws(StorageFailure) {
        guard let folder = state.folder, mayMove else { return }
        // Some network file systems do not move what is open.
        self.file = nil
        let file = "\(state.path)/\(Self.name)"
        let name: String
        do throws(FileProblem) {
            name = try state.rename(Self.name, in: folder)
        } catch {
            throw StorageFailure(
                "\(Self.name) cannot be read: \(reason)",
                sentence:
                    "\(file) cannot be read (\(reason)) nor set aside (\(error.reason)), so history is not saved; move "
                    + "it away, and start again", isFinal: true)
        }
        state.report(.historySetAside(file: file, as: name, reason: reason))
    }

    // MARK: Writing

    /// Brings the file up to date; what is appended is on disk after ``flush(_:)``.
    /// - Returns: False, and nothing is written, when it has to be all commits.
    mutating func write(_ batch: HistoryBatch, _ state: StateDirectory) throws(StorageFailure) -> Bool {
        guard let folder = state.folder else { return true }
        let wasKnown = known
        // Until all of it is there, what is there is not known.
        known = nil
        let now = try makeWay(state, folder, wasKnown)
        if batch.isWhole {
            try replace(batch, state, folder)
            return true
        }
        guard let now, wasKnown != nil else { return false }
        if batch.records.isEmpty {
            known = wasKnown
            return true
        }
        var bytes: [UInt8] = []
        for record in batch.records {
            bytes +=
                batch.marked.contains(record.number)
                ? HistoryLines.statusLine(record) : line(record)
        }
        let size = now.size + Int64(bytes.count)
        let isTooLong = lines + batch.records.count > 2 * batch.limit + 64
        if isTooLong || size > Self.sizeLimit { return false }
        try append(bytes, to: now, state, folder)
        known = size
        lines += batch.records.count
        return true
    }

    /// Sets the file aside where another process has replaced or changed it.
    /// - Returns: The facts of the file; nil where there is none, or it was set aside.
    private mutating func makeWay(
        _ state: StateDirectory, _ folder: Folder, _ known: Int64?
    ) throws(StorageFailure) -> FileFacts? {
        guard let now = try? folder.facts(Self.name) else { return nil }
        if let own = ours.first(where: { $0.isSameFile(as: now) }), known.map({ $0 == now.size }) ?? true {
            ours = [own]
            return now
        }
        try setAside("somebody else changed it while this process ran", state, mayMove: true)
        return nil
    }

    /// - Parameter now: What the name stands for; the file that is open is used as long as it is that one, and ours.
    private mutating func append(
        _ bytes: [UInt8], to now: FileFacts, _ state: StateDirectory, _ folder: Folder
    ) throws(StorageFailure) {
        do throws(FileProblem) {
            let isStill = file.map { $0.facts.isSameFile(as: now) && FileRules().fault(now) == nil } ?? false
            let file = isStill ? file : try folder.open(Self.name, for: .appending)
            self.file = file
            try file?.write(bytes)
            isFlushed = false
        } catch {
            throw Self.failure(error, state.path)
        }
    }

    /// Has the disk take what was appended.
    mutating func flush(_ path: String) throws(StorageFailure) {
        if isFlushed { return }
        isFlushed = true
        do throws(FileProblem) {
            try file?.flush()
        } catch {
            known = nil
            throw Self.failure(error, path)
        }
    }

    private mutating func replace(
        _ batch: HistoryBatch, _ state: StateDirectory, _ folder: Folder
    ) throws(StorageFailure) {
        let kept = newest(batch.records)
        var bytes = HistoryLines.head(program: program)
        // Line by line: joined, they would come byte by byte.
        for line in kept.reversed() { bytes.append(contentsOf: line) }
        file = nil
        do throws(FileProblem) {
            let temporary = StateDirectory.temporaryName(for: Self.name)
            try folder.replace(
                Self.name, with: bytes, temporary: temporary, isWritten: { ours = ours.prefix(1) + [$0] })
            try folder.flush()
            (known, lines) = (ours.last?.size, kept.count + 1)
        } catch {
            throw Self.failure(error, state.path)
        }
    }

    private func line(_ record: History.Record) -> [UInt8] {
        let isOlder = loaded.map { record.number <= $0.last } ?? false
        return HistoryLines.line(record, isOlder ? loaded?.anchor ?? anchor : anchor, temporaries: anchor)
    }

    /// The lines of the last commits that fit half of the file, newest first.
    private func newest(_ records: [History.Record]) -> [[UInt8]] {
        var kept: [[UInt8]] = []
        var size = 0
        for record in records.reversed() {
            let line = line(record)
            size += line.count
            // One alone may be larger than half of the file; one that is larger than the file could not be read.
            if size > Self.sizeLimit / 2, !kept.isEmpty || line.count > Self.sizeLimit { break }
            kept.append(line)
        }
        return kept
    }

    // MARK: Failing

    private static func failure(_ problem: FileProblem, _ path: String) -> StorageFailure {
        StorageFailure(problem, in: path, of: "history is")
    }
}
