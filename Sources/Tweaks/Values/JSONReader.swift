// Parses JSON from bytes as a pull parser. Numbers stay text, so that no integer is converted to a double.

/// A pull parser for JSON text (RFC 8259). Never traps on any input.
package struct JSONReader {
    /// A syntax error and its line.
    package struct Problem: Error, Equatable, CustomStringConvertible {
        package let text: String
        package let line: Int
        /// The text may be JSON, but has too many values.
        package var isTooLarge = false

        package var description: String { "line \(line): \(text)" }
    }

    /// Must be valid UTF-8; see `check`.
    package let bytes: [UInt8]
    package private(set) var position = 0
    /// Deeper than any file of this package; deeper nesting could exhaust the stack.
    private static let maxDepth = 64

    /// - Parameter position: Where reading begins; by default after a byte order mark.
    package init(_ bytes: [UInt8], at position: Int? = nil) {
        self.bytes = bytes
        self.position = position ?? TextEncoding.markLength(bytes)
    }

    /// Checks the encoding; must be called once, before parsing.
    package func check() throws(Problem) {
        if let objection = TextEncoding.objection(to: bytes) { throw problem(objection) }
        if String(validating: bytes, as: UTF8.self) == nil { throw problem("it is not valid UTF-8") }
    }

    package func problem(_ text: String, isTooLarge: Bool = false) -> Problem {
        let line = 1 + bytes[..<min(position, bytes.count)].count { $0 == UInt8(ascii: "\n") }
        return Problem(text: text, line: line, isTooLarge: isTooLarge)
    }

    // MARK: Structure

    /// The next byte after whitespace, without consuming it; nil at the end.
    package mutating func peek() -> UInt8? {
        while position < bytes.count {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            position += 1
        }
        return nil
    }

    /// Skips whitespace and consumes the byte if it is next.
    mutating func consumeToken(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        position += 1
        return true
    }

    /// Consumes the text before the next of these bytes outside parentheses.
    mutating func scanBare(until isEnd: (UInt8) -> Bool, nests: Bool = true) -> Substring {
        let start = position
        var depth = 0
        while position < bytes.count, depth > 0 || !isEnd(bytes[position]) {
            if nests, bytes[position] == UInt8(ascii: "(") { depth += 1 }
            if nests, bytes[position] == UInt8(ascii: ")") { depth -= 1 }
            position += 1
        }
        return Substring(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func expect(_ byte: UInt8) throws(Problem) {
        if !consumeToken(byte) { throw problem("“\(Character(Unicode.Scalar(byte)))” is missing") }
    }

    /// Parses an object; `body` parses the value of each key.
    package mutating func object(_ body: (String, inout JSONReader) throws(Problem) -> Void) throws(Problem) {
        try expect(UInt8(ascii: "{"))
        if consumeToken(UInt8(ascii: "}")) { return }
        repeat {
            let key = try string()
            try expect(UInt8(ascii: ":"))
            try body(key, &self)
        } while consumeToken(UInt8(ascii: ","))
        try expect(UInt8(ascii: "}"))
    }

    /// Parses an array; `body` parses each element.
    package mutating func array(_ body: (inout JSONReader) throws(Problem) -> Void) throws(Problem) {
        try expect(UInt8(ascii: "["))
        if consumeToken(UInt8(ascii: "]")) { return }
        repeat { try body(&self) } while consumeToken(UInt8(ascii: ","))
        try expect(UInt8(ascii: "]"))
    }

    /// Skips a value.
    package mutating func skip(depth: Int = 0) throws(Problem) {
        if depth > Self.maxDepth { throw problem("it is nested too deeply") }
        switch peek() {
        case UInt8(ascii: "{")?:
            try object { _, reader throws(Problem) in try reader.skip(depth: depth + 1) }
        case UInt8(ascii: "[")?:
            try array { reader throws(Problem) in try reader.skip(depth: depth + 1) }
        case UInt8(ascii: "\"")?: _ = try scanString { _, _ in }
        default: _ = try scalar()
        }
    }

    /// Checks that only whitespace follows.
    package mutating func end() throws(Problem) {
        if peek() != nil { throw problem("something follows the end") }
    }

    // MARK: Scalars

    /// A value that is not an object or array; a number as its text.
    package mutating func scalar() throws(Problem) -> JSON {
        switch peek() {
        case UInt8(ascii: "\"")?: return .string(try string())
        case UInt8(ascii: "t")?: return try literal("true", .bool(true))
        case UInt8(ascii: "f")?: return try literal("false", .bool(false))
        case UInt8(ascii: "n")?: return try literal("null", .null)
        case UInt8(ascii: "{")?, UInt8(ascii: "[")?: throw problem("a plain value is expected here")
        case nil: throw problem("it ends unexpectedly")
        default: return .literal(try number())
        }
    }

    private mutating func literal(_ text: String, _ scalar: JSON) throws(Problem) -> JSON {
        guard bytes[position...].starts(with: text.utf8) else { throw problem("a value cannot begin like this") }
        position += text.utf8.count
        return scalar
    }

    private mutating func number() throws(Problem) -> String {
        let start = position
        _ = consume(UInt8(ascii: "-"))
        let first = position
        let whole = digits()
        let hasZeroInFront = whole > 1 && bytes[first] == UInt8(ascii: "0")
        guard whole > 0, !hasZeroInFront else { throw problem("a value cannot begin like this") }
        if consume(UInt8(ascii: ".")), digits() == 0 { throw problem("a number needs digits after its decimal point") }
        if consume(UInt8(ascii: "e")) || consume(UInt8(ascii: "E")) {
            _ = consume(UInt8(ascii: "+")) || consume(UInt8(ascii: "-"))
            if digits() == 0 { throw problem("a number needs digits in its exponent") }
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func consume(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func digits() -> Int {
        let start = position
        while position < bytes.count, bytes[position].isDigit { position += 1 }
        return position - start
    }
}

// MARK: - Strings

extension JSONReader {
    package mutating func string() throws(Problem) -> String {
        var text: [UInt8] = []
        let last = try scanString { part, escaped in
            text += part
            text += escaped
        }
        // Most strings have no escapes. All bytes are valid UTF-8, and so is every part between two ASCII bytes.
        return String(decoding: text.isEmpty ? last : (text + last)[...], as: UTF8.self)
    }

    /// Consumes a string. Each escape goes to `body`, with the text before it.
    /// - Returns: The text after the last escape.
    private mutating func scanString(
        _ body: (_ part: ArraySlice<UInt8>, _ escaped: [UInt8]) -> Void
    ) throws(Problem) -> ArraySlice<UInt8> {
        guard consumeToken(UInt8(ascii: "\"")) else { throw problem("a text in quotes is expected here") }
        var start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return bytes[start..<(position - 1)]
            case UInt8(ascii: "\\"):
                let part = bytes[start..<position]
                position += 1
                body(part, try escaped())
                start = position
            case ..<0x20: throw problem("a text contains a control character; write it as \\u00XX")
            default: position += 1
            }
        }
        throw problem("a text has no closing quote")
    }

    private mutating func escaped() throws(Problem) -> [UInt8] {
        var escaped: [UInt8] = []
        do throws(JSONEscape.Problem) {
            try JSONEscape.read(bytes, at: &position, to: &escaped)
        } catch {
            throw problem(error.rawValue)
        }
        return escaped
    }
}

/// An escape sequence of a string (RFC 8259, section 7).
package enum JSONEscape {
    /// The reason why an escape is invalid.
    package enum Problem: String, Error {
        case unterminated = "a text has no closing quote"
        case unknownEscape = "a text contains an unknown escape"
        case missingDigits = "\\u needs four hexadecimal digits"
        case unpairedSurrogate = "a text contains half a surrogate pair"
    }

    /// Appends the character of an escape.
    /// - Parameter position: On input, after the backslash; on output, after the escape.
    package static func read<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes, at position: inout Int, to text: inout [UInt8]
    ) throws(Problem) where Bytes.Index == Int {
        guard position < bytes.endIndex else { throw .unterminated }
        let letter = bytes[position]
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: String(Character(try scalar(bytes, &position))).utf8)
        default: throw .unknownEscape
        }
    }

    /// Four digits; or two escapes of four, for a scalar beyond the Basic Multilingual Plane.
    private static func scalar<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes, _ position: inout Int
    ) throws(Problem) -> Unicode.Scalar where Bytes.Index == Int {
        let first = try codeUnit(bytes, &position)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, bytes[position...].starts(with: "\\u".utf8) else { throw .unpairedSurrogate }
        position += 2
        let second = try codeUnit(bytes, &position)
        // Checked before the arithmetic, so that no input can overflow it.
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw .unpairedSurrogate }
        return scalar
    }

    private static func codeUnit<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes, _ position: inout Int
    ) throws(Problem) -> UInt32 where Bytes.Index == Int {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard position < bytes.endIndex, let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue else {
                throw .missingDigits
            }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}

