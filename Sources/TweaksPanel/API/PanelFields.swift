// Reads the fields of a JSON object; reports unknown, missing and mistyped fields with a remedy.

import Tweaks
import TweaksWire

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
        (self.subject, self.fields) = (subject, fields)
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
    static var text: PanelFields.Shape<String> {
        .init(description: "a text in quotes") { if case .string(let text) = $0 { text } else { nil } }
    }

    /// A text that fits in a line of the protocol.
    static var line: PanelFields.Shape<String> {
        .init(description: "a text in quotes, of at most 64 KiB") {
            if case .string(let text) = $0, text.utf8.count <= AssignmentLines.lineLimit { text } else { nil }
        }
    }

    static var base64: PanelFields.Shape<[UInt8]> {
        .init(description: "a text in base64") { if case .string(let text) = $0 { Base64.decode(text) } else { nil } }
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
            let texts = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
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
            if case .array(let values) = $0, !values.isEmpty { values } else { nil }
        }
    }

    static var revision: PanelFields.Shape<UInt64> {
        .init(description: "a revision: a whole number, without quotes, such as 43") { value in
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
