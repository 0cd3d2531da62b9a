// Parses the command line: options, the process to connect to, and the command.

import Tweaks
import TweaksSystem
import TweaksWire

/// The parsed command line, without knowledge of the running processes.
struct Invocation: Equatable {
    /// The address given by -s or -H.
    var address: Address?
    /// One JSON object a line instead of text.
    var wantsJSON = false
    /// How long to wait for the process.
    var timeout = Timeout.standard
    /// Whether a script goes on after a refused line.
    var keepsGoing = false
    /// What tweakctl itself is asked to do.
    var action = Action.command
    /// All words that are not options: a process, a command, or both.
    var words: [String] = []

    /// What tweakctl itself is asked to do.
    enum Action: Equatable {
        case command, help, version
    }

    /// An option, as the parser, the help and the manual use it.
    struct Option {
        let names: [String]
        let argument: String?
        let summary: String

        /// `-s, --socket PATH`
        var synopsis: String { names.joined(separator: ", ") + (argument.map { " \($0)" } ?? "") }
    }

    static let options = [
        Option(
            names: ["-s", "--socket"], argument: "PATH",
            summary: "connect to this Unix socket; may also follow the command"),
        Option(
            names: ["-H", "--host"], argument: "HOST:PORT",
            summary: "connect over TCP, to a process that enabled it; may also follow the command"),
        Option(
            names: ["--json"], argument: nil,
            summary: "print one JSON object a line; may also follow the command"),
        Option(
            names: ["--timeout"], argument: "DURATION",
            summary: "how long to wait for the connection and for each answer: 10s by default; off waits forever"),
        Option(
            names: ["--keep-going"], argument: nil,
            summary: "with a script: run the lines after a refused one, too"),
        Option(names: ["-h", "--help"], argument: nil, summary: "print this help"),
        Option(names: ["--version"], argument: nil, summary: "print the version"),
    ]

    init(_ arguments: some Sequence<String>) throws(Failure) {
        var rest = Array(arguments)[...]
        while let argument = rest.first, argument.hasPrefix("-"), argument != "-" {
            rest.removeFirst()
            if argument == "--" {
                words = Array(rest)
                return
            }
            try parseOption(argument, &rest)
        }
        try parseWords(rest)
    }

    private mutating func parseOption(_ option: String, _ rest: inout ArraySlice<String>) throws(Failure) {
        switch option {
        case "-s", "--socket": address = .unix(path: try Self.value(of: option, &rest))
        case "-H", "--host": address = try Address(hostAndPort: try Self.value(of: option, &rest))
        case "--json": wantsJSON = true
        case "--timeout": timeout = try Timeout(try Self.value(of: option, &rest))
        case "--keep-going": keepsGoing = true
        case "-h", "--help": action = .help
        case "--version": action = .version
        default: throw Self.notAnOption(option, Self.names, or: "see tweakctl --help")
        }
    }

    private static var names: [String] { options.flatMap(\.names) }

    /// The error of an unknown option, with the nearest one of `options`.
    static func notAnOption(
        _ word: String, of verb: String? = nil, _ options: some Sequence<String>, or remedy: String
    ) -> Failure {
        let near = Spelling.nearest(to: word, among: options.filter { $0.count > 2 })
        let guess = near.map { "did you mean \($0)?" } ?? remedy
        let subject = verb.map { "\($0): " } ?? ""
        return Failure(.usage, "\(subject)\(Quoting.excerpt(word)) is not an option; \(guess)")
    }

    /// Whether a word after the first is a misspelled option, and no word of a command.
    private func isMisspelled(_ word: String) -> Bool {
        guard word.hasPrefix("--"), !word.contains("/"), !acceptsAnyWord else { return false }
        if words.contains(where: { Verb(rawValue: $0) != nil || Command.named($0) != nil }) { return false }
        return Spelling.nearest(to: word, among: Self.names) != nil
    }

