// The text of JSON to its value: what a server says to programs.

import TweaksWire

/// Reads RFC 8259. Whatever a stranger sends, the answer is a value or nil.
struct JSONText {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    /// Deeper than any server nests, and no danger to the stack.
    private static let deepest = 32

    private init(_ text: String) { bytes = Array(text.utf8) }

    /// The value of a whole text; nil where it is not JSON.
    static func value(_ text: String) -> JSON? {
        var reader = JSONText(text)
        guard let value = reader.value() else { return nil }
        reader.skipBlanks()
        return reader.position == reader.bytes.count ? value : nil
    }

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte, byte == 0x20 || (0x09...0x0D).contains(byte) { position += 1 }
    }

    /// Takes a character that has to stand there, blanks before it or not.
    private mutating func take(_ wanted: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard byte == UInt8(ascii: wanted) else { return false }
        position += 1
        return true
    }

    private mutating func value() -> JSON? {
        skipBlanks()
        switch byte {
        case UInt8(ascii: "{"): return nested { $0.object() }
        case UInt8(ascii: "["): return nested { $0.array() }
        case UInt8(ascii: "\""): return string().map(JSON.string)
        case UInt8(ascii: "t"): return word("true", .bool(true))
        case UInt8(ascii: "f"): return word("false", .bool(false))
        case UInt8(ascii: "n"): return word("null", .null)
        default: return number()
        }
    }

    private mutating func nested(_ read: (inout JSONText) -> JSON?) -> JSON? {
        if depth == Self.deepest { return nil }
        depth += 1
        defer { depth -= 1 }
        position += 1
        return read(&self)
    }

    private mutating func object() -> JSON? {
        var fields: [(String, JSON)] = []
        if take("}") { return .object([]) }
        repeat {
            skipBlanks()
            guard byte == UInt8(ascii: "\""), let name = string(), take(":"), let value = value() else { return nil }
            fields.append((name, value))
        } while take(",")
        return take("}") ? .object(fields) : nil
    }

    private mutating func array() -> JSON? {
        var values: [JSON] = []
        if take("]") { return .array([]) }
        repeat {
            guard let value = value() else { return nil }
            values.append(value)
        } while take(",")
        return take("]") ? .array(values) : nil
    }

    private mutating func word(_ word: StaticString, _ value: JSON) -> JSON? {
        let text = word.description.utf8
        guard bytes[position...].starts(with: text) else { return nil }
        position += text.count
        return value
    }

    private mutating func number() -> JSON? {
        let start = position
        while let byte,
            byte == 0x2B || byte == 0x2D || byte == 0x2E || byte | 0x20 == 0x65 || (0x30...0x39).contains(byte)
        {
            position += 1
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if let whole = Int64(text) { return .int(whole) }
        if let whole = UInt64(text) { return .unsigned(whole) }
        return Double(text).flatMap { $0.isFinite ? .number($0) : nil }
    }

    // MARK: Strings

    private mutating func string() -> String? {
        position += 1
        var result: [UInt8] = []
        while let byte {
            position += 1
            if byte == UInt8(ascii: "\"") { return String(validating: result, as: UTF8.self) }
            if byte != UInt8(ascii: "\\") {
                result.append(byte)
            } else if let scalar = escape() {
                result.append(contentsOf: String(Character(scalar)).utf8)
            } else {
                return nil
            }
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard let byte else { return nil }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "u"): return unit().flatMap { codePoint($0) }
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        default: return nil
        }
    }

    /// One scalar may be written as two halves.
    private mutating func codePoint(_ first: UInt32) -> Unicode.Scalar? {
        guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) }
        guard bytes[position...].starts(with: "\\u".utf8) else { return nil }
        position += 2
        guard let second = unit(), (0xDC00..<0xE000).contains(second) else { return nil }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    private mutating func unit() -> UInt32? {
        guard position + 4 <= bytes.count else { return nil }
        let digits = bytes[position..<(position + 4)]
        position += 4
        return digits.contains(UInt8(ascii: "+")) ? nil : UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}

extension JSON {
    /// A field of an object.
    subscript(name: String) -> JSON? {
        guard case .object(let fields) = self else { return nil }
        return fields.first { $0.0 == name }?.1
    }

    var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    var isTrue: Bool { self == .bool(true) }

    var elements: [JSON] {
        if case .array(let values) = self { values } else { [] }
    }
}
