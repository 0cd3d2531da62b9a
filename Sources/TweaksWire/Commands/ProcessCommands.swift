// Commands about the process.

import Tweaks

extension Command.Group {
    static let process = Command.Group(
        title: "Process", commands: [.reload, .conflicts, .stats, .hello])
}

extension Command {
    package static let reload = Command(
        "reload", .option(.dry), permission: .whole(.admin),
        help: "read the config file now; dry only says what would change", example: "reload dry")
    package static let conflicts = Command(
        "conflicts", permission: .whole(.admin),
        help: "declarations that disagree", example: "conflicts")
    package static let stats = Command(
        "stats", permission: .sight,
        help: "figures about this process", example: "stats")
    package static let hello = Command(
        "hello", .one(.version), .option(.json), permission: .nothing,
        help: "for programs: who is there", example: "hello 1 json")
}
