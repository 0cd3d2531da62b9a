// Declares the file operations that the package uses, so that tests can make each of them fail.

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
