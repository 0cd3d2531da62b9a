// Lists the commands of tweakctl itself; all others belong to the protocol.

/// A command of tweakctl itself.
enum Verb: String, CaseIterable {
    case repl, watch, `import`, login, logout, token, audit, fleet, completions, man
    /// Internal, for the completion scripts.
    case complete = "__complete"

    /// The usage line.
    var usage: String {
        switch self {
        case .repl: "[NAME] repl"
        case .watch: "[NAME] watch PATTERN…"
        case .import: ImportCommand.usage
        case .login: "login [NAME] [--fd N] [--plain]"
        case .logout: "logout [NAME]"
        case .token: "token new|list|renew|revoke …"
        case .audit: AuditCommand.usage
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
        case .repl, .watch, .import: true
        case .login, .logout, .token, .audit, .fleet, .completions, .man, .complete: false
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
        case .import: "apply the assignments of a file, all or none; prints what would change, and asks"
        case .login: "sign in with a token, typed without echo or read from standard input, and save it"
        case .logout: "delete the saved token for a process"
        case .token: "make, list, renew and revoke tokens in the token file of a process; token alone shows the usage"
        case .audit:
            "check that no line of an audit was changed or removed; with a link that was noted elsewhere, nor its end"
        case .fleet: "desired values of many processes in etcd; runs tweakctl-fleet; fleet --help shows its help"
        case .completions: "print a script that completes commands and paths in this shell"
        case .man: "print the manual page, for man -l -"
        case .complete: nil
        }
    }
}
