// Commands about the process, the session, and what it watches.

import Tweaks

extension Command {
    static let watchingGroup = Group(title: "Watching", commands: [.watch, .unwatch])

    package static let watch = Command(
        "watch", .several(.pattern, or: .modified), .marked("since", .revision), permission: .sight,
        help: "values now, then an event for each change; watch modified", example: "watch Content")
    package static let unwatch = Command(
        "unwatch", .optional(.pattern, or: .modified), permission: .session,
        help: "stop watching, all or one pattern", example: "unwatch Content")

    static let processGroup = Group(title: "Process", commands: [.reload, .conflicts, .stats, .hello])

    package static let reload = Command(
        "reload", .option(.dry), permission: .whole(.admin),
        help: "read the config file now; dry only says what would change", example: "reload dry")
    package static let conflicts = Command(
        "conflicts", permission: .whole(.admin), help: "declarations that disagree", example: "conflicts")
    package static let stats = Command(
        "stats", permission: .sight, help: "figures about this process", example: "stats")
    package static let hello = Command(
        "hello", .one(.version), .option(.json), permission: .nothing, help: "for programs: who is there",
        example: "hello 1 json")

    static let sessionGroup = Group(title: "Session", commands: [.complete, .json, .prompt, .ping, .quit])

    package static let complete = Command(
        "complete", .one(.line), permission: .sight, help: "how a line could go on", example: "complete \"set Cont\"")
    package static let json = Command(
        "json", .option(.on, .off), permission: .nothing, help: "one JSON object a line", example: "json on")
    package static let prompt = Command(
        "prompt", .option(.on, .off), permission: .nothing, help: "banner and prompt for people", example: "prompt off")
    package static let ping = Command("ping", permission: .nothing, help: "answers ok", example: "ping")
    package static let quit = Command("quit", permission: .nothing, help: "close the connection", example: "quit")
}
