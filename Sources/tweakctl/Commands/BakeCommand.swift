// Makes the overrides of a process the defaults in its Swift source: prints a diff, and applies it on request.

import Tweaks
import TweaksBake
import TweaksSystem
import TweaksWire

/// `bake [--write] [PATTERN] [SOURCES…]`: what exists as a file or folder is a source, another word is the pattern.
struct BakeCommand {
    private let target: Target
    private let console: Console
    private let writes: Bool
    private let pattern: String?
    private let sources: [String]

    /// The usage line.
    static let usage = "[NAME] bake [--write] [PATTERN] [SOURCES…]"

    /// - Parameter words: The words after the process's name; nil where they are another command.
    init?(_ words: [String], _ target: Target, _ console: Console) throws(Failure) {
        guard words.first == Verb.bake.rawValue else { return nil }
        let rest = words.dropFirst().filter { $0 != "--write" }
        if let word = rest.first(where: { $0.hasPrefix("-") }) {
            throw Invocation.notAnOption(word, of: "bake", ["--write"], or: "use tweakctl \(Self.usage)")
        }
        let sources = rest.filter { (try? Folder.anywhere.info($0)) != nil }
        let patterns = rest.filter { !sources.contains($0) }
        if patterns.count > 1 {
            throw Failure(
                .usage,
                "bake: \(patterns.map { Quoting.excerpt($0) }.joined(separator: " and ")) are no files or folders, and one "
                    + "pattern at most is possible; use tweakctl \(Self.usage)")
        }
        self.target = target
        self.console = console
        self.sources = sources.isEmpty ? ["."] : sources
        writes = words.contains("--write")
        pattern = patterns.first
    }

    /// A tweak that keeps its default, and the reason.
    private typealias Left = (path: String, reason: String)

    func run() throws(Failure) -> ExitCode {
        let connection = try target.connect()
        try target.switchToJSON(connection)
        let (paths, left) = try overrides(connection)
        let (tweaks, unknown) = try described(paths, connection)
        let bake: Bake
        do throws(FileProblem) {
            bake = try Bake(tweaks, in: sources)
        } catch {
            throw Failure(
                .refused, "bake: \(error.path.isEmpty ? "." : error.path): \(error.reason); name another folder")
        }
        var problems = unknown + bake.problems.map { "\($0.place): \($0.path.token) \($0.reason)" }
        let files = writes ? write(bake.files, &problems) : bake.files
        if console.isJSON { printJSON(files, problems, left) } else { print(files, problems, left) }
        return problems.isEmpty ? .ok : .refused
    }

    // MARK: The process

    /// The paths of overrides, and the modified tweaks that have none.
    private func overrides(_ connection: Connection) throws(Failure) -> (paths: [String], left: [Left]) {
        let line = ([Command.modified.name] + [pattern].compactMap { $0.map(Quoting.json) }).joined(separator: " ")
        let answer = try target.ask(line, on: connection)
        if answer.isRefusal {
            let isUnknown = answer.errorCode == .unknownTweak
            throw Failure(.refused, "bake: \(answer.complaint)" + (isUnknown ? "; nor is it a file or folder" : ""))
        }
        var paths: [String] = []
        var left: [Left] = []
        for tweak in answer.tweaks {
            guard let path = tweak["path"]?.string else { continue }
            if let reason = Self.reason(toLeave: tweak) { left.append((path, reason)) } else { paths.append(path) }
        }
        return (paths, left)
    }

    /// Why a modified tweak keeps its default; nil if it has an override to bake.
    private static func reason(toLeave tweak: JSON) -> String? {
        if tweak["flags"]?.elements.contains(.string("secret")) == true {
            return "is secret, and no secret is written into source"
        }
        switch (tweak["settledLayer"] ?? tweak["layer"])?.string {
        case TweakLayer.override.name?: return nil
        case TweakLayer.temporaryOverride.name?:
            return "has a temporary override; keep it first, or wait until it ends"
        case let layer?: return "has its value from the layer \(Quoting.sanitized(layer)); only overrides are baked"
        case nil: return "has a value of unknown source; update the program"
        }
    }

