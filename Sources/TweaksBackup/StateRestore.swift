// Puts the files of a backup in the place of those of a state directory, which are kept beside them.

import Tweaks
import TweaksStorage
package import TweaksSystem

/// A state directory whose program is not running, locked for a restore.
package final class StateRestore {
    private let folder: Folder
    private let files: any FileSystem
    private let owner: FileInfo
    /// Held as long as this object.
    private let lock: OpenFile
    /// What undoes each step that was done: a file to rename, or to remove.
    private var undo: [(name: String, oldName: String?)] = []
    /// Whether the steps before an error could be undone.
    package private(set) var isUnchanged = true

    /// Opens the directory, and takes its lock.
    /// - Throws: `isLocked` if a process uses the directory.
    package init(_ path: String, fileSystem: any FileSystem = PosixFileSystem()) throws(FileProblem) {
        files = fileSystem
        folder = try Folder(path, fileSystem)
        owner = try folder.validate(FileRules(.userOrRootOrAnyoneForRoot))
        lock = try folder.lock(StateDirectory.lockName, FileRules(.userOrRootOrAnyoneForRoot))
        let info = lock.info
        // Its owner may have given the name to another file of root.
        if info.links != 1 {
            throw FileProblem("\(path)/\(StateDirectory.lockName)", "taking the lock", .failed(FileError(EMLINK)))
        }
        if info.owner == 0, info.size == 0 { try giveAway(lock.descriptor) }
        // For the message of a program that starts meanwhile; it is optional.
        try? fileSystem.empty(lock.descriptor)
        try? lock.write(Array("\(ThisProcess.id)\n".utf8))
    }

    /// What is there now.
    package func report() throws(FileProblem) -> StateReport { try StateReport(folder) }

    /// Replaces the state: new files are written and flushed first, and the old ones copied. Then the old history is moved
    /// away, the new overrides take the place of the old ones, by one rename, and the rest follows: whenever this is ended,
    /// a program reads either the old overrides or the new ones, with their history or none.
    /// - Parameter time: For the names of the old files, in milliseconds since 1970.
    /// - Returns: The names under which the old files are kept.
    /// - Throws: Why nothing was changed, as far as ``isUnchanged`` says so.
    package func place(_ contents: [StateFileContent], at time: Int64) throws(FileProblem) -> [String] {
        undo = []
        isUnchanged = true
        let ending = try unusedEnding(time)
        do throws(FileProblem) {
            try stage(contents)
            let kept = try exchange(contents.map(\.file), ending)
            try folder.flush()
            return kept
        } catch {
            takeBack()
            throw error
        }
    }

    private func takeBack() {
        for (name, oldName) in undo.reversed() {
            guard let oldName else {
                remove(name)
                if (try? exists(name)) != false { isUnchanged = false }
                continue
            }
            if (try? folder.rename(name, to: oldName)) == nil { isUnchanged = false }
        }
        try? folder.flush()
    }

    /// What is put behind the names of old files.
    private func unusedEnding(_ time: Int64) throws(FileProblem) -> String {
        let first = ".before-restore-\(TimeText.compact(time))"
        let names = try folder.names()
        var (ending, count) = (first, 1)
        while names.contains(where: { $0.hasSuffix(ending) }) {
            count += 1
            ending = "\(first)-\(count)"
        }
        return ending
    }

    // MARK: New files

    private static func staged(_ name: String) -> String { StateDirectory.temporaryName(for: name) }

    private func stage(_ contents: [StateFileContent]) throws(FileProblem) {
        // While the lock is held, all such files are of writers that were killed.
        let names = [StateFile.overrides.name, StateFile.history.name, StateFile.config.name, StateFile.presets]
        for name in try folder.names() where name.hasSuffix(".tmp") {
            if names.contains(where: { name.hasPrefix($0 + ".") }) { remove(name) }
        }
        var presets: Folder?
        for (file, bytes) in contents {
            guard case .preset = file else {
                let name = Self.staged(file.name)
                undo.append((name, nil))
                try write(bytes, to: name, in: folder)
                continue
            }
            if presets == nil {
                let name = Self.staged(StateFile.presets)
                undo.append((name, nil))
                presets = try folder.folder(name, creates: true)
                if let presets { try giveAway(presets.descriptor) }
            }
            if let presets { try write(bytes, to: Folder.split(file.name).name, in: presets) }
        }
        try presets?.flush()
    }

    private func write(_ bytes: [UInt8], to name: String, in folder: Folder) throws(FileProblem) {
        try folder.replace(
            name, with: bytes, temporary: Self.staged(name),
            prepare: { (number) throws(FileProblem) in try giveAway(number) })
    }

    /// What root makes belongs to the owner of the directory, whose program must read it.
    private func giveAway(_ descriptor: Int32) throws(FileProblem) {
        if ThisProcess.user != 0 || owner.owner == 0 { return }
        if fchown(descriptor, owner.owner, owner.group) != 0 {
            throw FileProblem(folder.path, "changing the owner of a file", .failed(FileError(errno)))
        }
    }

    // MARK: The exchange

    private func exchange(_ new: [StateFile], _ ending: String) throws(FileProblem) -> [String] {
        var kept: [String] = []
        let history = StateFile.history.name
        if try moveAway(history, ending) { kept.append(history + ending) }
        for file in [StateFile.overrides, .config] {
            if new.contains(file) {
                if try keepCopy(file, ending) { kept.append(file.name + ending) }
                try putInPlace(file.name)
            } else if try moveAway(file.name, ending) {
                kept.append(file.name + ending)
            }
            if file == .overrides, new.contains(.history) { try putInPlace(history) }
        }
        if try moveAway(StateFile.presets, ending) { kept.append(StateFile.presets + ending) }
        let hasPresets = new.contains { if case .preset = $0 { true } else { false } }
        if hasPresets { try putInPlace(StateFile.presets) }
        return kept
    }

    private func exists(_ name: String) throws(FileProblem) -> Bool {
        do throws(FileProblem) {
            _ = try folder.info(name)
            return true
        } catch {
            if error.isMissing { return false }
            throw error
        }
    }

    /// - Returns: Whether there was such a file.
    private func moveAway(_ name: String, _ ending: String) throws(FileProblem) -> Bool {
        guard try exists(name) else { return false }
        try folder.rename(name, to: name + ending)
        undo.append((name + ending, name))
        // In this order also after a power failure.
        try folder.flush()
        return true
    }

    /// Copies the old file, so that the new one can replace it by one rename. What is no file that a program reads, such as
    /// a link, is moved away.
    private func keepCopy(_ file: StateFile, _ ending: String) throws(FileProblem) -> Bool {
        let bytes: [UInt8]
        do throws(FileProblem) {
            let content = try folder.content(
                of: file.name, limit: file.sizeLimit, FileRules(.userOrRootOrAnyoneForRoot))
            guard let content else { return false }
            bytes = content.bytes
        } catch {
            if error.error != nil { throw error }
            return try moveAway(file.name, ending)
        }
        try write(bytes, to: file.name + ending, in: folder)
        undo.append((file.name + ending, file.name))
        try folder.flush()
        return true
    }

    private func putInPlace(_ name: String) throws(FileProblem) {
        let isNew = try !exists(name)
        try folder.rename(Self.staged(name), to: name)
        if isNew { undo.append((name, nil)) }
        try folder.flush()
    }

    /// Removes a file, or a folder of files.
    private func remove(_ name: String) {
        if (try? folder.remove(name)) != nil { return }
        guard let inner = try? folder.folder(name) else { return }
        for name in (try? inner.names()) ?? [] { try? inner.remove(name) }
        _ = unlinkat(folder.descriptor, name, AT_REMOVEDIR)
    }
}
