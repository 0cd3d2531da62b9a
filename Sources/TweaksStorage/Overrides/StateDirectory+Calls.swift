// Calls that say what they were for.

extension StateDirectory {
    /// Says what it was that failed.
    func doing<Result>(
        _ what: String, _ body: () throws(FileError) -> Result
    ) throws(StorageFailure) -> Result {
        do throws(FileError) {
            return try retrying(body)
        } catch {
            throw StorageFailure(error, what, in: path)
        }
    }

    func retrying<Result>(_ body: () throws(FileError) -> Result) throws(FileError) -> Result {
        try files.retrying(body)
    }

    func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(FileError) {
        try files.writeAll(bytes, to: descriptor)
    }

    func readAll(_ descriptor: Int32, limit: Int) throws(FileError) -> [UInt8] {
        try files.readAll(descriptor, limit: limit)
    }
}
