// Declares the file operations that the package uses, so that tests can make each fail, and implements them.

/// The file system. Names are relative to an open directory, and symbolic links in that place are never followed.
///
/// No operation retries: an interrupted call fails, and a write can be partial. Callers must continue.
package protocol FileSystem: Sendable {
    /// Creates one directory that only its owner can access.
    func makeDirectory(_ path: String) throws(FileError)
    /// Opens a directory. Links are followed here, because service managers use them.
    func openDirectory(_ path: String) throws(FileError) -> Int32
    /// Creates a subdirectory that only its owner can access.
    func makeDirectory(_ name: String, in directory: Int32) throws(FileError)
    /// Opens a subdirectory.
    func openDirectory(_ name: String, in directory: Int32) throws(FileError) -> Int32
    /// The names in a directory, unordered.
    func names(in directory: Int32) throws(FileError) -> [String]

    /// The metadata of the file at a path, with links followed.
    func info(path: String) throws(FileError) -> FileInfo
    /// The metadata of an open descriptor.
    func info(_ descriptor: Int32) throws(FileError) -> FileInfo
    /// The metadata of a directory entry; a link is not followed.
    func info(_ name: String, in directory: Int32) throws(FileError) -> FileInfo

    /// Opens a file.
    func open(_ name: String, in directory: Int32, for purpose: FilePurpose) throws(FileError) -> Int32
    /// Reads some bytes; returns 0 at the end.
    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int
    /// Sets the position of the next read.
    func seek(_ descriptor: Int32, to position: Int64) throws(FileError)
    /// Writes some of the bytes and returns their number.
    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(FileError) -> Int
    /// Truncates a file to length 0.
    func empty(_ descriptor: Int32) throws(FileError)
    /// Starts writing a file's data to disk, where the system can. Does not wait and gives no guarantee.
    func beginSync(_ descriptor: Int32)
    /// Flushes a file's data, or a directory's entries, to disk.
    func sync(_ descriptor: Int32) throws(FileError)
    func close(_ descriptor: Int32)
    /// Acquires an advisory lock, or fails at once.
    func lock(_ descriptor: Int32) throws(FileError)
    /// Releases the lock. Closing the file is not enough while another thread starts a child process.
    func unlock(_ descriptor: Int32)

    /// Renames a file; an existing file of the new name is replaced.
    func rename(_ name: String, to newName: String, in directory: Int32) throws(FileError)
    func remove(_ name: String, in directory: Int32) throws(FileError)
}

/// The purpose for which a file is opened.
package enum FilePurpose: Sendable {
    /// Reading; does not block.
    case reading
    /// Writing a new file that only its owner can access; fails if the name exists.
    case creating
    /// Locking; creates the file if it is missing.
    case locking
    /// Appending; creates the file if it is missing; does not block.
    case appending
    /// Reading; creates the file if it is missing; does not block.
    case readingOrCreating
    /// Reading; a symbolic link at this name is followed.
    case readingThroughLinks
}

extension FileSystem {
    /// Repeats a call that a signal interrupted.
    package func retrying<Result>(
        _ body: @autoclosure () throws(FileError) -> Result
    ) throws(FileError) -> Result {
        while true {
            do throws(FileError) {
                return try body()
            } catch {
                if !error.isInterruption { throw error }
            }
        }
    }

    /// Runs a call, again if a signal interrupts it. Its error names the operation and the path.
    func attempt<Result>(
        _ operation: String, _ path: String, _ body: @autoclosure () throws(FileError) -> Result
    ) throws(FileProblem) -> Result {
        do throws(FileError) {
            return try retrying(try body())
        } catch {
            throw FileProblem(path, operation, .failed(error))
        }
    }

