// Opens, validates and locks the state directory, and checks it before each write.

import TweaksSystem

/// Why overrides are not saved.
struct StorageFailure: Error, Equatable {
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
}

/// The directory with the overrides file. Used on the storage thread only.
struct StateDirectory {
    static let fileName = "overrides.json"
    static let lockName = "lock"

    let path: String
    let files: any FileSystem
    let time: any StorageTime
    let report: @Sendable (OverrideStore.Event) -> Void

    /// The directory as opened; another one may have replaced it.
    private var opened: (folder: Folder, info: FileInfo)?
    /// The directory's lock, held as long as this value.
    private var lock: OpenFile?
    /// The overrides file as last read or written by this process.
    var knownVersions: [(info: FileInfo, bytes: [UInt8])] = []
    /// Whether the overrides file was read or is known to be missing.
    var isLoaded = false
    /// Why this run writes nothing.
    var finalFailure: StorageFailure?
    /// The name of the last quarantined file.
    var lastQuarantined: String?
    /// The other process that holds the directory: `pid 4711`.
    private(set) var holder: String?
    /// A failure that was already reported by its own event.
    var announcedFailure: StorageFailure?

    init(
        _ place: Result<String, StateLocation.Problem>, _ files: any FileSystem, _ time: any StorageTime,
        report: @escaping @Sendable (OverrideStore.Event) -> Void
    ) {
        (self.files, self.time, self.report) = (files, time, report)
        switch place {
        case .success(let path): self.path = path
        case .failure(let problem):
            path = ""
            finalFailure = StorageFailure(
                problem.description, sentence: "overrides are not saved: \(problem)", isFinal: true)
        }
    }

    var folder: Folder? { opened?.folder }

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
        let ours = [Self.fileName + ".", HistoryFile.name + "."]
        for name in names where name.hasSuffix(".tmp") && ours.contains(where: name.hasPrefix) {
            try? files.remove(name, in: folder.descriptor)
        }
    }
}
