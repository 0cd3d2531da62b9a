// Reads JSON text into values, and looks into them.

extension JSON {
    /// Deeper than any text that means something, and no danger to the stack.
    private static let deepest = 16

    /// Reads a text that is one value and nothing else. Its numbers stay as they are written, as ``literal(_:)``.
    /// - Parameter most: So many values it may hold.
    /// - Throws: What is wrong, and in which line. There is no text that traps.
    package init(_ bytes: [UInt8], most: Int = .max) throws(JSONReader.Problem) {
        var reader = JSONReader(bytes)
        try reader.check()
        var count = 0
        self = try Self.value(&reader, 1, &count, most)
        try reader.end()
    }

    /// Reads the next value of a longer text.
    package init(_ reader: inout JSONReader) throws(JSONReader.Problem) {
        var count = 0
        self = try Self.value(&reader, 1, &count, .max)
    }

    /// The same of an answer; nil where it is not JSON.
    package init?(_ text: String) {
        guard let value = try? JSON(Array(text.utf8)) else { return nil }
        self = value
    }

    private static func value(
        _ reader: inout JSONReader, _ depth: Int, _ count: inout Int, _ most: Int
    ) throws(JSONReader.Problem) -> JSON {
        let first = reader.peek()
        count += 1
        if count > most { throw reader.problem("it holds more than \(most) values") }
        switch first {
        case UInt8(ascii: "{")?, UInt8(ascii: "[")?:
            if depth > deepest { throw reader.problem("it is nested too deeply") }
            return first == UInt8(ascii: "{")
                ? try object(&reader, depth, &count, most) : try array(&reader, depth, &count, most)
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
        _ reader: inout JSONReader, _ depth: Int, _ count: inout Int, _ most: Int
    ) throws(JSONReader.Problem) -> JSON {
        var fields: [(String, JSON)] = []
        var names = Set<[UInt8]>()
        try reader.object { name, reader throws(JSONReader.Problem) in
            // Which of two counts is answered differently everywhere.
            guard names.insert(Array(name.utf8)).inserted else { throw reader.problem("a name comes twice") }
            fields.append((name, try value(&reader, depth + 1, &count, most)))
        }
        return .object(fields)
    }

    private static func array(
        _ reader: inout JSONReader, _ depth: Int, _ count: inout Int, _ most: Int
    ) throws(JSONReader.Problem) -> JSON {
        var values: [JSON] = []
        try reader.array { reader throws(JSONReader.Problem) in
            values.append(try value(&reader, depth + 1, &count, most))
        }
        return .array(values)
    }
}

// MARK: - Looking into a value

extension JSON {
    /// A field of an object.
    package subscript(name: String) -> JSON? { fields.first { $0.0 == name }?.1 }

    /// The fields of an object; none of anything else.
    package var fields: [(String, JSON)] { if case .object(let fields) = self { fields } else { [] } }

    /// The elements of an array; none of anything else.
    package var elements: [JSON] { if case .array(let values) = self { values } else { [] } }

    /// A text; nil for anything else.
    package var string: String? { if case .string(let text) = self { text } else { nil } }

    /// Whether it is `true`.
    package var isTrue: Bool { if case .bool(true) = self { true } else { false } }

    /// A number without a fraction that is not negative; nil for anything else.
    package var wholeNumber: UInt64? {
        switch self {
        case .int(let value): UInt64(exactly: value)
        case .unsigned(let value): value
        case .literal(let text) where !text.utf8.contains(UInt8(ascii: "-")): UInt64(text)
        default: nil
        }
    }
}
