// Parses JSON text into values, and accesses their parts.

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
        switch first {
        case UInt8(ascii: "{")?, UInt8(ascii: "[")?:
            if depth > maxDepth { throw reader.problem("it is nested too deeply") }
            return first == UInt8(ascii: "{")
                ? try object(&reader, depth, &count, maxValues) : try array(&reader, depth, &count, maxValues)
        default:
            switch try reader.scalar() {
            case .null: return .null
            case .bool(let value): return .bool(value)
            case .number(let text): return .literal(text)
            case .string(let text): return .string(text)
            }
        }
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
