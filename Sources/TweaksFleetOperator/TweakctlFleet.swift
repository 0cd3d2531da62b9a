// Runs the operator's client of a fleet as a function, for tweakctl-fleet and for programs with a connector of their own.

import Tweaks
public import TweaksFleet
import TweaksSystem

/// The operator's client of a fleet, which `tweakctl fleet` starts.
public enum TweakctlFleet {
    /// Runs one command and returns the exit code of the process: 0 if all is well, 1 for a refusal, 2 for a usage error, 3
    /// if etcd does not answer. It prints to the standard streams, and ignores SIGPIPE in the whole process.
    ///
    /// ```swift
    /// exit(await TweakctlFleet.run(Array(CommandLine.arguments.dropFirst())))
    /// ```
    /// - Parameters:
    ///   - arguments: The words of the command line after the program's name.
    ///   - connector: What connects to URLs with `https://`; without one they are a usage error.
    public static func run(_ arguments: [String], connector: (any EtcdConnector)? = nil) async -> Int32 {
        System.occupyStandardStreams()
        System.ignoreBrokenPipes()
        do throws(Failure) {
            let code = try await perform(arguments, connector)
            return (code == .ok && Output.hasFailed ? .refused : code).rawValue
        } catch {
            let wantsJSON = (try? FleetArguments(arguments))?.isJSON ?? arguments.contains("--json")
            FleetConsole(isJSON: wantsJSON).output.report(error)
            return error.code.rawValue
        }
    }

    /// Runs the command of the arguments.
    private static func perform(
        _ arguments: [String], _ connector: (any EtcdConnector)?
    ) async throws(Failure) -> ExitCode {
        let console = FleetConsole(isJSON: false)
        if arguments.first == "__complete" {
            console.print(FleetCompletion.candidates(Array(arguments.dropFirst())))
            return .ok
        }
        let parsed = try FleetArguments(arguments)
        switch parsed.infoRequest {
        case .help?: console.output.print([FleetUsage.help])
        case .version? where parsed.isJSON: console.print(FleetUsage.versionJSON)
        case .version?: console.print([FleetUsage.version])
        case nil: return try await FleetClient(parsed, connector: connector).run()
        }
        return .ok
    }
}

/// The commands.
enum FleetVerb: String, CaseIterable {
    case ls, get, set, reset, check, status, instances, instance, rollout, progress, pause, resume, finish, abort, drive
    case history, undo
    case export, `import`, watch, audit, adopt, freeze, unfreeze, propose, approve, reject
    case panel

    /// The command with its arguments.
    var usage: String {
        switch self {
        case .ls: "ls [PATTERN]"
        case .get: "get PATTERN…"
        case .set: "set PATH = VALUE…"
        case .reset: "reset PATH…"
        case .check: "check PATH = VALUE…"
        case .status: "status"
        case .instances: "instances"
        case .instance: "instance ID"
        case .rollout: "rollout PATH = VALUE…"
        case .progress, .pause, .resume, .finish, .abort: "\(rawValue) ID"
        case .drive: "drive"
        case .history: "history [PATTERN]"
        case .undo: "undo [NUMBER]"
        case .export: "export [PATTERN]"
        case .import: "import FILE|-"
        case .watch: "watch [PATTERN]"
        case .audit: "audit"
        case .freeze, .unfreeze: "\(rawValue) NAME"
        case .propose: "propose PATH = VALUE…"
        case .approve, .reject: "\(rawValue) ID"
        case .adopt: "adopt"
        case .panel: "panel"
        }
    }

    /// The help text.
    var summary: String {
        switch self {
        case .ls: "desired values with who set them and when, and open rollouts"
        case .get: "desired values, and how many processes hold which"
        case .set: "set values for every process; with --for temporarily"
        case .reset: "remove the fleet's values; the next layer applies"
        case .check: "which builds would refuse values, and how many processes run them"
        case .status: "processes, builds, refusals, local overrides, and etcd itself"
        case .instances: "the live processes: labels, build, applied revision, rollouts"
        case .instance: "all that one process reports: refusals, local overrides, figures"
        case .rollout: "apply values to a growing share of the processes; revert them on problems"
        case .progress: "follow a rollout that another program drives"
        case .drive: "run as a service that drives the rollouts of operators, who may leave"
        case .pause: "pause a rollout at its share"
        case .resume: "continue driving a rollout from its current share"
        case .finish: "make a rollout permanent: values for all, or a standing rule for what it selects"
        case .abort: "revert a rollout or a standing rule, or cancel what is scheduled"
        case .history: "what operators did: the last 200 writes, with --all those of a file, and ends without one"
        case .undo: "undo the last write, or a numbered one, where values are still what it left"
        case .export: "desired values as lines of a config file"
        case .import: "set the values of lines like these; with --prune also remove what they lack"
        case .watch: "print changes of desired values as they happen; Ctrl-C ends it"
        case .audit: "print the log as lines for a file: audit --follow >> FILE continues the file"
        case .freeze: "refuse all writes but those that stop something, for a reason and a while"
        case .unfreeze: "end a freeze"
        case .propose: "write values down, for another operator to approve"
        case .approve: "apply a proposal of another operator; etcd's users prove who that is"
        case .reject: "remove a proposal"
        case .panel: "serve a page on this machine: values, processes, rollouts with their figures, history"
        case .adopt: "declare this etcd to be the one to follow, after a restore or a move"
        }
    }

