// The fields of a JSON object, read one by one; what is unknown, missing or of another type is said with its remedy.

import Tweaks
import TweaksWire

/// An object of a body, none of whose fields is unknown.
struct PanelFields {
    /// What it is in errors: `the body`, `change 3`.
    let subject: String
    private let fields: [(String, JSON)]

    /// - Throws: `usage` for anything but an object with known fields.
    init(_ value: JSON, _ subject: String, _ known: [String]) throws(HTTPFailure) {
        guard case .object(let fields) = value else {
            throw HTTPFailure(.usage, "\(subject) has to be a JSON object, \(Self.example(known))")
        }
        for (name, _) in fields where !known.contains(name) {
            throw .unknownName(subject, name, of: known, "field", empty: "write {}")
        }
        (self.subject, self.fields) = (subject, fields)
    }

    /// An object with its first field, for errors.
    static func example(_ known: [String]) -> String { known.first.map { "such as {\"\($0)\":…}" } ?? "{}" }

    /// What a field has to be.
    struct Shape<Value> {
        /// With an example: `a text, such as "Label"`.
        let words: String
        /// Nil for anything else.
        let read: (JSON) -> Value?
    }

    /// A field that may be missing.
    func optional<Value>(_ name: String, _ shape: Shape<Value>) throws(HTTPFailure) -> Value? {
        guard let field = fields.first(where: { $0.0 == name })?.1 else { return nil }
        if let value = shape.read(field) { return value }
        throw HTTPFailure(.usage, "\(subject): \(name) has to be \(shape.words)")
    }

    /// A field that has to be there.
    func required<Value>(_ name: String, _ shape: Shape<Value>) throws(HTTPFailure) -> Value {
        if let value = try optional(name, shape) { return value }
        throw HTTPFailure(.usage, "\(subject): \(name) is missing; it has to be \(shape.words)")
    }

    /// True or false; without the field false.
    func flag(_ name: String) throws(HTTPFailure) -> Bool { try optional(name, .flag) ?? false }

    /// Those of some names that there are.
    func names(among names: [String]) -> [String] { names.filter { name in fields.contains { $0.0 == name } } }
}

extension PanelFields.Shape {
    static var text: PanelFields.Shape<String> {
        .init(words: "a text in quotes") { if case .string(let text) = $0 { text } else { nil } }
    }

    /// No longer than a line of the protocol.
    static var line: PanelFields.Shape<String> {
        .init(words: "a text in quotes, of at most 64 KiB") {
            if case .string(let text) = $0, text.utf8.count <= AssignmentLines.lineLimit { text } else { nil }
        }
    }

    static var base64: PanelFields.Shape<[UInt8]> {
        .init(words: "a text in base64") { if case .string(let text) = $0 { Base64.decode(text) } else { nil } }
    }

    static var flag: PanelFields.Shape<Bool> {
        .init(words: "true or false") { if case .bool(let value) = $0 { value } else { nil } }
    }

    /// What cannot be otherwise: `"reset":true`.
    static var onlyTrue: PanelFields.Shape<Bool> {
        .init(words: "true, or left out") { $0 == .bool(true) ? true : nil }
    }

    static var texts: PanelFields.Shape<[String]> {
        .init(words: "a list of texts, such as [\"Label\"], of at most 64 KiB together") { value in
            guard case .array(let values) = value else { return nil }
            let texts = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
            // Each would be a word in a line of the protocol, with a blank before it.
            let length = texts.reduce(0) { $0 + $1.utf8.count + 1 }
            return texts.count == values.count && length <= AssignmentLines.lineLimit ? texts : nil
        }
    }

    /// The same with at least one.
    static var someTexts: PanelFields.Shape<[String]> {
        .init(words: "a list of one text or more, such as [\"Label\"], of at most 64 KiB together") { value in
            PanelFields.Shape<[String]>.texts.read(value).flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    static var someValues: PanelFields.Shape<[JSON]> {
        .init(words: "a list of one change or more, such as [{\"path\":\"Content/Text/Size\",\"value\":72}]") { value in
            if case .array(let values) = value, !values.isEmpty { values } else { nil }
        }
    }

    static var revision: PanelFields.Shape<UInt64> {
        .init(words: "a revision: a whole number, without quotes, such as 43") { value in
            if case .literal(let digits) = value { UInt64(digits: digits) } else { nil }
        }
    }

    /// What the line protocol has as one token. Texts may be a person's.
    static var assignment: PanelFields.Shape<Request.Change> {
        .init(words: "a text, a number, true or false, a list or null") { value in
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
        .init(words: "a number, or a text such as \"5ms\"") { value in
            switch value {
            case .string(let text), .literal(let text): text
            default: nil
            }
        }
    }
}
