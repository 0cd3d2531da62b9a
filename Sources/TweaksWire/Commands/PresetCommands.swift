// Declares the commands for presets: named sets of overrides.

import Tweaks

extension Command {
    static let presetsGroup = Group(
        "Presets",
        [
            Entry(
                .save, "save", .one(.preset), .optional(.pattern, of: .settable), permission: .some(.write),
                help: "save the current overrides as a preset", example: "save warm Content"),
            Entry(
                .load, "load", .option(.only), .one(.preset), .option(.partly), permission: .some(.write),
                effect: .changes, help: "apply a preset; --only also resets all else; partly: skips what does not fit",
                example: "load warm"),
            Entry(
                .swap, "swap", .one(.preset), .option(.force), permission: .whole(.write), effect: .changes,
                help: "replace all overrides with a preset; again: swap back", example: "swap warm"),
            Entry(
                .diff, "diff", .one(.preset), .optional(.preset), permission: .visibility,
                help: "compare a preset with the current values, or with another preset", example: "diff warm"),
            Entry(.presets, "presets", permission: .visibility, help: "list the presets", example: "presets"),
            Entry(
                .delete, "delete", .one(.preset), permission: .whole(.admin), help: "remove a preset",
                example: "delete warm"),
        ])
}
