// Reads the files of a state directory, also while its process writes them.

import TweaksStorage
package import TweaksSystem

/// The files of a state directory at one moment.
package struct StateFiles: Sendable {
    package private(set) var contents: [StateFileContent] = []
    /// The files that cannot be read, and why.
    package private(set) var problems: [FileProblem] = []
    /// The names of all others in the directory.
    package private(set) var others: [String] = []
    /// The owner of the directory.
    package let owner: UInt32

    /// How often the overrides and the history are read before a process that keeps changing them is given up.
    private static let maxRounds = 2_000
    /// After this many rounds, a history that is ahead of the overrides is accepted, too.
    private static let strictRounds = 100
    /// Files that are the same for this many rounds are those of a process that has died between the two writes.
    private static let stableRounds = 50

    /// Root reads the files of all users; their owner is compared with that of the directory.
    private static let rules = FileRules(.userOrRootOrAnyoneForRoot)

    /// Reads a directory. Nothing in it is changed, and no lock is taken.
    /// - Parameter isCopy: Leaves out what the history has beyond the overrides: a process writes it first.
    /// - Throws: The directory, or the list of its files, cannot be read; or the files changed too often.
    package init(_ folder: Folder, isCopy: Bool = false) throws(FileProblem) {
        owner = try folder.validate(Self.rules).owner
        try readPair(folder)
        if isCopy { cutHistory() }
        let names = try folder.names().sorted()
        for name in names where ![".", "..", StateFile.overrides.name, StateFile.history.name].contains(name) {
            if name == StateFile.presets {
                try readPresets(folder)
            } else if let file = StateFile(name: name) {
                read(file, name, in: folder)
            } else {
                others.append(name)
            }
        }
    }

    package func content(of file: StateFile) -> [UInt8]? { contents.first { $0.file == file }?.bytes }

    // MARK: Overrides and history

    /// What identifies the two files and their content.
    private typealias Identities = (overrides: FileInfo?, history: FileInfo?)

    /// Reads the overrides before the history. A process appends to the history first: a history that is read later, and
    /// was not replaced in between, has every commit of these overrides. Waits for a moment at which it has no others,
    /// because steps of a drag share a record, of which a replaced history has the last revision only.
    private mutating func readPair(_ folder: Folder) throws(FileProblem) {
        var (first, last): (Identities?, Identities?)
        var stable = 0
        for round in 1...Self.maxRounds {
            let before = Self.identities(folder)
            (contents, problems) = ([], [])
            read(.overrides, StateFile.overrides.name, in: folder)
            read(.history, StateFile.history.name, in: folder)
            let after = Self.identities(folder)
            stable = last.map { $0 == after } ?? false ? stable + 1 : 0
            if first.map({ !Self.isSame($0.history, before.history) }) ?? true { first = before }
            last = after
            if Self.isSame(before.history, after.history) {
                if before.overrides == after.overrides, historyEnd == nil || stable >= Self.stableRounds { return }
                // The history was not replaced with these overrides, but with earlier ones.
                if round > Self.strictRounds, first?.overrides != before.overrides { return }
            }
            if round > 3 { System.pause(milliseconds: 1) }
        }
        throw FileProblem("\(folder.path)/\(StateFile.history.name)", "reading it", .failed(FileError(EAGAIN)))
    }

    private static func isSame(_ old: FileInfo?, _ new: FileInfo?) -> Bool {
        guard let old, let new else { return old == nil && new == nil }
        return old.isSameFile(as: new)
    }

    private static func identities(_ folder: Folder) -> Identities {
        (try? folder.info(StateFile.overrides.name), try? folder.info(StateFile.history.name))
    }

    /// Where the history ends for these overrides, if it has later commits: after the last commit before the first later
    /// one. Statuses between the two belong to the later one, and are written before it.
    private var historyEnd: Int? {
        guard let overrides = content(of: .overrides), let history = content(of: .history),
            let revision = OverridesFile.revision(overrides)
        else { return nil }
        var (start, end) = (0, 0)
        while let feed = history[start...].firstIndex(of: UInt8(ascii: "\n")) {
            let found = HistoryFormat.revision(history[start..<feed])
            if let found, found > revision { return end }
            start = feed + 1
            if found != nil || end == 0 { end = start }
        }
        return nil
    }

    private mutating func cutHistory() {
        guard let end = historyEnd else { return }
        for index in contents.indices where contents[index].file == .history {
            contents[index].bytes.removeLast(contents[index].bytes.count - end)
        }
    }

    // MARK: Other files

    private mutating func readPresets(_ state: Folder) throws(FileProblem) {
        let folder: Folder
        do throws(FileProblem) {
            folder = try state.folder(StateFile.presets)
            try folder.validate(Self.rules)
        } catch {
            return problems.append(error)
        }
        for name in try folder.names().sorted() where !name.hasPrefix(".") {
            let path = "\(StateFile.presets)/\(name)"
            if let file = StateFile(name: path) { read(file, name, in: folder) } else { others.append(path) }
        }
    }

    private mutating func read(_ file: StateFile, _ name: String, in folder: Folder) {
        do throws(FileProblem) {
            guard let (info, bytes) = try folder.content(of: name, limit: file.sizeLimit, Self.rules) else { return }
            contents.append((file, bytes))
            // The process would refuse it.
            if info.owner != 0, info.owner != owner {
                problems.append(FileProblem("\(folder.path)/\(name)", "reading \(name)", .owner(info.owner)))
            }
        } catch {
            problems.append(error)
        }
    }
}
