// Reads the parameters, query and body of a request, and converts the changes and texts in it to requests of the protocol.

import Tweaks
import TweaksWire

/// A request with the parameters that its route has matched.
struct PanelCall {
    let request: HTTPRequest
    /// The parts of the path that match `{…}` in the route's pattern, in order.
    let parameters: [String]

    /// - Throws: `usage` for a body with a method that takes none.
    init(_ request: HTTPRequest, _ parameters: [String]) throws(HTTPFailure) {
        self.request = request
        self.parameters = parameters
        if request.body.isEmpty || ["POST", "PUT", "PATCH"].contains(request.method) { return }
        // Some JSON clients send an empty object with every request.
        if request.method == "DELETE", (try? JSON(request.body)) == .object([]) { return }
        throw HTTPFailure(.usage, "\(request.method) accepts no body here; leave it out")
    }

    /// The path of the tweak that the first three parameters name.
    func tweak() throws(HTTPFailure) -> String {
        do throws(TweakError) {
            return try TweakPath(parameters[0], parameters[1], parameters[2]).joined
        } catch {
            throw HTTPFailure(error)
        }
    }

    // MARK: The query

    /// A parameter that may occur at most once.
    func query(_ name: String) throws(HTTPFailure) -> String? {
        let values = request.values(name)
        if values.count > 1 {
            throw HTTPFailure(.usage, "the query: \(name) occurs \(values.count) times; give it once")
        }
        return values.first
    }

    /// A parameter that is a whole number.
    func number(_ name: String, such example: String) throws(HTTPFailure) -> UInt64? {
        guard let text = try query(name) else { return nil }
        guard let number = UInt64(digits: text), Int(exactly: number) != nil else {
            throw HTTPFailure(.usage, "the query: \(name) must be a whole number, such as \(example)")
        }
        return number
    }

    /// Whether a parameter is there, alone or as `true`.
    func flag(_ name: String) throws(HTTPFailure) -> Bool {
        switch try query(name) {
        case nil, "false"?: return false
        case ""?, "true"?: return true
        case let value?:
            throw HTTPFailure(.usage, "the query: \(name) is true or false, not \(Quoting.excerpt(value))")
        }
    }

    /// All patterns of the query; without any, the pattern of all tweaks.
    func patterns() -> [String] {
        let patterns = request.values("pattern")
        return patterns.isEmpty ? ["*"] : patterns
    }

    // MARK: The body

    /// The limit of JSON values in a body; more than the longest list of changes has.
    private static let maxValues = 50_000

    /// The fields of the body, which may only have known names.
    func body(_ known: String...) throws(HTTPFailure) -> PanelFields { try body(known) }

    func body(_ known: [String]) throws(HTTPFailure) -> PanelFields {
        if request.body.isEmpty {
            throw HTTPFailure(.usage, "the body is empty; write a JSON object, \(PanelFields.example(known))")
        }
        let value: JSON
        do throws(JSONReader.Problem) {
            value = try JSON(request.body, maxValues: Self.maxValues)
        } catch {
            throw HTTPFailure(.usage, "the body is not JSON: \(error); write an object, \(PanelFields.example(known))")
        }
        return try PanelFields(value, "the body", known)
    }
}

extension UInt64 {
    /// A number of digits only, as in commands: no sign, no decimal point, no spaces.
    init?(digits text: String) {
        guard text.utf8.allSatisfy(HTTPSyntax.isDigit) else { return nil }
        self.init(text)
    }
}

/// A JSON object in a body, all of whose fields have known names.
struct PanelFields {
    /// The name of the object in errors: `the body`, `change 3`.
    let subject: String
    private let fields: [(String, JSON)]

    /// - Throws: `usage` for anything but an object with known fields.
    init(_ value: JSON, _ subject: String, _ known: [String]) throws(HTTPFailure) {
        guard case .object(let fields) = value else {
            throw HTTPFailure(.usage, "\(subject) must be a JSON object, \(Self.example(known))")
        }
        for (name, _) in fields where !known.contains(name) {
            throw .unknownName(subject, name, of: known, "field", empty: "write {}")
        }
        self.subject = subject
        self.fields = fields
    }

    /// An example with the first field, for errors.
    static func example(_ known: [String]) -> String { known.first.map { "such as {\"\($0)\":…}" } ?? "{}" }

    /// The expected type of a field.
    struct Shape<Value> {
        /// With an example: `a text, such as "Label"`.
        let description: String
        /// Returns nil for a value of another type.
        let read: (JSON) -> Value?
    }

    /// Reads an optional field.
    func optional<Value>(_ name: String, _ shape: Shape<Value>) throws(HTTPFailure) -> Value? {
        guard let field = fields.first(where: { $0.0 == name })?.1 else { return nil }
        if let value = shape.read(field) { return value }
        throw HTTPFailure(.usage, "\(subject): \(name) must be \(shape.description)")
    }

