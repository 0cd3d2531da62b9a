// The table of commands: name, usage, help, and how arguments become a request.

import Tweaks

/// One command of the protocol.
package struct Command: Sendable {
    package let name: String
    /// The arguments, as help shows them.
    package let usage: String
    package let summary: String
    package let example: String
    /// How many arguments it takes.
    let arity: ClosedRange<Int>
    /// Nil when the arguments make no sense.
    let parse: @Sendable (ArraySlice<Token>) -> Request?

    init(
        _ name: String, _ usage: String, _ summary: String, example: String, _ arity: ClosedRange<Int>,
        _ parse: @escaping @Sendable (ArraySlice<Token>) -> Request?
    ) {
        self.name = name
        self.usage = usage
        self.summary = summary
        self.example = example
        self.arity = arity
        self.parse = parse
    }

    /// The right it asks for, as its example does.
    package var needs: Need {
        let line = Array(example.utf8)
        guard case .request(let request) = line.withUnsafeBufferPointer({ ParsedLine($0) }) else { return .nothing }
        return request.needs
    }

    /// Name and arguments.
    package var synopsis: String { usage.isEmpty ? name : "\(name) \(usage)" }

    /// The request, or `usage`.
    func request(_ arguments: ArraySlice<Token>) throws(TweakError) -> Request {
        guard arity.contains(arguments.count), let request = parse(arguments) else {
            throw TweakError(.usage, "\(name): write \(synopsis), as in: \(example)")
        }
        return request
    }

    /// The command with this name.
    package static func named(_ name: String) -> Command? { byName[name] }

    private static let byName = {
        var commands = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
        commands["?"] = commands["help"]
        return commands
    }()
    /// All commands, in the order of help.
    package static let all = groups.flatMap(\.commands)

    /// The commands of one subject, under its heading.
    package struct Group: Sendable {
        package let title: String
        package let commands: [Command]
    }

    /// The commands as people look for them.
    package static let groups = [
        Group(title: "Values and actions", commands: valuesCommands),
        Group(title: "Batches", commands: batchesCommands),
        Group(title: "Undo and history", commands: historyCommands),
        Group(title: "Watching", commands: watchingCommands),
        Group(title: "Presets", commands: presetsCommands),
        Group(title: "Access control", commands: accessCommands),
        Group(title: "Process", commands: processCommands),
        Group(title: "Session", commands: sessionCommands),
    ]
}

// MARK: - The table

extension Command {
    private static let any = 0...Int.max
    private static let some = 1...Int.max

    private static let valuesCommands = [
        Command("help", "[command]", "the commands, or how to use one", example: "help set", 0...1) {
            .help(command: $0.first?.text)
        },
        Command("ls", "[prefix]", "one level: categories, collections, tweaks", example: "ls Content", 0...1) {
            .list(prefix: $0.first?.text)
        },
        Command("get", "PATTERN…", "values, explained; * is everything", example: "get Content/Text/*", some) {
            .get($0.texts)
        },
        Command(
            "set", "PATH VALUE [for DURATION]",
            "change one tweak, for good or for a while; PATH = VALUE does the same, += and -= add, toggle flips",
            example: "set Content/Text/Size 72 for 10m", 2...4, Request.set),
        Command(
            "keep", "PATTERN…", "make temporary overrides permanent", example: "keep Content/Text/Size", some
        ) { .keep($0.texts) },
        Command("reset", "PATTERN…", "remove overrides: what lies beneath shows", example: "reset Content", some) {
            .reset($0.texts)
        },
        Command("check", "PATH VALUE", "what set would answer, without doing it", example: "check A/B/C 5", 2...2) {
            .check(path: $0.text(0), .init($0.dropFirst()))
        },
        Command("find", "TEXT…", "tweaks by path, help, unit or choices, best first", example: "find size", some) {
            .find($0.texts)
        },
        Command("modified", "[PATTERN]", "only what differs from its default", example: "modified Content", 0...1) {
            .modified($0.first?.text)
        },
        Command("describe", "PATH", "all facts of one tweak", example: "describe Content/Text/Size", 1...1) {
            .describe($0.text(0))
        },
        Command("explain", "PATH", "every layer, its value, who set it, when", example: "explain A/B/C", 1...1) {
            .explain($0.text(0))
        },
        Command("export", "[PATTERN]", "assignments that can be typed back", example: "export Content", 0...1) {
            .export($0.first?.text)
        },
        Command("run", "PATH [ARGUMENT…]", "run an action once", example: "run Player/Audio/Mute now", some) {
            .run(path: $0.text(0), arguments: $0.dropFirst().texts)
        },
    ]

    private static let batchesCommands = [
        Command("begin", "[REV]", "collect changes until commit", example: "begin 43", 0...1) {
            Request.begin($0)
        },
        Command("commit", "", "make the collected changes, all or none", example: "commit", 0...0) { _ in .commit },
        Command("abort", "", "drop the collected changes", example: "abort", 0...0) { _ in .abort },
    ]

