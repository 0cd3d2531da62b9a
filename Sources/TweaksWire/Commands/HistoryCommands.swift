// Commands about commits: batches, the history, and the way back.

import Tweaks

extension Command {
    static let batchesGroup = Group(
        "Batches",
        [
            Entry(
                .begin, "begin", .optional(.revision), permission: .some(.write), help: "collect changes until commit",
                example: "begin 43"),
            Entry(
                .commit, "commit", permission: .some(.write), effect: .changes,
                help: "make the collected changes, all or none", example: "commit"),
            Entry(.abort, "abort", permission: .session, help: "drop the collected changes", example: "abort"),
        ])

    static let historyGroup = Group(
        "Undo and history",
        [
            Entry(
                .undo, "undo", .option(.mine, isOffered: false), .option(.force, permission: .some(.admin)),
                permission: .some(.write), effect: .changes,
                help: "take back the last change, whoever made it; or your own last one", example: "undo mine"),
            Entry(
                .redo, "redo", .option(.mine, isOffered: false), .option(.force, permission: .some(.admin)),
                permission: .some(.write), effect: .changes, help: "make the change again that was taken back",
                example: "redo"),
            Entry(
                .history, "history", .optional(.count), permission: .sight, help: "the last commits, who made them",
                example: "history 5"),
        ])
}