    /// The options of this command.
    var options: [FleetOption] {
        switch self {
        case .ls, .get, .instance, .export, .watch, .progress: []
        case .status: [.watch]
        case .drive: [.prometheus]
        case .instances: [.where]
        case .history: [.all]
        case .audit: [.follow]
        case .freeze: [.reason, .for, .dryRun]
        case .propose: [.dryRun, .force, .new]
        case .approve: [.dryRun, .force]
        case .unfreeze, .reject: [.dryRun]
        case .panel: [.port]
        case .set: [.dryRun, .force, .new, .for]
        case .import: [.prune, .dryRun, .force, .new, .yes]
        case .check: [.new]
        case .reset, .undo: [.dryRun]
        case .rollout:
            [
                .where, .steps, .per, .seed, .canary, .every, .abortIf, .abortIfPrometheus, .prometheus, .confirmWithin,
                .at, .driveHere,
                .keepIfDriverDies, .revertIfDriverDies, .detach, .dryRun, .force, .new, .yes,
            ]
        case .finish: [.dryRun, .force]
        case .adopt: [.atLeast, .dryRun, .yes]
        case .pause, .abort: [.dryRun]
        case .resume: [.driveHere, .prometheus, .detach]
        }
    }

    /// The allowed number of arguments.
    var counts: ClosedRange<Int> {
        switch self {
        case .status, .instances, .adopt, .audit, .drive, .panel: 0...0
        case .ls, .history, .export, .watch, .undo: 0...1
        case .instance, .progress, .pause, .resume, .finish, .abort, .import, .freeze, .unfreeze, .approve, .reject:
            1...1
        case .get, .set, .reset, .check, .rollout, .propose: 1...Int.max
        }
    }
}

/// An option, with or without a value.
enum FleetOption: String, CaseIterable {
    case etcd, prefix, user, passwordFile = "password-file", who = "as", json, yes, help, version
    case dryRun = "dry-run", force, new, prune, `for`, `where`, steps, per, seed, canary, every, abortIf = "abort-if"
    case abortIfPrometheus = "abort-if-prometheus", prometheus, at, driveHere = "drive-here", watch
    case confirmWithin = "confirm-within", keepIfDriverDies = "keep-if-driver-dies"
    case revertIfDriverDies = "revert-if-driver-dies", detach, atLeast = "at-least", all, follow, reason
    case port

    /// Options of every command.
    static let common: [FleetOption] = [.etcd, .prefix, .user, .passwordFile, .who, .json, .help, .version]

    var name: String { "--\(rawValue)" }

    /// The placeholder of its value; nil if it has none.
    var argument: String? {
        switch self {
        case .etcd: "URL[,URL…]"
        case .prometheus: "URL"
        case .abortIfPrometheus: "'QUERY > NUMBER'"
        case .at: "MOMENT"
        case .prefix: "PREFIX"
        case .user, .who: "NAME"
        case .passwordFile, .all: "FILE"
        case .reason: "TEXT"
        case .for, .every, .confirmWithin: "TIME"
        case .where, .canary: "LABEL=VALUE[,…]"
        case .per: "LABEL"
        case .seed: "TEXT"
        case .steps: "PERCENT,…"
        case .abortIf: "'FIGURE > NUMBER'"
        case .atLeast, .port: "NUMBER"
        case .json, .yes, .help, .version, .dryRun, .force, .new, .prune, .driveHere, .watch, .keepIfDriverDies,
            .revertIfDriverDies,
            .detach,
            .follow:
            nil
        }
    }

