// Completes file operations that one system call can leave unfinished: interrupted calls, partial writes, parents.

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
