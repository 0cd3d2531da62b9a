// The texts of --help and --version, from the tables of options and commands.

import TweaksTerminal
import TweaksWire

/// What tweakctl says about itself.
enum Usage {
    static let version = "tweakctl 1.0, protocol 1"

    /// How it is called.
    static let synopses = [
        "tweakctl", "tweakctl NAME", "tweakctl [NAME] COMMAND…", "tweakctl -s PATH COMMAND…",
        "tweakctl -H HOST:PORT COMMAND…",
        "tweakctl [NAME] - < SCRIPT",
    ]

    /// The exit codes, in words.
    static let exitCodes: [(ExitCode, String)] = [
        (.ok, "all is well"),
        (.refused, "the process refused a command, or a file cannot be used; standard error says why"),
        (.usage, "the command line makes no sense"), (.unreachable, "there is nobody to talk to, or no longer"),
    ]

    /// What can be tried.
    static let examples: [(line: String, meaning: String)] = [
        ("tweakctl", "which processes offer tweaks, and how many are modified"),
        ("tweakctl bounce", "the full-screen editor; ? shows its keys"),
        ("tweakctl bounce get 'Label/*'", "values, explained; quotes keep the shell from reading the star"),
        ("tweakctl bounce Label/Text/Size = 72", "one change"),
        ("tweakctl bounce export > look.conf", "what can be given back"),
        ("tweakctl bounce - < look.conf", "and giving it back"),
        ("tweakctl bounce watch Label", "values now, then each change"),
        ("tweakctl bounce panel", "the address of its web page, opened in a browser; --no-open only prints it"),
        ("tweakctl token new alice --scopes read write:Label --expires 30d", "a token for somebody from elsewhere"),
        ("tweakctl -H 127.0.0.1:7777 login", "shows it to a process once, and keeps it for later calls"),
        ("tweakctl fleet api set 'Service/Pool/Size = 64'", "a value for every process of a fleet"),
        ("tweakctl bounce repl", "a prompt with history and Tab"),
    ]

    /// The text of `--help`.
    static var help: String {
        var lines = ["Tunes running programs: their tweaks, from the command line.", ""]
        lines += synopses.enumerated().map { ($0.offset == 0 ? "Usage: " : "       ") + $0.element }
        lines += [
            "", "Alone it lists the processes that offer tweaks. With only one of them its NAME can be left out.",
            "On a terminal, a NAME alone opens an editor that fills it.",
        ]
        lines += ["", "Options:"]
        lines += table(Invocation.options.map { ($0.synopsis, $0.summary) })
        lines += ["", "Commands of tweakctl:"]
        lines += table(Verb.allCases.compactMap { verb in verb.summary.map { (verb.usage, $0) } })
        for group in Command.groups {
            lines += ["", "\(group.title) (commands of the process):"]
            lines += table(group.commands.map { ($0.synopsis, $0.summary) })
        }
        lines += ["", "Examples:"]
        lines += examples.flatMap { ["  \($0.line)", "      \($0.meaning)"] }
        lines += ["", "Exit codes:"]
        lines += exitCodes.map { "  \($0.0.rawValue)  \($0.1)" }
        return lines.joined(separator: "\n")
    }

    private static func table(_ rows: [(String, String)]) -> [String] {
        let width = rows.map { TextWidth.of($0.0) }.max() ?? 0
        return rows.map { "  \(TextWidth.padded($0.0, to: width))  \($0.1)" }
    }
}
