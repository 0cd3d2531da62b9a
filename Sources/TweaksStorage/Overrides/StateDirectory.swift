// Opens, validates and locks the state directory, and reads, replaces and quarantines the overrides file in it.

import Tweaks
import TweaksSystem

/// Why overrides are not saved.
package struct StorageFailure: Error, Equatable {
    /// A few words for the reply to a set.
    let reason: String
    /// A complete sentence with the remedy, for the log.
    let sentence: String
    /// Whether this run will not write anything.
    let isFinal: Bool
    /// What an operator can do about a failed call.
    let remedy: String

    init(_ reason: String, sentence: String, isFinal: Bool = false, remedy: String = "") {
        self.remedy = remedy
        self.reason = reason
        self.sentence = sentence
        self.isFinal = isFinal
    }

    /// A failure to read or write a file.
    /// - Parameters:
    ///   - what: The subject and verb of the sentence: `overrides are`.
    ///   - operation: The failed operation, if it is not the problem's own.
    init(_ problem: FileProblem, in path: String, of what: String = "overrides are", _ operation: String? = nil) {
        reason = "\(problem.reason) (\(operation ?? problem.operation))"
        sentence = "\(what) not saved in \(path): \(reason); \(problem.remedy)"
        remedy = problem.remedy
        isFinal = false
    }

    /// A newer version wrote the file; it is left alone.
    init(newerVersion: Int64, than own: Int64, _ file: String, of what: String) {
        let name = Folder.split(file).name
        self.init(
            "\(name) was written by a newer version",
            sentence:
                "\(file) is left alone, and \(what) not saved: "
                + "\(Self.newer(newerVersion, than: own)); run that version, or move the file away", isFinal: true)
    }

    package static func newer(_ version: Int64, than own: Int64) -> String {
        "it was written by a newer version (format \(version), and this is \(own))"
    }
}

