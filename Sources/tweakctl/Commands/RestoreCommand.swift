// Runs `restore`: puts the state of a backup in the place of that of a program that does not run.

import Tweaks
import TweaksBackup
import TweaksStorage
import TweaksSystem
import TweaksWire

/// `restore FILE`: the process does not run.
struct RestoreCommand: Equatable {
    static let usage = "NAME restore FILE [--state DIR] [--from NAME] [--dry-run] [--yes]"
    static let options = ["--state", "--from", "--dry-run", "--yes"]

    let name: String
    let file: String
    /// The state directory; nil: that of the environment.
    let directory: String?
    /// The program whose backup it is; nil: the same.
    let origin: String?
    let isDry: Bool
    let isConfirmed: Bool

    /// Nil where the words are another command.
    init?(_ invocation: Invocation) throws(Failure) {
        let words = invocation.words
        guard let position = words.prefix(2).firstIndex(of: Verb.restore.rawValue) else { return nil }
        // `load restore` loads a preset of that name. After `hello` only a version can follow, so that it is a program.
        if position == 1, let command = Command.named(words[0]), command != .hello { return nil }
        // `login restore` signs in to a process of that name.
        if position == 1, Verb(rawValue: words[0]) != nil { return nil }
        // A running process takes precedence over a command of the same name.
        if position == 0, RunningProcess.running(words[0]) != nil { return nil }
        guard position == 1, invocation.address == nil else {
            throw Failure(
                .usage, "restore: it connects to no process; name the program: tweakctl \(Self.usage)")
        }
        var rest = words.dropFirst(2)
        var files: [String] = []
        var directory: String?
        var origin: String?
        while let word = rest.popFirst() {
            switch word {
            case "--dry-run", "--yes", "-y": continue
            case "--state":
                guard directory == nil, let path = rest.popFirst(), !path.isEmpty else {
                    throw Failure(.usage, "restore: --state takes one directory, as in --state /var/lib/bounce")
                }
                directory = ThisProcess.absolute(path)
            case "--from":
                guard origin == nil, let name = rest.popFirst() else {
                    throw Failure(.usage, "restore: --from takes the name of a program, as in --from bounce")
                }
                origin = name
            default:
                if word.hasPrefix("-") {
                    throw Invocation.notAnOption(
                        word, of: "restore", Self.options, or: "use tweakctl \(Self.usage)")
                }
                files.append(word)
            }
        }
        guard files.count == 1, let file = files.first else {
            throw Failure(.usage, "restore: use tweakctl \(Self.usage)")
        }
        (name, self.file, self.directory, self.origin) = (words[0], file, directory, origin)
        isDry = words.contains("--dry-run")
        isConfirmed = words.contains("--yes") || words.contains("-y")
        if !isDry, !isConfirmed, invocation.wantsJSON {
            throw Failure(
                .usage, "restore: nothing can be asked here; use --yes, or --dry-run to see what would change")
        }
    }

    func run(_ console: Console) throws(Failure) -> ExitCode {
        let archive = try read()
        let new = StateReport(archive.files)
        console.reportProblems(new)
        if new.isRefused {
            throw Failure(.refused, "restore: \(file): nothing of such a file would be read; nothing has changed")
        }
        let path = try stateDirectory()
        let shown = try attempt(path) { () throws(FileProblem) in try StateReport(Folder(path)) }
        if isDry { return show(shown, new, archive, [], path, console) }
        if !isConfirmed {
            console.print(lines(shown, new, archive, path))
            guard try console.confirm("Restore the state of \(name)?") else { return .refused }
        }
        // While a person thinks, the program can start.
        let restore = try attempt(path) { () throws(FileProblem) in try StateRestore(path) }
        let old = try attempt(path) { () throws(FileProblem) in try restore.report() }
        let isSame = lines(old, new, archive, path) == lines(shown, new, archive, path)
        if !isConfirmed, !isSame || old.revision != shown.revision {
            throw Failure(.refused, "restore: \(path) has changed meanwhile; look at it again")
        }
        let kept = try attempt(path, restore) { () throws(FileProblem) in
            try restore.place(archive.files, at: ThisProcess.wallClock)
        }
        return show(old, new, archive, kept, path, console)
    }

