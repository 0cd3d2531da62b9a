// The commands that are tweakctl's own; all others are the protocol's.

/// What tweakctl does itself.
enum Verb: String, CaseIterable {
    case repl, watch, login, logout, token, fleet, completions, man
    /// For the completion scripts.
    case complete = "__complete"

    /// What stands behind it.
    var usage: String {
        switch self {
        case .repl: "[NAME] repl"
        case .watch: "[NAME] watch PATTERN…"
        case .login: "login [NAME] [--fd N] [--plain]"
        case .logout: "logout [NAME]"
        case .token: "token new|list|renew|revoke …"
        case .fleet: "fleet NAME VERB …"
        case .completions: "completions bash|zsh|fish"
        case .man: "man"
        case .complete: ""
        }
    }

    /// What it is good for; nil where people do not need it.
    var summary: String? {
        switch self {
        case .repl: "type commands, with history and Tab"
        case .watch: "values now, then each change, through restarts of the process; Ctrl-C ends it"
        case .login: "show a token to a process, asked for without echo or read from standard input, and keep it"
        case .logout: "forget the token that is kept for a process"
        case .token: "make, list, renew and revoke tokens in the token file of a process; token alone says how"
        case .fleet: "desired values of many processes in etcd; runs tweakctl-fleet, and fleet --help is its help"
        case .completions: "print a script that completes commands and paths in this shell"
        case .man: "print the manual page, for man -l -"
        case .complete: nil
        }
    }
}
