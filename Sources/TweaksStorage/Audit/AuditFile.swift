// Writes the audit file with the links of its lines, reopens it after it was moved, and rotates it when it is full.

import Tweaks
import TweaksSystem
import TweaksWire

/// The audit file and the lines that are not in it. Used on the audit thread only.
struct AuditFile {
    private let settings: AuditSettings
    /// The maximum bytes of all files together.
    private let ceiling: Int
    let files: any FileSystem
    private let time: any StorageTime
    let path: String
    private let name: String
    let folder: String
    /// Gets each line that is in the file.
    let shipper: AuditShipper?
    /// The open file and its current size.
    private var current: (file: OpenFile, size: Int)?
    private var fileLock: AuditFileLock
    /// The lines to be written, without their line feeds and links, and their bytes.
    private var lines: [[UInt8]] = []
    private var lineBytes = 0
    /// How much of the first of them is in the file.
    private var partial = 0
    /// The bytes of loss records at its start. A file with nothing else is not full.
    private var lossRecordSize = 0
    /// Losses for lack of space, which are not retried, and whether those of lines were reported.
    private var losses: [AuditTrail.Event] = []
    private var hasReportedFull = false
    private(set) var rotations = 0
    /// The bytes of removed files.
    private(set) var dropped: Int64 = 0
    /// The number of lines that are in no file.
    private(set) var leftOut = 0
    /// The link of the last line that was written or found.
    private(set) var head: [UInt8]?
    /// Whether no line of the open file has a link.
    private var needsAfter = true
    /// Why other users could have written the file; nil if they could not.
    private(set) var exposure: String?

    /// The maximum buffered bytes while writing fails.
    private static let maxPendingBytes = 8_388_608
    /// How often a file is opened that is replaced meanwhile.
    private static let maxRounds = 100
    /// More than the longest line, and than one commit, except for the largest.
    static let tailSize = 1_048_576

    init(
        _ path: String, _ settings: AuditSettings, ceiling: Int = .max, _ shipper: AuditShipper?,
        _ files: any FileSystem, _ time: any StorageTime
    ) {
        self.path = path
        self.settings = settings
        self.ceiling = ceiling
        self.shipper = shipper
        self.files = files
        self.time = time
        (folder, name) = Folder.split(path)
        fileLock = AuditFileLock(path, isStrict: settings.isStrict, files, time)
    }

    // MARK: Lines

    /// Whether all lines are in the file.
    var isWritten: Bool { lines.isEmpty }
    /// The number of lines that are not in the file.
    var waiting: Int { lines.count }

    /// Appends lines that end in line feeds to those to be written.
    mutating func append(_ text: [UInt8]) {
        let added = Self.split(text)
        let count = added.reduce(0) { $0 + $1.count }
        if lineBytes + count > Self.maxPendingBytes, !lines.isEmpty {
            leftOut += added.count
        } else {
            lines += added
            lineBytes += count
        }
    }

    private static func split(_ text: [UInt8]) -> [[UInt8]] {
        text.split(separator: UInt8(ascii: "\n")).map { Array($0) }
    }

    /// As many lines as fit with their links, but at least one.
    private func next(upTo size: Int) -> (count: Int, size: Int) {
        var count = 0
        var sum = 0
        for line in lines {
            let bytes = line.count + AuditChain.overhead + 1
            if count > 0, sum + bytes > size { break }
            sum += bytes
            count += 1
        }
        return (count, sum)
    }

    private mutating func removeFirst(_ count: Int) {
        lineBytes -= lines[..<count].reduce(0) { $0 + $1.count }
        lines.removeFirst(count)
    }

    // MARK: Writing

    /// Opens the file and finds out where it ends, so that problems are found early, and writes the lines with their
    /// links.
    mutating func write() throws(StorageFailure) {
        let directory = try attempt(nil, try Folder(folder, files))
        try validateLocation()
        defer { fileLock.unlock() }
        if lines.isEmpty { try enter(directory) }
        while !lines.isEmpty {
            try enter(directory)
            let size = current?.size ?? 0
            let next = next(upTo: settings.maximumSize - size)
            if size <= lossRecordSize || size + next.size <= settings.maximumSize {
                try write(next.count)
            } else if isFull(directory) {
                return dropLines()
            } else {
                try rotate(directory)
                removeOld(directory)
            }
        }
    }