    private static let historyCommands = [
        Command(
            "undo", "[mine] [force]", "take back the last change, whoever made it; or your own last one",
            example: "undo mine", 0...2
        ) { Request.travel($0).map { .undo(force: $0.isForced, mine: $0.isMine) } },
        Command(
            "redo", "[mine] [force]", "make the change again that was taken back", example: "redo", 0...2
        ) { Request.travel($0).map { .redo(force: $0.isForced, mine: $0.isMine) } },
        Command("history", "[N]", "the last commits, who made them", example: "history 5", 0...1) {
            Request.history($0)
        },
    ]

    private static let watchingCommands = [
        Command(
            "watch", "PATTERN… [since REV]", "values now, then an event for each change; watch modified",
            example: "watch Content",
            some, Request.watch),
        Command("unwatch", "[PATTERN]", "stop watching, all or one pattern", example: "unwatch Content", 0...1) {
            $0.first?.isBare("modified") == true ? .unwatch(nil, modified: true) : .unwatch($0.first?.text)
        },
    ]

    private static let presetsCommands = [
        Command(
            "save", "NAME [PATTERN]", "keep what is overridden now as a preset", example: "save warm Content", 1...2
        ) { .save(name: $0.text(0), pattern: $0.dropFirst().first?.text) },
        Command(
            "load", "[--only] NAME [partly]", "set what a preset says; --only also resets all else; partly: what fits",
            example: "load warm", 1...3, Request.load),
        Command(
            "swap", "NAME [force]", "go to a preset exactly; again: back to what was", example: "swap warm", 1...2
        ) { arguments in
            Request.isOption("force", arguments.dropFirst()).map { .swap(name: arguments.text(0), force: $0) }
        },
        Command(
            "diff", "NAME [NAME]", "how a preset differs from what is in force, or from another", example: "diff warm",
            1...2
        ) { .diff($0.text(0), $0.dropFirst().first?.text) },
        Command("presets", "", "the presets that there are", example: "presets", 0...0) { _ in .presets },
        Command("delete", "NAME", "remove a preset", example: "delete warm", 1...1) { .delete(name: $0.text(0)) },
    ]

    private static let accessCommands = [
        Command(
            "auth", "TOKEN",
            "show who you are; programs: auth \(Scram.mechanism) MESSAGE (RFC 7677) does not show the token",
            example: "auth twk_…", 1...2, Request.auth),
        Command(
            "as", "[NAME]", "your name, shown behind your identity and never trusted; alone: none", example: "as Ada",
            any
        ) { .as($0.isEmpty ? nil : $0.texts.joined(separator: " ")) },
        Command("whoami", "", "what this session is and may do", example: "whoami", 0...0) { _ in .whoami },
        Command("drop", "SCOPE…", "give up rights of this session", example: "drop write:Label", some) {
            .drop($0.texts)
        },
        Command("request", "SCOPE…", "ask for more rights", example: "request write:Label", some) {
            .request($0.texts)
        },
        Command("sessions", "", "who is connected", example: "sessions", 0...0) { _ in .sessions },
        Command(
            "panel", "[rotate]", "the address of the web page, token and all; rotate makes another token",
            example: "panel", 0...1
        ) { Request.isOption("rotate", $0).map { .panel(rotate: $0) } },
        Command("kick", "SESSION", "end a session", example: "kick 7", 1...1) {
            Request.revision($0[$0.startIndex]).map { .kick(session: $0) }
        },
    ]

    private static let processCommands = [
        Command(
            "reload", "[dry]", "read the config file now; dry only says what would change", example: "reload dry", 0...1
        ) { Request.isOption("dry", $0).map { .reload(dry: $0) } },
        Command("conflicts", "", "declarations that disagree", example: "conflicts", 0...0) { _ in .conflicts },
        Command("stats", "", "figures about this process", example: "stats", 0...0) { _ in .stats },
        Command("hello", "VERSION [json]", "for programs: who is there", example: "hello 1 json", 1...2) {
            Request.hello($0)
        },
    ]

    private static let sessionCommands = [
        Command("complete", "TEXT", "how a line could go on", example: "complete \"set Cont\"", any) {
            .complete($0.texts.joined(separator: " "))
        },
        Command("json", "[on|off]", "one JSON object a line", example: "json on", 0...1) {
            Request.isOn($0).map(Request.json)
        },
        Command("prompt", "[on|off]", "banner and prompt for people", example: "prompt off", 0...1) {
            Request.isOn($0).map(Request.prompt)
        },
        Command("ping", "", "answers ok", example: "ping", 0...0) { _ in .ping },
        Command("quit", "", "close the connection", example: "quit", 0...0) { _ in .quit },
    ]
}
