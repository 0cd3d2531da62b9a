// Creates the texts of --help and --version from the tables of commands and options.

import TweaksSystem

/// The usage texts.
enum FleetUsage {
    static let version = "tweakctl-fleet 1.0"

    static let exitCodes: [(ExitCode, String)] = [
        (.ok, "all is well"), (.refused, "refused, or a rollout was reverted; standard error has the reason"),
        (.usage, "usage error"), (.unreachable, "etcd does not answer"),
    ]

    static let examples: [(line: String, meaning: String)] = [
        ("tweakctl fleet api status", "which processes live, what they run, and what they refuse"),
        ("tweakctl fleet api set 'Service/Pool/Size = 64'", "a value for every process; quotes keep it one word"),
        ("tweakctl fleet api set 'Service/Pool/Size = 64' --for 10m", "the same, reverted automatically"),
        (
            "tweakctl fleet api rollout 'Service/Pool/Size = 80' --where zone=eu --steps 1,10,50,100 --every 5m "
                + "--abort-if 'Service/Errors/Rate > 5'",
            "to a growing share, reverted when a tenth of them meets the condition"
        ),
        ("tweakctl fleet api abort k3x9mp", "revert a rollout; this also works if etcd is full"),
        ("tweakctl fleet api export > api.conf", "write a file for import, for example in another region"),
    ]

    /// The text of `--help`.
    static var help: String {
        var lines = [
            "Changes the tweaks of many processes at once, by desired values in etcd that every process follows.", "",
            "Usage: tweakctl fleet NAME VERB … --etcd URL[,URL…]", "", "Verbs:",
        ]
        lines += table(FleetVerb.allCases.map { ($0.usage, $0.summary) })
        lines += ["", "Options:"]
        lines += table(FleetOption.common.map { ($0.synopsis, $0.summary) })
        for verb in FleetVerb.allCases where !verb.options.isEmpty {
            lines += ["", "Options of \(verb.rawValue):"]
            lines += table(verb.options.map { ($0.synopsis, $0.summary) })
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
