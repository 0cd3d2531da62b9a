// Finds out what earlier runs wrote: what clients have written today, and how far the file got before a crash.

import Tweaks
import TweaksSystem

/// The reading of the last day's lines: a day does not begin anew with each start. A turn reads one slice, so that lines of
/// this run do not wait for the rest.
struct AuditRecovery {
    /// The bytes read in a turn.
    private static let sliceSize = 262_144
    /// The maximum number of files read: their descriptors stay open, since a rotation renames them.
    private static let maxFiles = 32
    private static let day: Int64 = 86_400_000

    /// The rests of the files, newest first, each from a position to where the file ended at the start.
    private var parts: [(file: OpenFile, position: Int64, end: Int64)] = []
    /// The beginning of a line that ends in the next slice.
    private var partial: [UInt8] = []
    /// The time of the start; no line counts as later.
    private let anchor: TimeAnchor
    /// How the lines of the last day begin; times are ordered as texts.
    private let first: [UInt8]
    private(set) var budgets: AuditBudgets

    var isComplete: Bool { parts.isEmpty }

    /// - Parameter bytesPerDay: What an origin may write on one day. Twice as much is read, of the newest files.
    init(_ file: AuditFile, bytesPerDay: Int, _ anchor: TimeAnchor) {
        self.anchor = anchor
        budgets = AuditBudgets(bytesPerDay: bytesPerDay)
        let start = anchor.wall - Self.day
        first = Array("{\"time\":\"\(TimeText.print(start))".utf8)
        guard let directory = try? Folder(file.folder, file.files) else { return }
        let limit = bytesPerDay.multipliedReportingOverflow(by: 2)
        var rest = Int64(max(AuditFile.tailSize, limit.overflow ? .max : limit.partialValue))
        for number in 0..<Self.maxFiles where rest > 0 {
            guard let open = try? file.open(number, directory) else { continue }
            let size = min(rest, open.info.size)
            if size > 0 { parts.append((open, open.info.size - size, open.info.size)) }
            rest -= size
            if let begin = file.startTime(number, directory), begin <= start { break }
        }
    }

    /// Reads and counts one slice of the oldest file that is not read yet.
    mutating func advance() {
        guard var part = parts.popLast() else { return }
        let size = Int(min(Int64(Self.sliceSize), part.end - part.position))
        // A file that cannot be read counts as empty.
        let bytes = (try? part.file.slice(from: part.position, size)) ?? []
        part.position += Int64(bytes.count)
        let isOver = bytes.isEmpty || part.position >= part.end
        count(partial + bytes, isOver: isOver)
        if !isOver { parts.append(part) }
    }

    /// Counts whole lines, and keeps the beginning of the next one.
    private mutating func count(_ bytes: [UInt8], isOver: Bool) {
        let newline = UInt8(ascii: "\n")
        let end = isOver ? bytes.count : bytes.lastIndex(of: newline).map { $0 + 1 } ?? 0
        for line in bytes[..<end].split(separator: newline) where !line.lexicographicallyPrecedes(first) { count(line) }
        // No line is that long; of one that is, the end is no line.
        partial = bytes.count - end > AuditFile.tailSize ? [] : Array(bytes[end...])
    }

    private mutating func count(_ line: ArraySlice<UInt8>) {
        guard let head = AuditLine(head: line), let client = head.client else { return }
        // The wall clock may have been set back.
        let time = anchor.instant(min(head.time, anchor.wall))
        _ = budgets.hasBudget(client, time)
        budgets.spend(line.count + 1, client, time)
    }
}

/// The progress of an audit file, from its last lines: a crash of the machine can lose the last ones.
struct AuditProgress {
    /// The last revision in the file; its own commit may be incomplete.
    private(set) var revision: UInt64 = 0
    /// The number of tweaks in that commit, and those that have a line.
    private var tweaks: Int64 = 1
    private var paths: Set<String> = []
    /// Whether the commit's line count is unknown: its first lines may be before the part that was read, or it was left
    /// out.
    private var isPartial = true

    /// Nil if no line has a revision: then nothing is known to be missing.
    init?(_ bytes: [UInt8]) {
        var isFirst = true
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard let line = AuditLine(Array(line)), let revision = line.revision else { continue }
            if revision > self.revision {
                self.revision = revision
                tweaks = 1
                paths = []
                isPartial = isFirst
            }
            isFirst = false
            if revision < self.revision { continue }
            tweaks = max(tweaks, line.tweaks)
            if let path = line.path { paths.insert(path) } else { isPartial = true }
        }
        if isFirst { return nil }
    }

    /// Whether the file lacks a line for an item of the history.
    func lacks(_ item: AuditItem) -> Bool {
        guard case .change(let commit, let change, let tweaks) = item.content else { return false }
        if commit.revision != revision { return commit.revision > revision }
        return !isPartial && paths.count < self.tweaks && tweaks == self.tweaks && !paths.contains(change.path.joined)
    }
}

extension AuditFile {
    /// Whether nothing was ever written.
    var isNew: Bool {
        guard isWritten, let directory = try? Folder(folder, files) else { return false }
        return tail(0, directory).isEmpty && fileInfo(1, directory) == nil
    }

    /// The progress of the audit; if the current file has no revision, that of the previous file. Nil if neither has
    /// one.
    var progress: AuditProgress? {
        guard let directory = try? Folder(folder, files) else { return nil }
        return AuditProgress(tail(0, directory)) ?? AuditProgress(tail(1, directory))
    }

    /// The digest of the config file's values at the last start, if nothing of the config file has been written after that,
    /// in the current file.
    var lastStart: String? {
        guard let directory = try? Folder(folder, files) else { return nil }
        for line in tail(0, directory).split(separator: UInt8(ascii: "\n")).reversed() {
            if let line = AuditLine(head: line), line.from == "config file" { return line.startDigest }
        }
        return nil
    }
}