    /// The options of tweakctl may follow the command; other words with a dash belong to the command, as all do after
    /// `--`.
    private mutating func parseWords(_ arguments: ArraySlice<String>) throws(Failure) {
        var rest = arguments
        while let word = rest.popFirst() {
            switch word {
            case "--":
                words += rest
                return
            case "--json": wantsJSON = true
            case "-s", "--socket", "-H", "--host", "--timeout", "--keep-going":
                if acceptsAnyWord { words.append(word) } else { try parseOption(word, &rest) }
            // token has a help of its own.
            case "-h", "--help":
                if acceptsAnyWord || words.first == Verb.token.rawValue { words.append(word) } else { action = .help }
            default:
                if isMisspelled(word) { try parseOption(word, &rest) } else { words.append(word) }
            }
        }
    }

    /// Whether the next word may be a value or an argument of an action, which may look like an option.
    private var acceptsAnyWord: Bool {
        let verb = words.prefix(2).firstIndex { Verb(rawValue: $0) != nil || Command.named($0) != nil }
        // Without a command it is an assignment.
        guard let verb else { return words.contains { $0.contains("/") } }
        return Command.named(words[verb])?.takesAnyText == true && words.count > verb + 1
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(Failure) -> String {
        guard let value = rest.popFirst(), !value.isEmpty else {
            throw Failure(.usage, "\(option) needs a value; see tweakctl --help")
        }
        return value
    }
}

/// A command of tweakctl itself.
enum Verb: String, CaseIterable {
    case repl, watch, wait, plot, `import`, bake, backup, restore, login, logout, token, audit, state, fleet,
        completions, man
    /// Internal, for the completion scripts.
    case complete = "__complete"

    /// The usage line.
    var usage: String {
        switch self {
        case .repl: "[NAME] repl"
        case .watch: "[NAME] watch PATTERN…"
        case .wait: WaitCommand.usage
        case .plot: PlotCommand.usage
        case .import: ImportCommand.usage
        case .bake: BakeCommand.usage
        case .backup: BackupCommand.usage
        case .restore: RestoreCommand.usage
        case .login: "login [NAME] [--fd N] [--plain]"
        case .logout: "logout [NAME]"
        case .token: "token new|list|renew|revoke …"
        case .audit: AuditCommand.usage
        case .state: StateCommand.usage
        case .fleet: "fleet NAME VERB …"
        case .completions: "completions bash|zsh|fish"
        case .man: "man"
        case .complete: ""
        }
    }

    /// Whether it follows the name of a process, which takes precedence over it. The others take precedence over a process
    /// of the same name.
    private var followsName: Bool {
        switch self {
        case .repl, .watch, .wait, .plot, .import, .bake, .backup, .restore: true
        case .login, .logout, .token, .audit, .state, .fleet, .completions, .man, .complete: false
        }
    }

    /// The names of those that follow the name of a process.
    static let processNames = allCases.filter(\.followsName).map(\.rawValue)
    /// The names of the others, without the internal ones.
    static let ownNames = allCases.filter { !$0.followsName && $0.summary != nil }.map(\.rawValue)

