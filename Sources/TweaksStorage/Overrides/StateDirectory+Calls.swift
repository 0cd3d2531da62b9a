// Calls that go on where a signal or a full buffer stops them, and say what they were for.

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

    /// Again, when a signal came in between.
    func retrying<Result>(_ body: () throws(FileError) -> Result) throws(FileError) -> Result {
        try files.retrying(body)
    }
}

extension FileSystem {
    /// Again, when a signal came in between.
    func retrying<Result>(_ body: () throws(FileError) -> Result) throws(FileError) -> Result {
        while true {
            do throws(FileError) {
                return try body()
            } catch {
                if !error.isInterruption { throw error }
            }
        }
    }

    func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            rest = rest.dropFirst(try writeSome(rest, to: descriptor))
        }
    }

    /// Writes as much as goes at once, which is something.
    func writeSome(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) throws(FileError) -> Int {
        let count = try retrying { () throws(FileError) in
            try bytes.withUnsafeBytes { buffer in
                Result { () throws(FileError) in try self.write(descriptor, buffer) }
            }.get()
        }
        // Nothing, without an error, would be for ever.
        if count <= 0 { throw .noProgress }
        return count
    }

    func readAll(_ descriptor: Int32, limit: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < limit {
            var chunk = [UInt8](repeating: 0, count: min(limit - bytes.count, 262_144))
            let count = try retrying { () throws(FileError) in
                try chunk.withUnsafeMutableBytes { buffer in
                    Result { () throws(FileError) in try self.read(descriptor, into: buffer) }
                }.get()
            }
            if count <= 0 { break }
            bytes += chunk.prefix(count)
        }
        return bytes
    }
}
