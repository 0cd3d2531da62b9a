// The state directory: opened, checked, locked, and looked at again before each write.

import TweaksSystem

/// Why overrides are not saved.
struct StorageFailure: Error, Equatable {
    /// A few words, for the answer to a set.
    let reason: String
    /// The whole sentence with its remedy, for a log.
    let sentence: String
    /// Nothing will be written in this run.
    let isFinal: Bool
    /// What an operator can do about it, where it was a call that failed.
    let remedy: String

    init(_ reason: String, sentence: String, isFinal: Bool = false, remedy: String = "") {
        self.remedy = remedy
        self.reason = reason
        self.sentence = sentence
        self.isFinal = isFinal
    }

    /// A file that could not be read or written.
    /// - Parameters:
    ///   - what: Whose failure it is: `overrides are`.
    ///   - doing: What was to be done, where that is not the file's name.
    init(_ problem: FileProblem, in path: String, of what: String = "overrides are", _ doing: String? = nil) {
        reason = "\(problem.reason) (\(doing ?? problem.doing))"
        sentence = "\(what) not saved in \(path): \(reason); \(problem.remedy)"
        remedy = problem.remedy
        isFinal = false
    }
}

/// The directory with the overrides file. Belongs to the storage's thread.
struct StateDirectory {
    static let fileName = "overrides.json"
    static let lockName = "lock"

    let path: String
    let files: any FileSystem
    let time: any StorageTime
    let report: @Sendable (OverrideStore.Event) -> Void

    /// The directory as it was opened; somebody may have put another in its place.
    private var opened: (folder: Folder, facts: FileFacts)?
    /// The lock, held as long as this is.
    private var lock: OpenFile?
    /// What the overrides file is, as far as we have read or written it.
    var known: [(facts: FileFacts, bytes: [UInt8])] = []
    /// Whether the overrides file was read, or is known to be none.
    var isLoaded = false
    /// Why nothing is written in this run.
    var refusal: StorageFailure?
    /// The name of the last file that was set aside.
    var lastSetAside: String?
    /// Who else has the directory: `pid 4711`.
    private(set) var holder: String?
    /// A failure that has its own event.
    var announced: StorageFailure?

    init(
        _ place: Result<String, StatePlace.Problem>, _ files: any FileSystem, _ time: any StorageTime,
        report: @escaping @Sendable (OverrideStore.Event) -> Void
    ) {
        (self.files, self.time, self.report) = (files, time, report)
        switch place {
        case .success(let path): self.path = path
        case .failure(let problem):
            path = ""
            refusal = StorageFailure(
                problem.description, sentence: "overrides are not saved: \(problem)", isFinal: true)
        }
    }

    var folder: Folder? { opened?.folder }

    /// Opens what is not open, and looks whether it is still the same.
    /// - Returns: What the file holds, when this read it; and why nothing can be written now.
    mutating func prepare(_ anchor: TimeAnchor) -> (found: OverridesFile?, failure: StorageFailure?) {
        if let refusal { return (nil, refusal) }
        do throws(StorageFailure) {
            try openFolder()
        } catch {
            return (nil, error)
        }
        var failure: StorageFailure?
        var found: OverridesFile?
        do throws(StorageFailure) {
            try takeLock()
        } catch {
            // What is stored is read all the same.
            failure = error
        }
        do throws(StorageFailure) {
            if !isLoaded {
                found = try load(anchor, mayMove: failure == nil)
            } else if failure == nil {
                try makeWay()
            }
        } catch {
            failure = failure ?? error
        }
        if let failure, failure.isFinal { refusal = failure }
        return (found, failure)
    }

    /// Closes everything; the lock goes with it.
    mutating func close() { (lock, opened) = (nil, nil) }

    // MARK: Opening

    private mutating func openFolder() throws(StorageFailure) {
        if let opened {
            if let facts = try? files.facts(path: path), facts.isSameFile(as: opened.facts), facts.links > 0 {
                // Somebody may have opened it to others since.
                guard let fault = FileRules().fault(ofFolder: facts) else { return }
                throw failure(FileProblem(path, "opening the directory", fault))
            }
            close()
        }
        do throws(FileProblem) {
            let folder = try Folder(path, files, makes: true)
            opened = (folder, try folder.judge())
        } catch {
            throw failure(error)
        }
    }

    /// Others must not be able to put a file of their own in the place of ours.
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

    private mutating func takeLock() throws(StorageFailure) {
        guard let folder else { return }
        if let lock {
            if let facts = try? folder.facts(Self.lockName), facts.isSameFile(as: lock.facts) { return }
            self.lock = nil
        }
        let taken: OpenFile
        do throws(FileProblem) {
            taken = try folder.lock(Self.lockName)
        } catch {
            throw error.isHeld ? heldByAnother(folder) : StorageFailure(error, in: path, "taking its lock")
        }
        lock = taken
        // For the message that another process will give; without it that is only shorter.
        try? files.empty(taken.descriptor)
        try? taken.write(Array("\(ThisProcess.id)\n".utf8))
        removeStaleFiles(folder)
    }

    private mutating func heldByAnother(_ folder: Folder) -> StorageFailure {
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
        announced = failure
        return failure
    }

    /// Removes what writers left behind that died; with the lock in hand, none of them lives.
    private func removeStaleFiles(_ folder: Folder) {
        let names = (try? folder.names()) ?? []
        let ours = [Self.fileName + ".", HistoryFile.name + "."]
        for name in names where name.hasSuffix(".tmp") && ours.contains(where: name.hasPrefix) {
            try? files.remove(name, in: folder.descriptor)
        }
    }
}
