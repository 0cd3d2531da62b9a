// Commands about values and actions.

import Tweaks

extension Command {
    static let valuesGroup = Group(
        title: "Values and actions",
        commands: [.help, .ls, .get, .set, .keep, .reset, .check, .find, .modified, .describe, .explain, .export, .run])

    package static let help = Command(
        "help", .optional(.command), permission: .nothing, help: "the commands, or how to use one", example: "help set")
    package static let ls = Command(
        "ls", .optional(.prefix), permission: .sight, help: "one level: categories, collections, tweaks",
        example: "ls Content")
    package static let get = Command(
        "get", .several(.pattern), permission: .sight, help: "values, explained; * is everything",
        example: "get Content/Text/*")
    package static let set = Command(
        "set", .one(.path, of: .settable), .one(.value), .marked("for", .duration, isOffered: false),
        permission: .some(.write), effect: .isQueued,
        help: "change one tweak, for good or for a while; PATH = VALUE does the same, += and -= add, toggle flips",
        example: "set Content/Text/Size 72 for 10m")
    package static let keep = Command(
        "keep", .several(.pattern, of: .settable), permission: .some(.write), effect: .isQueued,
        help: "make temporary overrides permanent", example: "keep Content/Text/Size")
    package static let reset = Command(
        "reset", .several(.pattern, of: .settable), permission: .some(.write), effect: .isQueued,
        help: "remove overrides: what lies beneath shows", example: "reset Content")
    package static let check = Command(
        "check", .one(.path, of: .settable), .one(.value), permission: .some(.write),
        help: "what set would answer, without doing it", example: "check A/B/C 5")
    package static let find = Command(
        "find", .several(.text), permission: .sight, help: "tweaks by path, help, unit or choices, best first",
        example: "find size")
    package static let modified = Command(
        "modified", .optional(.pattern), permission: .sight, help: "only what differs from its default",
        example: "modified Content")
    package static let describe = Command(
        "describe", .one(.path), permission: .sight, help: "all facts of one tweak",
        example: "describe Content/Text/Size")
    package static let explain = Command(
        "explain", .one(.path), permission: .sight, help: "every layer, its value, who set it, when",
        example: "explain A/B/C")
    package static let export = Command(
        "export", .optional(.pattern), permission: .sight, help: "assignments that can be typed back",
        example: "export Content")
    package static let run = Command(
        "run", .one(.path, of: .actions), .any(.argument), permission: .some(.run), help: "run an action once",
        example: "run Player/Audio/Mute now")
    /// Takes the assignments of a text, all or none. No line of the protocol asks for it.
    package static let `import` = Command(
        "import", permission: .some(.write), effect: .changes, help: "takes the assignments of a text", example: "")
}
