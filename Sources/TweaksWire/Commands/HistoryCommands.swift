// Declares the commands for batches, undo and history.

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
                help: "undo the last change, by any user; mine: your own last one", example: "undo mine"),
            Entry(
                .redo, "redo", .option(.mine, isOffered: false), .option(.force, permission: .some(.admin)),
                permission: .some(.write), effect: .changes, help: "redo the change that was undone",
                example: "redo"),
            Entry(
                .history, "history", .optional(.count), permission: .visibility,
                help: "list the last commits, with who made them", example: "history 5"),
        ])
}
