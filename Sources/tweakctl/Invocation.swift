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
        default:
            let near = Spelling.nearest(to: option, among: Self.options.flatMap(\.names).filter { $0.count > 2 })
            let guess = near.map { "did you mean \($0)?" } ?? "see tweakctl --help"
            throw Failure(.usage, "\(Quoting.excerpt(option)) is not an option; \(guess)")
        }
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
            default: words.append(word)
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
