// What a page and a test hand each other: JSON, as WebDriver carries it.

/// A JSON value. Its numbers are those of JavaScript.
package enum PageValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([PageValue])
    case object([String: PageValue])
}

// MARK: Asking

extension PageValue {
    /// The truth value; nil for anything else.
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The number; nil for anything else.
    package var number: Double? { if case .number(let value) = self { value } else { nil } }

    /// The text; nil for anything else.
    package var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The values of an array; nil for anything else.
    package var array: [PageValue]? { if case .array(let values) = self { values } else { nil } }

    /// The fields of an object; nil for anything else.
    package var object: [String: PageValue]? { if case .object(let fields) = self { fields } else { nil } }

    /// A field of an object; null where there is none.
    package subscript(_ key: String) -> PageValue { object?[key] ?? .null }

    /// A value of an array; null where there is none.
    package subscript(_ position: Int) -> PageValue {
        guard let array, array.indices.contains(position) else { return .null }
        return array[position]
    }
}

// MARK: Writing

extension PageValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    package init(nilLiteral: ()) { self = .null }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(integerLiteral value: Int) { self = .number(Double(value)) }
    package init(floatLiteral value: Double) { self = .number(value) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(arrayLiteral values: PageValue...) { self = .array(values) }

    /// Of two fields with one name the last counts.
    package init(dictionaryLiteral fields: (String, PageValue)...) {
        self = .object(Dictionary(fields) { $1 })
    }
}

extension PageValue: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let values = try? container.decode([PageValue].self) {
            self = .array(values)
        } else {
            self = .object(try container.decode([String: PageValue].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let fields): try container.encode(fields)
        }
    }
}