    var summary: String {
        switch self {
        case .etcd: "URLs of etcd; default: TWEAKS_FLEET"
        case .prefix: "prefix of the keys; default: TWEAKS_FLEET_PREFIX or /tweaks"
        case .user: "sign in to etcd, with the password from --password-file; default: TWEAKS_FLEET_USER"
        case .passwordFile: "a file that only its owner can read; default: TWEAKS_FLEET_PASSWORD_FILE"
        case .who: "author for the log; default: login name and host"
        case .json: "JSON for scripts"
        case .yes: "do not ask for confirmation"
        case .help: "print this help"
        case .version: "print the version"
        case .dryRun: "print what would be done, and write nothing"
        case .force:
            "also values that builds would refuse; finish: before all steps are done; approve: over later values; "
                + "rollout: without canaries"
        case .new: "also paths that no build has; their kind follows from the text"
        case .prune: "also remove the fleet's values that the file lacks"
        case .for: "end it automatically after at least this time"
        case .where: "only processes with these labels"
        case .steps: "growing shares; default: 1,10,50,100; 0 first for canaries alone"
        case .per: "each share is that of each value of a label, exactly, rounded up"
        case .seed: "the same processes come first in each rollout with this seed"
        case .canary: "processes with these labels are members from the first step on"
        case .every: "time between two steps, at least 60s; default: 5m"
        case .abortIf: "revert when a tenth of the members meets this twice: > 5, > 2 × others; repeatable"
        case .abortIfPrometheus: "revert when a result of the query meets this in two answers; repeatable"
        case .prometheus: "Prometheus for these conditions; default: TWEAKS_FLEET_PROMETHEUS"
        case .at: "begin it then: 2026-12-01T22:00:00Z, or 22:00 in UTC, or in 3h; a drive service begins it"
        case .driveHere: "drive it from this command, although a drive service runs"
        case .watch: "show it again at each change, until Ctrl-C"
        case .confirmWithin: "revert unless finished within this time after the last step"
        case .all: "also the entries of a file that audit has written"
        case .reason: "what operators read who are refused"
        case .port: "the preferred port of the page; default: a free one"
        case .follow: "go on until it is interrupted"
        case .keepIfDriverDies: "keep the rollout at its share when this command ends; resume continues"
        case .revertIfDriverDies: "revert when this command ends or loses etcd for a minute; the default"
        case .detach: "exit at once; without a drive service nothing aborts it until resume continues it"
        case .atLeast: "the head's counter is not below this: what processes have applied elsewhere"
        }
    }

    /// `--etcd URL[,URL…]`
    var synopsis: String { name + (argument.map { " \($0)" } ?? "") }
}

/// The usage texts.
enum FleetUsage {
    static let version = "tweakctl-fleet \(number)"
    /// The same for scripts.
    static var versionJSON: JSON { .object([("ok", .bool(true)), ("version", .string(number))]) }
    private static let number = "1.0"

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
        ("tweakctl fleet api panel", "a page that shows the fleet, and changes it once you confirm"),
        ("tweakctl fleet api abort k3x9mp", "revert a rollout; this also works if etcd is full"),
        ("tweakctl fleet api export > api.conf", "write a file for import, for example in another region"),
    ]

    /// The text of `--help`.
    static var help: String {
        var lines = [
            "Changes the tweaks of many processes at once, by desired values in etcd that every process follows.", "",
            "Usage: tweakctl fleet NAME VERB … --etcd URL[,URL…]", "", "Verbs:",
        ]
        lines += UsageText.table(FleetVerb.allCases.map { ($0.usage, $0.summary) })
        lines += ["", "Options:"]
        lines += UsageText.table(FleetOption.common.map { ($0.synopsis, $0.summary) })
        for verb in FleetVerb.allCases where !verb.options.isEmpty {
            lines += ["", "Options of \(verb.rawValue):"]
            lines += UsageText.table(verb.options.map { ($0.synopsis, $0.summary) })
        }
        lines += UsageText.end(examples: examples, exitCodes: exitCodes)
        return lines.joined(separator: "\n")
    }
}

/// Completions for a partial command line.
enum FleetCompletion {
    static func candidates(_ words: [String]) -> [String] {
        let typed = words.last ?? ""
        let before = words.dropLast().filter { !$0.hasPrefix("-") }
        let verb = before.dropFirst().first.flatMap(FleetVerb.init(rawValue:))
        let all: [String]
        if typed.hasPrefix("-") {
            all = (FleetOption.common + (verb?.options ?? [])).map(\.name)
        } else {
            all = before.count == 1 ? FleetVerb.allCases.map(\.rawValue) : []
        }
        return all.filter { $0.hasPrefix(typed) }
    }
}
