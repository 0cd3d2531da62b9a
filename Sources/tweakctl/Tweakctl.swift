// Runs tweakctl: finds the requested process, or lists all, and executes the command.

import Tweaks
import TweaksSystem
import TweaksWire

/// The program.
@main
enum Tweakctl {
    static func main() {
        System.occupyStandardStreams()
        System.ignoreBrokenPipes()
        let arguments = CommandLine.arguments.dropFirst()
        do throws(Failure) {
            let code = try run(Array(arguments))
            System.exit(code == .ok && Console.outputHasFailed ? .refused : code)
        } catch {
            let wantsJSON = (try? Invocation(arguments))?.wantsJSON ?? arguments.contains("--json")
            Console(isJSON: wantsJSON).report(error)
            System.exit(error.code)
        }
    }

    /// Dispatches the arguments.
    private static func run(_ arguments: [String]) throws(Failure) -> ExitCode {
        if arguments.first == Verb.fleet.rawValue { throw FleetProgram.run(Array(arguments.dropFirst())) }
        if arguments.first == Verb.complete.rawValue {
            Console(isJSON: false).print(ShellCompletion.candidates(Array(arguments.dropFirst())))
            return .ok
        }
        let invocation = try Invocation(arguments)
        let console = Console(isJSON: invocation.wantsJSON)
        switch invocation.action {
        case .help: console.print([Usage.help])
        case .version: console.print([console.isJSON ? Usage.versionJSON.text : Usage.version])
        case .command:
            if let code = try runLocally(invocation, console) { return code }
            if invocation.words.isEmpty, invocation.address == nil { return Listing(console).show() }
            return try runCommand(invocation, console)
        }
        return .ok
    }

    /// Runs a command that needs no process; nil for all others.
    private static func runLocally(_ invocation: Invocation, _ console: Console) throws(Failure) -> ExitCode? {
        if let restore = try RestoreCommand(invocation) { return try restore.run(console) }
        guard invocation.address == nil, let verb = invocation.words.first.flatMap(Verb.init(rawValue:)) else {
            return nil
        }
        switch verb {
        case .man: console.print([Manual.page])
        case .completions:
            guard invocation.words.count == 2, let shell = Shell(rawValue: invocation.words[1]) else {
                throw Failure(.usage, "completions: name a shell: bash, zsh or fish")
            }
            console.print([shell.script])
        case .token: return try token(Array(invocation.words.dropFirst()), console)
        case .audit: return try AuditCommand(Array(invocation.words.dropFirst())).run(console)
        case .state: return try StateCommand(Array(invocation.words.dropFirst())).run(console)
        case .logout: return try logout(invocation, console)
        case .fleet: throw Failure(.usage, "fleet: put options after fleet, as in tweakctl fleet NAME ls --json")
        case .repl, .watch, .wait, .plot, .import, .bake, .backup, .restore, .login, .complete: return nil
        }
        return .ok
    }

    private static func token(_ words: [String], _ console: Console) throws(Failure) -> ExitCode {
        if words.isEmpty || words.contains("--help") || words.contains("-h") {
            console.print(TokenCommand.usages.map { "tweakctl \($0)" })
            return .ok
        }
        let file = System.variable("TWEAKS_TOKEN_FILE")
        return try TokenCommand(words, file: file, now: Expiry.now).run(console)
    }

    private static func login(_ invocation: Invocation, _ console: Console) throws(Failure) -> ExitCode {
        let arguments = try LoginArguments(
            .login, invocation.words.dropFirst(), hasAddress: invocation.address != nil)
        let target = try Target.forLogin(arguments, invocation.address, invocation.timeout)
        let login = Login(
            console: console, cache: try TokenCache.required(), target: target, descriptor: arguments.descriptor,
            isPlain: arguments.isPlain)
        return try login.run()
    }

    private static func logout(_ invocation: Invocation, _ console: Console) throws(Failure) -> ExitCode {
        let arguments = try LoginArguments(
            .logout, invocation.words.dropFirst(), hasAddress: invocation.address != nil)
        if arguments.keepsToken {
            console.printRemark(
                "logout --keep only closes the connection of the line mode, and none is open here; the token stays saved"
            )
            return .ok
        }
        let servers =
            invocation.address.map { [$0.cacheKey] }
            ?? arguments.name.map { name in NamedSocket.directories.map { $0.socket(of: name) } } ?? []
        let instances = arguments.name.map { name in { NamedSocket(at: $0).isInstance(of: name) } }
        return try Logout(console: console, cache: try TokenCache.required()).run(servers, orOnly: instances)
    }

