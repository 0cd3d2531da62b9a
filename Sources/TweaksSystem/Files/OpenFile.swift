// An open file is read, written and flushed, and closes itself.

/// A file that is open, and was judged when it was opened. Letting go of it closes it, and gives back its lock.
package final class OpenFile: Sendable {
    package let descriptor: Int32
    /// What it was when it was opened.
    package let facts: FileFacts
    private let path: String
    private let name: String
    private let files: any FileSystem

    init(_ descriptor: Int32, _ facts: FileFacts, _ path: String, _ name: String, _ files: any FileSystem) {
        (self.descriptor, self.facts, self.path, self.name, self.files) = (descriptor, facts, path, name, files)
    }

    deinit {
        // Closing alone does not give back the lock where another thread is just starting a child.
        files.unlock(descriptor)
        files.close(descriptor)
    }

    /// All of it.
    package func content(limit: Int) throws(FileProblem) -> [UInt8] {
        let bytes = facts.size > Int64(limit) ? nil : try head(limit + 1)
        if let bytes, bytes.count <= limit { return bytes }
        throw FileProblem(path, "reading \(name)", .size(facts.size, limit: limit))
    }

    /// Its first bytes.
    package func head(_ limit: Int) throws(FileProblem) -> [UInt8] {
        try attempt("reading", try files.readAll(descriptor, limit: limit, expecting: facts.size))
    }

    /// Its last bytes.
    package func tail(_ limit: Int) throws(FileProblem) -> [UInt8] {
        try attempt("reading", try files.seek(descriptor, to: max(0, facts.size - Int64(limit))))
        return try head(limit)
    }

    /// Writes all of it.
    package func write(_ bytes: [UInt8]) throws(FileProblem) {
        try attempt("writing", try files.writeAll(bytes, to: descriptor))
    }

    /// Writes as much as goes at once, which is something.
    package func writeSome(_ bytes: ArraySlice<UInt8>) throws(FileProblem) -> Int {
        try attempt("writing", try files.writeSome(bytes, to: descriptor))
    }

    /// Has the disk take what was written.
    package func flush() throws(FileProblem) { try attempt("flushing", try files.sync(descriptor)) }

    private func attempt<Result>(
        _ doing: String, _ body: @autoclosure () throws(FileError) -> Result
    ) throws(FileProblem) -> Result {
        do throws(FileError) {
            return try files.retrying(try body())
        } catch {
            throw FileProblem(path, "\(doing) \(name)", .failed(error))
        }
    }
}
