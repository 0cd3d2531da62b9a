// Generates the texts of --help and --version, from the tables of options and commands.

import TweaksSystem
import TweaksWire

/// The help text and its parts.
enum Usage {
    static let version = "tweakctl 1.0, protocol 1"

    /// The usage lines.
    static let synopses = [
        "tweakctl", "tweakctl NAME", "tweakctl [NAME] COMMAND…", "tweakctl -s PATH COMMAND…",
        "tweakctl -H HOST:PORT COMMAND…",
        "tweakctl [NAME] - [--keep-going] < SCRIPT",
    ]

    /// The exit codes with their meanings.
    static let exitCodes: [(ExitCode, String)] = [
        (.ok, "success"),
        (.refused, "the process refused a command, or a file cannot be used; see standard error"),
        (.usage, "usage error"), (.unreachable, "cannot connect, or the connection was lost"),
        (.timeout, "the process does not answer within --timeout; a command may still take effect"),
    ]

    /// Example calls.
    static let examples: [(line: String, meaning: String)] = [
        ("tweakctl", "list the processes that offer tweaks, and how many are modified"),
        ("tweakctl bounce", "open the full-screen editor; ? shows its keys"),
        ("tweakctl bounce get 'Label/*'", "print values; the quotes keep the shell from expanding the star"),
        ("tweakctl bounce Label/Text/Size = 72", "change a value"),
        ("tweakctl bounce export > look.conf", "save the current values to a file"),
        ("tweakctl bounce import look.conf", "apply them: print what would change, and ask"),
        ("tweakctl bounce watch Label", "print the current values, then each change"),
        ("tweakctl bounce panel", "open its web panel in a browser and print the address; --no-open only prints it"),
        ("tweakctl bounce panel token", "print the token of its panel, for curl and other programs"),
        ("tweakctl token new alice --scopes read write:Label --expires 30d", "make a token for access over TCP"),
        ("tweakctl -H 127.0.0.1:7777 login", "sign in with a token, and save it for later calls"),
        ("tweakctl fleet api set 'Service/Pool/Size = 64'", "set a value for every process of a fleet"),
        ("tweakctl bounce repl", "open a prompt with history and Tab completion"),
    ]

    /// The text of `--help`.
    static var help: String {
        var lines = ["Inspect and change tweaks in running programs.", ""]
        lines += synopses.enumerated().map { ($0.offset == 0 ? "Usage: " : "       ") + $0.element }
        lines += [
            "",
            "Without arguments it lists the processes that offer tweaks. If only one runs, its NAME can be left out.",
            "On a terminal, NAME alone opens the full-screen editor.",
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
