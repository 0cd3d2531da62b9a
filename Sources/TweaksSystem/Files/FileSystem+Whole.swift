// These calls go on where a signal, a full buffer or a missing directory stops a single one.

extension FileSystem {
    /// Again, when a signal came in between.
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

    /// Writes all of it.
    package func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            rest = rest.dropFirst(try writeSome(rest, to: descriptor))
        }
    }

    /// Writes as much as goes at once, which is something.
    package func writeSome(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) throws(FileError) -> Int {
        let count = try retrying(
            try bytes.withUnsafeBytes { buffer in
                Result { () throws(FileError) in try self.write(descriptor, buffer) }
            }.get())
        // Nothing, without an error, would be for ever.
        if count <= 0 { throw .noProgress }
        return count
    }

    /// Reads to the end, or so many bytes.
    /// - Parameter size: So many are expected; then the end is seen without growing.
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

    /// Takes an advisory lock unless another process holds it.
    package func waitForLock(_ descriptor: Int32) throws(FileError) {
        if flock(descriptor, LOCK_EX) != 0 { throw FileError(errno) }
    }

    // MARK: Directories

    /// Makes a directory, and those above it that are missing.
    package func makeDirectories(_ path: String) throws(FileError) {
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
