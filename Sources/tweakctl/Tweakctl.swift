// tweakctl: finds running programs that offer tweaks, and talks to them.

import Tweaks
import TweaksTerminal
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
            Console(isJSON: false).complain(error.description)
            System.exit(error.code)
        }
    }

    /// Does what the arguments say.
    private static func run(_ arguments: [String]) throws(Failure) -> ExitCode {
        if arguments.first == Verb.fleet.rawValue { throw FleetProgram.run(Array(arguments.dropFirst())) }
        if arguments.first == Verb.complete.rawValue {
            Console(isJSON: false).print(ShellCompletion.candidates(Array(arguments.dropFirst())))
            return .ok
        }
        let invocation = try Invocation(arguments)
        let console = Console(isJSON: invocation.wantsJSON)
        switch invocation.wish {
        case .help: console.print([Usage.help])
        case .version: console.print([Usage.version])
        case .talk:
            if let code = try tell(invocation, console) { return code }
            if invocation.words.isEmpty, invocation.address == nil { return Listing(console).show() }
            return try talk(invocation, console)
        }
        return .ok
    }

    /// What needs no process; nil for all else.
    private static func tell(_ invocation: Invocation, _ console: Console) throws(Failure) -> ExitCode? {
        guard invocation.address == nil, let verb = invocation.words.first.flatMap(Verb.init(rawValue:)) else {
            return nil
        }
        switch verb {
        case .man: console.print([Manual.page])
        case .completions:
            guard invocation.words.count == 2, let shell = Shell(rawValue: invocation.words[1]) else {
                throw Failure(.usage, "completions: name a shell, bash, zsh or fish")
            }
            console.print([shell.script])
        case .token: return try token(Array(invocation.words.dropFirst()), console)
        case .logout: return try logout(invocation, console)
        case .fleet: throw Failure(.usage, "fleet: its options stand behind it: tweakctl fleet NAME ls --json")
        case .repl, .watch, .login, .complete: return nil
        }
        return .ok
    }

    private static func token(_ words: [String], _ console: Console) throws(Failure) -> ExitCode {
        if words.isEmpty || words == ["--help"] || words == ["-h"] {
            console.print(TokenCommand.usages.map { "tweakctl \($0)" })
            return .ok
        }
        let file = System.variable("TWEAKS_TOKEN_FILE")
        return try TokenCommand(words, file: file, now: Expiry.now).run(console)
    }

    private static func login(_ invocation: Invocation, _ console: Console) throws(Failure) -> ExitCode {
        let arguments = try LoginArguments(
            .login, invocation.words.dropFirst(), hasAddress: invocation.address != nil)
        let target = try Target.ofLogin(arguments, invocation.address)
        let login = Login(
            console: console, cache: try FileTokenCache.required(), target: target, descriptor: arguments.descriptor,
            isPlain: arguments.isPlain)
        return try login.run()
    }

    private static func logout(_ invocation: Invocation, _ console: Console) throws(Failure) -> ExitCode {
        let arguments = try LoginArguments(
            .logout, invocation.words.dropFirst(), hasAddress: invocation.address != nil)
        if arguments.keeps {
            console.remark("logout --keep closes the connection of a line mode; here is none, and the token is kept")
            return .ok
        }
        let servers = invocation.address.map { [$0.cacheKey] } ?? arguments.name.map(RunDirectory.sockets(of:)) ?? []
        return try Logout(console: console, cache: try FileTokenCache.required()).run(servers)
    }

    private static func talk(_ invocation: Invocation, _ console: Console) throws(Failure) -> ExitCode {
        switch invocation.words.first.flatMap(Verb.init(rawValue:)) {
        case .login?: return try login(invocation, console)
        case .logout?: return try logout(invocation, console)
        case .fleet? where invocation.address != nil:
            throw Failure(.usage, "fleet talks to etcd, and to no process; leave -s and -H out")
        case .token? where invocation.address != nil:
            throw Failure(.usage, "token changes a file, and talks to no process; leave -s and -H out")
        default: break
        }
        // Before anybody is looked for: it must be in no message, and no process is to have it in its log.
        if invocation.words.contains(where: Secrets.isAuthentication) { throw tokenInArguments }
        let (target, words) = try Target.of(invocation)
        if words.isEmpty {
            if Editor.isPossible, !console.isJSON { return try edit(target) }
            if System.isTerminal(0) { return try Listing(console).showStatus(of: target) }
            return try script(target, console)
        }
        if words == ["-"] { return try script(target, console) }
        if let panel = try PanelCommand(words, target, console) { return try panel.run() }
        switch Verb(rawValue: words[0]) {
        case .repl? where words.count == 1: return try repl(target, console)
        case .repl?: throw Failure(.usage, "repl takes no arguments; write tweakctl NAME repl")
        case .watch? where words.count > 1:
            var watcher = Watcher(target, words, console)
            return try watcher.run()
        default: return try single(words, target, console)
        }
    }

    private static let tokenInArguments = Failure(
        .usage,
        "auth: a token is never an argument, because everybody on this machine can see those, and the shell keeps them; "
            + "use tweakctl login. If that was one, revoke it")

    /// One command.
    private static func single(_ words: [String], _ target: Target, _ console: Console) throws(Failure) -> ExitCode {
        let line = CommandText.line(words)
        guard CommandText.isAnswered(line) else { throw Failure(.usage, "\(Quoting.excerpt(line)) is no command") }
        let connection = try target.connect()
        if console.isJSON, let answer = connection.ask("json on"), answer.isRefusal {
            throw Failure(.refused, "\(target.name): \(Painter.refusal(answer.status))")
        }
        guard let answer = connection.ask(line) else {
            throw Failure(.unreachable, "\(target.name) \(connection.end) without an answer")
        }
        console.report(answer)
        return answer.isRefusal ? .refused : .ok
    }

    private static func edit(_ target: Target) throws(Failure) -> ExitCode {
        var editor = try Editor(target)
        return try editor.run()
    }

    private static func script(_ target: Target, _ console: Console) throws(Failure) -> ExitCode {
        var script = Script(0, try target.connect(), console)
        return try script.run()
    }

    /// With line editing where there is a terminal that can do it.
    private static func repl(_ target: Target, _ console: Console) throws(Failure) -> ExitCode {
        let canEdit = System.isTerminal(0) && System.isTerminal(1) && System.variable("TERM") ?? "dumb" != "dumb"
        if !canEdit { return try script(target, console) }
        var repl = try Repl(target, console)
        return repl.run()
    }
}