/// The encoding of a text that another program wrote. All files and bodies are UTF-8.
package enum TextEncoding {
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The number of bytes of the byte order mark that some editors begin a file with.
    package static func markLength(_ bytes: some Collection<UInt8>) -> Int { bytes.starts(with: mark) ? mark.count : 0 }

    /// The reason why a text cannot be read, if it is UTF-16 or UTF-32.
    package static func objection(to bytes: some Collection<UInt8>) -> String? {
        wideName(bytes).map { "it is \($0); save it as UTF-8" }
    }

    /// The name of a text's encoding, if it is UTF-16 or UTF-32: with its byte order mark, or beginning with an ASCII
    /// character and its zero bytes.
    package static func wideName(_ bytes: some Collection<UInt8>) -> String? {
        let start = Array(bytes.prefix(4))
        // First of all, since the mark of UTF-32 begins with that of UTF-16.
        if start == [0xFF, 0xFE, 0, 0] || start == [0, 0, 0xFE, 0xFF] { return "UTF-32" }
        let zeros = start.map { $0 == 0 }
        if zeros == [false, true, true, true] || zeros == [true, true, true, false] { return "UTF-32" }
        guard start.count >= 2 else { return nil }
        let hasMark = start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF])
        return hasMark || zeros[0] != zeros[1] ? "UTF-16" : nil
    }
}
