// Declares the commands for values and actions.

import Tweaks

extension Command {
    static let valuesGroup = Group(
        "Values and actions",
        [
            Entry(
                .help, "help", .optional(.command), permission: .nothing, help: "the commands, or how to use one",
                example: "help set"),
            Entry(
                .ls, "ls", .optional(.prefix), permission: .visibility,
                help: "one level: categories, collections, tweaks",
                example: "ls Content"),
            Entry(
                .get, "get", .several(.pattern), permission: .visibility, help: "values, explained; * is everything",
                example: "get Content/Text/*"),
            Entry(
                .set, "set", .one(.path, of: .settable), .one(.value), .marked("for", .duration, isOffered: false),
                permission: .some(.write), effect: .isQueued,
                help:
                    "set one tweak, permanently or for a time; PATH = VALUE does the same, += and -= add, toggle flips",
                example: "set Content/Text/Size 72 for 10m"),
            Entry(
                .keep, "keep", .several(.pattern, of: .settable), permission: .some(.write), effect: .isQueued,
                help: "make temporary overrides permanent", example: "keep Content/Text/Size"),
            Entry(
                .reset, "reset", .several(.pattern, of: .settable), permission: .some(.write), effect: .isQueued,
                help: "remove overrides; the next layer applies", example: "reset Content"),
            Entry(
                .check, "check", .one(.path, of: .settable), .one(.value), permission: .some(.write),
                help: "what set would reply, without changing anything", example: "check A/B/C 5"),
            Entry(
                .find, "find", .several(.text), permission: .visibility,
                help: "tweaks by path, help, unit or choices, best first", example: "find size"),
            Entry(
                .modified, "modified", .optional(.pattern), permission: .visibility,
                help: "only what differs from its default", example: "modified Content"),
            Entry(
                .describe, "describe", .one(.path), permission: .visibility, help: "all details of one tweak",
                example: "describe Content/Text/Size"),
            Entry(
                .explain, "explain", .one(.path), permission: .visibility,
                help: "every layer, its value, who set it, when",
                example: "explain A/B/C"),
            Entry(
                .export, "export", .optional(.pattern), permission: .visibility,
                help: "assignments that can be typed back",
                example: "export Content"),
            Entry(
                .run, "run", .one(.path, of: .actions), .any(.argument), permission: .some(.run),
                help: "run an action once", example: "run Player/Audio/Mute now"),
        ])

    /// Applies the assignments of a text, all or none. Only the HTTP API has it.
    static let imports = Entry(
        .import, "import", permission: .some(.write), effect: .changes, help: "apply the assignments of a text",
        example: "")
}
