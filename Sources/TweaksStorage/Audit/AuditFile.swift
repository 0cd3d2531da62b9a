// Writes the audit file with the links of its lines, reopens it after it was moved, and rotates it when it is full.

import Tweaks
import TweaksSystem
import TweaksWire

/// The audit file. Used on the audit thread only.
struct AuditFile {
    let settings: AuditSettings
    /// The maximum bytes of all files together.
    let ceiling: Int
    let files: any FileSystem
    let time: any StorageTime
    let path: String
    let name: String
    let folder: String
    /// The open file and its current size.
    private var current: (file: OpenFile, size: Int)?
    private var fileLock: AuditFileLock
    /// The bytes of loss records at its start. A file with nothing else is not full.
    private var lossRecordSize = 0
    private var losses: [AuditLoss] = []
    var rotations = 0
    /// The link of the last line that was written or found.
    var head: [UInt8]?
    /// Whether no line of the open file has a link.
    var needsAfter = true
    /// How much of the next line is in the file.
    private var partial = 0
    /// Why other users could have written the file; nil if they could not.
    private(set) var exposure: String?
    /// Receives each line that is in the file, without its line feed.
    var onLine: (ArraySlice<UInt8>) -> Void = { _ in }

    /// How often a file is opened that is replaced meanwhile.
    private static let maxRounds = 100

    init(
        _ path: String, _ settings: AuditSettings, ceiling: Int = .max, _ files: any FileSystem,
        _ time: any StorageTime
    ) {
        (self.path, self.settings, self.ceiling, self.files, self.time) = (path, settings, ceiling, files, time)
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        folder = slash == path.startIndex ? "/" : String(path[..<slash])
        name = String(path[slash...].drop { $0 == "/" })
        fileLock = AuditFileLock(path, name, isStrict: settings.isStrict, files, time)
    }

    /// Opens the file and finds out where it ends, so that problems are found early.
    mutating func open() throws(StorageFailure) {
        let directory = try attempt(nil, try Folder(folder, files))
        try validateLocation()
        defer { fileLock.unlock() }
        try enter(directory)
    }

    /// Writes lines with their links, and removes the written ones.
    mutating func write(_ lines: inout AuditLineBuffer) throws(StorageFailure) {
        let directory = try attempt(nil, try Folder(folder, files))
        try validateLocation()
        defer { fileLock.unlock() }
        while !lines.isEmpty {
            try enter(directory)
            let size = current?.size ?? 0
            let chunk = lines.next(upTo: settings.maximumSize - size)
            if size > lossRecordSize, size + AuditLineBuffer.size(of: chunk) > settings.maximumSize {
                if isFull(directory) { return losses.append(.lines(lines.dropAll(), path: path)) }
                let dropped = try rotate(directory)
                lines.prepend(dropped.flatMap { $0.line(at: time.wall) })
                lossRecordSize = dropped.reduce(0) { $0 + $1.line(at: time.wall).count + AuditChain.overhead }
                losses += dropped
                continue
            }
            try append(chunk, of: &lines)
        }
    }

    /// Appends lines in as few calls as possible, and removes those that are in the file.
    private mutating func append(
        _ chunk: ArraySlice<[UInt8]>, of lines: inout AuditLineBuffer
    ) throws(StorageFailure) {
        guard let file = current?.file else { return }
        var (bytes, ends, link): ([UInt8], [(end: Int, link: [UInt8])], [UInt8]) = ([], [], head ?? AuditChain.start)
        for line in chunk {
            AuditChain.append(line[...], after: &link, isFirst: needsAfter && ends.isEmpty, to: &bytes)
            ends.append((bytes.count, link))
        }
        var (start, written) = (0, partial)
        for (end, link) in ends {
            while written < end {
                let count = try attempt("writing it", try file.writeSome(bytes[written...]))
                written += count
                current?.size += count
                partial = written - start
            }
            head = link
            needsAfter = false
            lines.removeFirst()
            onLine(bytes[start..<(end - 1)])
            start = end
            partial = written - end
        }
    }

    /// Returns and clears the losses for lack of space; they are not retried.
    mutating func takeLosses() -> [AuditLoss] {
        defer { losses = [] }
        return losses
    }

    mutating func close() {
        fileLock.unlock()
        leave()
    }

    /// Closes the open file, but keeps the lock.
    mutating func leave() { (current, lossRecordSize, partial) = (nil, 0, 0) }

    // MARK: Sharing

    /// Opens the file of the name, locks it, and finds out where it ends: other processes may write to it.
    private mutating func enter(_ directory: Folder) throws(StorageFailure) {
        for _ in 0..<Self.maxRounds {
            let isNew = current == nil
            let file = try openFile(directory)
            // Another process may have renamed it or the lock meanwhile.
            guard try fileLock.lock(orElse: file, directory), let info = try? directory.info(name),
                info.isSameFile(as: file.info)
            else {
                leave()
                continue
            }
            if !isNew, let size = current?.size, info.size == Int64(size) { return }
            current?.size = Int(clamping: info.size)
            partial = 0
            try catchUp(directory)
            return
        }
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

    /// The last bytes of the current file or an older one, more than the longest line.
    func tail(_ number: Int, _ directory: Folder, _ size: Int = tailSize) -> [UInt8] {
        let file = try? directory.open(older(number), for: .reading, FileRules(.anyone))
        return (try? file?.tail(size)) ?? []
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
    func failure(_ problem: FileProblem, _ operation: String? = nil) -> StorageFailure {
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
