// Lists the verbs of tweakctl-fleet, and the options that each takes.

/// What can be done to a fleet.
enum FleetVerb: String, CaseIterable {
    case ls, get, set, reset, check, status, rollout, pause, resume, finish, abort, history, undo, export, `import`
    case watch, adopt

    /// What stands behind it.
    var usage: String {
        switch self {
        case .ls: "ls [PATTERN]"
        case .get: "get PATTERN…"
        case .set: "set PATH = VALUE…"
        case .reset: "reset PATH…"
        case .check: "check PATH = VALUE…"
        case .status: "status"
        case .rollout: "rollout PATH = VALUE…"
        case .pause, .resume, .finish, .abort: "\(rawValue) ID"
        case .history: "history [PATTERN]"
        case .undo: "undo [NUMBER]"
        case .export: "export [PATTERN]"
        case .import: "import FILE|-"
        case .watch: "watch [PATTERN]"
        case .adopt: "adopt"
        }
    }

    /// What it is good for.
    var summary: String {
        switch self {
        case .ls: "desired values with who set them and when, and open rollouts"
        case .get: "desired values, and how many processes hold which"
        case .set: "set values for every process; with --for for at least so long"
        case .reset: "take the fleet's values away; each process shows the next layer"
        case .check: "which builds would refuse values, and how many processes run them"
        case .status: "processes, builds, refusals, local overrides, and etcd itself"
        case .rollout: "bring values to a growing share of the processes, watched, and back when it hurts"
        case .pause: "hold a rollout at its share"
        case .resume: "drive a rollout on from where it is"
        case .finish: "make a rollout permanent: values for all, or a standing rule for what it selects"
        case .abort: "take a rollout or a standing rule back"
        case .history: "what operators did: the last 200 writes"
        case .undo: "undo the last write, or a numbered one, where values are still what it left"
        case .export: "desired values as lines of a config file"
        case .import: "set the values of such lines, in one write"
        case .watch: "each change of desired values as it comes; Ctrl-C ends it"
        case .adopt: "declare this etcd to be the one to follow, after a restore or a move"
        }
    }

    /// The options that are its own.
    var options: [FleetOption] {
        switch self {
        case .ls, .get, .status, .history, .export, .watch: []
        case .set: [.dryRun, .force, .new, .for]
        case .import: [.dryRun, .force, .new, .yes]
        case .check: [.new]
        case .reset, .undo: [.dryRun]
        case .rollout:
            [
                .where, .steps, .every, .abortIf, .confirmWithin, .revertIfDriverDies, .detach, .dryRun, .force, .new,
                .yes,
            ]
        case .finish: [.dryRun, .force]
        case .adopt: [.atLeast, .dryRun, .yes]
        case .pause, .abort: [.dryRun]
        case .resume: []
        }
    }

    /// How many words it takes.
    var counts: ClosedRange<Int> {
        switch self {
        case .status, .adopt: 0...0
        case .ls, .history, .export, .watch, .undo: 0...1
        case .pause, .resume, .finish, .abort, .import: 1...1
        case .get, .set, .reset, .check, .rollout: 1...Int.max
        }
    }
}

/// An option, with or without a value.
enum FleetOption: String, CaseIterable {
    case etcd, prefix, user, passwordFile = "password-file", who = "as", json, yes, help, version
    case dryRun = "dry-run", force, new, `for`, `where`, steps, every, abortIf = "abort-if"
    case confirmWithin = "confirm-within", revertIfDriverDies = "revert-if-driver-dies", detach, atLeast = "at-least"

    /// Options of every verb.
    static let common: [FleetOption] = [.etcd, .prefix, .user, .passwordFile, .who, .json, .help, .version]

    var name: String { "--\(rawValue)" }

    /// What stands behind it; nil: nothing.
    var argument: String? {
        switch self {
        case .etcd: "URL[,URL…]"
        case .prefix: "PREFIX"
        case .user, .who: "NAME"
        case .passwordFile: "FILE"
        case .for, .every, .confirmWithin: "TIME"
        case .where: "LABEL=VALUE[,…]"
        case .steps: "PERCENT,…"
        case .abortIf: "'FIGURE > NUMBER'"
        case .atLeast: "NUMBER"
        case .json, .yes, .help, .version, .dryRun, .force, .new, .revertIfDriverDies, .detach: nil
        }
    }

    var summary: String {
        switch self {
        case .etcd: "where etcd is; else TWEAKS_FLEET says it"
        case .prefix: "of the keys; else TWEAKS_FLEET_PREFIX, else /tweaks"
        case .user: "sign in to etcd, with the password from --password-file"
        case .passwordFile: "a file that holds the password, and that others cannot read"
        case .who: "who the log says it was; else your login name and this machine"
        case .json: "JSON for scripts"
        case .yes: "ask nothing"
        case .help: "print this help"
        case .version: "print the version"
        case .dryRun: "say what would be done, and write nothing"
        case .force: "also what builds would refuse; finish: also what has not reached everybody"
        case .new: "also paths that no build has; their kind is that of the text"
        case .for: "take it back by itself after at least so long"
        case .where: "only processes with these labels"
        case .steps: "shares, growing; 1,10,50,100 without it"
        case .every: "time between two steps, 60s or more; 5m without it"
        case .abortIf: "take it back when a tenth of the members shows this twice; may be there several times"
        case .confirmWithin: "take it back unless finish comes within so long after the last step"
        case .revertIfDriverDies: "take it back when this command ends or loses etcd for a minute"
        case .detach: "begin the first step and leave; resume drives it on"
        case .atLeast: "the head's counter is not below this: what processes have applied elsewhere"
        }
    }

    /// `--etcd URL[,URL…]`
    var synopsis: String { name + (argument.map { " \($0)" } ?? "") }
}
