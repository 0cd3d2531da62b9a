// Represents JSON values that pages and tests exchange.

import Foundation

/// A JSON value. Its numbers are those of JavaScript.
package enum PageValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([PageValue])
    case object([String: PageValue])
}

// MARK: Access

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

// MARK: Literals

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

    /// The last of several fields with the same name counts.
    package init(dictionaryLiteral fields: (String, PageValue)...) {
        self = .object(Dictionary(fields) { $1 })
    }
}

// MARK: JSON

extension PageValue {
    /// Parses JSON with JSONSerialization: a decoder would have to try each kind, and messages of a browser are long.
    init(json: Data) throws { self.init(try JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed)) }

    private init(_ object: Any) {
        switch object {
        case let text as String: self = .string(text)
        case let fields as [String: Any]: self = .object(fields.mapValues { PageValue($0) })
        case let values as [Any]: self = .array(values.map { PageValue($0) })
        case let number as NSNumber: self = Self.isTruth(number) ? .bool(number.boolValue) : .number(number.doubleValue)
        default: self = .null
        }
    }

    /// Whether a number is `true` or `false`, by its type's name in C: a character, or a Bool.
    private static func isTruth(_ number: NSNumber) -> Bool {
        [UInt8(ascii: "c"), UInt8(ascii: "B")].contains(UInt8(bitPattern: number.objCType.pointee))
    }
}

extension PageValue: Encodable {
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
