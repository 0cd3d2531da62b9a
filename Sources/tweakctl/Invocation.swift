// What stands on the command line: options, whom to talk to, what to say.

import Tweaks
import TweaksTerminal
import TweaksWire

/// The command line, understood as far as that goes without looking at what runs.
struct Invocation: Equatable {
    /// The address, where an option names it.
    var address: Address?
    /// One JSON object a line instead of text.
    var wantsJSON = false
    /// What to do when the words do not say it.
    var wish = Wish.talk
    /// Everything behind the options: a process, a command, or both.
    var words: [String] = []

    /// What is asked of tweakctl itself.
    enum Wish: Equatable {
        case talk, help, version
    }

    /// An option, for the parser, the help and the manual alike.
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
            summary: "talk to the process behind this Unix socket; may stand behind the command, too"),
        Option(
            names: ["-H", "--host"], argument: "HOST:PORT",
            summary: "talk over TCP, as to a process that opened it; the same"),
        Option(
            names: ["--json"], argument: nil,
            summary: "print the JSON objects of the process, one a line; the same"),
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
            try take(argument, &rest)
        }
        try takeWords(rest)
    }

    private mutating func take(_ option: String, _ rest: inout ArraySlice<String>) throws(Failure) {
        switch option {
        case "-s", "--socket": address = .unix(path: try Self.value(of: option, &rest))
        case "-H", "--host": address = try Address(hostAndPort: try Self.value(of: option, &rest))
        case "--json": wantsJSON = true
        case "-h", "--help": wish = .help
        case "--version": wish = .version
        default:
            let near = Spelling.nearest(to: option, among: Self.options.flatMap(\.names).filter { $0.count > 2 })
            let guess = near.map { "did you mean \($0)?" } ?? "see tweakctl --help"
            throw Failure(.usage, "\(Quoting.excerpt(option)) is no option; \(guess)")
        }
    }

    /// Options of ours stand behind the command, too; what else looks like one belongs to it. Behind `--` all does.
    private mutating func takeWords(_ arguments: ArraySlice<String>) throws(Failure) {
        var rest = arguments
        while let word = rest.popFirst() {
            switch word {
            case "--":
                words += rest
                return
            case "--json": wantsJSON = true
            case "-s", "--socket", "-H", "--host":
                if takesAnything { words.append(word) } else { try take(word, &rest) }
            default: words.append(word)
            }
        }
    }

    /// Whether what comes next may be a value, or an argument of an action, which looks as it likes.
    private var takesAnything: Bool {
        let verb = words.prefix(2).firstIndex { Verb(rawValue: $0) != nil || Command.named($0) != nil }
        // Without one it is an assignment.
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