    /// Reads a required field.
    func required<Value>(_ name: String, _ shape: Shape<Value>) throws(HTTPFailure) -> Value {
        if let value = try optional(name, shape) { return value }
        throw HTTPFailure(.usage, "\(subject): \(name) is missing; it must be \(shape.description)")
    }

    /// Reads true or false; false if the field is missing.
    func flag(_ name: String) throws(HTTPFailure) -> Bool { try optional(name, .flag) ?? false }

    /// The names among the given ones that the object has.
    func names(among names: [String]) -> [String] { names.filter { name in fields.contains { $0.0 == name } } }
}

extension PanelFields.Shape {
    static var text: PanelFields.Shape<String> { .init(description: "a text in quotes") { $0.string } }

    /// A text that fits in a line of the protocol.
    static var line: PanelFields.Shape<String> {
        .init(description: "a text in quotes, of at most 64 KiB") {
            $0.string.flatMap { $0.utf8.count <= AssignmentLines.lineLimit ? $0 : nil }
        }
    }

    static var base64: PanelFields.Shape<[UInt8]> {
        .init(description: "a text in base64") { $0.string.flatMap { Base64.decode($0) } }
    }

    static var flag: PanelFields.Shape<Bool> {
        .init(description: "true or false") { if case .bool(let value) = $0 { value } else { nil } }
    }

    /// A field whose presence is its meaning: `"reset":true`.
    static var onlyTrue: PanelFields.Shape<Bool> {
        .init(description: "true, or left out") { $0 == .bool(true) ? true : nil }
    }

    static var texts: PanelFields.Shape<[String]> {
        .init(description: "a list of texts, such as [\"Label\"], of at most 64 KiB together") { value in
            guard case .array(let values) = value else { return nil }
            let texts = values.compactMap(\.string)
            // Each is a word in a line of the protocol, with a space before it.
            let length = texts.reduce(0) { $0 + $1.utf8.count + 1 }
            return texts.count == values.count && length <= AssignmentLines.lineLimit ? texts : nil
        }
    }

    /// A list of at least one text.
    static var someTexts: PanelFields.Shape<[String]> {
        .init(description: "a list of one text or more, such as [\"Label\"], of at most 64 KiB together") { value in
            PanelFields.Shape<[String]>.texts.read(value).flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    static var someValues: PanelFields.Shape<[JSON]> {
        .init(description: "a list of one change or more, such as [{\"path\":\"Content/Text/Size\",\"value\":72}]") {
            $0.elements.isEmpty ? nil : $0.elements
        }
    }

    static var revision: PanelFields.Shape<UInt64> { number("a revision: a whole number, without quotes, such as 43") }

    static var stream: PanelFields.Shape<UInt64> {
        number("the number that the event hello of your stream names, such as 7")
    }

    private static func number(_ description: String) -> PanelFields.Shape<UInt64> {
        .init(description: description) { value in
            if case .literal(let digits) = value { UInt64(digits: digits) } else { nil }
        }
    }

    /// A value; a text is parsed as in the line protocol, since a user may have typed it.
    static var assignment: PanelFields.Shape<Request.Change> {
        .init(description: "a text, a number, true or false, a list or null") { value in
            switch value {
            case .string(let text): .assign(text)
            case .literal(let text): .assignExactly(text)
            case .bool(let value): .assignExactly(value ? "true" : "false")
            case .array, .null: .assignJSON(value)
            default: nil
            }
        }
    }

    static var amount: PanelFields.Shape<String> {
        .init(description: "a number, or a text such as \"5ms\"") { value in
            switch value {
            case .string(let text), .literal(let text): text
            default: nil
            }
        }
    }
}

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
        switch kind {
        case "toggle": return .set(.toggle, lifetime: lifetime)
        case "reset": return .reset
        default: return .keep
        }
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

extension Request {
    /// The limit of lines, with comments and blank lines: parsing them blocks all sessions.
    private static let lineLimit = 4 * PanelChange.limit

    /// The request that imports a text.
    /// - Parameter dry: Only report what would change.
    /// - Throws: Errors that are found before tweaks validate the values.
    static func assignments(of text: String, dry: Bool) throws(HTTPFailure) -> Request {
        let count = text.utf8.count { $0 == UInt8(ascii: "\n") }
        if count > lineLimit {
            throw HTTPFailure(.tooMany, "the text has \(count) lines; at most \(lineLimit), so send it in parts")
        }
        let lines = AssignmentLines(
            Array(text.utf8), in: "an import", mostProblems: AssignmentRules.maxListedProblems + 1)
        if lines.assignments.isEmpty, lines.problems.isEmpty {
            throw HTTPFailure(.usage, "the text has no assignments; write lines such as Content/Text/Size = 72")
        }
        try PanelChange.checkCount(lines.assignments.count)
        return Request(
            .import, [], dry ? [.dry] : [], payload: .assignments(lines.assignments, problems: lines.problems))
    }
}
