// The manual page, as roff, from the same tables as the help.

import TweaksTerminal
import TweaksWire

/// Writes tweakctl(1).
enum Manual {
    /// The page.
    static var page: String {
        var lines = [
            ".\\\" Made by: tweakctl man", ".TH TWEAKCTL 1 \"\" \"Tweaks\" \"User Commands\"", ".SH NAME",
            "tweakctl \\- tune running programs from the command line", ".SH SYNOPSIS",
        ]
        lines += Usage.synopses.flatMap { [".B " + escaped($0), ".br"] }.dropLast()
        lines += description + options + own + editor + commands + ending
        return lines.joined(separator: "\n")
    }

    private static let description = [
        ".SH DESCRIPTION",
        escaped(
            "Programs that offer tweaks listen on a socket. tweakctl finds these sockets, sends a command to one of"),
        escaped(
            "them, and shows the answer: arranged for people on a terminal, and elsewhere line by line as it came."),
        ".PP",
        escaped("Alone it lists the processes that can be reached. With only one of them its NAME can be left out."),
        ".PP",
        escaped("Arguments become one line of the protocol, and are quoted where it needs that. A dash instead, or no"),
        escaped(
            "command where standard input is no terminal: the lines of standard input are the commands. All of them"),
        escaped("are run, whatever becomes of the others."),
    ]

    private static var options: [String] {
        [".SH OPTIONS"] + Invocation.options.flatMap { paragraph($0.synopsis, [$0.summary]) }
    }

    private static var own: [String] {
        var lines = [".SH COMMANDS OF TWEAKCTL"]
        for verb in Verb.allCases {
            if let summary = verb.summary { lines += paragraph(verb.usage, [summary]) }
        }
        lines += [".SS " + escaped("Tokens")]
        lines += TokenCommand.usages.flatMap { [".B " + escaped($0), ".br"] }.dropLast()
        return lines + [".PP"] + tokens.map(escaped)
    }

    private static let tokens = [
        "A token lets somebody in over TCP, or as another user. token new prints it once, alone on a line, and writes its",
        "line into the token file of the process, which notices; token renew puts another token in its place. login asks",
        "for it without echo, or reads it from standard input where that is no terminal, or from --fd N; it is never an",
        "argument, which everybody can see. Later calls sign in by themselves, without sending it: both sides show that",
        "they know it, and a program that does not is told nothing. --plain sends it, to an older server. In the line mode,",
        "logout forgets it and closes the connection; logout --keep only closes it, and the next line logs in again.",
    ]

    /// From the table that the editor itself works by.
    private static var editor: [String] {
        [".SH KEYS OF THE EDITOR"]
            + [
                "On a terminal, NAME alone opens the editor: all tweaks with their values as they are now, whoever",
                "changes them. A change by others is marked with who it was. Values that were typed stay until the",
                "process has taken them; when it ends, the editor waits for its return.",
            ].map(escaped)
            + KeyTable.sections.flatMap { section in
                [".SS " + escaped(section.title)] + section.bindings.flatMap { paragraph($0.shown, [$0.summary + "."]) }
            }
    }

    private static var commands: [String] {
        [".SH COMMANDS OF THE PROCESS"]
            + Command.groups.flatMap { group in
                [".SS " + escaped(group.title)]
                    + group.commands.flatMap { paragraph($0.synopsis, [$0.summary + ".", "Example: " + $0.example]) }
            }
    }

    private static var ending: [String] {
        var lines = [".SH EXIT STATUS"]
        lines += Usage.exitCodes.flatMap { paragraph(String($0.0.rawValue), [$0.1]) }
        lines += [".SH ENVIRONMENT"]
        lines += environment.flatMap { paragraph($0.0, [$0.1]) }
        lines += [".SH FILES"]
        lines += files.flatMap { paragraph($0.0, [$0.1]) }
        lines += [".SH EXAMPLES"]
        lines += Usage.examples.flatMap { paragraph($0.line, [$0.meaning]) }
        return lines
    }

    private static let environment = [
        ("XDG_RUNTIME_DIR", "where sockets are looked for, in its folder tweaks"),
        ("TMPDIR", "where they are otherwise: in tweaks-UID in there, or in /tmp"),
        ("XDG_STATE_HOME", "where the history of the line mode and tokens are kept; ~/.local/state without it"),
        ("TWEAKS_SOCKET", "the socket to talk to where no NAME and no address is given, as the process has it"),
        ("TWEAKS_TOKEN_FILE", "the token file that token changes, without --file; the process has it there, too"),
        ("TWEAKS_FLEET", "the etcd of fleet, URL[,URL...]; tweakctl fleet --help says what else it reads"),
        ("NO_COLOR", "if set, no colours"),
        ("COLORTERM", "truecolor means: colours as they are; otherwise the nearest of those that TERM has"),
        ("TERM", "dumb means: no colours, no editor, and plain lines in the line mode"),
    ]

    private static let files = [
        ("$XDG_RUNTIME_DIR/tweaks/NAME.sock", "the socket of a process; NAME-PID.sock of a second one of the name"),
        ("~/.local/state/tweakctl/history", "lines typed in the line mode, without tokens and values that are secret"),
        (
            "~/.local/state/tweakctl/tokens",
            "tokens that login keeps, one for each address; only their owner can read them"
        ),
    ]

    private static func paragraph(_ term: String, _ lines: [String]) -> [String] {
        [".TP", ".B " + escaped(term)] + lines.map(escaped)
    }

    /// Text that roff prints as it is.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "\"": result += "\\(dq"
            case "~": result += "\\(ti"
            case "^": result += "\\(ha"
            case "…": result += "..."
            case _ where scalar.value >= 0x80: result += "\\[u\(hexadecimal(scalar.value))]"
            default: result.unicodeScalars.append(scalar)
            }
        }
        // At the beginning of a line a dot or an apostrophe would be a request.
        return result.hasPrefix(".") ? "\\&" + result : result
    }

    private static func hexadecimal(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