    /// Writes lines in as few calls as possible, and removes those that are in the file.
    private mutating func write(_ count: Int) throws(StorageFailure) {
        guard let file = current?.file else { return }
        var bytes: [UInt8] = []
        var ends: [(end: Int, link: [UInt8])] = []
        var link = head ?? AuditChain.start
        for line in lines[..<count] {
            AuditChain.append(line[...], after: &link, isFirst: needsAfter && ends.isEmpty, to: &bytes)
            ends.append((bytes.count, link))
        }
        var start = 0
        var written = partial
        var done = 0
        defer { removeFirst(done) }
        for (end, link) in ends {
            while written < end {
                let count = try attempt("writing it", try file.writeSome(bytes[written...]))
                written += count
                current?.size += count
                partial = written - start
            }
            head = link
            needsAfter = false
            done += 1
            shipper?.ship(bytes[start..<(end - 1)])
            start = end
            partial = written - end
        }
    }

    /// Returns and clears the losses.
    mutating func takeLosses() -> [AuditTrail.Event] {
        defer { losses = [] }
        return losses
    }

    mutating func close() {
        fileLock.unlock()
        leave()
    }

    /// Closes the open file, but keeps the lock.
    private mutating func leave() {
        current = nil
        lossRecordSize = 0
        partial = 0
    }

    // MARK: Sharing

    /// Opens the file of the name, locks it, and finds out where it ends: other processes may write to it.
    private mutating func enter(_ directory: Folder) throws(StorageFailure) {
        for _ in 0..<Self.maxRounds {
            let isNew = current == nil
            let file = try openFile(directory)
            if try !fileLock.lock(orElse: file, directory) { break }
            // Another process may have renamed it meanwhile.
            guard let info = try? directory.info(name), info.isSameFile(as: file.info) else {
                leave()
                continue
            }
            if !isNew, let size = current?.size, info.size == Int64(size) { return }
            current?.size = Int(clamping: info.size)
            partial = 0
            try catchUp(directory)
            return
        }
        leave()
        let reason = "it was another file each of \(Self.maxRounds) times that it was opened"
        throw StorageFailure(
            reason,
            sentence: "the audit is not written to \(path): \(reason); end the program that replaces it or "
                + "\(fileLock.path), or name a file on another file system in TWEAKS_AUDIT")
    }

    /// Reads the end of a file that is new to this process or has changed.
    private mutating func catchUp(_ directory: Folder) throws(StorageFailure) {
        let bytes = tail(0, directory)
        let link = AuditChain.lastLink(bytes)
        needsAfter = link == nil
        head = link ?? olderLink(directory) ?? head
        // A killed process or a full disk can leave an incomplete line.
        guard let last = bytes.last, last != UInt8(ascii: "\n"), let file = current?.file else { return }
        let count = try attempt("writing it", try file.writeSome([UInt8(ascii: "\n")]))
        current?.size += count
    }

    /// The last link of the file before this one; nil if this process knows a later one, in a file that was moved away.
    private func olderLink(_ directory: Folder) -> [UInt8]? {
        let bytes = tail(1, directory)
        return head.map { AuditChain.hasLink($0, bytes) } ?? true ? AuditChain.lastLink(bytes) : nil
    }

    /// The last bytes of the current file or an older one.
    func tail(_ number: Int, _ directory: Folder) -> [UInt8] {
        (try? open(number, directory).tail(Self.tailSize)) ?? []
    }

    /// Opens the current file or an older one for reading.
    func open(_ number: Int, _ directory: Folder) throws(FileProblem) -> OpenFile {
        try directory.open(older(number), for: .reading, FileRules(.anyone))
    }

    // MARK: Rotating

    /// Renames the locked file and the older ones, so that the next one starts empty.
    private mutating func rotate(_ directory: Folder) throws(StorageFailure) {
        defer { leave() }
        // A rotation that failed halfway leaves a gap; files after the gap have moved already, and renaming over them
        // would lose them.
        let gap = olderFiles(directory) + 1
        for number in stride(from: gap, to: 0, by: -1) {
            do throws(FileProblem) {
                try directory.rename(older(number - 1), to: older(number))
            } catch {
                // There are fewer files so far.
                if !error.isMissing { throw failure(error, "renaming it") }
            }
        }
        rotations += 1
    }

    /// Removes old files above the limit; each gets a line in the next file.
    private mutating func removeOld(_ directory: Folder) {
        var records: [UInt8] = []
        var number = olderFiles(directory)
        while number > settings.keep, isOld(number, directory) {
            let size = fileInfo(number, directory)?.size ?? 0
            let from = startTime(number, directory).map { TimeText.print($0) }
            let to = TimeText.print(endTime(number, directory))
            let link = AuditChain.lastLink(tail(number, directory)).map { String(decoding: $0, as: UTF8.self) }
            // Tried again at the next rotation.
            guard (try? directory.remove(older(number))) != nil else { break }
            let path = "\(path).\(number)"
            var fields: [(String, JSON)] = [("file", .string(path)), ("bytes", .int(size))]
            if let from { fields.append(("from", .string(from))) }
            fields.append(("to", .string(to)))
            if let link { fields.append(("last", .string(link))) }
            records += AuditFormat.line("dropped", fields, at: time.wall)
            losses.append(.dropped(path: path, bytes: size, from: from, to: to))
            dropped += size
            hasReportedFull = false
            number -= 1
        }
        let added = Self.split(records)
        lossRecordSize = records.count + added.count * AuditChain.overhead
        lines.insert(contentsOf: added, at: 0)
        lineBytes += added.reduce(0) { $0 + $1.count }
    }