    private func attempt<Result>(
        _ path: String, _ restore: StateRestore? = nil, _ body: () throws(FileProblem) -> Result
    ) throws(Failure) -> Result {
        do throws(FileProblem) {
            return try body()
        } catch {
            if error.isLocked {
                throw Failure(.refused, "restore: a process uses \(path); stop it, and restore then")
            }
            if restore?.isUnchanged == false {
                throw Failure(
                    .refused,
                    "restore: \(error.path): \(error.reason) (\(error.operation)), and not all of it could be undone: the old "
                        + "files end in .before-restore-TIME; restore again, or rename them")
            }
            let remedy =
                if error.isPathMissing, error.path == path {
                    "make it as the user of the program: mkdir -m 700 -p \(path)"
                } else if error.error?.code == EMLINK {
                    "nothing has changed; remove it, which has another name elsewhere"
                } else {
                    "nothing has changed; run it as the owner of the directory, or as root"
                }
            throw StateFailure.of(error, "restore", remedy: remedy)
        }
    }

    private func show(
        _ old: StateReport, _ new: StateReport, _ archive: StateArchive, _ kept: [String], _ path: String,
        _ console: Console
    ) -> ExitCode {
        if console.isJSON {
            console.print([json(old, new, archive, kept, path)])
            return .ok
        }
        if isDry || isConfirmed { console.print(lines(old, new, archive, path)) }
        if isDry {
            console.printRemark("nothing has changed")
        } else {
            let rest = kept.isEmpty ? "" : "; the old files are kept: \(kept.joined(separator: ", "))"
            console.print(["restored \(new.summary) in \(path)\(rest)"])
        }
        return .ok
    }

    /// What changes.
    private func lines(_ old: StateReport, _ new: StateReport, _ archive: StateArchive, _ path: String) -> [String] {
        func text(_ what: String, _ change: StateReport.Difference) -> String {
            "  \(what): \(change.added) added, \(change.changed) changed, \(change.removed) removed"
        }
        let program = archive.program == name ? "" : " of \(Quoting.sanitized(archive.program))"
        return [
            "the backup\(program) of \(TimeText.seconds(archive.time)), for \(path):",
            text("overrides", new.overrideChanges(from: old)), text("presets", new.presetChanges(from: old)),
            "  history: \(StateReport.counted(new.commits, "commit")) in place of \(old.commits)",
        ]
    }

    private func json(
        _ old: StateReport, _ new: StateReport, _ archive: StateArchive, _ kept: [String], _ path: String
    ) -> String {
        func object(_ change: StateReport.Difference) -> JSON {
            .object([
                ("added", .count(change.added)), ("changed", .count(change.changed)),
                ("removed", .count(change.removed)),
            ])
        }
        return JSON.object(
            [
                ("ok", .bool(true)), ("directory", .string(path)), ("dry", .bool(isDry)),
                ("program", .string(archive.program)), ("time", .string(TimeText.print(archive.time))),
                ("overrideChanges", object(new.overrideChanges(from: old))),
                ("presetChanges", object(new.presetChanges(from: old))),
                ("kept", .array(kept.map { .string($0) })),
            ] + new.fields
        ).text
    }

    private func read() throws(Failure) -> StateArchive {
        let bytes = try InputFile(file, sizeLimit: StateArchive.sizeLimit).read()
        let archive: StateArchive
        do throws(StateArchive.Problem) {
            archive = try StateArchive(bytes)
        } catch {
            throw Failure(.refused, "restore: \(file): \(error.text); name a file that tweakctl NAME backup has made")
        }
        let expected = origin ?? name
        if archive.program == expected { return archive }
        let program = Quoting.sanitized(archive.program)
        throw Failure(
            .refused,
            "restore: \(file) is a backup of \(program), and not of \(Quoting.sanitized(expected)); if \(name) is to have "
                + "its state, use --from \(program)")
    }

    /// The directory that the program would have in this environment.
    private func stateDirectory() throws(Failure) -> String {
        if let directory { return directory }
        if RunningProcess.running(name) != nil {
            throw Failure(
                .refused, "restore: \(Quoting.excerpt(name)) is running, and would overwrite the files; stop it first")
        }
        switch StateLocation.directory(named: nil, program: name, environment: ThisProcess.environment) {
        case .success(let path)?: return path
        case .failure(let problem)?: throw Failure(.refused, "restore: \(problem); or use --state DIR")
        case nil: throw Failure(.refused, "restore: TWEAKS_STATE_DIR is off; name the directory with --state DIR")
        }
    }
}