    /// What the process says about its tweaks, and about which of them that cannot be used.
    private func described(
        _ paths: [String], _ connection: Connection
    ) throws(Failure) -> (tweaks: [TunedTweak], problems: [String]) {
        let requests = paths.map { "\(Command.describe.name) \(Quoting.json($0))" }
        var tweaks: [TunedTweak] = []
        var problems: [String] = []
        for (path, answer) in zip(paths, try Pipeline.exchange(requests, with: target, on: connection)) {
            let shown = Quoting.sanitized(path)
            do throws(BakeRefusal) {
                if answer.isRefusal {
                    problems.append("\(shown): \(answer.complaint)")
                } else if let json = JSON(answer.status), json["path"]?.string == path {
                    tweaks.append(try TunedTweak(json))
                } else {
                    problems.append("\(shown): the answer describes another tweak; ask again")
                }
            } catch {
                problems.append("\(shown) \(error)")
            }
        }
        return (tweaks, problems)
    }

    // MARK: The files

    /// Writes the files, and returns those that were written.
    private func write(_ files: [Bake.File], _ problems: inout [String]) -> [Bake.File] {
        var written: [Bake.File] = []
        for file in files {
            do throws(FileProblem) {
                if try file.write() {
                    written.append(file)
                } else {
                    problems.append("\(file.path): it has changed meanwhile and stays as it is; run this again")
                }
            } catch {
                problems.append(
                    "\(file.path): \(error.reason), and it stays as it is; \(error.error?.bakeRemedy ?? "replace it")")
            }
        }
        return written
    }

    // MARK: Output

    private func print(_ files: [Bake.File], _ problems: [String], _ left: [Left]) {
        for file in files {
            // On a terminal no character of a file is a command.
            console.print(console.style.isHumanReadable ? file.diff.map(Quoting.sanitized) : file.diff)
        }
        for (path, reason) in left { console.printRemark("\(Quoting.sanitized(path)) \(reason)") }
        for problem in problems { console.reportProblem(problem) }
        let count = files.reduce(0) { $0 + $1.tweaks.count }
        let what = "\(count) new default\(count == 1 ? "" : "s") in \(files.count) file\(files.count == 1 ? "" : "s")"
        if count == 0 {
            if problems.isEmpty { console.printRemark("there is no override that differs from its default") }
        } else if writes {
            console.printRemark(
                "\(what) written; after the next build and start, tweakctl \(target.option) modified --stale lists the "
                    + "overrides that are no longer needed")
        } else {
            console.printRemark("\(what) can be written; --write does it")
        }
    }

    private func printJSON(_ files: [Bake.File], _ problems: [String], _ left: [Left]) {
        let json = JSON.object([
            ("ok", .bool(problems.isEmpty)), ("written", .bool(writes)),
            (
                "files",
                .array(
                    files.map { file in
                        .object([
                            ("path", .string(file.path)),
                            ("tweaks", .array(file.tweaks.map { .string($0.path.joined) })),
                            ("diff", .string(file.diff.map { $0 + "\n" }.joined())),
                        ])
                    })
            ),
            ("problems", .array(problems.map(JSON.string))),
            ("left", .array(left.map { .object([("path", .string($0.path)), ("reason", .string($0.reason))]) })),
        ])
        console.print([json.text])
    }
}

extension FileError {
    /// What to do about a source file that cannot be written.
    fileprivate var bakeRemedy: String {
        switch code {
        case EACCES, EPERM, EROFS: "give this user the right to write there, or apply the diff as another one"
        default: remedy("path")
        }
    }
}

/// The answer to `modified --stale`: overrides that are their defaults.
struct StaleOverrides {
    private let paths: [String]

    /// Nil for another request, and if there is none.
    init?(_ answer: Answer, to line: String) {
        var text = line
        guard case .request(let request) = text.withUTF8({ ParsedLine($0) }), request.command == .modified,
            request.keywords.contains(.stale), !answer.isRefusal
        else { return nil }
        paths = answer.body.compactMap(TweakRow.init).map { JSON($0.path)?.string ?? $0.path }
        if paths.isEmpty { return nil }
    }

    /// The command that drops them.
    func remark(_ target: Target) -> String {
        let words = paths.map { path in
            "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
        }
        return "these overrides are the defaults of the program by now; to drop them: tweakctl \(target.option) reset "
            + words.joined(separator: " ")
    }
}
