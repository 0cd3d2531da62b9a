// The audit's file: opened anew when somebody moved it away, and changed for an empty one when it is full.

import Tweaks

/// Where the audit is written, and how much is kept.
package struct AuditSettings: Sendable {
    /// An absolute path.
    package let path: String
    /// A file that would become larger is renamed first; in bytes.
    package let maximumSize: Int
    /// How many older files are kept.
    package let keep: Int

    package init(path: String, maximumSize: Int = 10_485_760, keep: Int = 5) {
        (self.path, self.maximumSize, self.keep) = (path, max(1, maximumSize), max(0, keep))
    }
}

/// Lines that are not written yet, in order.
struct AuditLines {
    private(set) var bytes: [UInt8] = []
    /// Up to here they are in a file.
    private var position = 0

    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    var isEmpty: Bool { position == bytes.count }

    /// As many whole lines as fit, but one at least.
    func next(upTo size: Int) -> ArraySlice<UInt8> {
        let rest = bytes[position...]
        if rest.count <= size { return rest }
        let newline = UInt8(ascii: "\n")
        if let last = rest.prefix(max(0, size)).lastIndex(of: newline) { return rest[...last] }
        return rest.firstIndex(of: newline).map { rest[...$0] } ?? rest
    }

    mutating func wrote(_ count: Int) { position += count }

    /// Another file gets the line from its beginning, of which the one before has a part.
    mutating func backToLine() {
        let newline = UInt8(ascii: "\n")
        position = bytes[..<position].lastIndex(of: newline).map { $0 + 1 } ?? 0
    }
}

/// The file. Belongs to the audit's thread.
struct AuditFile {
    let settings: AuditSettings
    private let files: any FileSystem
    private let folder: String
    private let name: String
    /// The file as it was opened, and how large it is by now.
    private var open: (descriptor: Int32, facts: FileFacts, size: Int)?
    private(set) var rotations = 0

    init(_ settings: AuditSettings, _ files: any FileSystem) {
        (self.settings, self.files) = (settings, files)
        let slash = settings.path.lastIndex(of: "/") ?? settings.path.startIndex
        folder = slash == settings.path.startIndex ? "/" : String(settings.path[..<slash])
        name = String(settings.path[slash...].drop { $0 == "/" })
    }

    /// Writes lines, and takes from them what was written.
    mutating func write(_ lines: inout AuditLines) throws(StorageFailure) {
        let directory = try doing("opening the directory") { () throws(FileError) in try files.openDirectory(folder) }
        defer { files.close(directory) }
        try look(directory, &lines)
        _ = try openFile(directory)
        while !lines.isEmpty {
            let size = try openFile(directory)
            let chunk = lines.next(upTo: settings.maximumSize - size)
            if size > 0, size + chunk.count > settings.maximumSize {
                try rotate(directory)
                lines.backToLine()
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

    mutating func close() {
        if let open { files.close(open.descriptor) }
        open = nil
    }

    // MARK: Opening

    /// Lets go of a file that was moved away or replaced, and refuses what is none.
    private mutating func look(_ directory: Int32, _ lines: inout AuditLines) throws(StorageFailure) {
        let facts = try? files.facts(name, in: directory)
        if let facts { try check(facts) }
        guard let open else { return }
        if let facts, facts.isSameFile(as: open.facts) {
            // Somebody may have emptied it, as `copytruncate` does.
            self.open?.size = Int(facts.size)
        } else {
            close()
            lines.backToLine()
        }
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
            open = (descriptor, facts, Int(facts.size))
            return Int(facts.size)
        } catch {
            files.close(descriptor)
            throw error
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
            "\(settings.path) is \(what)",
            sentence:
                "the audit is not written: \(settings.path) is \(what); name a file in TWEAKS_AUDIT, or move that "
                + "away")
    }

    // MARK: Rotating

    /// Renames the file, and those before it, so that the next one begins empty.
    private mutating func rotate(_ directory: Int32) throws(StorageFailure) {
        close()
        // After a rotation that failed half way there is a gap: what lies behind that has moved already, and would be lost.
        let places = settings.keep == 0 ? [] : Array(1...settings.keep)
        let last = places.first { isMissing("\(name).\($0)", directory) } ?? settings.keep
        for number in stride(from: last, to: 0, by: -1) {
            let older = number == 1 ? name : "\(name).\(number - 1)"
            do throws(FileError) {
                try files.retrying { () throws(FileError) in
                    try files.rename(older, to: "\(name).\(number)", in: directory)
                }
            } catch {
                // Not so many were filled yet.
                if !error.isMissing { throw failure(error, "renaming \(older)") }
            }
        }
        if settings.keep == 0 {
            try doing("removing the full one") { () throws(FileError) in try files.remove(name, in: directory) }
        }
        rotations += 1
    }

    private func isMissing(_ name: String, _ directory: Int32) -> Bool {
        do throws(FileError) {
            _ = try files.facts(name, in: directory)
            return false
        } catch {
            return error.isMissing
        }
    }

    // MARK: Failing

    private func doing<Result>(
        _ what: String, _ body: () throws(FileError) -> Result
    ) throws(StorageFailure) -> Result {
        do throws(FileError) {
            return try files.retrying(body)
        } catch {
            throw failure(error, what)
        }
    }

    private func failure(_ error: FileError, _ doing: String) -> StorageFailure {
        let remedy = error.isMissing ? "make the directory \(folder)" : error.remedy("TWEAKS_AUDIT")
        return StorageFailure(
            "\(error.text) (\(doing))",
            sentence: "the audit is not written to \(settings.path): \(error.text) (\(doing)); \(remedy)")
    }
}
