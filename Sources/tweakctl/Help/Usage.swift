// Generates the help, the manual page and the version, from the tables of options, commands and keys.

import Tweaks
import TweaksSystem
import TweaksWire

/// The help text and its parts.
enum Usage {
    static let version = "tweakctl \(PackageVersion.text), protocol \(PackageVersion.wire)"
    /// The same for scripts.
    static var versionJSON: JSON {
        .object([
            ("ok", .bool(true)), ("version", .string(PackageVersion.text)), ("protocol", .string(PackageVersion.wire)),
        ])
    }

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
        (
            .timeout,
            "the process does not answer within --timeout, and a command may still take effect; or what wait waits for has "
                + "not come true"
        ),
    ]

    /// Example calls.
    static let examples: [(line: String, meaning: String)] = [
        ("tweakctl", "list the processes that offer tweaks, and how many are modified"),
        ("tweakctl bounce", "open the full-screen editor; ? shows its keys"),
        ("tweakctl bounce get 'Label/*'", "print values; the quotes keep the shell from expanding the star"),
        ("tweakctl bounce Label/Text/Size = 72", "change a value"),
        ("tweakctl bounce export > look.conf", "save the current values to a file"),
        ("tweakctl bounce import look.conf", "apply them: print what would change, and ask"),
        ("tweakctl bounce bake Label Sources", "print a diff that makes the overrides of a category the new defaults"),
        ("tweakctl bounce backup bounce.tar", "save overrides, history and presets; restore puts them back"),
        ("tweakctl bounce watch Label", "print the current values, then each change"),
        (
            "tweakctl bounce --timeout 5m wait 'Label/Status/Frames per second >= 50'",
            "wait until a figure is that high"
        ),
        ("tweakctl bounce plot 'Label/Status/Frames per second'", "draw the last values of a figure"),
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
        lines += UsageText.table(Invocation.options.map { ($0.synopsis, $0.summary) })
        lines += ["", "Commands of tweakctl:"]
        lines += UsageText.table(Verb.allCases.compactMap { verb in verb.summary.map { (verb.usage, $0) } })
        for group in Command.groups {
            lines += ["", "\(group.title) (commands of the process):"]
            lines += UsageText.table(group.commands.map { ($0.synopsis, $0.summary) })
        }
        lines += UsageText.end(examples: examples, exitCodes: exitCodes)
        return lines.joined(separator: "\n")
    }
}

/// Formats the answer to `help`.
enum CommandHelp {
    /// The lines with a heading before the first command of each group.
    static func grouped(_ body: [String], _ style: Style) -> [String] {
        guard style.isHumanReadable else { return body }
        var title: String?
        return body.flatMap { line in
            let name = line.split(separator: " ").first.map { String($0) } ?? ""
            let group = Command.groups.first { $0.commands.contains { $0.name == name } }?.title
            defer { title = group }
            return group == nil || group == title ? [line] : [style.paint(group ?? "", .name), line]
        }
    }
}

/// The manual page tweakctl(1).
enum Manual {
    /// The whole page.
    static var page: String {
        var lines = [
            ".\\\" Made by: tweakctl man", ".TH TWEAKCTL 1 \"\" \"Tweaks\" \"User Commands\"", ".SH NAME",
            "tweakctl \\- inspect and change tweaks in running programs", ".SH SYNOPSIS",
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
            "them, and prints the answer: formatted on a terminal, and elsewhere line by line as it was sent."),
        ".PP",
        escaped("Without arguments it lists the running processes. If only one runs, its NAME can be left out."),
        escaped("NAME is also that of its only instance NAME-PID. A running process takes precedence over a command"),
        escaped("of the same name, except " + Verb.ownNames.joined(separator: ", ") + "; for those use -s PATH."),
        ".PP",
        escaped("The arguments become one line of the protocol, quoted where needed. With a dash instead, or without"),
        escaped(
            "a command where standard input is not a terminal, the lines of standard input are the commands. The"),
        escaped("first one that is refused ends the script, unless --keep-going is given."),
        ".PP",
        escaped("import FILE takes assignments only, as export prints them, and applies all of them in one batch, or"),
        escaped("none. On a terminal it prints what would change, and asks. --yes does not ask; --dry-run only"),
        escaped("prints."),
        ".PP",
        escaped(
            "bake prints a diff of the Swift source in which overrides are the new defaults; --write also applies it."),
        escaped("A word that is the path of a file or folder is a place to look in, by default the working directory;"),
        escaped("another one is a pattern. What cannot be written is listed with its place, and the exit status is 1."),
        escaped("When the program was built again, modified --stale lists the overrides that it no longer needs."),
    ]

    private static var options: [String] {
        [".SH OPTIONS"] + Invocation.options.flatMap { paragraph($0.synopsis, [$0.summary]) }
            + [".SS Timeouts"] + timeouts.map(escaped) + [".SS Scripts"] + scripts.map(escaped)
    }

    private static let timeouts = [
        "A process that is stopped accepts connections and never answers. The timeout applies to connecting, to signing",
        "in and to each answer, also in the line mode and in a script; the time without any input counts nowhere. By",
        "default, run waits longer than 10 s while the process still answers others, because it limits the time of",
        "its actions itself. watch waits for its first answer only, and then for changes without a limit. The editor",
        "shows that the process does not answer, and waits. wait tries until its condition holds, also while the process",
        "restarts; only with --timeout it gives up then, with the exit status 4. The list of processes waits for a second, and so",
        "does Tab where the line has no timeout.",
    ]

