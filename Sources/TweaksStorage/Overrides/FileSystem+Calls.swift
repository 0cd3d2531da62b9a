// Calls that go on where a signal or a full buffer stops them.

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
            let count = try retrying { () throws(FileError) in
                try rest.withUnsafeBytes { buffer in
                    Result { () throws(FileError) in try write(descriptor, buffer) }
                }.get()
            }
            // Nothing, without an error, would be for ever.
            if count <= 0 { throw .noProgress }
            rest = rest.dropFirst(count)
        }
    }

    func readAll(_ descriptor: Int32, limit: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < limit {
            var chunk = [UInt8](repeating: 0, count: min(limit - bytes.count, 262_144))
            let count = try retrying { () throws(FileError) in
                try chunk.withUnsafeMutableBytes { buffer in
                    Result { () throws(FileError) in try read(descriptor, into: buffer) }
                }.get()
            }
            if count <= 0 { break }
            bytes += chunk.prefix(count)
        }
        return bytes
    }

    /// Makes a directory, and those above it that are missing.
    func makeDirectories(_ path: String) throws(FileError) {
        do throws(FileError) {
            try makeDirectory(path)
        } catch {
            if (try? facts(path: path))?.kind == .directory { return }
            guard error.isMissing, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { throw error }
            try makeDirectories(String(path[..<slash]))
            try makeDirectory(path)
        }
        syncParent(of: path)
    }

    /// Has the disk know of the new directory; where that fails, the first write will say so.
    private func syncParent(of path: String) {
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard let descriptor = try? openDirectory(parent) else { return }
        try? sync(descriptor)
        close(descriptor)
    }
}
