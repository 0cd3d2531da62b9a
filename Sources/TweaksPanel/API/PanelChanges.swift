// Parses the changes in a body, and converts them to requests of the protocol.

import Tweaks
import TweaksWire

/// One change of one tweak.
struct PanelChange {
    enum Operation {
        case set(Request.Change, lifetime: String?)
        case reset
        case keep
    }

    /// The limit of changes in one request, as in a batch of the protocol.
    static let limit = 10_000

    let path: String
    let operation: Operation

    /// Parses the changes of a body.
    /// - Parameter checks: Accept only the changes that `check` supports.
    static func all(_ body: PanelFields, checks: Bool = false) throws(HTTPFailure) -> [PanelChange] {
        let values = try body.required("changes", .someValues)
        try checkCount(values.count)
        var changes: [PanelChange] = []
        for (position, value) in values.enumerated() {
            changes.append(try PanelChange(value, "change \(position + 1)", checks: checks))
        }
        return changes
    }

    /// - Throws: `too-many` above the limit of a batch.
    static func checkCount(_ count: Int) throws(HTTPFailure) {
        if count > limit {
            throw HTTPFailure(.tooMany, "\(count) changes at once; at most \(limit), so send several requests")
        }
    }

    private init(_ value: JSON, _ subject: String, checks: Bool) throws(HTTPFailure) {
        let kinds = ["value", "add", "subtract", "toggle"] + (checks ? [] : ["reset", "keep"])
        let fields = try PanelFields(value, subject, ["path"] + kinds + (checks ? [] : ["for"]))
        path = try TweakPath(try fields.required("path", .line), in: subject).joined
        let named = fields.names(among: kinds)
        guard named.count == 1, let kind = named.first else {
            let wrong = named.isEmpty ? "has no operation" : "has \(named.joined(separator: " and "))"
            throw HTTPFailure(.usage, "\(subject) \(wrong); write one of \(kinds.joined(separator: ", "))")
        }
        let lifetime = try fields.optional("for", .line)
        if lifetime != nil, kind != "value", kind != "toggle" {
            throw HTTPFailure(.usage, "\(subject): for goes with value or toggle, not with \(kind); leave it out")
        }
        operation = try Self.operation(kind, fields, lifetime)
        try checkLength(subject)
    }

    private static func operation(
        _ kind: String, _ fields: PanelFields, _ lifetime: String?
    ) throws(HTTPFailure) -> Operation {
        switch kind {
        case "value": return .set(try fields.required(kind, .assignment), lifetime: lifetime)
        case "add": return .set(.add(try fields.required(kind, .amount)), lifetime: nil)
        case "subtract": return .set(.subtract(try fields.required(kind, .amount)), lifetime: nil)
        default: _ = try fields.required(kind, .onlyTrue)
        }
        return kind == "toggle" ? .set(.toggle, lifetime: lifetime) : kind == "reset" ? .reset : .keep
    }

    // MARK: Limits

    /// Refuses values that do not fit in a line of the protocol: their `export` could not be imported.
    private func checkLength(_ subject: String) throws(HTTPFailure) {
        guard case .set(let change, _) = operation, let text = change.text else { return }
        // Quoting makes a byte at most eight times as long.
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

    /// The requests that make the change.
    var requests: [Request] {
        switch operation {
        case .set(let change, let lifetime): [Request(.set, [path], change: change, lifetime: lifetime)]
        case .reset: named(.reset)
        case .keep: named(.keep)
        }
    }

    /// The request that checks the change; nil if `check` does not support it.
    var check: Request? {
        if case .set(let change, _) = operation { Request(.check, [path], change: change) } else { nil }
    }

    /// `reset` and `keep` accept patterns, so a path with a wildcard could match other tweaks. `describe` before them
    /// fails unless the path names a tweak, which ends the script.
    private func named(_ command: Command) -> [Request] {
        let isGlob = path.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
        return (isGlob ? [Request(.describe, [path])] : []) + [Request(command, [path])]
    }
}

extension TweakPath {
    /// Parses a path.
    /// - Parameter subject: The location of the path, for errors: `the body`, `change 3`.
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
        case .toggle, .toggleOrWord: nil
        }
    }
}

extension PanelScript {
    /// Makes all changes or none.
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
