// Reads the files of a state directory, also while its process writes them.

import TweaksStorage
package import TweaksSystem

/// The files of a state directory at one moment.
package struct StateFiles: Sendable {
    /// Why a program would not read a file.
    package struct Problem: Sendable, Equatable {
        /// The name in the directory: `presets/warm.conf`.
        package let name: String
        package let reason: String
        package let remedy: String
    }

    package private(set) var contents: [StateFileContent] = []
    /// The files that this process or their program cannot read.
    package private(set) var problems: [Problem] = []
    /// The names of all others in the directory.
    package private(set) var others: [String] = []
    /// The directory, whose owner is the user of the program.
    private let directory: FileInfo

    /// How often the overrides and the history are read before a process that keeps replacing them is given up.
    private static let maxRounds = 1_000

    /// Root reads the files of all users; their owner is compared with that of the directory.
    private static let rules = FileRules(.userOrRootOrAnyoneForRoot)

    /// Reads a directory. Nothing in it is changed, and no lock is taken.
    /// - Throws: The directory, or the list of its files, cannot be read; or the files changed too often (`isLocked`).
    package init(_ folder: Folder) throws(FileProblem) {
        directory = try folder.validate(Self.rules)
        try readPair(folder)
        let names = try folder.names().sorted()
        for name in names where ![".", "..", StateFile.overrides.name, StateFile.history.name].contains(name) {
            if name == StateFile.presets {
                try readPresets(folder)
            } else if let file = StateFile(name: name) {
                read(file, folder)
            } else {
                others.append(name)
            }
        }
    }

    // MARK: Overrides and history

    /// Reads the overrides before the history. A process appends to the history first: one that is read later, and was
    /// not replaced in between, has every commit of these overrides. It may have more, which a start leaves out.
    private mutating func readPair(_ folder: Folder) throws(FileProblem) {
        let name = StateFile.history.name
        for _ in 0..<Self.maxRounds {
            (contents, problems) = ([], [])
            // While it is open, no other file has its number.
            let history = attempt(name) { () throws(FileProblem) in try folder.open(name, for: .reading, Self.rules) }
            read(.overrides, folder)
            if let history { read(history, .history) }
            let now = try? folder.info(name)
            if let history, let now, history.info.isSameFile(as: now) { return }
            if history == nil, now == nil || problems.contains(where: { $0.name == name }) { return }
            System.pause(milliseconds: 1)
        }
        throw FileProblem("\(folder.path)/\(name)", "reading it", .failed(FileError(EAGAIN)))
    }

    // MARK: Other files

    private mutating func readPresets(_ state: Folder) throws(FileProblem) {
        let found = attempt(StateFile.presets) { () throws(FileProblem) in
            let folder = try state.folder(StateFile.presets)
            return (folder, try folder.validate(Self.rules))
        }
        guard let (folder, info) = found else { return }
        note(StateFile.presets, info)
        for name in try folder.names().sorted() where !name.hasPrefix(".") {
            let path = "\(StateFile.presets)/\(name)"
            if let file = StateFile(name: path) { read(file, folder) } else { others.append(path) }
        }
    }

    /// - Parameter folder: The directory that the file is in.
    private mutating func read(_ file: StateFile, _ folder: Folder) {
        let name = Folder.split(file.name).name
        let open = attempt(file.name) { () throws(FileProblem) in try folder.open(name, for: .reading, Self.rules) }
        if let open { read(open, file) }
    }

    private mutating func read(_ open: OpenFile, _ file: StateFile) {
        let bytes = attempt(file.name) { () throws(FileProblem) in try open.content(limit: file.sizeLimit) }
        guard let bytes else { return }
        contents.append((file, bytes))
        note(file.name, open.info)
    }

    /// Notes why the user of the program could not read a file, or a directory, that root reads.
    private mutating func note(_ name: String, _ info: FileInfo) {
        if let reason = refusal(info) { problems.append(Problem(name: name, reason: reason, remedy: chown)) }
    }

    private func refusal(_ file: FileInfo) -> String? {
        if directory.owner == 0 { return nil }
        if file.owner != 0, file.owner != directory.owner { return "it belongs to uid \(file.owner)" }
        let isReadable =
            file.owner == directory.owner
            ? file.mode & 0o400 != 0 : file.mode & (file.group == directory.group ? 0o040 : 0o004) != 0
        return isReadable ? nil : "only root can read it (mode \(String(file.mode, radix: 8)))"
    }

    private var chown: String { "chown it to uid \(directory.owner)" }

    /// The result; nil if there is no such file, or if it is a problem.
    private mutating func attempt<Result>(
        _ name: String, _ body: () throws(FileProblem) -> Result
    ) -> Result? {
        do throws(FileProblem) {
            return try body()
        } catch {
            if error.isMissing { return nil }
            var remedy = error.remedy
            if case .owner = error.fault { remedy = chown }
            if [EACCES, EPERM].contains(error.error?.code) { remedy = chown }
            problems.append(Problem(name: name, reason: error.reason, remedy: remedy))
            return nil
        }
    }
}
