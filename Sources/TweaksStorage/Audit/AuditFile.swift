// The audit's file: opened anew when somebody moved it away, and changed for an empty one when it is full.

import Tweaks

/// The file. Belongs to the audit's thread.
struct AuditFile {
    let settings: AuditSettings
    /// All files together never have more bytes than this.
    let ceiling: Int
    let files: any FileSystem
    let time: any StorageTime
    let path: String
    let name: String
    private let folder: String
    /// The file as it was opened, and how large it is by now.
    private var open: (descriptor: Int32, facts: FileFacts, size: Int)?
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
        let directory = try doing("opening the directory") { () throws(FileError) in try files.openDirectory(folder) }
        defer { files.close(directory) }
        try look(directory, &lines)
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
            guard let descriptor = open?.descriptor else { continue }
            let count = try doing("writing it") { () throws(FileError) in
                try files.writeSome(chunk, to: descriptor)
            }
            lines.wrote(count)
            open?.size += count
        }
    }

    /// What had to go, or could not be written, for want of room; none of it is tried again.
    mutating func takeLosses() -> [AuditLoss] {
        defer { losses = [] }
        return losses
    }

    mutating func close() {
        if let open {
            files.unlock(open.descriptor)
            files.close(open.descriptor)
        }
        (open, head) = (nil, 0)
    }

    /// Takes the lock of the file that is open, until it is closed.
    /// - Returns: Whether it still has the name.
    func lock(_ directory: Int32) throws(StorageFailure) -> Bool {
        guard let open else { return false }
        do throws(FileError) {
            try files.retrying { () throws(FileError) in try files.lock(open.descriptor) }
        } catch {
            // Not all file systems have locks.
            if error.isHeld { throw failure(error, "another process renames it") }
        }
        do throws(FileError) {
            return try files.retrying { () throws(FileError) in try files.facts(name, in: directory) }
                .isSameFile(as: open.facts)
        } catch {
            if error.isMissing { return false }
            throw failure(error, "renaming it")
        }
    }

    // MARK: Opening

    /// Lets go of a file that was moved away or replaced, and refuses what is none.
    private mutating func look(_ directory: Int32, _ lines: inout AuditLines) throws(StorageFailure) {
        let facts = try? files.facts(name, in: directory)
        if let facts { try check(facts) }
        guard let open else { return }
        if let facts, facts.isSameFile(as: open.facts) {
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

    /// The file that is open may be another one than the one that was judged by its path.
    private func judge(_ facts: FileFacts) throws(StorageFailure) {
        guard settings.isStrict, !FileTrust.isTrusted(facts.owner) else { return }
        throw StorageFailure(
            "others can write where the audit is",
            sentence: "the audit is not written to \(path): it belongs to uid \(facts.owner); name another file")
    }

    /// - Returns: How large it is.
    private mutating func openFile(_ directory: Int32) throws(StorageFailure) -> Int {
        if let open { return open.size }
        let descriptor = try doing("opening it") { () throws(FileError) in
            try files.open(name, in: directory, for: .appending)
        }
        do throws(StorageFailure) {
            let facts = try doing("opening it") { () throws(FileError) in try files.facts(descriptor) }
            try check(facts)
            try judge(facts)
            open = (descriptor, facts, Int(facts.size))
            return Int(facts.size)
        } catch {
            files.close(descriptor)
            throw error
        }
    }

    /// Whether its last line has no end.
    private func isTorn(_ directory: Int32) -> Bool {
        do throws(FileError) {
            let descriptor = try files.open(name, in: directory, for: .reading)
            defer { files.close(descriptor) }
            return try files.lastByte(descriptor).map { $0 != UInt8(ascii: "\n") } ?? false
        } catch {
            return false
        }
    }

    private func check(_ facts: FileFacts) throws(StorageFailure) {
        let what: String
        switch facts.kind {
        case .regular: return
        case .directory: what = "a directory"
        case .link: what = "a symbolic link"
        case .other: what = "no regular file"
        }
        throw StorageFailure(
            "\(path) is \(what)",
            sentence:
                "the audit is not written: \(path) is \(what); name a file in TWEAKS_AUDIT, or move that "
                + "away")
    }

    // MARK: Failing

    func doing<Result>(
        _ what: String, _ body: () throws(FileError) -> Result
    ) throws(StorageFailure) -> Result {
        do throws(FileError) {
            return try files.retrying(body)
        } catch {
            throw failure(error, what)
        }
    }

    func failure(_ error: FileError, _ doing: String) -> StorageFailure {
        let remedy = error.isMissing ? "make the directory \(folder)" : error.remedy("TWEAKS_AUDIT")
        return StorageFailure(
            "\(error.text) (\(doing))",
            sentence: "the audit is not written to \(path): \(error.text) (\(doing)); \(remedy)")
    }
}
