// A JSON text as a value. Its numbers stay text, so that no digit of them is lost.

import TweaksWire

/// What a body holds (RFC 8259).
enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    /// As it is written.
    case number(String)
    case string(String)
    case array([JSONValue])
    /// In the order of the text; no name comes twice.
    case object([(name: String, value: JSONValue)])

    /// Deeper than any body that means something.
    private static let deepest = 16
    /// More than the longest list of changes has.
    private static let mostValues = 50_000

    /// Reads a text that is one value and nothing else.
    /// - Throws: What is wrong, and in which line. There is no text that traps.
    init(_ bytes: [UInt8]) throws(JSONReader.Problem) {
        var reader = JSONReader(bytes)
        try reader.check()
        var count = 0
        self = try Self.value(&reader, 1, &count)
        try reader.end()
    }

    private static func value(
        _ reader: inout JSONReader, _ depth: Int, _ count: inout Int
    ) throws(JSONReader.Problem) -> JSONValue {
        count += 1
        if count > mostValues { throw reader.problem("it holds more than \(mostValues) values") }
        switch reader.peek() {
        case UInt8(ascii: "{")?, UInt8(ascii: "[")?:
            if depth > deepest { throw reader.problem("it is nested too deeply") }
            return reader.peek() == UInt8(ascii: "{")
                ? try object(&reader, depth, &count) : try array(&reader, depth, &count)
        default:
            switch try reader.scalar() {
            case .null: return .null
            case .bool(let value): return .bool(value)
            case .number(let text): return .number(text)
            case .string(let text): return .string(text)
            }
        }
    }

    private static func object(
        _ reader: inout JSONReader, _ depth: Int, _ count: inout Int
    ) throws(JSONReader.Problem) -> JSONValue {
        var fields: [(name: String, value: JSONValue)] = []
        var names = Set<[UInt8]>()
        try reader.object { name, reader throws(JSONReader.Problem) in
            // Which of two counts is answered differently everywhere.
            guard names.insert(Array(name.utf8)).inserted else { throw reader.problem("a name comes twice") }
            fields.append((name, try value(&reader, depth + 1, &count)))
        }
        return .object(fields)
    }

    private static func array(
        _ reader: inout JSONReader, _ depth: Int, _ count: inout Int
    ) throws(JSONReader.Problem) -> JSONValue {
        var values: [JSONValue] = []
        try reader.array { reader throws(JSONReader.Problem) in values.append(try value(&reader, depth + 1, &count)) }
        return .array(values)
    }

    static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)), (.string(let left), .string(let right)):
            left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)):
            left.elementsEqual(right) { $0.name.utf8.elementsEqual($1.name.utf8) && $0.value == $1.value }
        default: false
        }
    }
}