    private static func runCommand(_ invocation: Invocation, _ console: Console) throws(Failure) -> ExitCode {
        switch invocation.words.first.flatMap(Verb.init(rawValue:)) {
        case .login?: return try login(invocation, console)
        case .logout?: return try logout(invocation, console)
        case .fleet? where invocation.address != nil:
            throw Failure(.usage, "fleet connects to etcd, not to a process; leave -s and -H out")
        case .token? where invocation.address != nil:
            throw Failure(.usage, "token changes a file and connects to no process; leave -s and -H out")
        case .audit? where invocation.address != nil:
            throw Failure(.usage, "audit reads files and connects to no process; leave -s and -H out")
        case .state? where invocation.address != nil:
            throw Failure(.usage, "state reads files and connects to no process; leave -s and -H out")
        default: break
        }
        // Before connecting: the token must get into no message, and into no log of a process.
        if invocation.words.contains(where: Secrets.isAuthentication) { throw tokenInArguments }
        let (target, words) = try Target.of(invocation)
        if words.isEmpty {
            if Editor.isPossible, !console.isJSON { return try edit(target) }
            if System.isTerminal(0) { return try Listing(console).showStatus(of: target) }
            return try script(target, console, invocation)
        }
        if words == ["-"] { return try script(target, console, invocation) }
        if invocation.keepsGoing, words != [Verb.repl.rawValue] {
            throw Failure(.usage, "--keep-going is for a script, as in tweakctl NAME - < FILE")
        }
        if let command = try ImportCommand(words, target, console) { return try command.run() }
        if let command = try BackupCommand(words, target, console) { return try command.run() }
        if let command = try BakeCommand(words, target, console) { return try command.run() }
        if var command = try WaitCommand(words, target, console) { return try command.run() }
        if let command = try PlotCommand(words, target, console) { return try command.run() }
        if let panel = try PanelCommand(words, target, console) { return try panel.run() }
        switch Verb(rawValue: words[0]) {
        case .repl? where words.count == 1: return try repl(target, console, invocation)
        case .repl?: throw Failure(.usage, "repl takes no arguments; use tweakctl NAME repl")
        case .watch? where words.count > 1:
            var watcher = Watcher(target, words, console)
            return try watcher.run()
        default: return try runSingle(words, target, console)
        }
    }

    private static let tokenInArguments = Failure(
        .usage,
        "auth: a token is never an argument, because all users of this machine can see arguments, and the shell saves "
            + "them; use tweakctl login. If that was a token, revoke it")

    private static let previewEndsAtOnce = Failure(
        .usage,
        "preview: it would end with this command; type it in tweakctl NAME repl, or see what differs: preview dry PATTERN"
    )

    /// Runs one command.
    private static func runSingle(_ words: [String], _ target: Target, _ console: Console) throws(Failure) -> ExitCode {
        let line = CommandText.line(words)
        guard CommandText.isAnswered(line) else { throw Failure(.usage, "\(Quoting.excerpt(line)) is not a command") }
        if words[0] == Command.preview.name, words.dropFirst().first != Keyword.dry.rawValue { throw previewEndsAtOnce }
        let connection = try target.connect()
        if console.isJSON { try target.switchToJSON(connection) }
        // What only reads is printed as it was sent; on a terminal, the fields say how to format it.
        let wantsFields = !console.isJSON && (console.style.isHumanReadable || !CommandText.onlyReads(line))
        let answer = try target.ask(line, on: connection, withFields: wantsFields)
        console.report(answer, to: line)
        if let remark = StaleOverrides(answer, to: line)?.remark(target), !console.isJSON {
            console.printRemark(remark)
        }
        return answer.isRefusal ? .refused : .ok
    }

    private static func edit(_ target: Target) throws(Failure) -> ExitCode {
        var editor = try Editor(target)
        return try editor.run()
    }

    private static func script(
        _ target: Target, _ console: Console, _ invocation: Invocation
    ) throws(Failure) -> ExitCode {
        var script = try Script(0, target, console, keepsGoing: invocation.keepsGoing)
        return try script.run()
    }

    /// Starts the line mode; without line editing where the terminal cannot do it.
    private static func repl(
        _ target: Target, _ console: Console, _ invocation: Invocation
    ) throws(Failure) -> ExitCode {
        let canEdit = System.isTerminal(0) && System.isTerminal(1) && System.variable("TERM") ?? "dumb" != "dumb"
        if !canEdit { return try script(target, console, invocation) }
        var repl = try Repl(target, console)
        return repl.run()
    }
}

/// The fleet client, `tweakctl-fleet`: next to this program, or in PATH.
enum FleetProgram {
    static let name = "tweakctl-fleet"

    /// Replaces this process by the fleet client.
    /// - Returns: The error; it does not return on success.
    static func run(_ arguments: [String]) -> Failure {
        guard let path else {
            return Failure(
                .unreachable,
                "fleet: \(name) is neither next to tweakctl nor in PATH; install it there "
                    + "(swift build --product \(name))")
        }
        return Failure(.unreachable, "\(path): \(errorText(execute(path, arguments))); reinstall \(name)")
    }

    /// Completions for a partial line of it; empty where the program is missing.
    static func candidates(_ words: some Sequence<String>) -> [String] {
        if let path { _ = execute(path, [Verb.complete.rawValue] + words) }
        return []
    }

    /// The path of the fleet client; nil where it is not installed.
    private static var path: String? {
        let folders = [ownFolder] + (System.variable("PATH") ?? "").split(separator: ":").map { String($0) }
        return folders.compactMap(\.self).map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// The directory of this program, with symbolic links resolved.
    private static var ownFolder: String? {
        #if canImport(Darwin)
            var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
            var count = UInt32(bytes.count)
            guard _NSGetExecutablePath(&bytes, &count) == 0 else { return nil }
            let name = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
            let name = "/proc/self/exe"
        #endif
        guard let real = realpath(name, nil) else { return nil }
        defer { free(real) }
        let path = String(cString: real)
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return String(path[..<slash])
    }

    /// Calls execv(3); returns an error number, or not at all.
    private static func execute(_ path: String, _ arguments: [String]) -> Int32 {
        var pointers = ([path] + arguments).map { strdup($0) }
        pointers.append(nil)
        execv(path, pointers)
        let code = errno
        for pointer in pointers { free(pointer) }
        return code
    }
}
