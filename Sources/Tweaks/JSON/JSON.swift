// Represents and prints JSON values.

/// A JSON value (RFC 8259). Objects keep the order of their keys.
package enum JSON: Equatable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    /// Above `Int64.max`.
    case unsigned(UInt64)
    case number(Double)
    /// A number as its text, which keeps all digits.
    case literal(String)
    case string(String)
    case array([JSON])
    case object([(String, JSON)])

    /// An unsigned number; revisions and counts.
    package static func count(_ value: some BinaryInteger) -> JSON { .int(Int64(clamping: value)) }

    /// A string, or null.
    package static func text(_ value: String?) -> JSON { value.map(JSON.string) ?? .null }

    package static func == (left: JSON, right: JSON) -> Bool { left.text == right.text }

    /// The compact text, without whitespace.
    package var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    package func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append("null")
        case .bool(let value): bytes.append(value ? "true" : "false")
        case .int(let value): bytes.append(decimal: value)
        case .unsigned(let value): bytes.append(decimal: value)
        case .number(let value): bytes.append(TweakValue.shortest(value))
        case .literal(let text): bytes.append(text)
        case .string(let value): Quoting.appendJSON(value, to: &bytes)
        case .array(let values):
            bytes.append("[")
            for (position, value) in values.enumerated() {
                if position > 0 { bytes.append(",") }
                value.append(to: &bytes)
            }
            bytes.append("]")
        case .object(let fields):
            bytes.append("{")
            fields.append(to: &bytes)
            bytes.append("}")
        }
    }
}

extension [(String, JSON)] {
    /// The fields of an object, without its braces.
    package func append(to bytes: inout [UInt8]) {
        for (position, field) in enumerated() {
            if position > 0 { bytes.append(",") }
            Quoting.appendJSON(field.0, to: &bytes)
            bytes.append(":")
            field.1.append(to: &bytes)
        }
    }
}

extension [UInt8] {
    /// Appends text as UTF-8.
    package mutating func append(_ text: String) { append(contentsOf: text.utf8) }
}