    /// Whether another file would exceed the ceiling and no file is old enough to remove.
    private func isFull(_ directory: Folder) -> Bool {
        let count = olderFiles(directory)
        let (size, isTooMuch) = settings.maximumSize.multipliedReportingOverflow(by: count + 2)
        guard isTooMuch || size > ceiling, count > 0 else { return false }
        return !isOld(count, directory)
    }

    /// Drops the lines, because no file is old enough to remove.
    private mutating func dropLines() {
        leftOut += lines.count
        if !hasReportedFull { losses.append(.full(path: path, lines: lines.count)) }
        hasReportedFull = true
        lines = []
        lineBytes = 0
        // The rest of a line that is in part in the file was among them.
        if partial > 0 { leave() }
    }

    /// The file name for a number; the current file has none.
    private func older(_ number: Int) -> String { number == 0 ? name : "\(name).\(number)" }

    /// The number of older files before the first gap.
    private func olderFiles(_ directory: Folder) -> Int {
        var count = 0
        while fileInfo(count + 1, directory) != nil { count += 1 }
        return count
    }

    func fileInfo(_ number: Int, _ directory: Folder) -> FileInfo? { try? directory.info(older(number)) }

    /// Whether it has reached the minimum age for removal.
    private func isOld(_ number: Int, _ directory: Folder) -> Bool {
        Duration.milliseconds(time.wall - endTime(number, directory)) >= settings.minimumAge
    }

    /// The latest possible time of its last line: the start of the next file. File times are unreliable after a copy or
    /// a restored backup.
    private func endTime(_ number: Int, _ directory: Folder) -> Int64 {
        if let next = startTime(number - 1, directory) { return next }
        // The current file may not exist yet.
        if number == 1, fileInfo(0, directory) == nil { return time.wall }
        return fileInfo(number, directory).map { $0.modified / 1_000_000 } ?? time.wall
    }

    /// The time of its first line.
    func startTime(_ number: Int, _ directory: Folder) -> Int64? {
        guard let bytes = try? open(number, directory).head(34) else { return nil }
        let head = String(decoding: bytes, as: UTF8.self)
        guard head.hasPrefix("{\"time\":\"") else { return nil }
        return TimeText.parse(String(head.dropFirst(9).prefix { $0 != "\"" }))
    }

    // MARK: Opening

    /// Rejects a location where other users can forge entries, if the settings are strict.
    private mutating func validateLocation() throws(StorageFailure) {
        exposure = FileTrust.objection(to: path)
        guard settings.isStrict, let exposure else { return }
        throw StorageFailure(
            "others can write where the audit is", sentence: "the audit is not written to \(path): \(exposure)")
    }

    private mutating func openFile(_ directory: Folder) throws(StorageFailure) -> OpenFile {
        if let current { return current.file }
        // It can differ from the file that was validated by its path.
        let rules = FileRules(settings.isStrict ? .userOrRoot : .anyone)
        let file = try attempt("opening it", try directory.open(name, for: .appending, rules))
        current = (file, Int(clamping: file.info.size))
        return file
    }

    // MARK: Errors

    private func attempt<Result>(
        _ what: String?, _ body: @autoclosure () throws(FileProblem) -> Result
    ) throws(StorageFailure) -> Result {
        do throws(FileProblem) {
            return try body()
        } catch {
            throw failure(error, what)
        }
    }

    /// - Parameter operation: The failed operation, if it is not the problem's own.
    private func failure(_ problem: FileProblem, _ operation: String? = nil) -> StorageFailure {
        switch problem.fault {
        case .kind(let kind):
            let what = kind == .directory ? "a directory" : kind == .link ? "a symbolic link" : "not a regular file"
            return StorageFailure(
                "\(path) is \(what)",
                sentence: "the audit is not written: \(path) is \(what); name a file in TWEAKS_AUDIT, or move that away"
            )
        case .owner:
            return StorageFailure(
                "others can write where the audit is",
                sentence: "the audit is not written to \(path): \(problem.reason); name another file")
        default:
            let remedy = problem.isMissing ? "make the directory \(folder)" : problem.error?.remedy("TWEAKS_AUDIT")
            let reason = "\(problem.reason) (\(operation ?? problem.operation))"
            return StorageFailure(
                reason, sentence: "the audit is not written to \(path): \(reason); \(remedy ?? problem.remedy)")
        }
    }
}
