// Represents, parses and prints JSON values.

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

extension JSON {
    /// Deeper than any expected text, and safe for the stack.
    private static let maxDepth = 16

    /// Parses text that is exactly one value. Numbers keep their text, as ``literal(_:)``.
    /// - Parameter maxValues: The maximum number of values in the text.
    /// - Throws: The problem and its line. No text traps.
    package init(_ bytes: [UInt8], maxValues: Int = .max) throws(JSONReader.Problem) {
        var reader = JSONReader(bytes)
        try reader.check()
        var count = 0
        self = try Self.value(&reader, 1, &count, maxValues)
        try reader.end()
    }

    /// Parses the next value of a longer text.
    package init(_ reader: inout JSONReader) throws(JSONReader.Problem) {
        var count = 0
        self = try Self.value(&reader, 1, &count, .max)
    }

    /// Parses a string; nil if it is not JSON.
    package init?(_ text: String) {
        guard let value = try? JSON(Array(text.utf8)) else { return nil }
        self = value
    }

    private static func value(
        _ reader: inout JSONReader, _ depth: Int, _ count: inout Int, _ maxValues: Int
    ) throws(JSONReader.Problem) -> JSON {
        let first = reader.peek()
        count += 1
        if count > maxValues { throw reader.problem("there are more than \(maxValues) values", isTooLarge: true) }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return try reader.scalar() }
        if depth > maxDepth { throw reader.problem("it is nested too deeply") }
        return first == UInt8(ascii: "{")
            ? try object(&reader, depth, &count, maxValues) : try array(&reader, depth, &count, maxValues)
    }

    private static func object(
        _ reader: inout JSONReader, _ depth: Int, _ count: inout Int, _ maxValues: Int
    ) throws(JSONReader.Problem) -> JSON {
        var fields: [(String, JSON)] = []
        var names = Set<[UInt8]>()
        try reader.object { name, reader throws(JSONReader.Problem) in
            // Parsers disagree about which of two duplicates counts.
            guard names.insert(Array(name.utf8)).inserted else { throw reader.problem("a name occurs twice") }
            fields.append((name, try value(&reader, depth + 1, &count, maxValues)))
        }
        return .object(fields)
    }

    private static func array(
        _ reader: inout JSONReader, _ depth: Int, _ count: inout Int, _ maxValues: Int
    ) throws(JSONReader.Problem) -> JSON {
        var values: [JSON] = []
        try reader.array { reader throws(JSONReader.Problem) in
            values.append(try value(&reader, depth + 1, &count, maxValues))
        }
        return .array(values)
    }
}

// MARK: - Accessing parts

extension JSON {
    /// A field of an object.
    package subscript(name: String) -> JSON? { fields.first { $0.0 == name }?.1 }

    /// The fields of an object; empty for other values.
    package var fields: [(String, JSON)] { if case .object(let fields) = self { fields } else { [] } }

    /// The elements of an array; empty for other values.
    package var elements: [JSON] { if case .array(let values) = self { values } else { [] } }

    /// The text of a string; nil for other values.
    package var string: String? { if case .string(let text) = self { text } else { nil } }

    /// Whether it is `true`.
    package var isTrue: Bool { if case .bool(true) = self { true } else { false } }

    /// A nonnegative number without a fraction; nil for other values.
    package var wholeNumber: UInt64? {
        switch self {
        case .int(let value): UInt64(exactly: value)
        case .unsigned(let value): value
        case .literal(let text) where !text.utf8.contains(UInt8(ascii: "-")): UInt64(text)
        default: nil
        }
    }
}

// MARK: - Appending to bytes

extension [UInt8] {
    /// Appends text as UTF-8.
    package mutating func append(_ text: String) { append(contentsOf: text.utf8) }

    /// Appends a whole number in decimal, without an intermediate string.
    package mutating func append(decimal number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(decimal: number.magnitude)
    }

    /// Appends a whole number in decimal.
    package mutating func append(decimal number: UInt64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var (position, rest) = (digits.count, number)
            repeat {
                position -= 1
                digits[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            append(contentsOf: UnsafeMutableBufferPointer(rebasing: digits[position...]))
        }
    }
}
