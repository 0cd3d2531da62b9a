// The folder of the presets on the disk: opened and checked, its files read whole and replaced whole.

import Tweaks
import TweaksSystem

extension PresetFolder {
    /// Opens the folder, always beneath the state directory and never through a link.
    /// - Parameter isNeeded: Makes it, and the state directory, where they are missing.
    /// - Returns: Its descriptor; nil when there is none, and none is made.
    func open(making isNeeded: Bool) throws(TweakError) -> Int32? {
        let path = try directory()
        guard let state = try openState(path, isNeeded) else { return nil }
        defer { files.close(state) }
        guard let folder = try openFolder(in: state, isNeeded) else { return nil }
        do throws(TweakError) {
            try check(folder, "\(path)/\(Self.folderName)")
            return folder
        } catch {
            files.close(folder)
            throw error
        }
    }

    private func directory() throws(TweakError) -> String {
        switch place {
        case .success(let path): return path
        case .failure(let problem): throw TweakError(.io, "there is no place for presets: \(problem)")
        }
    }

    private func openState(_ path: String, _ isNeeded: Bool) throws(TweakError) -> Int32? {
        let state = try doing("\(path) cannot be opened") { () throws(FileError) -> Int32? in
            do throws(FileError) {
                return try files.openDirectory(path)
            } catch {
                if !error.isMissing { throw error }
                if !isNeeded { return nil }
                try files.makeDirectories(path)
                return try files.openDirectory(path)
            }
        }
        guard let state else { return nil }
        do throws(TweakError) {
            try check(state, path)
            return state
        } catch {
            files.close(state)
            throw error
        }
    }

    private func openFolder(in state: Int32, _ isNeeded: Bool) throws(TweakError) -> Int32? {
        // Opening it would fail with “not a directory”, which it looks like.
        if let facts = try? files.facts(Self.folderName, in: state), facts.kind == .link {
            throw TweakError(
                .io, "the folder \(Self.folderName) is a symbolic link, which is not followed; make it a folder")
        }
        return try doing("the folder \(Self.folderName) cannot be opened") { () throws(FileError) -> Int32? in
            do throws(FileError) {
                return try files.openDirectory(Self.folderName, in: state)
            } catch {
                if !error.isMissing { throw error }
                if !isNeeded { return nil }
                try makeFolder(in: state)
                return try files.openDirectory(Self.folderName, in: state)
            }
        }
    }

    private func makeFolder(in state: Int32) throws(FileError) {
        do throws(FileError) {
            try files.makeDirectory(Self.folderName, in: state)
        } catch {
            // Another process was faster.
            if !error.isThereAlready { throw error }
        }
        try files.retrying { () throws(FileError) in try files.sync(state) }
    }

    /// Others must not be able to put a preset of theirs there.
    private func check(_ descriptor: Int32, _ path: String) throws(TweakError) {
        let facts = try doing("\(path) cannot be opened") { () throws(FileError) in try files.facts(descriptor) }
        guard facts.owner == ThisProcess.user || facts.owner == 0 else {
            throw TweakError(
                .io,
                "\(path) belongs to uid \(facts.owner), and this process to uid \(ThisProcess.user); chown it, or "
                    + "name another TWEAKS_STATE_DIR")
        }
        guard !facts.isOpenToOthers else {
            throw TweakError(.io, "others can write in \(path); chmod 700 it, or name another TWEAKS_STATE_DIR")
        }
    }

    // MARK: Files

    /// The content of a file; nil when there is none.
    func bytes(_ name: String, _ trouble: String, in folder: Int32) throws(TweakError) -> [UInt8]? {
        let descriptor = try doing(trouble) { () throws(FileError) -> Int32? in
            do throws(FileError) {
                return try files.open(name, in: folder, for: .reading)
            } catch {
                if error.isMissing { return nil }
                throw error
            }
        }
        guard let descriptor else { return nil }
        defer { files.close(descriptor) }
        let facts = try doing(trouble) { () throws(FileError) in try files.facts(descriptor) }
        if facts.kind != .regular { throw TweakError(.io, "\(trouble): it is no regular file; put one there") }
        guard facts.owner == ThisProcess.user || facts.owner == 0 else {
            throw TweakError(.io, "\(trouble): it belongs to uid \(facts.owner); chown it")
        }
        if facts.size <= Int64(limits.bytes) {
            let bytes = try doing(trouble) { () throws(FileError) in
                try files.readAll(descriptor, limit: limits.bytes + 1)
            }
            if bytes.count <= limits.bytes { return bytes }
        }
        throw TweakError(
            .tooLong, "\(trouble): it has more than \(limits.bytes) bytes; make two of it", limit: .presetBytes)
    }

    /// Puts a file in place as a whole: whatever happens, there is the old one or the new one.
    func replace(_ name: String, _ bytes: [UInt8], _ trouble: String, in folder: Int32) throws(TweakError) {
        // Another writer of this name, in whatever process, must have another file.
        let temporary = ".\(name).\(String(UInt64.random(in: .min ... .max), radix: 16)).tmp"
        do throws(TweakError) {
            try write(bytes, to: temporary, trouble, in: folder)
            try doing(trouble) { () throws(FileError) in try files.rename(temporary, to: name, in: folder) }
        } catch {
            try? files.remove(temporary, in: folder)
            throw error
        }
        try doing(trouble) { () throws(FileError) in try files.sync(folder) }
    }

    private func write(
        _ bytes: [UInt8], to name: String, _ trouble: String, in folder: Int32
    ) throws(TweakError) {
        let descriptor = try doing(trouble) { () throws(FileError) in
            try files.open(name, in: folder, for: .creating)
        }
        defer { files.close(descriptor) }
        try doing(trouble) { () throws(FileError) in try files.writeAll(bytes, to: descriptor) }
        try doing(trouble) { () throws(FileError) in try files.sync(descriptor) }
    }

    /// Removes what writers left behind that died an hour ago or more; nobody writes that long.
    func removeLeftovers(_ folder: Int32, now: Int64) {
        let names = ((try? files.names(in: folder)) ?? []).filter { $0.hasPrefix(".") && $0.hasSuffix(".tmp") }
        for name in names {
            guard let facts = try? files.facts(name, in: folder) else { continue }
            if facts.modified / 1_000_000 < now - 3_600_000 { try? files.remove(name, in: folder) }
        }
    }

    /// Says what it was that failed, and what can be done.
    func doing<Result>(
        _ trouble: String, _ body: () throws(FileError) -> Result
    ) throws(TweakError) -> Result {
        do throws(FileError) {
            return try files.retrying(body)
        } catch {
            let (reason, remedy) =
                error.isLink
                ? ("it is a symbolic link, which is not followed", "put the file itself there")
                : (error.text, error.remedy())
            throw TweakError(.io, "\(trouble): \(reason); \(remedy)")
        }
    }
}
