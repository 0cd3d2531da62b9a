// The audit's file: opened anew when somebody moved it away, and changed for an empty one when it is full.

import Tweaks
import TweaksSystem

/// The file. Belongs to the audit's thread.
struct AuditFile {
    let settings: AuditSettings
    /// All files together never have more bytes than this.
    let ceiling: Int
    let files: any FileSystem
    let time: any StorageTime
    let path: String
    let name: String
    let folder: String
    /// The file as it was opened, and how large it is by now.
    private var open: (file: OpenFile, size: Int)?
    /// What stands at its beginning about files that are gone. One that holds no more than that is not full.
    private var head = 0
    private var losses: [AuditLoss] = []
    var rotations = 0
    /// Why others than this process could have written what is there; nil when they could not.
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

    /// Writes lines, and takes from them what was written.
    mutating func write(_ lines: inout AuditLines) throws(StorageFailure) {
        let directory = try doing(nil, try Folder(folder, files))
        look(directory, &lines)
        try judge()
        let isNew = open == nil
        // A process that was killed, or had no more room, may have left half a line there.
        if try openFile(directory) > 0, isNew, isTorn(directory) { lines.prepend([UInt8(ascii: "\n")]) }
        while !lines.isEmpty {
            let size = try openFile(directory)
            let chunk = lines.next(upTo: settings.maximumSize - size)
            if size > head, size + chunk.count > settings.maximumSize {
                lines.backToLine()
                if isFull(directory) { return losses.append(.lines(lines.dropRest(), path: path)) }
                let dropped = try rotate(directory)
                let notice = dropped.flatMap { $0.line(at: time.wall) }
                lines.prepend(notice)
                head = notice.count
                losses += dropped
                continue
            }
            guard let file = open?.file else { continue }
            let count = try doing("writing it", try file.writeSome(chunk))
            lines.wrote(count)
            open?.size += count
        }
    }

    /// What had to go, or could not be written, for want of room; none of it is tried again.
    mutating func takeLosses() -> [AuditLoss] {
        defer { losses = [] }
        return losses
    }

    mutating func close() { (open, head) = (nil, 0) }

    /// Takes the lock of the file that is open, until it is closed.
    /// - Returns: Whether it still has the name.
    func lock(_ directory: Folder) throws(StorageFailure) -> Bool {
        guard let file = open?.file else { return false }
        do throws(FileError) {
            try files.retrying(try files.lock(file.descriptor))
        } catch {
            // Not all file systems have locks.
            if error.isHeld { throw failure(FileProblem(path, "another process renames it", .failed(error))) }
        }
        do throws(FileProblem) {
            return try directory.facts(name).isSameFile(as: file.facts)
        } catch {
            if error.isMissing { return false }
            throw failure(error, "renaming it")
        }
    }

    // MARK: Opening

    /// Lets go of a file that was moved away or replaced.
    private mutating func look(_ directory: Folder, _ lines: inout AuditLines) {
        guard let open else { return }
        if let facts = try? directory.facts(name), facts.isSameFile(as: open.file.facts) {
            // Somebody may have emptied it, as `copytruncate` does.
            if facts.size < open.size { lines.backToLine() }
            self.open?.size = Int(facts.size)
        } else {
            close()
            lines.backToLine()
        }
    }

    /// Others must not be able to write evidence.
    private mutating func judge() throws(StorageFailure) {
        exposure = FileTrust.objection(to: path)
        guard settings.isStrict, let exposure else { return }
        throw StorageFailure(
            "others can write where the audit is", sentence: "the audit is not written to \(path): \(exposure)")
    }

    /// - Returns: How large it is.
    private mutating func openFile(_ directory: Folder) throws(StorageFailure) -> Int {
        if let open { return open.size }
        // It may be another one than the one that was judged by its path.
        let rules = FileRules(settings.isStrict ? .userOrRoot : .anyone)
        let file = try doing("opening it", try directory.open(name, for: .appending, rules))
        open = (file, Int(file.facts.size))
        return Int(file.facts.size)
    }

    /// Whether its last line has no end.
    private func isTorn(_ directory: Folder) -> Bool {
        let file = try? directory.open(name, for: .reading, FileRules(.anyone))
        return (try? file?.tail(1))?.last.map { $0 != UInt8(ascii: "\n") } ?? false
    }

    // MARK: Failing

    private func doing<Result>(
        _ what: String?, _ body: @autoclosure () throws(FileProblem) -> Result
    ) throws(StorageFailure) -> Result {
        do throws(FileProblem) {
            return try body()
        } catch {
            throw failure(error, what)
        }
    }

    /// - Parameter doing: What was to be done, where that is not the file's name.
    func failure(_ problem: FileProblem, _ doing: String? = nil) -> StorageFailure {
        switch problem.fault {
        case .kind(let kind):
            let what = kind == .directory ? "a directory" : kind == .link ? "a symbolic link" : "no regular file"
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
            let reason = "\(problem.reason) (\(doing ?? problem.doing))"
            return StorageFailure(
                reason, sentence: "the audit is not written to \(path): \(reason); \(remedy ?? problem.remedy)")
        }
    }
}
