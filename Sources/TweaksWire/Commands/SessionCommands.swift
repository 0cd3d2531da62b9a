// Commands about the process, the session, and what it watches.

import Tweaks

extension Command {
    static let watchingGroup = Group(
        "Watching",
        [
            Entry(
                .watch, "watch", .several(.pattern, or: .modified), .marked("since", .revision), permission: .sight,
                help: "values now, then an event for each change; watch modified", example: "watch Content"),
            Entry(
                .unwatch, "unwatch", .optional(.pattern, or: .modified), permission: .session,
                help: "stop watching, all or one pattern", example: "unwatch Content"),
        ])

    static let processGroup = Group(
        "Process",
        [
            Entry(
                .reload, "reload", .option(.dry), permission: .whole(.admin),
                help: "read the config file now; dry only says what would change", example: "reload dry"),
            Entry(
                .conflicts, "conflicts", permission: .whole(.admin), help: "declarations that disagree",
                example: "conflicts"),
            Entry(.stats, "stats", permission: .sight, help: "figures about this process", example: "stats"),
            Entry(
                .hello, "hello", .one(.version), .option(.json), permission: .nothing,
                help: "for programs: who is there", example: "hello 1 json"),
        ])

    static let sessionGroup = Group(
        "Session",
        [
            Entry(
                .complete, "complete", .one(.line), permission: .sight, help: "how a line could go on",
                example: "complete \"set Cont\""),
            Entry(
                .json, "json", .option(.on, .off), permission: .nothing, help: "one JSON object a line",
                example: "json on"),
            Entry(
                .prompt, "prompt", .option(.on, .off), permission: .nothing, help: "banner and prompt for people",
                example: "prompt off"),
            Entry(.ping, "ping", permission: .nothing, help: "answers ok", example: "ping"),
            Entry(.quit, "quit", permission: .nothing, help: "close the connection", example: "quit"),
        ])
}
