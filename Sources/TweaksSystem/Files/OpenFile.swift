// Reads, writes and flushes an open file, and closes it when it is released.

/// An open file that was validated when it was opened. Releasing it unlocks and closes it.
package final class OpenFile: Sendable {
    package let descriptor: Int32
    /// Its metadata when it was opened.
    package let info: FileInfo
    private let path: String
    private let name: String
    private let files: any FileSystem

    init(_ descriptor: Int32, _ info: FileInfo, _ path: String, _ name: String, _ files: any FileSystem) {
        (self.descriptor, self.info, self.path, self.name, self.files) = (descriptor, info, path, name, files)
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
        do throws(FileError) {
            return try files.retrying(try body())
        } catch {
            throw FileProblem(path, "\(operation) \(name)", .failed(error))
        }
    }
}
