// Prints values, rollouts and receipts: lines of PATH = VALUE with notes, or JSON.

import Tweaks
import TweaksFleet
import TweaksSystem

/// The output of the program.
struct FleetConsole: Sendable {
    let output: Output
    let isJSON: Bool

    /// - Parameter sink: Receives the lines in place of the standard streams.
    init(isJSON: Bool, sink: (@Sendable (String) -> Void)? = nil) {
        self.isJSON = isJSON
        output = Output(program: "tweakctl-fleet", isJSON: isJSON, sink: sink)
    }

    var style: Style { output.style }

    /// A line `PATH = VALUE   # note`.
    struct Row: Equatable {
        var path: String
        var value: String
        var note = ""
    }

    func print(_ lines: [String]) { output.print(lines.map(Quoting.sanitized)) }

    /// Prints lines that contain the program's own escape sequences.
    func printStyled(_ lines: [String]) { output.print(lines) }

    func print(_ json: JSON) { output.print([json.text]) }

    func print(rows: [Row]) { output.print(Self.lines(rows, style)) }

    /// Formats rows as lines; aligned in columns on a terminal.
    static func lines(_ rows: [Row], _ style: Style) -> [String] {
        guard style.isHumanReadable else {
            return rows.map { "\($0.path) = \($0.value)" + ($0.note.isEmpty ? "" : "  # \($0.note)") }
        }
        let paths = rows.map { TextWidth.of($0.path) }.filter { $0 <= 48 }.max() ?? 0
        let values = rows.map { TextWidth.of($0.value) }.filter { $0 <= 24 }.max() ?? 0
        return rows.map { row in
            let fill = String(repeating: " ", count: max(0, paths - TextWidth.of(row.path)))
            let line = style.paint(row.path, .name) + fill + style.paint(" = ", .faint)
            if row.note.isEmpty { return line + style.paint(row.value, .number) }
            let gap = String(repeating: " ", count: max(0, values - TextWidth.of(row.value)) + 2)
            return line + style.paint(row.value, .number) + gap + style.paint("# \(row.note)", .faint)
        }
    }

    // MARK: Receipts

    /// Prints the result of a write.
    /// - Parameter hasShownChanges: The changes are already printed.
    func print(_ receipt: FleetReceipt, _ keys: FleetKeys, _ what: String, hasShownChanges: Bool = false) {
        if isJSON { return print(Self.json(receipt, keys)) }
        let entry = receipt.sequence.map { ", entry \($0)" } ?? ""
        print(["\(Self.location(receipt.header, keys)): \(what)\(entry)\(receipt.isDryRun ? " (dry run)" : "")"])
        if !hasShownChanges {
            print(
                rows: receipt.changes.map {
                    Row(path: $0.path.token, value: $0.new.shown, note: "was \($0.old.shown)")
                })
        }
        for note in receipt.notes { output.printRemark(note) }
    }

    /// `cluster 3a5f… /tweaks/api`
    static func location(_ header: EtcdHeader, _ keys: FleetKeys) -> String {
        "cluster \(String(header.clusterID, radix: 16)) \(keys.prefix)/\(keys.name)"
    }

    static func json(_ receipt: FleetReceipt, _ keys: FleetKeys) -> JSON { .object(fields(receipt, keys)) }

    static func fields(_ receipt: FleetReceipt, _ keys: FleetKeys) -> [(String, JSON)] {
        [
            ("cluster", .string(String(receipt.header.clusterID, radix: 16))), ("prefix", .string(keys.prefix)),
            ("fleet", .string(keys.name)), ("revision", .int(receipt.header.revision)),
            ("entry", receipt.sequence.map { .unsigned($0) } ?? .null), ("rollout", .text(receipt.rollout)),
            ("changes", .array(receipt.changes.map(json))), ("notes", .array(receipt.notes.map(JSON.string))),
            ("dryRun", .bool(receipt.isDryRun)),
        ]
    }

    static func json(_ change: FleetLogEntry.Change) -> JSON {
        .object([
            ("path", .string(change.path.joined)), ("old", change.old?.json ?? .null),
            ("new", change.new?.json ?? .null),
        ])
    }

    /// `by alice@host, 3 min ago`
    /// - Parameter author: Who has proved to have written it; nil where users prove nothing.
    static func provenance(
        _ by: String, _ at: Int64, now: Int64, author: FleetAuthors.Verdict? = nil
    ) -> String {
        let proof =
            switch author {
            case nil: ""
            case .unproved?: " (unproved)"
            case .proved(let user)?: by == user ? "" : " (etcd user \(Quoting.sanitized(user)))"
            }
        return "by \(Quoting.sanitized(by))\(proof), \(Age.text(since: at, now: now) ?? TimeText.seconds(at))"
    }

    /// The etcd user who has proved to have written something; false if none has, null where users prove nothing.
    static func json(_ author: FleetAuthors.Verdict?) -> JSON {
        switch author {
        case nil: .null
        case .unproved?: .bool(false)
        case .proved(let user)?: .string(user)
        }
    }
}