    /// A summary for the help; nil for internal commands.
    var summary: String? {
        switch self {
        case .repl: "line mode: type commands, with history and Tab completion"
        case .watch: "current values, then each change; reconnects after a restart of the process; Ctrl-C ends it"
        case .wait: "return as soon as a value or figure fulfills a condition, as in wait 'Service/Errors/Rate < 1'"
        case .plot: "draw the last values of a figure: 300 seconds, or N up to 1800"
        case .import: "apply the assignments of a file, all or none; prints what would change, and asks"
        case .bake: "make overrides the defaults in the Swift source; prints a diff, which --write also applies"
        case .backup:
            "copy overrides, history and presets of a running process into one tar file, for its owner only; without "
                + "tokens and sign-ins"
        case .restore:
            "put such a copy in the place of the state of a program that does not run; prints what changes, and asks"
        case .login: "sign in with a token, typed without echo or read from standard input, and save it"
        case .logout: "delete the saved token for a process"
        case .token: "make, list, renew and revoke tokens in the token file of a process; token alone shows the usage"
        case .audit:
            "check that no line of an audit was changed or removed; with a link that was noted elsewhere, nor its end"
        case .state: "say what a program would read of a state directory, and what not; changes nothing"
        case .fleet: "desired values of many processes in etcd; runs tweakctl-fleet; fleet --help shows its help"
        case .completions: "print a script that completes commands and paths in this shell"
        case .man: "print the manual page, for man -l -"
        case .complete: nil
        }
    }
}

/// Makes protocol lines out of words.
enum CommandText {
    /// The line of these words. One word that is a whole line already, as in `'A/B/C = 72'`, stays as it is.
    static func line(_ words: [String]) -> String {
        if words.count == 1, let word = words.first {
            if isWholeLine(word) { return word }
            if isPattern(word) { return "\(Command.get.name) \(token(word))" }
        }
        return words.enumerated().map { position, word in
            token(word, isFirst: position == 0, isLast: position == words.count - 1)
        }.joined(separator: " ")
    }

    /// A word as a token, quoted if it would otherwise be parsed as something else. Keywords stay unquoted.
    static func token(_ word: String, isFirst: Bool = false, isLast: Bool = false) -> String {
        let mustBeQuoted =
            word.isEmpty || word == "#" || word.unicodeScalars.contains(where: needsQuotes)
            // A comment, or a line of saved output: the server does not answer these.
            || isFirst && (word.hasPrefix("#") || word == "ok")
            // Servers of earlier versions take such an end for HTTP, and close the connection.
            || isLast && word.prefix(5).uppercased() == "HTTP/"
        return mustBeQuoted ? Quoting.json(word) : word
    }

    private static func needsQuotes(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\"" || scalar == "'" || Quoting.isUnsafe(scalar)
    }

    /// Whether the server answers this line; it does not answer blank lines and comments.
    static func isAnswered(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        switch ParsedLine(line) {
        case .blank, .ignored: false
        default: true
        }
    }

    /// The same of a text.
    static func isAnswered(_ line: String) -> Bool {
        var line = line
        return line.withUTF8(isAnswered)
    }

    /// Whether the server answers this line and closes the connection.
    static func isQuit(_ line: ArraySlice<UInt8>) -> Bool {
        // Long lines are values, and scripts have many.
        if line.count > 80 { return false }
        let tokens = tokens(String(decoding: line, as: UTF8.self))
        return tokens.count == 1 && !tokens[0].isQuoted && tokens[0].text == "quit"
    }

    /// Whether a line only reads values, so that it has no effect which its sender could miss.
    static func onlyReads(_ line: String) -> Bool {
        guard let command = command(of: line) else { return false }
        switch command.permission {
        case .nothing, .session, .visibility: return true
        case .some, .whole: return command == .check
        }
    }

    /// The command of a valid line; an assignment is a `set`.
    static func command(of line: String) -> Command? {
        var line = line
        if case .request(let request) = line.withUTF8({ ParsedLine($0) }) { return request.command }
        return nil
    }

    /// Whether a word alone is a path, or the beginning of one: it is shown.
    private static func isPattern(_ word: String) -> Bool {
        let isAttempt = word.contains("=") || Command.named(String(word.prefix { $0 != " " })) != nil
        return word.contains("/") && !isAttempt
    }

    /// The tokens of a line; empty for an invalid one.
    static func tokens(_ line: String) -> [Token] {
        var line = line
        return line.withUTF8 { (try? Tokenizer.tokens($0)) ?? [] }
    }

    /// Whether a word is several tokens with a command first or an assignment second. As one token it would be invalid.
    private static func isWholeLine(_ word: String) -> Bool {
        let tokens = tokens(word)
        guard tokens.count > 1, let first = tokens.first else { return false }
        if !first.isQuoted, Command.named(first.text) != nil { return true }
        return !tokens[1].isQuoted && ["=", "+=", "-="].contains(tokens[1].text)
    }
}
