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

    /// Opens the directory, which is created if it is missing, and takes its lock.
    /// - Throws: `isLocked` if a process uses the directory.
    package init(_ path: String, fileSystem: any FileSystem = PosixFileSystem()) throws(FileProblem) {
        files = fileSystem
        folder = try Folder(path, fileSystem, creates: true)
        owner = try folder.validate(FileRules(.userOrRootOrAnyoneForRoot))
        lock = try folder.lock(StateDirectory.lockName, FileRules(.userOrRootOrAnyoneForRoot))
        try giveAway(lock.descriptor)
    }

    /// What is there now.
    package func report() throws(FileProblem) -> StateReport { try StateReport(folder) }

    /// Replaces the state: new files are written and flushed first. Then the old history is moved away, the new overrides
    /// take the place of the old ones, by one rename, and the rest follows: whenever this is ended, a program reads either
    /// the old overrides or the new ones, with their history or none.
    /// - Parameter time: For the names of the old files, in milliseconds since 1970.
    /// - Returns: The names under which the old files are kept.
    /// - Throws: Why nothing was changed.
    package func place(_ contents: [StateFileContent], at time: Int64) throws(FileProblem) -> [String] {
        undo = []
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
                continue
            }
            // Renaming one of two names of a file to the other does nothing.
            if (try? folder.rename(name, to: oldName)) != nil { try? folder.remove(name) }
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
        try folder.replace(name, with: bytes, prepare: { (number) throws(FileProblem) in try giveAway(number) })
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
                if try keepCopy(file.name, ending) { kept.append(file.name + ending) }
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
        return true
    }

    /// Gives the old file a second name, so that the new one can replace it by one rename. Where the file system has no
    /// second names, the old one is moved away.
    private func keepCopy(_ name: String, _ ending: String) throws(FileProblem) -> Bool {
        guard try exists(name) else { return false }
        if linkat(folder.descriptor, name, folder.descriptor, name + ending, 0) != 0 {
            return try moveAway(name, ending)
        }
        undo.append((name + ending, name))
        return true
    }

    private func putInPlace(_ name: String) throws(FileProblem) {
        let isNew = try !exists(name)
        try folder.rename(Self.staged(name), to: name)
        if isNew { undo.append((name, nil)) }
    }

    /// Removes a file, or a folder of files.
    private func remove(_ name: String) {
        if (try? folder.remove(name)) != nil { return }
        guard let inner = try? folder.folder(name) else { return }
        for name in (try? inner.names()) ?? [] { try? inner.remove(name) }
        _ = unlinkat(folder.descriptor, name, AT_REMOVEDIR)
    }
}