    /// Writes all bytes.
    package func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            rest = rest.dropFirst(try writeSome(rest, to: descriptor))
        }
    }

    /// Writes as many bytes as one call accepts, at least one.
    package func writeSome(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) throws(FileError) -> Int {
        let count = try retrying(
            try bytes.withUnsafeBytes { buffer in
                Result { () throws(FileError) in try self.write(descriptor, buffer) }
            }.get())
        // Retrying a write of zero bytes without an error would never end.
        if count <= 0 { throw .noProgress }
        return count
    }

    /// Reads to the end of the file or to the limit.
    /// - Parameter size: The expected size; a buffer of this size reaches the end without growing.
    package func readAll(_ descriptor: Int32, limit: Int, expecting size: Int64) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        var room = Int(clamping: size + 1_024)
        while bytes.count < limit {
            var chunk = [UInt8](repeating: 0, count: min(limit - bytes.count, room))
            room = 65_536
            let count = try retrying(
                try chunk.withUnsafeMutableBytes { buffer in
                    Result { () throws(FileError) in try self.read(descriptor, into: buffer) }
                }.get())
            if count <= 0 { break }
            chunk.removeLast(chunk.count - count)
            bytes = bytes.isEmpty ? chunk : bytes + chunk
        }
        return bytes
    }

    /// Waits for an advisory lock.
    package func waitForLock(_ descriptor: Int32) throws(FileError) {
        if flock(descriptor, LOCK_EX) != 0 { throw FileError(errno) }
    }

    // MARK: Directories

    /// Creates a directory and its missing parents.
    package func makeDirectories(_ path: String) throws(FileError) {
        do throws(FileError) {
            try makeDirectory(path)
        } catch {
            if (try? info(path: path))?.kind == .directory { return }
            guard error.isMissing, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { throw error }
            try makeDirectories(String(path[..<slash]))
            try makeDirectory(path)
        }
        syncParent(of: path)
    }

    /// Flushes the new directory entry to disk; if that fails, the first write reports the error.
    private func syncParent(of path: String) {
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard let descriptor = try? openDirectory(parent) else { return }
        try? sync(descriptor)
        close(descriptor)
    }
}

/// The operating system's file system.
package struct PosixFileSystem: FileSystem {
    package init() {}

    package func makeDirectory(_ path: String) throws(FileError) { try check(mkdir(path, 0o700)) }

    package func openDirectory(_ path: String) throws(FileError) -> Int32 {
        try check(TweaksSystem.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    }

    package func makeDirectory(_ name: String, in directory: Int32) throws(FileError) {
        try check(mkdirat(directory, name, 0o700))
    }

    package func openDirectory(_ name: String, in directory: Int32) throws(FileError) -> Int32 {
        try check(openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC))
    }

    package func names(in directory: Int32) throws(FileError) -> [String] {
        // A separate open file description: reading a directory moves a position.
        let descriptor = try check(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        guard let stream = fdopendir(descriptor) else {
            defer { close(descriptor) }
            throw FileError(errno)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }

    // MARK: Metadata

    package func info(path: String) throws(FileError) -> FileInfo {
        var info = stat()
        try check(stat(path, &info))
        return FileInfo(info)
    }

    package func info(_ descriptor: Int32) throws(FileError) -> FileInfo {
        var info = stat()
        try check(fstat(descriptor, &info))
        return FileInfo(info)
    }

    package func info(_ name: String, in directory: Int32) throws(FileError) -> FileInfo {
        var info = stat()
        try check(fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW))
        return FileInfo(info)
    }

    // MARK: Files

    package func open(_ name: String, in directory: Int32, for purpose: FilePurpose) throws(FileError) -> Int32 {
        let flags =
            switch purpose {
            case .reading: O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW
            case .readingOrCreating: O_RDONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW
            case .readingThroughLinks: O_RDONLY | O_NONBLOCK | O_NOCTTY
            case .creating: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
            case .appending: O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW
            case .locking: O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW
            }
        return try check(openat(directory, name, flags | O_CLOEXEC, 0o600))
    }

    package func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        try check(TweaksSystem.read(descriptor, buffer.baseAddress, buffer.count))
    }

    package func seek(_ descriptor: Int32, to position: Int64) throws(FileError) {
        try check(lseek(descriptor, off_t(position), SEEK_SET))
    }

    package func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(FileError) -> Int {
        try check(TweaksSystem.write(descriptor, bytes.baseAddress, bytes.count))
    }

    package func empty(_ descriptor: Int32) throws(FileError) { try check(ftruncate(descriptor, 0)) }

    package func beginSync(_ descriptor: Int32) {
        #if os(Linux)
            tweaks_begin_sync(descriptor)
        #endif
    }

    package func sync(_ descriptor: Int32) throws(FileError) {
        #if canImport(Darwin)
            // On Darwin, fsync(2) stops at the drive's cache. Not all file systems support F_FULLFSYNC.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        try check(fsync(descriptor))
    }

    package func close(_ descriptor: Int32) { _ = TweaksSystem.close(descriptor) }

    package func lock(_ descriptor: Int32) throws(FileError) { try check(flock(descriptor, LOCK_EX | LOCK_NB)) }

    package func unlock(_ descriptor: Int32) { flock(descriptor, LOCK_UN) }

    // MARK: Names

    package func rename(_ name: String, to newName: String, in directory: Int32) throws(FileError) {
        try check(renameat(directory, name, directory, newName))
    }

    package func remove(_ name: String, in directory: Int32) throws(FileError) {
        try check(unlinkat(directory, name, 0))
    }

    @discardableResult
    private func check<Number: SignedInteger>(_ result: Number) throws(FileError) -> Number {
        if result < 0 { throw FileError(errno) }
        return result
    }
}
