// Reads literal values from tokens: numbers, texts, members, and calls and lists of these.

import Tweaks

/// A value that is written out in the source, so that another can be written in its place.
indirect enum SwiftLiteral {
    case bool(Bool, Range<Int>)
    /// A number with its sign.
    case number(SwiftNumber, Range<Int>)
    case string(String, SwiftStringShape, Range<Int>)
    case none(Range<Int>)
    /// `.orange`, `TweakColor.orange`: the names before the last one, and the last one.
    case member(type: [String], name: String, Range<Int>)
    /// The same for a case of an enumeration that the file declares with other raw values: `.left` of `"L"`.
    case enumCase(EnumCases, type: [String], name: String, Range<Int>)
    case call(SwiftLiteralCall)
    case list([SwiftLiteral], hasComments: Bool, Range<Int>)

    /// Its bytes.
    var range: Range<Int> {
        switch self {
        case .bool(_, let range), .number(_, let range), .string(_, _, let range), .none(let range),
            .member(_, _, let range), .enumCase(_, _, _, let range), .list(_, _, let range):
            range
        case .call(let call): call.range
        }
    }
}

/// `TweakColor(0xFF8800)`, `.seconds(2)`, `URL(string: "…")!`
struct SwiftLiteralCall {
    struct Argument {
        let label: String?
        /// Its bytes, without the label.
        let range: Range<Int>
        /// The position of its first byte, with the label.
        let start: Int
        /// Nil if it is another expression.
        let literal: SwiftLiteral?
    }

    /// The names before the last one, and the last one; `init` of `TweakColor.init(…)` is omitted.
    let type: [String]
    let name: String
    /// The bytes of the names, with the leading point.
    let nameRange: Range<Int>
    let arguments: [Argument]
    /// Its bytes, with the `!` after it.
    let range: Range<Int>
    /// The position of the byte after the last argument, where another one can be inserted.
    let end: Int

    subscript(label: String?) -> Argument? { arguments.first { $0.label == label } }

    /// The literal of the only argument, with or without a label.
    var onlyLiteral: SwiftLiteral? { arguments.count == 1 ? arguments[0].literal : nil }

    /// The literals of exactly these arguments, in any order; nil if one is missing or another one is there.
    func literals(_ labels: [String]) -> [SwiftLiteral]? {
        let found = labels.compactMap { self[$0]?.literal }
        return found.count == labels.count && arguments.count == labels.count ? found : nil
    }
}

/// A number as it is written.
struct SwiftNumber {
    /// Without its sign.
    let text: String
    let isNegative: Bool

    var radix: Int {
        switch text.prefix(2) {
        case "0x": 16
        case "0o": 8
        case "0b": 2
        default: 10
        }
    }

    /// Whether Swift takes it for a `Double` where nothing says otherwise.
    var isReal: Bool {
        let marks: [UInt8] =
            radix == 16
            ? [UInt8(ascii: "."), UInt8(ascii: "p"), UInt8(ascii: "P")]
            : [UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E")]
        return text.utf8.contains(where: marks.contains)
    }

    private var digits: String { String(text.filter { $0 != "_" }) }
    private var sign: String { isNegative ? "-" : "" }

    var whole: TweakValue? {
        let plain = sign + (radix == 10 ? digits : String(digits.dropFirst(2)))
        return Int64(plain, radix: radix).map(TweakValue.int)
            ?? UInt64(plain, radix: radix).flatMap { TweakValue(whole: $0) }
    }

    var real: Double? {
        if isReal { return Double(sign + digits).flatMap { $0.isFinite ? $0 : nil } }
        switch whole {
        case .int(let value)?: return Double(value)
        case .unsigned(let value)?: return Double(value)
        default: return radix == 10 ? Double(sign + digits) : nil
        }
    }
}

/// Reads literals from the tokens of one group.
struct LiteralReader {
    private let reader: SwiftReader
    /// Deeper than any value, and safe for the stack.
    private static let maxDepth = 16

    init(_ reader: SwiftReader) { self.reader = reader }

    /// The literal that these tokens are, and nothing else.
    func literal(_ tokens: Range<Int>) -> SwiftLiteral? {
        guard let (literal, end) = literal(at: tokens.lowerBound, depth: 0), end == tokens.upperBound else {
            return nil
        }
        return literal
    }

    /// The literal that a property begins with; nil if its expression goes on after it.
    func initialValue(_ tokens: Range<Int>) -> SwiftLiteral? {
        guard let (literal, end) = literal(at: tokens.lowerBound, depth: 0) else { return nil }
        guard let next = reader.token(end) else { return literal }
        let endsStatement =
            next.beginsLine && next.kind != .symbol || next.kind == .directive
            || ["}", "{", ";", "@", "#"].contains { reader.isSymbol($0, at: end) }
            || next.beginsLine && reader.source.bytes[next.range.lowerBound] == UInt8(ascii: "#")
        return endsStatement ? literal : nil
    }

