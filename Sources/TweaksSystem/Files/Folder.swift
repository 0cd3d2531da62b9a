// Opens, reads, appends to, replaces and locks files in a directory that other users may have tampered with.

/// An open directory; releasing it closes it. Symbolic links to files in it are followed only on request, and opening a
/// file never blocks.
package final class Folder: Sendable {
    package let path: String
    package let descriptor: Int32
    package let files: any FileSystem

    /// A folder whose names are whole paths; the directories on these paths are not validated.
    package static let anywhere = Folder("", AT_FDCWD, PosixFileSystem())

    private init(_ path: String, _ descriptor: Int32, _ files: any FileSystem) {
        self.path = path
        self.descriptor = descriptor
        self.files = files
    }

    deinit { if descriptor >= 0 { files.close(descriptor) } }

    // MARK: Directories

    /// Opens a directory; a symbolic link to it is followed.
    /// - Parameter creates: Creates the directory and its missing parents.
    package convenience init(
        _ path: String, _ files: any FileSystem = PosixFileSystem(), creates: Bool = false
    ) throws(FileProblem) {
        self.init(path, try Self.open(path, files, creates: creates), files)
    }

    private static func open(_ path: String, _ files: any FileSystem, creates: Bool) throws(FileProblem) -> Int32 {
        do throws(FileProblem) {
            return try files.attempt(opening, path, try files.openDirectory(path))
        } catch {
            guard creates, error.isPathMissing else { throw error }
        }
        try files.attempt("making the directory", path, try files.makeDirectories(path))
        return try open(path, files, creates: false)
    }

    /// Opens a file's directory.
    package static func of(_ path: String) throws(FileProblem) -> (folder: Folder, name: String) {
        let (directory, name) = split(path)
        return (try Folder(directory), name)
    }

    /// Splits a path into its directory and its last component.
    package static func split(_ path: String) -> (directory: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let name = String(path[path.utf8.index(after: slash)...])
        return (slash == path.startIndex ? "/" : String(path[..<slash]), name)
    }

    /// Opens a subdirectory; a symbolic link is not followed.
    package func folder(_ name: String, creates: Bool = false) throws(FileProblem) -> Folder {
        do throws(FileProblem) {
            let number = try attempt(Self.opening, of: name, try files.openDirectory(name, in: descriptor))
            return Folder(path(of: name), number, files)
        } catch {
            // The error number is the one for a file that is not a directory.
            if (try? info(name))?.kind == .link { throw FileProblem(path(of: name), Self.opening, .kind(.link)) }
            guard creates, error.isMissing else { throw error }
        }
        do throws(FileProblem) {
            try attempt(Self.opening, of: name, try files.makeDirectory(name, in: descriptor))
        } catch {
            // Another process created it first.
            if !error.alreadyExists { throw error }
        }
        try flush()
        return try folder(name)
    }

    /// Rejects a directory in which other users can replace files.
    /// - Returns: The directory's metadata.
    @discardableResult
    package func validate(_ rules: FileRules = FileRules()) throws(FileProblem) -> FileInfo {
        let info = try attempt(Self.opening, try files.info(descriptor))
        if let fault = rules.fault(ofFolder: info) { throw FileProblem(path, Self.opening, fault) }
        return info
    }

    private static let opening = "opening the directory"

    /// Flushes the directory's entries to disk.
    package func flush() throws(FileProblem) {
        try attempt("flushing the directory", try files.sync(descriptor))
    }

    // MARK: Names

    /// The metadata of an entry; a symbolic link is not followed.
    package func info(_ name: String) throws(FileProblem) -> FileInfo {
        try attempt("looking at \(name)", of: name, try files.info(name, in: descriptor))
    }

    /// The names in it, unordered.
    package func names() throws(FileProblem) -> [String] {
        try attempt("reading the directory", try files.names(in: descriptor))
    }

    /// Renames a file; an existing file of the new name is replaced.
    package func rename(_ name: String, to newName: String) throws(FileProblem) {
        try attempt("renaming \(name)", of: name, try files.rename(name, to: newName, in: descriptor))
    }

    package func remove(_ name: String) throws(FileProblem) {
        try attempt("removing \(name)", of: name, try files.remove(name, in: descriptor))
    }

    // MARK: Files

    /// Opens and validates a file.
    package func open(
        _ name: String, for purpose: FilePurpose, _ rules: FileRules = FileRules()
    ) throws(FileProblem) -> OpenFile {
        let isWritten = [.creating, .locking, .appending].contains(purpose)
        let operation = "\(isWritten ? "writing" : "reading") \(name)"
        let number: Int32
        do throws(FileError) {
            number = try files.retrying(try files.open(name, in: descriptor, for: purpose))
        } catch {
            throw FileProblem(path(of: name), operation, Self.fault(error, purpose))
        }
        let info: FileInfo
        do throws(FileProblem) {
            info = try attempt(operation, of: name, try files.info(number))
        } catch {
            files.close(number)
            throw error
        }
        let file = OpenFile(number, info, path: path(of: name), name: name, files)
        if let fault = rules.fault(info) { throw FileProblem(path(of: name), operation, fault) }
        return file
    }

    /// The fault of a failed open; some error numbers mean the wrong file type.
    private static func fault(_ error: FileError, _ purpose: FilePurpose) -> FileProblem.Fault {
        switch error.code {
        case ELOOP where purpose != .readingThroughLinks: .kind(.link)
        case EISDIR: .kind(.directory)
        case ENXIO: .kind(.other)
        default: .failed(error)
        }
    }

    /// Reads a whole file; nil if it does not exist.
    package func content(
        of name: String, limit: Int, _ rules: FileRules = FileRules()
    ) throws(FileProblem) -> (info: FileInfo, bytes: [UInt8])? {
        do throws(FileProblem) {
            let file = try open(name, for: .reading, rules)
            return (file.info, try file.content(limit: limit))
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    /// Acquires the lock of a file; releasing the result unlocks it.
    /// - Parameter waits: Waits for another holder; otherwise that is an error, `isLocked`.
    package func lock(
        _ name: String, for purpose: FilePurpose = .locking, _ rules: FileRules = FileRules(), waits: Bool = false
    ) throws(FileProblem) -> OpenFile {
        for _ in 0..<Self.maxRounds {
            let file = try open(name, for: purpose, rules)
            try attempt(
                "locking \(name)", of: name,
                waits ? try files.waitForLock(file.descriptor) : try files.lock(file.descriptor))
            do throws(FileProblem) {
                if try info(name).isSameFile(as: file.info) { return file }
            } catch {
                if !error.isMissing { throw error }
            }
            // Its last holder removed or replaced the file between our calls: the locked file is no longer the one with
            // this name.
        }
        throw FileProblem(path(of: name), "locking \(name)", .failed(FileError(ESTALE)))
    }

    /// How often a lock file is opened that is replaced meanwhile, as always on a file system whose files have no fixed
    /// numbers.
    private static let maxRounds = 100

    // MARK: Replacing

    /// Replaces a file atomically: a crash leaves either the old file or the new one.
    /// - Parameters:
    ///   - temporary: The name of the new file until it replaces the old one.
    ///   - prepare: Receives the new file while it is empty.
    ///   - isFilled: Receives the new file when all bytes are written but not flushed.
    ///   - isWritten: Receives the new file's metadata. From then on either file can be in place, even if a later step
    ///     fails.
    package func replace(
        _ name: String, with bytes: [UInt8], temporary: String? = nil,
        prepare: (_ descriptor: Int32) throws(FileProblem) -> Void = { _ in },
        isFilled: (_ descriptor: Int32) -> Void = { _ in }, isWritten: (FileInfo) -> Void = { _ in }
    ) throws(FileProblem) {
        let temporary = temporary ?? ".\(name).\(ThisProcess.id).tmp"
        do throws(FileProblem) {
            let new = try attempt("writing \(name)", of: name, try create(temporary))
            defer { files.close(new) }
            try prepare(new)
            try attempt("writing \(name)", of: name, try files.writeAll(bytes, to: new))
            isFilled(new)
            try attempt("flushing \(name)", of: name, try files.sync(new))
            isWritten(try attempt("flushing \(name)", of: name, try files.info(new)))
            try attempt("replacing \(name)", of: name, try files.rename(temporary, to: name, in: descriptor))
        } catch {
            try? files.remove(temporary, in: descriptor)
            throw error
        }
    }

    private func create(_ name: String) throws(FileError) -> Int32 {
        do throws(FileError) {
            return try files.open(name, in: descriptor, for: .creating)
        } catch {
            guard error.alreadyExists else { throw error }
        }
        // Also left behind by an attempt that could not remove it.
        try files.remove(name, in: descriptor)
        return try files.open(name, in: descriptor, for: .creating)
    }

    /// Replaces a file with one that only this user can read, and flushes the directory if possible.
    package static func replace(_ path: String, with text: String) throws(FileProblem) {
        let (folder, name) = try of(path)
        try folder.replace(name, with: Array(text.utf8))
        try? folder.flush()
    }

    // MARK: Errors

    private func path(of name: String) -> String {
        switch path {
        case "": name
        case "/": "/\(name)"
        default: "\(path)/\(name)"
        }
    }

    private func attempt<Result>(
        _ operation: String, of name: String? = nil, _ body: @autoclosure () throws(FileError) -> Result
    ) throws(FileProblem) -> Result {
        try files.attempt(operation, name.map(path(of:)) ?? path, try body())
    }
}

/// An open file that was validated when it was opened. Releasing it unlocks and closes it.
package final class OpenFile: Sendable {
    package let descriptor: Int32
    /// Its metadata when it was opened.
    package let info: FileInfo
    private let path: String
    private let name: String
    private let files: any FileSystem

    init(_ descriptor: Int32, _ info: FileInfo, path: String, name: String, _ files: any FileSystem) {
        self.descriptor = descriptor
        self.info = info
        self.path = path
        self.name = name
        self.files = files
    }

    deinit {
        // Closing alone does not release the lock while another thread starts a child process.
        files.unlock(descriptor)
        files.close(descriptor)
    }

    /// All bytes.
    package func content(limit: Int) throws(FileProblem) -> [UInt8] {
        let bytes = info.size > Int64(limit) ? nil : try head(limit + 1)
        if let bytes, bytes.count <= limit { return bytes }
        throw FileProblem(path, "reading \(name)", .size(info.size, limit: limit))
    }

    /// The first bytes.
    package func head(_ limit: Int) throws(FileProblem) -> [UInt8] {
        try attempt("reading", try files.readAll(descriptor, limit: limit, expecting: info.size))
    }

    /// The last bytes.
    package func tail(_ limit: Int) throws(FileProblem) -> [UInt8] {
        try slice(from: max(0, info.size - Int64(limit)), limit)
    }

    /// Some bytes from a position on; fewer at the end.
    package func slice(from position: Int64, _ limit: Int) throws(FileProblem) -> [UInt8] {
        try attempt("reading", try files.seek(descriptor, to: position))
        return try head(limit)
    }

    /// Writes all bytes.
    package func write(_ bytes: [UInt8]) throws(FileProblem) {
        try attempt("writing", try files.writeAll(bytes, to: descriptor))
    }

    /// Writes as many bytes as one call accepts, at least one.
    package func writeSome(_ bytes: ArraySlice<UInt8>) throws(FileProblem) -> Int {
        try attempt("writing", try files.writeSome(bytes, to: descriptor))
    }

    /// Flushes the written data to disk.
    package func flush() throws(FileProblem) { try attempt("flushing", try files.sync(descriptor)) }

    private func attempt<Result>(
        _ operation: String, _ body: @autoclosure () throws(FileError) -> Result
    ) throws(FileProblem) -> Result {
        try files.attempt("\(operation) \(name)", path, try body())
    }
}
