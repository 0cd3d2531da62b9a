// Commands about commits: batches, the history, and the way back.

import Tweaks

extension Command {
    static let batchesGroup = Group(title: "Batches", commands: [.begin, .commit, .abort])

    package static let begin = Command(
        "begin", .optional(.revision), permission: .some(.write), help: "collect changes until commit",
        example: "begin 43")
    package static let commit = Command(
        "commit", permission: .some(.write), effect: .changes, help: "make the collected changes, all or none",
        example: "commit")
    package static let abort = Command(
        "abort", permission: .session, help: "drop the collected changes", example: "abort")

    static let historyGroup = Group(title: "Undo and history", commands: [.undo, .redo, .history])

    package static let undo = Command(
        "undo", .option(.mine, isOffered: false), .option(.force, permission: .some(.admin)), permission: .some(.write),
        effect: .changes, help: "take back the last change, whoever made it; or your own last one", example: "undo mine"
    )
    package static let redo = Command(
        "redo", .option(.mine, isOffered: false), .option(.force, permission: .some(.admin)), permission: .some(.write),
        effect: .changes, help: "make the change again that was taken back", example: "redo")
    package static let history = Command(
        "history", .optional(.count), permission: .sight, help: "the last commits, who made them", example: "history 5")
}
