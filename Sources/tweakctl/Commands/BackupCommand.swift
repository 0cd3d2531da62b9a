// Runs `backup`: copies the state of a running process into one file.

import Tweaks
import TweaksBackup
import TweaksSystem

/// `backup FILE`: the process runs on. The files are read here, by the owner of the process or by root.
struct BackupCommand {
    static let usage = "[NAME] backup FILE [--force]"

    private let target: Target
    private let console: Console
    private let path: String
    private let replaces: Bool

    /// - Parameter words: The words after the process's name; nil where they are another command.
    init?(_ words: [String], _ target: Target, _ console: Console) throws(Failure) {
        guard words.first == Verb.backup.rawValue else { return nil }
        let files = words.dropFirst().filter { $0 != "--force" }
        if let word = files.first(where: { $0.hasPrefix("-") }) {
            throw Invocation.notAnOption(word, of: "backup", ["--force"], or: "use tweakctl \(Self.usage)")
        }
        guard files.count == 1, let path = files.first else {
            throw Failure(.usage, "backup: use tweakctl \(Self.usage)")
        }
        if case .tcp = target.address {
            throw Failure(
                .usage,
                "backup: it reads the files of the process, on its machine; name the process, or its Unix socket")
        }
        (self.target, self.console, self.path) = (target, console, path)
        replaces = words.contains("--force")
    }

    func run() throws(Failure) -> ExitCode {
        let source = try source()
        let state: StateFiles
        do throws(FileProblem) {
            state = try StateFiles(Folder(source.directory))
        } catch {
            throw StateFailure.of(error, "backup", remedy: "run it as the user of the process, or as root")
        }
        if let problem = state.problems.first {
            throw Failure(
                .refused, "backup: \(source.directory)/\(problem.name): \(problem.reason); \(problem.remedy)")
        }
        let archive = StateArchive(program: source.program, time: ThisProcess.wallClock, files: state.contents)
        let bytes = archive.bytes
        do throws(StateArchive.Problem) {
            _ = try StateArchive(bytes)
        } catch {
            throw Failure(.refused, "backup: it could not be restored: \(error.text); delete presets")
        }
        try write(bytes)
        let report = StateReport(state.contents)
        console.reportProblems(report)
        let json = json(report, source, bytes.count)
        console.print([console.isJSON ? json : "saved \(report.summary) in \(path)"])
        return .ok
    }

    private func json(_ report: StateReport, _ source: Source, _ size: Int) -> String {
        let own: [(String, JSON)] = [
            ("ok", .bool(true)), ("file", .string(path)), ("bytes", .count(size)),
            ("program", .string(source.program)), ("storage", .string(source.storage)),
        ]
        return JSON.object(own + report.fields).text
    }

    // MARK: The process

    /// What the process says of its state.
    private struct Source {
        let directory: String
        let program: String
        /// How far it is saved: `saved`, or `waiting: …`.
        let storage: String
    }

    /// A process writes the steps of a drag after this time at the latest.
    private static let longestWait = Duration.seconds(11)

    /// Asks for the state directory. Changes that the process has answered and not saved would be missing.
    private func source() throws(Failure) -> Source {
        let connection = try target.connect()
        try target.switchToJSON(connection)
        let end = ContinuousClock.now + Self.longestWait
        while true {
            let answer = try target.ask("stats", on: connection)
            if answer.isRefusal { throw Failure(.refused, "backup: \(target.name): \(answer.complaint)") }
            let storage = answer["storage"]?.string ?? "off"
            let directory = try directory(answer, storage)
            for state in [storage, answer["history"]?.string ?? ""] where state.hasPrefix("unsaved") {
                throw Failure(
                    .refused,
                    "backup: \(target.name) has changes that are not on disk: \(Quoting.sanitized(state)); its log says "
                        + "what to do")
            }
            let isWaiting = storage.hasPrefix("waiting")
            if isWaiting, ContinuousClock.now < end {
                System.pause(milliseconds: 100)
                continue
            }
            if isWaiting { console.reportProblem("backup: the last steps of a drag that has not ended may be missing") }
            return Source(
                directory: directory, program: answer["name"]?.string ?? target.name, storage: storage)
        }
    }

    private func directory(_ answer: Answer, _ storage: String) throws(Failure) -> String {
        guard !storage.hasPrefix("off"), let file = answer["storageFile"]?.string, file.hasPrefix("/") else {
            let reason = storage.hasPrefix("off: ") ? ": " + Quoting.sanitized(String(storage.dropFirst(5))) : ""
            throw Failure(
                .refused,
                "backup: \(target.name) stores nothing\(reason); see storage in tweakctl \(target.option) stats")
        }
        let directory = Folder.split(file).directory
        try checkHolder(of: directory, answer["pid"]?.wholeNumber)
        return directory
    }

    /// A process in a container has another view of the files: its directory may be another one here.
    private func checkHolder(of directory: String, _ processID: UInt64?) throws(Failure) {
        guard let processID, let folder = try? Folder(directory),
            let bytes = try? folder.content(of: "lock", limit: 64, FileRules(.anyone))?.bytes,
            let holder = UInt64(String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)), holder != processID
        else { return }
        throw Failure(
            .refused,
            "backup: \(directory) is used by pid \(holder), and not by \(target.name), pid \(processID); run this where "
                + "\(target.name) runs, as in its container")
    }

    // MARK: The file

    /// Writes the file whole, or not at all; it replaces another one only if that was requested.
    private func write(_ bytes: [UInt8]) throws(Failure) {
        do throws(FileProblem) {
            let (folder, name) = try Folder.of(path)
            let part = ".\(name).\(ThisProcess.id).part"
            try folder.replace(part, with: bytes)
            do throws(FileProblem) {
                try place(part, as: name, in: folder)
            } catch {
                try? folder.remove(part)
                throw error
            }
            try folder.flush()
        } catch {
            if error.alreadyExists {
                throw Failure(.refused, "backup: \(path) exists; name another file, or replace it with --force")
            }
            throw StateFailure.of(error, "backup", remedy: "name a file that can be written")
        }
    }

    private func place(_ part: String, as name: String, in folder: Folder) throws(FileProblem) {
        if !replaces {
            // Unlike a rename, a second name replaces no file.
            if linkat(folder.descriptor, part, folder.descriptor, name, 0) == 0 { return try folder.remove(part) }
            // Some file systems have no second names.
            if errno == EEXIST || (try? folder.info(name)) != nil {
                throw FileProblem(path, "writing \(name)", .failed(FileError(EEXIST)))
            }
        }
        try folder.rename(part, to: name)
    }
}