/// The directory with the overrides file. Used on the storage thread only.
package struct StateDirectory {
    package static let fileName = "overrides.json"
    package static let lockName = "lock"

    let path: String
    private let files: any FileSystem
    private let time: any StorageTime
    let report: @Sendable (OverrideStore.Event) -> Void

    /// The directory as opened; another one may have replaced it.
    private var opened: (folder: Folder, info: FileInfo)?
    /// The directory's lock, held as long as this value.
    private var lock: OpenFile?
    /// The overrides file as last read or written by this process.
    private var knownVersions: [(info: FileInfo, bytes: [UInt8])] = []
    /// Whether the overrides file was read or is known to be missing.
    private var isLoaded = false
    /// Why this run writes nothing.
    private(set) var finalFailure: StorageFailure?
    /// The name of the last quarantined file.
    private(set) var lastQuarantined: String?
    /// The other process that holds the directory: `pid 4711`.
    private(set) var holder: String?
    /// A failure that was already reported by its own event.
    private(set) var announcedFailure: StorageFailure?

    init(
        _ place: Result<String, StateLocation.Problem>, _ files: any FileSystem, _ time: any StorageTime,
        report: @escaping @Sendable (OverrideStore.Event) -> Void
    ) {
        self.files = files
        self.time = time
        self.report = report
        switch place {
        case .success(let path): self.path = path
        case .failure(let problem):
            path = ""
            finalFailure = StorageFailure(
                problem.description, sentence: "overrides are not saved: \(problem)", isFinal: true)
        }
    }

    var folder: Folder? { opened?.folder }

    /// The path of the overrides file.
    private var file: String { "\(path)/\(Self.fileName)" }

    /// Opens the directory if needed, and checks that it is unchanged.
    /// - Returns: The file's content, if this call read it; and why nothing can be written now.
    mutating func prepare(_ anchor: TimeAnchor) -> (found: OverridesFile?, failure: StorageFailure?) {
        if let finalFailure { return (nil, finalFailure) }
        do throws(StorageFailure) {
            try openFolder()
        } catch {
            return (nil, error)
        }
        var failure: StorageFailure?
        var found: OverridesFile?
        do throws(StorageFailure) {
            try acquireLock()
        } catch {
            // The stored overrides are still read.
            failure = error
        }
        do throws(StorageFailure) {
            if !isLoaded {
                found = try load(anchor, mayMove: failure == nil)
            } else if failure == nil {
                try quarantineIfChanged()
            }
        } catch {
            failure = failure ?? error
        }
        if let failure, failure.isFinal { finalFailure = failure }
        return (found, failure)
    }

    /// Closes the directory and releases the lock.
    mutating func close() { (lock, opened) = (nil, nil) }

    // MARK: Opening

    private mutating func openFolder() throws(StorageFailure) {
        if let opened {
            if let info = try? files.info(path: path), info.isSameFile(as: opened.info), info.links > 0 {
                // Its permissions may have changed since it was opened.
                guard let fault = FileRules().fault(ofFolder: info) else { return }
                throw failure(FileProblem(path, "opening the directory", fault))
            }
            close()
        }
        do throws(FileProblem) {
            let folder = try Folder(path, files, creates: true)
            opened = (folder, try folder.validate())
        } catch {
            throw failure(error)
        }
    }

    /// Other users must not be able to replace our files.
    private func failure(_ problem: FileProblem) -> StorageFailure {
        switch problem.fault {
        case .owner(let uid):
            StorageFailure(
                "the state directory belongs to uid \(uid)",
                sentence: "overrides are not saved in \(path): it belongs to uid \(uid), and this process to uid "
                    + "\(ThisProcess.user); chown it, or name another TWEAKS_STATE_DIR")
        case .mode:
            StorageFailure(
                "others can write in the state directory",
                sentence: "overrides are not saved in \(path): others can write there; chmod 700 it, or name another "
                    + "TWEAKS_STATE_DIR")
        default: StorageFailure(problem, in: path)
        }
    }

    // MARK: The lock

    private mutating func acquireLock() throws(StorageFailure) {
        guard let folder else { return }
        if let lock {
            if let info = try? folder.info(Self.lockName), info.isSameFile(as: lock.info) { return }
            self.lock = nil
        }
        let taken: OpenFile
        do throws(FileProblem) {
            taken = try folder.lock(Self.lockName)
        } catch {
            throw error.isLocked ? lockedByAnother(folder) : StorageFailure(error, in: path, "taking its lock")
        }
        lock = taken
        // For the error message of another process; it is optional.
        try? files.empty(taken.descriptor)
        try? taken.write(Array("\(ThisProcess.id)\n".utf8))
        removeStaleFiles(folder)
    }

    private mutating func lockedByAnother(_ folder: Folder) -> StorageFailure {
        let owner = (try? folder.open(Self.lockName, for: .reading).head(32)).flatMap { bytes in
            Int32(String(decoding: bytes, as: UTF8.self).split(separator: "\n").first ?? "")
        }
        let holder = owner.map { "pid \($0)" } ?? "another process"
        self.holder = holder
        let failure = StorageFailure(
            "the state directory is used by \(holder)",
            sentence:
                "\(path) is used by \(holder); overrides and presets of this process are not saved: stop the other, or give "
                + "this one its own TWEAKS_STATE_DIR", isFinal: true)
        report(.locked(reason: failure.sentence))
        announcedFailure = failure
        return failure
    }

    /// Removes temporary files of writers that died; while we hold the lock, none of them is alive.
    private func removeStaleFiles(_ folder: Folder) {
        let names = (try? folder.names()) ?? []
        let ours = [Self.fileName + ".", HistoryWriter.fileName + "."]
        for name in names where name.hasSuffix(".tmp") && ours.contains(where: name.hasPrefix) {
            try? files.remove(name, in: folder.descriptor)
        }
    }

    // MARK: Reading

    /// Reads the file. An unreadable file is quarantined, and there are no overrides then.
    private mutating func load(_ anchor: TimeAnchor, mayMove: Bool) throws(StorageFailure) -> OverridesFile? {
        let (content, problem) = try present()
        if let problem { try quarantine(problem, mayMove: mayMove) }
        if let content {
            do throws(OverridesFile.Refusal) {
                let file = try OverridesFile(content.bytes, anchor)
                knownVersions = [content]
                isLoaded = true
                return file
            } catch {
                switch error {
                case .malformed(let reason): try quarantine(reason, mayMove: mayMove)
                case .newerVersion(let version): throw newerVersion(version)
                }
            }
        }
        isLoaded = true
        return nil
    }

    private mutating func newerVersion(_ version: Int64) -> StorageFailure {
        let failure = StorageFailure(newerVersion: version, than: OverridesFile.version, file, of: "overrides are")
        report(.newerVersion(file: file, reason: StorageFailure.newer(version, than: OverridesFile.version)))
        announcedFailure = failure
        return failure
    }

    /// The file on disk, or why it cannot be read; neither if there is none.
    private func present() throws(StorageFailure) -> (content: (info: FileInfo, bytes: [UInt8])?, problem: String?) {
        guard let folder else { return (nil, nil) }
        do throws(FileProblem) {
            return (try folder.content(of: Self.fileName, limit: OverridesFile.sizeLimit), nil)
        } catch {
            if error.isResourceShortage { throw StorageFailure(error, in: path) }
            guard case .owner(let uid) = error.fault else { return (nil, error.reason) }
            return (nil, "it belongs to uid \(uid), and this process to uid \(ThisProcess.user)")
        }
    }

    // MARK: Quarantine

    /// Ensures that only a file written or read by this process is replaced.
    private mutating func quarantineIfChanged() throws(StorageFailure) {
        guard let info = try? folder?.info(Self.fileName) else { return }
        if let own = knownVersions.first(where: { $0.info == info }) {
            knownVersions = [own]
            return
        }
        // Some file systems report a different inode for the same file each time.
        if let content = try present().content, knownVersions.contains(where: { $0.bytes == content.bytes }) {
            knownVersions = [content]
            return
        }
        try quarantine("another program changed it while this process ran", mayMove: true)
    }

    /// Renames the file so that it is not overwritten.
    private mutating func quarantine(_ reason: String, mayMove: Bool) throws(StorageFailure) {
        guard let folder, mayMove else {
            throw StorageFailure(
                "\(Self.fileName) cannot be read: \(reason)",
                sentence:
                    "\(file) cannot be read: \(reason); overrides start empty, and are not saved while the file cannot "
                    + "be renamed")
        }
        let name = try setAside(Self.fileName, reason, in: folder, of: "overrides are")
        knownVersions = []
        lastQuarantined = name
        try? folder.flush()
        report(.quarantined(file: file, as: name, reason: reason))
    }

    /// Renames an unreadable file of the directory.
    /// - Parameter what: The subject and verb of the sentence: `overrides are`.
    /// - Returns: The new name.
    func setAside(
        _ name: String, _ reason: String, in folder: Folder, of what: String
    ) throws(StorageFailure) -> String {
        let first = "\(name).unreadable-\(TimeText.compact(time.wall))"
        var (unused, count) = (first, 1)
        while (try? folder.info(unused)) != nil {
            count += 1
            unused = "\(first)-\(count)"
        }
        do throws(FileProblem) {
            try folder.rename(name, to: unused)
        } catch {
            throw StorageFailure(
                "\(name) cannot be read: \(reason)",
                sentence:
                    "\(path)/\(name) cannot be read (\(reason)) nor renamed (\(error.reason)), so \(what) not saved; "
                    + "move it away, and start again", isFinal: true)
        }
        return unused
    }

    // MARK: Writing

    /// Replaces the file atomically: a crash leaves either the old file or the new one.
    /// - Parameters:
    ///   - isProposal: The changes take effect only when they are on disk; if flushing fails, the old file is restored,
    ///     so that the next run does not load refused changes.
    ///   - meanwhile: Runs while the disk writes the new file, and completes before that replaces the old one.
    mutating func write(
        _ bytes: [UInt8], isProposal: Bool = false, meanwhile: () -> Void = {}
    ) throws(StorageFailure) {
        guard let folder else { return }
        let previous = knownVersions.first?.bytes
        do throws(FileProblem) {
            try writeFile(bytes, folder, meanwhile: meanwhile)
        } catch {
            throw StorageFailure(error, in: path)
        }
        do throws(FileProblem) {
            try folder.flush()
        } catch {
            let failure = StorageFailure(error, in: path)
            if isProposal { try restore(previous, folder, failure) }
            throw failure
        }
    }

    private mutating func writeFile(
        _ bytes: [UInt8], _ folder: Folder, meanwhile: () -> Void = {}
    ) throws(FileProblem) {
        let temporary = Self.temporaryName(for: Self.fileName)
        try folder.replace(
            Self.fileName, with: bytes, temporary: temporary,
            isFilled: {
                files.beginSync($0)
                meanwhile()
            },
            isWritten: { knownVersions = knownVersions.prefix(1) + [($0, bytes)] })
        knownVersions = knownVersions.suffix(1)
    }

    /// Restores the previous file; nil if there was none. The restored file survives a kill; a power cut can leave
    /// either.
    private mutating func restore(
        _ previous: [UInt8]?, _ folder: Folder, _ failure: StorageFailure
    ) throws(StorageFailure) {
        do throws(FileProblem) {
            if let previous {
                try writeFile(previous, folder)
            } else {
                try folder.remove(Self.fileName)
                knownVersions = []
            }
            try? folder.flush()
        } catch {
            let both = "\(failure.reason), and the old file cannot be restored: \(error.reason) (\(error.operation))"
            throw StorageFailure(
                both,
                sentence: "overrides are not saved in \(path): \(both); what was refused is in effect after a crash "
                    + "unless a later write succeeds; \(failure.remedy)", remedy: failure.remedy)
        }
    }

    /// The name of a temporary file, which is removed once its writer has died.
    package static func temporaryName(for name: String) -> String { "\(name).\(ThisProcess.id).tmp" }
}
