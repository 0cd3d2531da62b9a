// Writes the audit file, reopens it after it was moved, and rotates it when it is full.

import Tweaks
import TweaksSystem

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
    private var open: (file: OpenFile, size: Int)?
    /// The bytes of loss records at its start. A file with nothing else is not full.
    private var lossRecordSize = 0
    private var losses: [AuditLoss] = []
    var rotations = 0
    /// Why other users could have written the file; nil if they could not.
    private(set) var exposure: String?

    init(
        _ path: String, _ settings: AuditSettings, ceiling: Int = .max, _ files: any FileSystem,
        _ time: any StorageTime
    ) {
        (self.path, self.settings, self.ceiling, self.files, self.time) = (path, settings, ceiling, files, time)
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        folder = slash == path.startIndex ? "/" : String(path[..<slash])
        name = String(path[slash...].drop { $0 == "/" })
    }

    /// Writes lines, and removes the written ones.
    mutating func write(_ lines: inout AuditLineBuffer) throws(StorageFailure) {
        let directory = try attempt(nil, try Folder(folder, files))
        reopenIfMoved(directory, &lines)
        try validateLocation()
        let isNew = open == nil
        // A killed process or a full disk can leave an incomplete line.
        if try openFile(directory) > 0, isNew, endsMidLine(directory) { lines.prepend([UInt8(ascii: "\n")]) }
        while !lines.isEmpty {
            let size = try openFile(directory)
            let chunk = lines.next(upTo: settings.maximumSize - size)
            if size > lossRecordSize, size + chunk.count > settings.maximumSize {
                lines.backToLine()
                if isFull(directory) { return losses.append(.lines(lines.dropRest(), path: path)) }
                let dropped = try rotate(directory)
                let notice = dropped.flatMap { $0.line(at: time.wall) }
                lines.prepend(notice)
                lossRecordSize = notice.count
                losses += dropped
                continue
            }
            guard let file = open?.file else { continue }
            let count = try attempt("writing it", try file.writeSome(chunk))
            lines.wrote(count)
            open?.size += count
        }
    }

    /// Returns and clears the losses for lack of space; they are not retried.
    mutating func takeLosses() -> [AuditLoss] {
        defer { losses = [] }
        return losses
    }

    mutating func close() { (open, lossRecordSize) = (nil, 0) }

    /// Locks the open file until it is closed.
    /// - Returns: Whether it still has its name.
    func lock(_ directory: Folder) throws(StorageFailure) -> Bool {
        guard let file = open?.file else { return false }
        do throws(FileError) {
            try files.retrying(try files.lock(file.descriptor))
        } catch {
            // Not all file systems support locks.
            if error.isLocked { throw failure(FileProblem(path, "another process renames it", .failed(error))) }
        }
        do throws(FileProblem) {
            return try directory.info(name).isSameFile(as: file.info)
        } catch {
            if error.isMissing { return false }
            throw failure(error, "renaming it")
        }
    }

    // MARK: Opening

    /// Closes a file that was moved away or replaced.
    private mutating func reopenIfMoved(_ directory: Folder, _ lines: inout AuditLineBuffer) {
        guard let open else { return }
        if let info = try? directory.info(name), info.isSameFile(as: open.file.info) {
            // Another program may have truncated it, as `copytruncate` does.
            if info.size < open.size { lines.backToLine() }
            self.open?.size = Int(info.size)
        } else {
            close()
            lines.backToLine()
        }
    }

    /// Rejects a location where other users can forge entries, if the settings are strict.
    private mutating func validateLocation() throws(StorageFailure) {
        exposure = FileTrust.objection(to: path)
        guard settings.isStrict, let exposure else { return }
        throw StorageFailure(
            "others can write where the audit is", sentence: "the audit is not written to \(path): \(exposure)")
    }

    /// - Returns: Its size.
    private mutating func openFile(_ directory: Folder) throws(StorageFailure) -> Int {
        if let open { return open.size }
        // It can differ from the file that was validated by its path.
        let rules = FileRules(settings.isStrict ? .userOrRoot : .anyone)
        let file = try attempt("opening it", try directory.open(name, for: .appending, rules))
        open = (file, Int(file.info.size))
        return Int(file.info.size)
    }

    /// Whether its last line is incomplete.
    private func endsMidLine(_ directory: Folder) -> Bool {
        let file = try? directory.open(name, for: .reading, FileRules(.anyone))
        return (try? file?.tail(1))?.last.map { $0 != UInt8(ascii: "\n") } ?? false
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
