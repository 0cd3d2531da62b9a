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
    /// The file as we left it; nil when it has to be written as a whole.
    private var known: FileFacts?
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
        if directory.directory == nil { return [] }
        guard let content = try content(directory) else {
            isLoaded = true
            return []
        }
        switch content {
        case .failure(let problem):
            try setAside(problem.reason, directory, mayMove: mayMove)
            isLoaded = mayMove
            return []
        case .success(let (facts, bytes)):
            do throws(OverridesFile.Refusal) {
                var reading = try HistoryReading(bytes, anchor)
                let isAhead = revision.map { reading.drop(above: $0) } ?? false
                // A line without an end must not be the beginning of another one.
                known = reading.isTorn || isAhead || bytes.isEmpty ? nil : facts
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
    }

    /// Why it is none of ours.
    private struct Problem: Error {
        let reason: String
    }

    /// Nil where there is none.
    private func content(_ state: StateDirectory) throws(StorageFailure) -> Result<(FileFacts, [UInt8]), Problem>? {
        guard let directory = state.directory?.descriptor else { return nil }
        do throws(FileError) {
            let descriptor = try state.retrying { () throws(FileError) in
                try state.files.open(Self.name, in: directory, for: .reading)
            }
            defer { state.files.close(descriptor) }
            let facts = try state.files.facts(descriptor)
            if facts.kind != .regular { return .failure(Problem(reason: "it is no regular file")) }
            guard facts.owner == ThisProcess.user || facts.owner == 0 else {
                return .failure(Problem(reason: "it belongs to uid \(facts.owner)"))
            }
            let limit = 4 * Self.sizeLimit
            let bytes = try state.files.readAll(descriptor, limit: limit + 1)
            if bytes.count > limit { return .failure(Problem(reason: "it has more than \(limit) bytes")) }
            return .success((facts, bytes))
        } catch {
            if error.isMissing { return nil }
            if error.isShortage { throw Self.failure(error, "reading \(Self.name)", state) }
            return .failure(Problem(reason: error.isLink ? "it is a symbolic link" : error.text))
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

    private func setAside(_ reason: String, _ state: StateDirectory, mayMove: Bool) throws(StorageFailure) {
        guard let directory = state.directory?.descriptor, mayMove else { return }
        let file = "\(state.path)/\(Self.name)"
        let name = state.unusedName(for: Self.name, directory)
        do throws(FileError) {
            try state.retrying { () throws(FileError) in
                try state.files.rename(Self.name, to: name, in: directory)
            }
        } catch {
            throw StorageFailure(
                "\(Self.name) cannot be read: \(reason)",
                sentence: "\(file) cannot be read (\(reason)) nor set aside (\(error.text)), so history is not saved; "
                    + "move it away, and start again", isFinal: true)
        }
        state.report(.historySetAside(file: file, as: name, reason: reason))
    }

    // MARK: Writing

    /// Brings the file up to date.
    /// - Returns: False, and nothing is written, when it has to be all commits.
    mutating func write(_ batch: HistoryBatch, _ state: StateDirectory) throws(StorageFailure) -> Bool {
        guard let directory = state.directory?.descriptor else { return true }
        let wasKnown = known
        // Until all of it is there, what is there is not known.
        known = nil
        let isThere = try makeWay(state, directory, wasKnown)
        if batch.isWhole {
            try replace(batch, state, directory)
            return true
        }
        guard isThere, let wasKnown else { return false }
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
        let isTooLong = lines + batch.records.count > 2 * batch.limit + 64
        if isTooLong || Int(wasKnown.size) + bytes.count > Self.sizeLimit { return false }
        known = try append(bytes, state, directory)
        lines += batch.records.count
        return true
    }

    /// Sets aside what somebody else has put there or changed.
    /// - Returns: Whether there is still what we know.
    private mutating func makeWay(
        _ state: StateDirectory, _ directory: Int32, _ known: FileFacts?
    ) throws(StorageFailure) -> Bool {
        guard let now = try? state.files.facts(Self.name, in: directory) else { return false }
        if let own = ours.first(where: { $0.isSameFile(as: now) }), known.map({ $0.size == now.size }) ?? true {
            ours = [own]
            return true
        }
        try setAside("somebody else changed it while this process ran", state, mayMove: true)
        return false
    }

    private func append(
        _ bytes: [UInt8], _ state: StateDirectory, _ directory: Int32
    ) throws(StorageFailure) -> FileFacts {
        do throws(FileError) {
            let descriptor = try state.retrying { () throws(FileError) in
                try state.files.open(Self.name, in: directory, for: .appending)
            }
            defer { state.files.close(descriptor) }
            try state.files.writeAll(bytes, to: descriptor)
            try state.retrying { () throws(FileError) in try state.files.sync(descriptor) }
            return try state.files.facts(descriptor)
        } catch {
            throw Self.failure(error, "writing \(Self.name)", state)
        }
    }

    private mutating func replace(
        _ batch: HistoryBatch, _ state: StateDirectory, _ directory: Int32
    ) throws(StorageFailure) {
        let kept = newest(batch.records)
        var bytes = HistoryLines.head(program: program)
        // Line by line: joined, they would come byte by byte.
        for line in kept.reversed() { bytes.append(contentsOf: line) }
        do throws(StorageFailure) {
            let facts = try state.writeTemporary(for: Self.name, bytes, directory)
            // From here on the file may be this one, even if the call says that it failed; or still the one before.
            ours = ours.prefix(1) + [facts]
            try state.doing("replacing \(Self.name)") { () throws(FileError) in
                try state.files.rename(state.temporaryName(for: Self.name), to: Self.name, in: directory)
            }
            try state.doing("flushing the directory") { () throws(FileError) in try state.files.sync(directory) }
            (known, lines) = (facts, kept.count + 1)
        } catch {
            try? state.files.remove(state.temporaryName(for: Self.name), in: directory)
            throw StorageFailure(
                error.reason, sentence: "\(Self.sentence(error.reason, state)); \(error.remedy)", remedy: error.remedy)
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

    private static func failure(_ error: FileError, _ doing: String, _ state: StateDirectory) -> StorageFailure {
        let reason = "\(error.text) (\(doing))"
        return StorageFailure(reason, sentence: "\(sentence(reason, state)); \(error.remedy())")
    }

    private static func sentence(_ reason: String, _ state: StateDirectory) -> String {
        "history is not saved in \(state.path): \(reason)"
    }
}
