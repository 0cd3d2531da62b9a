// Implements the file operations with one system call each.

/// The operating system's file system.
package struct PosixFileSystem: FileSystem {
    package init() {}

    package func makeDirectory(_ path: String) throws(FileError) { try check(mkdir(path, 0o700)) }

    package func openDirectory(_ path: String) throws(FileError) -> Int32 {
        try check(systemOpen(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
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
        try check(systemRead(descriptor, buffer))
    }

    package func seek(_ descriptor: Int32, to position: Int64) throws(FileError) {
        try check(lseek(descriptor, off_t(position), SEEK_SET))
    }

    package func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(FileError) -> Int {
        try check(systemWrite(descriptor, bytes))
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

    package func close(_ descriptor: Int32) { systemClose(descriptor) }

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

// MARK: - Calls under names that no method shadows

private func systemOpen(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }

private func systemClose(_ descriptor: Int32) { _ = close(descriptor) }

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
