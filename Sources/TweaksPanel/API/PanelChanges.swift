// The changes that a body asks for, as requests of the protocol.

import Tweaks
import TweaksWire

/// One change of one tweak.
struct PanelChange {
    enum What {
        case set(Request.Change, lifetime: String?)
        case reset
        case keep
    }

    /// So many are in one request at most, as in a batch of the protocol.
    static let most = 10_000

    let path: String
    let what: What

    /// The changes of a body.
    /// - Parameter checks: Only what `check` can say something about.
    static func all(_ body: PanelFields, checks: Bool = false) throws(HTTPFailure) -> [PanelChange] {
        let values = try body.required("changes", .someValues)
        try checkCount(values.count)
        var changes: [PanelChange] = []
        for (position, value) in values.enumerated() {
            changes.append(try PanelChange(value, "change \(position + 1)", checks: checks))
        }
        return changes
    }

    /// A batch holds so many, and no more.
    static func checkCount(_ count: Int) throws(HTTPFailure) {
        if count > most {
            throw HTTPFailure(.tooMany, "\(count) changes at once; at most \(most), so send several requests")
        }
    }

    private init(_ value: JSON, _ subject: String, checks: Bool) throws(HTTPFailure) {
        let kinds = ["value", "add", "subtract", "toggle"] + (checks ? [] : ["reset", "keep"])
        let fields = try PanelFields(value, subject, ["path"] + kinds + (checks ? [] : ["for"]))
        path = try TweakPath(try fields.required("path", .line), in: subject).joined
        let named = fields.names(among: kinds)
        guard named.count == 1, let kind = named.first else {
            let wrong = named.isEmpty ? "says nothing" : "says \(named.joined(separator: " and "))"
            throw HTTPFailure(.usage, "\(subject) \(wrong); it has one of \(kinds.joined(separator: ", "))")
        }
        let lifetime = try fields.optional("for", .line)
        if lifetime != nil, kind != "value", kind != "toggle" {
            throw HTTPFailure(.usage, "\(subject): for goes with value or toggle, not with \(kind); leave it out")
        }
        what = try Self.what(kind, fields, lifetime)
        try checkLength(subject)
    }

    private static func what(_ kind: String, _ fields: PanelFields, _ lifetime: String?) throws(HTTPFailure) -> What {
        switch kind {
        case "value": return .set(try fields.required(kind, .assignment), lifetime: lifetime)
        case "add": return .set(.add(try fields.required(kind, .amount)), lifetime: nil)
        case "subtract": return .set(.subtract(try fields.required(kind, .amount)), lifetime: nil)
        default: _ = try fields.required(kind, .onlyTrue)
        }
        return kind == "toggle" ? .set(.toggle, lifetime: lifetime) : kind == "reset" ? .reset : .keep
    }

    // MARK: Limits

    /// What no line of the protocol could say is not taken here either: `export` could not be read back.
    private func checkLength(_ subject: String) throws(HTTPFailure) {
        guard case .set(let change, _) = what, let text = change.text else { return }
        // No character becomes longer than that in quotes.
        if text.utf8.count <= AssignmentLines.lineLimit / 8 { return }
        let isLong = text.utf8.count > AssignmentLines.lineLimit
        let count = isLong ? text.utf8.count : "\(Quoting.json(path)) = \(Quoting.json(text))".utf8.count
        if count > AssignmentLines.lineLimit {
            throw HTTPFailure(
                .tooLong,
                "\(subject): the value is too long; with its path it has \(count) bytes as a line, which holds "
                    + "at most \(AssignmentLines.lineLimit)")
        }
    }

    // MARK: Requests

    /// What the protocol has for it.
    var requests: [Request] {
        switch what {
        case .set(let change, let lifetime): [Request(.set, [path], change: change, lifetime: lifetime)]
        case .reset: named(.reset)
        case .keep: named(.keep)
        }
    }

    /// What the protocol has to try it.
    var check: Request? {
        if case .set(let change, _) = what { Request(.check, [path], change: change) } else { nil }
    }

    /// `reset` and `keep` take patterns, in which these characters may stand for others. `describe` takes one tweak, or
    /// fails, and so does all of it.
    private func named(_ command: Command) -> [Request] {
        let isGlob = path.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
        return (isGlob ? [Request(.describe, [path])] : []) + [Request(command, [path])]
    }
}

extension TweakPath {
    /// A path as one text.
    /// - Parameter subject: Where it stands, for errors: `the body`, `change 3`.
    init(_ text: String, in subject: String) throws(HTTPFailure) {
        do throws(TweakError) {
            try self.init(text)
        } catch {
            throw HTTPFailure(error.code, "\(subject): \(error.message)")
        }
    }
}

extension Request.Change {
    fileprivate var text: String? {
        switch self {
        case .assign(let text), .assignExactly(let text), .add(let text), .subtract(let text): text
        case .assignJSON(let json): json.text
        case .toggle: nil
        }
    }
}

extension PanelScript {
    /// All of the changes, or none.
    init(_ changes: [PanelChange], ifUnchangedSince revision: UInt64? = nil) {
        let requests = changes.flatMap(\.requests)
        if changes.count == 1, revision == nil {
            self.init(requests)
        } else {
            self.init([Request(.begin, number: revision)] + requests + [Request(.commit)])
            isBatch = true
        }
    }
}
