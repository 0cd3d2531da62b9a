// Directories that are made where they are missing.

extension FileSystem {
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
