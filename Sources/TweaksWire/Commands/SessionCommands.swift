// Declares the commands for the process, the session, and watching.

import Tweaks

extension Command {
    static let watchingGroup = Group(
        "Watching",
        [
            Entry(
                .watch, "watch", .several(.pattern, or: .modified), .marked("since", .revision),
                permission: .visibility,
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
                help: "read the config file now; dry only shows what would change", example: "reload dry"),
            Entry(
                .conflicts, "conflicts", permission: .whole(.admin), help: "declarations that disagree",
                example: "conflicts"),
            Entry(.stats, "stats", permission: .visibility, help: "figures about this process", example: "stats"),
            Entry(
                .hello, "hello", .one(.version), .option(.json), permission: .nothing,
                help: "for programs: protocol version and program", example: "hello 1 json"),
        ])

    static let sessionGroup = Group(
        "Session",
        [
            Entry(
                .complete, "complete", .one(.line), permission: .visibility, help: "completions for a partial line",
                example: "complete \"set Cont\""),
            Entry(
                .json, "json", .option(.on, .off, .text), permission: .nothing,
                help: "one JSON object a line; text adds the lines of the text form", example: "json on"),
            Entry(
                .prompt, "prompt", .option(.on, .off), permission: .nothing,
                help: "banner and prompt for interactive use", example: "prompt off"),
            Entry(.ping, "ping", permission: .nothing, help: "answers ok", example: "ping"),
            Entry(.quit, "quit", permission: .nothing, help: "close the connection", example: "quit"),
        ])
}