    private static let scripts = [
        "With --json each answer is one object on a line of standard output. It has ok, which is true or false; where it is",
        "false, error has a code and a message. What tweakctl itself refuses has the code usage, refused, unreachable or",
        "timeout, as the exit status says; its message is on standard error, too. The lists of processes and of tokens have",
        "an object a line for each, watch has one for each change, and - one for each line of the script. The texts of",
        "--help, man and completions stay texts.",
    ]

    private static var own: [String] {
        var lines = [".SH COMMANDS OF TWEAKCTL"]
        for verb in Verb.allCases {
            if let summary = verb.summary { lines += paragraph(verb.usage, [summary]) }
        }
        lines += [".SS " + escaped("Tokens")]
        lines += TokenCommand.usages.flatMap { [".B " + escaped($0), ".br"] }.dropLast()
        lines += [".PP"] + tokens.map(escaped)
        lines += [".SS " + escaped("Audit"), ".B " + escaped(AuditCommand.usage), ".PP"] + audit.map(escaped)
        return lines + [".SS " + escaped("State")] + state.map(escaped)
    }

    private static let state = [
        "backup copies overrides, history, presets and the last config file of a running process, as of one moment, into",
        "one archive that tar lists; its files are read directly, by the user of the process or by root. Tokens, sign-ins",
        "and the audit are not in it; values of secrets are, and only its owner can read it. It replaces a file with",
        "--force only. It waits up to 11 s for the end of a drag, and refuses where changes are not on disk. restore checks an",
        "archive, prints what changes, asks unless --yes is given, and replaces the state of a program that does not run; the",
        "old files are kept beside as *.before-restore-TIME, and an error changes nothing. The directory is that of the",
        "program in this environment, or that of --state; it must exist. --from names the program whose backup it is, if that",
        "is another one. --dry-run only prints. state check says of each file what would be read by the owner of the",
        "directory, and what not, with the reason; it changes nothing. Exit status 1: something would not be read.",
    ]

    private static let tokens = [
        "A token gives access over TCP, or to another user. token new prints it once, alone on a line, and writes its",
        "line into the token file of the process, which reloads it; token renew replaces the token. login asks for it",
        "without echo, or reads it from standard input where that is not a terminal, or from --fd N; it is never an",
        "argument, which all users can see. Later calls sign in automatically, without sending it: both sides prove",
        "that they know it, and a program that does not gets no command. --plain sends it, for an older server. In the",
        "line mode, logout deletes it and closes the connection; logout --keep only closes it, and the next line logs",
        "in again.",
    ]

    private static let audit = [
        "Each line of an audit has a link, the SHA-256 of the previous link and of the line. audit verify follows the",
        "links through FILE and the older FILE.1, FILE.2, ..., or through several files as they are named, oldest first.",
        "It finds lines that were changed, added, removed or reordered, and removed files. Whoever can write the files can",
        "compute new links, too: a link noted elsewhere, from auditHead of stats or from the log of the system, and given",
        "with --head, proves the lines up to it. Exit status 1: the audit is not what was written.",
    ]

    /// Lists the keys, from the table that the editor itself uses.
    private static var editor: [String] {
        [".SH KEYS OF THE EDITOR"]
            + [
                "On a terminal, NAME alone opens the editor: all tweaks with their current values, updated on every",
                "change. A change by others is marked with its origin. Typed values stay until the",
                "process has accepted them; when it ends, the editor reconnects after its restart.",
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
        ("XDG_RUNTIME_DIR", "its directory tweaks has the sockets; a relative path is ignored"),
        (
            "TMPDIR",
            "without XDG_RUNTIME_DIR, its directory tweaks-UID has the sockets; /tmp by default, and for a relative path"
        ),
        ("TWEAKS_TMPDIR", "the only directory searched beside XDG_RUNTIME_DIR; the process uses the same variable"),
        ("XDG_STATE_HOME", "where the line-mode history and tokens are saved; ~/.local/state by default"),
        ("TWEAKS_SOCKET", "the socket to connect to without NAME or address; the process uses the same variable"),
        ("TWEAKS_TOKEN_FILE", "the token file that token changes without --file; the process uses the same variable"),
        ("TWEAKS_FLEET", "the etcd of fleet, URL[,URL...]; tweakctl fleet --help lists its other variables"),
        ("NO_COLOR", "if set, no colors"),
        ("COLORTERM", "truecolor: exact colors; otherwise the nearest colors of TERM"),
        ("TERM", "dumb: no colors, no editor, and no line editing in the line mode"),
    ]

    private static let files = [
        ("$XDG_RUNTIME_DIR/tweaks/NAME.sock", "the socket of a process; NAME-PID.sock for a second instance"),
        ("~/.local/state/tweakctl/history", "lines typed in the line mode, without tokens and secret values"),
        (
            "~/.local/state/tweakctl/tokens",
            "tokens that login saved, one for each address; only their owner can read them"
        ),
    ]

    private static func paragraph(_ term: String, _ lines: [String]) -> [String] {
        [".TP", ".B " + escaped(term)] + lines.map(escaped)
    }

    /// Escapes text for roff.
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
        // At the start of a line a dot or an apostrophe would be a request.
        return result.hasPrefix(".") ? "\\&" + result : result
    }

    private static func hexadecimal(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