    private func literal(at start: Int, depth: Int) -> (SwiftLiteral, end: Int)? {
        guard let token = reader.token(start), depth < Self.maxDepth else { return nil }
        switch token.kind {
        case .number: return number(at: start, from: start)
        case .string(let shape):
            guard let text = SwiftString.text(reader.source.bytes[token.range], shape) else { return nil }
            return (.string(text, shape, token.range), start + 1)
        case .identifier: return name(at: start, depth)
        case .symbol: return symbol(at: start, depth)
        case .directive, .opaque: return nil
        }
    }

    private func number(at position: Int, from start: Int) -> (SwiftLiteral, end: Int)? {
        guard let token = reader.token(position), token.kind == .number else { return nil }
        let isNegative = reader.isSymbol("-", at: start)
        let number = SwiftNumber(text: reader.source.text(token.range), isNegative: isNegative)
        return (.number(number, reader.bytes(start..<position + 1)), position + 1)
    }

    private func symbol(at start: Int, _ depth: Int) -> (SwiftLiteral, end: Int)? {
        if reader.isSymbol("-", at: start) || reader.isSymbol("+", at: start) {
            return reader.touches(start) ? number(at: start + 1, from: start) : nil
        }
        if reader.isSymbol(".", at: start) { return name(at: start, depth) }
        if reader.isSymbol("(", at: start) {
            guard let (inner, end) = literal(at: start + 1, depth: depth + 1), end == reader.group.closings[start]
            else {
                return nil
            }
            return (inner, end + 1)
        }
        return reader.isSymbol("[", at: start) ? list(at: start, depth) : nil
    }

    private func list(at start: Int, _ depth: Int) -> (SwiftLiteral, end: Int)? {
        guard let elements = reader.elements(start) else { return nil }
        let end = reader.group.closings[start]
        // `[Int]()` is an empty list.
        if reader.isSymbol("(", at: end + 1), reader.touches(end), reader.group.closings[end + 1] == end + 2 {
            return (.list([], hasComments: false, reader.bytes(start..<end + 3)), end + 3)
        }
        var literals: [SwiftLiteral] = []
        for tokens in elements {
            guard let (literal, end) = literal(at: tokens.lowerBound, depth: depth + 1), end == tokens.upperBound else {
                return nil
            }
            literals.append(literal)
        }
        let hasComments = (start + 1...end).contains { reader.group.tokens[$0].followsComment }
        return (.list(literals, hasComments: hasComments, reader.bytes(start..<end + 1)), end + 1)
    }

    /// A keyword, a member, or a call, from the point or the first name on.
    private func name(at start: Int, _ depth: Int) -> (SwiftLiteral, end: Int)? {
        var position = start
        if reader.isSymbol(".", at: position) { position += 1 }
        guard let first = reader.word(position) else { return nil }
        var names = [first]
        position += 1
        while reader.isSymbol(".", at: position), let next = reader.word(position + 1) {
            names.append(next)
            position += 2
        }
        let nameRange = reader.bytes(start..<position)
        let open = reader.afterGenerics(position)
        if names.count == 1, position == start + 1, !reader.isSymbol("(", at: open) {
            return keyword(first, nameRange).map { ($0, position) }
        }
        guard reader.isSymbol("(", at: open), !reader.group.tokens[open].beginsLine else {
            return (member(names.dropLast(), names[names.count - 1], nameRange), position)
        }
        return call(names, nameRange, from: start, open, depth)
    }

    private func member(_ type: [String], _ name: String, _ range: Range<Int>) -> SwiftLiteral {
        guard let cases = reader.source.enumeration(type, with: name) else {
            return .member(type: type, name: name, range)
        }
        return .enumCase(cases, type: type, name: name, range)
    }

    private func keyword(_ word: String, _ range: Range<Int>) -> SwiftLiteral? {
        switch word {
        case "true", "false": .bool(word == "true", range)
        case "nil": SwiftLiteral.none(range)
        default: nil
        }
    }

    private func call(
        _ names: [String], _ nameRange: Range<Int>, from start: Int, _ open: Int, _ depth: Int
    ) -> (SwiftLiteral, end: Int)? {
        guard let arguments = reader.arguments(open) else { return nil }
        let close = reader.group.closings[open]
        let isForced = reader.isSymbol("!", at: close + 1) && reader.touches(close)
        let end = close + (isForced ? 2 : 1)
        var names = names
        if names.count > 1, names.last == "init" { names.removeLast() }
        let literals = arguments.map { argument in
            var literal: SwiftLiteral?
            if let (found, end) = self.literal(at: argument.tokens.lowerBound, depth: depth + 1),
                end == argument.tokens.upperBound
            {
                literal = found
            }
            let bytes = reader.bytes(argument.tokens)
            let first = argument.label == nil ? argument.tokens.lowerBound : argument.tokens.lowerBound - 2
            let start = reader.group.tokens[first].range.lowerBound
            return SwiftLiteralCall.Argument(label: argument.label, range: bytes, start: start, literal: literal)
        }
        let last = arguments.last.map { $0.tokens.upperBound - 1 } ?? open
        let call = SwiftLiteralCall(
            type: names.dropLast(), name: names[names.count - 1], nameRange: nameRange, arguments: literals,
            range: reader.bytes(start..<end), end: reader.group.tokens[last].range.upperBound)
        return (.call(call), end)
    }
}
