// Stores presets as files in the folder `presets` of the state directory.

import Synchronization
package import Tweaks
package import TweaksSystem

/// Lists, reads, writes and deletes presets. May be used on any thread. Several processes can read: files are replaced
/// atomically, and the folder is opened each time. Only the process that holds the state directory writes.
package final class PresetFolder: PresetStore {
    /// The limits of the folder.
    package struct Limits: Sendable {
        /// The maximum number of presets.
        package var presets = 1_000
        /// The maximum bytes of one preset.
        package var bytes = 16_777_216

        package init() {}
    }

    private static let folderName = "presets"
    private static let ending = ".conf"

    private let place: Result<String, StateLocation.Problem>
    private let files: any FileSystem
    private let limits: Limits
    private let program: String
    private let time: any StorageTime
    private let holder: @Sendable () -> String?
    /// Summaries of files, valid while the files are unchanged.
    private let known = Mutex<[String: (info: FileInfo, summary: PresetSummary)]>([:])

    /// Creates a store without touching any file.
    /// - Parameters:
    ///   - directory: The state directory, or why there is none.
    ///   - program: The program name written to the files.
    ///   - limits: The limits of the folder.
    ///   - holder: The other process that holds the state directory and alone may write there; nil for none.
    package init(
        directory: Result<String, StateLocation.Problem>, program: String, limits: Limits = Limits(),
        fileSystem: any FileSystem = PosixFileSystem(), time: any StorageTime = SystemTime(),
        holder: @escaping @Sendable () -> String? = { nil }
    ) {
        place = directory
        files = fileSystem
        self.program = program
        self.limits = limits
        self.time = time
        self.holder = holder
    }

    // MARK: Listing

    package func list() throws(TweakError) -> [PresetSummary] {
        guard let folder = try open(making: false) else { return [] }
        return try names(in: folder).map { summary($0, in: folder) }
    }

    package func names() -> [String] {
        guard let folder = try? open(making: false) else { return [] }
        return ((try? names(in: folder)) ?? []).map(\.text)
    }

    private func names(in folder: Folder) throws(TweakError) -> [PresetName] {
        let found = try attempt("the presets cannot be listed", try folder.names())
        return found.filter { $0.hasSuffix(Self.ending) }
            .compactMap { try? PresetName(String($0.dropLast(Self.ending.count))) }.sorted()
    }

    /// The summary of a preset; for an unreadable one, with the error.
    private func summary(_ name: PresetName, in folder: Folder) -> PresetSummary {
        var summary = PresetSummary(name: name)
        do throws(TweakError) {
            let info = try? folder.info(Self.file(name))
            if let info, let old = known.withLock({ $0[name.text] }), old.info == info { return old.summary }
            let preset = try read(name, in: folder)
            summary.heading = preset.heading
            (summary.tweaks, summary.badLines) = (preset.entries.count, preset.problems.count)
            if let info { known.withLock { $0[name.text] = (info, summary) } }
        } catch {
            summary.failure = error.message
        }
        return summary
    }

    // MARK: Reading

    package func read(_ name: PresetName) throws(TweakError) -> Preset {
        guard let folder = try open(making: false) else { throw missing(name, []) }
        return try read(name, in: folder)
    }

    private func read(_ name: PresetName, in folder: Folder) throws(TweakError) -> Preset {
        let content = try attempt(
            "the preset \(name) cannot be read", try folder.content(of: Self.file(name), limit: limits.bytes))
        guard let content else { throw missing(name, (try? names(in: folder)) ?? []) }
        return try PresetFile.preset(content.bytes, name: name)
    }

    private func missing(_ name: PresetName, _ names: [PresetName]) -> TweakError {
        let near = Spelling.nearest(to: name.text, among: names.map(\.text))
        return TweakError(
            .badValue,
            "there is no preset \(Quoting.excerpt(name.text)); "
                + (near.map { "did you mean \($0)?" } ?? "presets lists what there is"), isMissing: true)
    }

    // MARK: Changing

    /// Refuses changes if another process holds the directory.
    private func checkHolder(_ failureText: String) throws(TweakError) {
        guard let holder = holder() else { return }
        throw TweakError(
            .io,
            "\(failureText): the state directory is used by \(holder); do it there, or give this process its own "
                + "TWEAKS_STATE_DIR")
    }

    @discardableResult
    package func write(
        _ draft: PresetDraft, as name: PresetName, mayReplace: Bool = true
    ) throws(TweakError) -> PresetSummary? {
        try checkHolder("the preset \(name) is not saved")
        let bytes = PresetFile.bytes(draft, program: program, at: time.wall)
        if bytes.count > limits.bytes {
            throw TweakError(
                .tooLong,
                "the preset \(name) would have \(bytes.count) bytes; at most \(limits.bytes): save fewer tweaks, by a "
                    + "pattern", limit: .presetBytes)
        }
        guard let folder = try open(making: true) else { throw missing(name, []) }
        let names = try names(in: folder)
        if !mayReplace, names.contains(name) { throw draft.refusal(name) }
        let before = names.contains(name) ? summary(name, in: folder) : nil
        if before == nil, names.count >= limits.presets {
            throw TweakError(
                .tooMany, "there are \(names.count) presets already; delete one of them", limit: .presets)
        }
        removeLeftovers(folder, now: time.wall)
        // Concurrent writers of the same name, in any process, need different temporary files.
        let temporary = ".\(Self.file(name)).\(String(UInt64.random(in: .min ... .max), radix: 16)).tmp"
        let failureText = "the preset \(name) is not saved"
        try attempt(failureText, try folder.replace(Self.file(name), with: bytes, temporary: temporary))
        try attempt(failureText, try folder.flush())
        return before
    }

    package func delete(_ name: PresetName) throws(TweakError) {
        try checkHolder("the preset \(name) is not deleted")
        guard let folder = try open(making: false) else { throw missing(name, []) }
        if (try? folder.info(Self.file(name))) == nil { throw missing(name, try names(in: folder)) }
        let failureText = "the preset \(name) is not deleted"
        try attempt(failureText, try folder.remove(Self.file(name)))
        try attempt(failureText, try folder.flush())
        known.withLock { $0[name.text] = nil }
    }

    private static func file(_ name: PresetName) -> String { name.text + ending }

    // MARK: The folder

    /// Opens the folder, always inside the state directory and never through a link.
    /// - Parameter isNeeded: Creates it, and the state directory, if they are missing.
    /// - Returns: Nil if it does not exist and is not created.
    private func open(making isNeeded: Bool) throws(TweakError) -> Folder? {
        let path = try directory()
        do throws(FileProblem) {
            let state = try Folder(path, files, creates: isNeeded)
            try state.validate()
            let folder = try state.folder(Self.folderName, creates: isNeeded)
            try folder.validate()
            return folder
        } catch {
            if error.isMissing, !isNeeded { return nil }
            throw failure(error, path)
        }
    }

    private func directory() throws(TweakError) -> String {
        switch place {
        case .success(let path): return path
        case .failure(let problem): throw TweakError(.io, "there is no place for presets: \(problem)")
        }
    }

    /// Other users must not be able to add presets.
    private func failure(_ problem: FileProblem, _ state: String) -> TweakError {
        let folder = problem.path == state ? state : "the folder \(Self.folderName)"
        let text =
            switch problem.fault {
            case .kind: "\(folder) is a symbolic link, which is not followed; make it a folder"
            case .owner(let uid):
                "\(problem.path) belongs to uid \(uid), and this process to uid \(ThisProcess.user); chown it, or name "
                    + "another TWEAKS_STATE_DIR"
            case .mode: "others can write in \(problem.path); chmod 700 it, or name another TWEAKS_STATE_DIR"
            default: "\(folder) cannot be opened: \(problem.reason); \(problem.remedy)"
            }
        return TweakError(.io, text)
    }

    // MARK: Files

    /// Removes temporary files of dead writers: no write lasts an hour.
    private func removeLeftovers(_ folder: Folder, now: Int64) {
        let names = ((try? folder.names()) ?? []).filter { $0.hasPrefix(".") && $0.hasSuffix(".tmp") }
        for name in names {
            guard let info = try? folder.info(name) else { continue }
            if info.modified / 1_000_000 < now - 3_600_000 { try? folder.remove(name) }
        }
    }

    /// Runs a file operation, and converts its error into a message with a remedy.
    private func attempt<Result>(
        _ failureText: String, _ body: @autoclosure () throws(FileProblem) -> Result
    ) throws(TweakError) -> Result {
        do throws(FileProblem) {
            return try body()
        } catch {
            switch error.fault {
            case .kind(.link):
                throw TweakError(
                    .io, "\(failureText): it is a symbolic link, which is not followed; put the file itself there")
            case .kind: throw TweakError(.io, "\(failureText): \(error.reason); put one there")
            case .owner: throw TweakError(.io, "\(failureText): \(error.reason); chown it")
            case .size:
                throw TweakError(.tooLong, "\(failureText): \(error.reason); make two of it", limit: .presetBytes)
            default: throw TweakError(.io, "\(failureText): \(error.reason); \(error.remedy)")
            }
        }
    }
}
