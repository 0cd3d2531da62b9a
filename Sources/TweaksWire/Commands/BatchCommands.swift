// Commands about batches: several changes, all or none.

import Tweaks

extension Command.Group {
    static let batches = Command.Group(
        title: "Batches", commands: [.begin, .commit, .abort])
}

extension Command {
    package static let begin = Command(
        "begin", .optional(.revision), permission: .some(.write),
        help: "collect changes until commit", example: "begin 43")
    package static let commit = Command(
        "commit", permission: .some(.write), effect: .changes,
        help: "make the collected changes, all or none", example: "commit")
    package static let abort = Command(
        "abort", permission: .session,
        help: "drop the collected changes", example: "abort")
}
