// Commands about the history: the last commits, and the way back.

import Tweaks

extension Command.Group {
    static let history = Command.Group(
        title: "Undo and history", commands: [.undo, .redo, .history])
}

extension Command {
    package static let undo = Command(
        "undo", .option(.mine, isOffered: false), .option(.force, permission: .some(.admin)), permission: .some(.write),
        effect: .changes,
        help: "take back the last change, whoever made it; or your own last one", example: "undo mine")
    package static let redo = Command(
        "redo", .option(.mine, isOffered: false), .option(.force, permission: .some(.admin)), permission: .some(.write),
        effect: .changes,
        help: "make the change again that was taken back", example: "redo")
    package static let history = Command(
        "history", .optional(.count), permission: .sight,
        help: "the last commits, who made them", example: "history 5")
}
