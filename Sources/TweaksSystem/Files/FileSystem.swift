// A protocol names the few calls on files, so that tests can have each of them fail.

/// A file system as this package sees it. Names are relative to an open directory, and links are never followed there.
///
/// None of it retries: an interrupted call fails, a write may write less, and whoever calls goes on.
package protocol FileSystem: Sendable {
    /// Makes one directory that only its owner may enter.
    func makeDirectory(_ path: String) throws(FileError)
    /// Opens a directory; here links are followed, because service managers use them.
    func openDirectory(_ path: String) throws(FileError) -> Int32
    /// Makes a directory in another one, for its owner alone.
    func makeDirectory(_ name: String, in directory: Int32) throws(FileError)
    /// Opens a directory in another one.
    func openDirectory(_ name: String, in directory: Int32) throws(FileError) -> Int32
    /// The names in a directory, in any order.
    func names(in directory: Int32) throws(FileError) -> [String]

    /// What a path leads to, links followed.
    func facts(path: String) throws(FileError) -> FileFacts
    /// What a descriptor stands for.
    func facts(_ descriptor: Int32) throws(FileError) -> FileFacts
    /// What a name stands for.
    func facts(_ name: String, in directory: Int32) throws(FileError) -> FileFacts

    /// Opens a file.
    func open(_ name: String, in directory: Int32, for purpose: FilePurpose) throws(FileError) -> Int32
    /// Reads some bytes; none at the end.
    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int
    /// Has the next bytes be read from there.
    func seek(_ descriptor: Int32, to position: Int64) throws(FileError)
    /// Writes some of the bytes and says how many.
    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) throws(FileError) -> Int
    /// Cuts a file to nothing.
    func empty(_ descriptor: Int32) throws(FileError)
    /// Has the disk begin with what was written to a file, where the system can; waits for nothing, and promises nothing.
    func beginSync(_ descriptor: Int32)
    /// Has the disk take what was written to a file, or which files a directory holds.
    func sync(_ descriptor: Int32) throws(FileError)
    func close(_ descriptor: Int32)
    /// Takes an advisory lock, or fails at once.
    func lock(_ descriptor: Int32) throws(FileError)
    /// Gives the lock back. Closing alone is not enough where another thread is just starting a child.
    func unlock(_ descriptor: Int32)

    /// Gives a file another name; one that has it already is replaced.
    func rename(_ name: String, to newName: String, in directory: Int32) throws(FileError)
    func remove(_ name: String, in directory: Int32) throws(FileError)
}

/// What a file is opened for.
package enum FilePurpose: Sendable {
    /// To be read; does not wait.
    case reading
    /// To be written; there must be none of this name, and only its owner may touch it.
    case creating
    /// To be locked, and made where it is missing.
    case locking
    /// To be written at its end, and made where it is missing; does not wait.
    case appending
    /// To be read, and made where it is missing; does not wait.
    case readingOrMaking
    /// To be read; where its name is a link, that is followed.
    case readingThroughLinks
}
