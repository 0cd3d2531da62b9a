// Declares the commands of the protocol, by subject.

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
                .modified, "modified", .option(.stale), .optional(.pattern), permission: .visibility,
                help: "only what differs from its default; --stale: the overrides that do not",
                example: "modified Content"),
            Entry(
                .describe, "describe", .one(.path), permission: .visibility, help: "all details of one tweak",
                example: "describe Content/Text/Size"),
            Entry(
                .explain, "explain", .one(.path), permission: .visibility,
                help: "every layer, its value, who set it, when",
                example: "explain A/B/C"),
            Entry(
                .export, "export", .option(.onlyModified), .optional(.pattern), permission: .visibility,
                help: "assignments that can be typed back; --modified: only what differs from its default",
                example: "export Content"),
            Entry(
                .run, "run", .one(.path, of: .actions), .any(.argument), permission: .some(.run),
                help: "run an action once", example: "run Player/Audio/Mute now"),
        ])

    /// Applies the assignments of a text, all or none. Only the HTTP API has it.
    static let imports = Entry(
        .import, "import", permission: .some(.write), effect: .changes, help: "apply the assignments of a text",
        example: "")

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
                .optional(.revision), permission: .some(.write), effect: .changes,
                help: "undo the last change, by any user; mine: your own last one", example: "undo mine"),
            Entry(
                .redo, "redo", .option(.mine, isOffered: false), .option(.force, permission: .some(.admin)),
                .optional(.revision), permission: .some(.write), effect: .changes,
                help: "redo the change that was undone", example: "redo"),
            Entry(
                .history, "history", .optional(.count), permission: .visibility,
                help: "list the last commits, with who made them", example: "history 5"),
            Entry(
                .drag, "drag", .option(.on, .off), permission: .some(.write),
                help: "for programs: changes until drag off are one step of undo", example: "drag on"),
            Entry(
                .preview, "preview", .option(.off, .dry), .any(.pattern, of: .settable), permission: .some(.write),
                effect: .changes,
                help:
                    "for 10 seconds, see what reset or an open batch would do; again: 10 more, at most 60; dry only says it",
                example: "preview Content"),
        ])

    static let watchingGroup = Group(
        "Watching",
        [
            Entry(
                .watch, "watch", .several(.pattern, or: .modified), .marked("since", .revision),
                permission: .visibility,
                help: "values now, then an event for each change; watch modified", example: "watch Content"),
            Entry(
                .unwatch, "unwatch", .optional(.pattern, or: .modified), permission: .session,
                help: "stop watching, all or one pattern", example: "unwatch Content"),
            Entry(
                .samples, "samples", .one(.path, of: .figures), .optional(.count), permission: .visibility,
                help: "the last values of a figure, of N seconds: 300, at most 1800",
                example: "samples Player/Status/Frames 60"),
        ])

    static let processGroup = Group(
        "Process",
        [
            Entry(
                .reload, "reload", .option(.dry), permission: .whole(.admin),
                help: "read the config file now; dry only shows what would change", example: "reload dry"),
            Entry(
                .conflicts, "conflicts", permission: .whole(.admin), help: "declarations that disagree",
                example: "conflicts"),
            Entry(.stats, "stats", permission: .visibility, help: "figures about this process", example: "stats"),
            Entry(
                .hello, "hello", .one(.version), .option(.json), permission: .nothing,
                help: "for programs: protocol version and program", example: "hello 1 json"),
        ])

    static let sessionGroup = Group(
        "Session",
        [
            Entry(
                .complete, "complete", .one(.line), permission: .visibility, help: "completions for a partial line",
                example: "complete \"set Cont\""),
            Entry(
                .json, "json", .option(.on, .off, .text), permission: .nothing,
                help: "one JSON object a line; text adds the lines of the text form", example: "json on"),
            Entry(
                .prompt, "prompt", .option(.on, .off), permission: .nothing,
                help: "banner and prompt for interactive use", example: "prompt off"),
            Entry(.ping, "ping", permission: .nothing, help: "answers ok", example: "ping"),
            Entry(.quit, "quit", permission: .nothing, help: "close the connection", example: "quit"),
        ])

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

    static let accessGroup = Group(
        "Access control",
        [
            Entry(
                .auth, "auth", .option(.scram, isShown: false), .one(.token), permission: .nothing,
                help: "sign in with a token; programs: auth \(Scram.mechanism) MESSAGE (RFC 7677) does not send it",
                example: "auth twk_…"),
            Entry(
                .as, "as", .optional(.displayName), permission: .session,
                help: "set your name, shown after your identity, not verified; alone: clear it", example: "as Ada"),
            Entry(
                .whoami, "whoami", permission: .nothing, help: "show the identity and rights of this session",
                example: "whoami"),
            Entry(
                .drop, "drop", .several(.scope), permission: .nothing, help: "give up rights of this session",
                example: "drop write:Label"),
            Entry(
                .request, "request", .several(.scope), permission: .session, help: "ask for more rights",
                example: "request write:Label"),
            Entry(
                .sessions, "sessions", permission: .whole(.admin), help: "list the connected sessions",
                example: "sessions"),
            Entry(
                .panel, "panel", .option(.rotate, .token, isOffered: false), permission: .whole(.admin),
                help: "the address of the web page, for one sign-in; token: its token, for programs; rotate: new ones",
                example: "panel"),
            Entry(.kick, "kick", .one(.session), permission: .whole(.admin), help: "end a session", example: "kick 7"),
        ])
}
