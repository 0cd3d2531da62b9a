// Commands about presets: named sets of overrides.

import Tweaks

extension Command {
    static let presetsGroup = Group(
        "Presets",
        [
            Entry(
                .save, "save", .one(.preset), .optional(.pattern, of: .settable), permission: .some(.write),
                help: "keep what is overridden now as a preset", example: "save warm Content"),
            Entry(
                .load, "load", .option(.only), .one(.preset), .option(.partly), permission: .some(.write),
                effect: .changes, help: "set what a preset says; --only also resets all else; partly: what fits",
                example: "load warm"),
            Entry(
                .swap, "swap", .one(.preset), .option(.force), permission: .whole(.write), effect: .changes,
                help: "go to a preset exactly; again: back to what was", example: "swap warm"),
            Entry(
                .diff, "diff", .one(.preset), .optional(.preset), permission: .sight,
                help: "how a preset differs from what is in force, or from another", example: "diff warm"),
            Entry(.presets, "presets", permission: .sight, help: "the presets that there are", example: "presets"),
            Entry(
                .delete, "delete", .one(.preset), permission: .whole(.admin), help: "remove a preset",
                example: "delete warm"),
        ])
}
