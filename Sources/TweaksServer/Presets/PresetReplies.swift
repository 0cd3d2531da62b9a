// Composes the replies of the preset commands.

import Tweaks
import TweaksWire

extension Reply {
    /// The reply to save.
    static func saved(_ name: PresetName, _ draft: PresetDraft, replaced: PresetSummary?) -> Reply {
        var words = "saved \(name), \(draft.lines.count.of("tweak"))"
        if draft.secrets > 0 { words += ", without \(draft.secrets.of("secret"))" }
        if let replaced {
            words += ", in place of \(replaced.words)"
        }
        var reply = Reply.ok(
            words,
            [
                ("saved", .string(name.text)), ("count", .count(draft.lines.count)),
                ("secrets", .count(draft.secrets)), ("replaced", .bool(replaced != nil)),
                ("tooLong", .array(draft.tooLong.map { .string($0.joined) })),
            ])
        reply.remarks = draft.tooLong.map { "\($0.token) is left out: its value is longer than a line may be" }
        return reply
    }

    /// The list of presets, each line starting with its name.
    /// - Parameter isWhole: Whether the session sees every tweak; otherwise the contents are not shown.
    static func presets(_ all: [PresetSummary], isWhole: Bool) -> Reply {
        let width = all.map(\.name.text.utf8.count).max() ?? 0
        let rows = all.map { summary in
            let padding = String(repeating: " ", count: width - summary.name.text.utf8.count)
            if isWhole { return Item.row(lines: ["\(summary.name)\(padding)  \(summary.words)"], json: summary.json) }
            let words = summary.outside.isEmpty ? "" : "\(padding)  \(summary.outside)"
            return Item.row(lines: ["\(summary.name)\(words)"], json: summary.outsideJSON)
        }
        return Reply(
            .ok(words: all.count.of("preset"), fields: [("count", .count(all.count))]), listName: "presets",
            list: rows)
    }

    /// The list of all problems of a preset; nothing has changed.
    static func refused(_ reading: PresetReading) -> Reply {
        let problems = reading.plan.problems
        let remedy =
            if case .swap = reading.purpose { "fix them" } else {
                "load \(reading.isOnly ? "--only " : "")\(reading.name) partly takes the rest"
            }
        let count = "\(reading.plan.badLines.of("line")) \(reading.plan.badLines == 1 ? "does" : "do")"
        var error = TweakError(
            problems.first?.error.code ?? .internal, "\(reading.name): \(count) not fit; nothing has changed; \(remedy)"
        )
        if case .load = reading.purpose { error.canBeForced = true }
        let rows = problems.map { Item.row(lines: ["line \($0.line): \($0.error)"], json: $0.json) }
        return Reply(.error(error), listName: "problems", list: rows)
    }

    /// The differences between two sets of values.
    static func difference(_ difference: PresetDifference, _ left: String, _ right: String) -> Reply {
        let rows = difference.rows.map { row in
            Item.row(
                lines: [row.text(left, right)],
                json: .object([
                    ("path", .string(row.path.joined)), ("left", .text(row.left)), ("right", .text(row.right)),
                ]))
        }
        let problems = difference.leftProblems.map { (left, $0) } + difference.rightProblems.map { (right, $0) }
        var fields: [(String, JSON)] = [
            ("left", .string(left)), ("right", .string(right)), ("count", .count(rows.count)),
        ]
        if !problems.isEmpty { fields.append(("problems", .array(problems.map(\.1.json)))) }
        var reply = Reply(
            .ok(words: rows.count.of("difference"), fields: fields), listName: "differences", list: rows)
        reply.remarks = problems.map { "\($0), line \($1.line), cannot be compared: \($1.error)" }
        return reply
    }
}

extension PresetSummary {
    /// `12 tweaks, saved 2026-11-21T19:10:00Z by uid 1000`, as far as it is known.
    fileprivate var words: String {
        if let failure { return failure }
        var words = tweaks.of("tweak")
        if badLines > 0 { words += " and \(badLines.of("bad line"))" }
        if let saved = heading.saved { words += ", saved \(saved)" }
        if let by = heading.by { words += " by \(by)" }
        if let pattern = heading.pattern { words += ", of \(pattern)" }
        return words
    }

    /// What can be shown without its contents.
    fileprivate var outside: String {
        guard let saved = heading.saved else { return "" }
        return "saved \(saved)\(heading.by.map { " by \($0)" } ?? "")"
    }

    fileprivate var outsideJSON: JSON {
        .object([("name", .string(name.text)), ("saved", .text(heading.saved)), ("by", .text(heading.by))])
    }

    fileprivate var json: JSON {
        .object([
            ("name", .string(name.text)), ("tweaks", .count(tweaks)), ("badLines", .count(badLines)),
            ("saved", .text(heading.saved)), ("by", .text(heading.by)), ("pattern", .text(heading.pattern)),
            ("program", .text(heading.program)), ("error", .text(failure)),
        ])
    }
}

extension PresetDifference.Row {
    /// `Content/Text/Size 60 → 72`.
    fileprivate func text(_ leftName: String, _ rightName: String) -> String {
        switch (left, right) {
        case (let left?, let right?): "\(path.token) \(left) → \(right)"
        case (let left?, nil):
            leftName == "in force"
                ? "\(path.token) \(left), in force only" : "\(path.token) \(left), in \(leftName) only"
        case (nil, let right?): "\(path.token) \(right), in \(rightName) only"
        case (nil, nil): path.token
        }
    }
}
