// Finds the calls in a Swift file that may declare tweaks, with their arguments.

import Tweaks

/// A Swift file, split into tokens.
package struct SwiftSource: Sendable {
    package let bytes: [UInt8]
    let groups: [SwiftTokens]
    /// The line end that the file uses.
    let lineEnd: String
    private(set) var enumerations: [EnumCases] = []
    /// The calls of each group that may declare something.
    private(set) var calls: [[SwiftCall]] = []

    /// Nil for bytes that are not UTF-8, which Swift does not compile either.
    package init?(_ bytes: [UInt8]) {
        guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
        self.bytes = bytes
        groups = SwiftLexer.groups(of: bytes)
        let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
        let isCRLF = end.map { $0 > 0 && bytes[$0 - 1] == UInt8(ascii: "\r") } ?? false
        lineEnd = isCRLF ? "\r\n" : "\n"
        enumerations = EnumCases.all(in: self)
        calls = groups.indices.map { SwiftReader(self, $0).calls(DeclarationFinder.names) }
    }

    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// The blanks at the beginning of the line of a position.
    func indentation(at position: Int) -> [UInt8] {
        let start = bytes[..<position].lastIndex { $0.isLineEnd }.map { $0 + 1 } ?? 0
        return Array(bytes[start...].prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") })
    }
}

/// A call, with the positions of its tokens in their group.
struct SwiftCall {
    /// An argument without its label.
    struct Argument {
        let label: String?
        /// Its tokens.
        let tokens: Range<Int>
    }

    let name: String
    /// Whether it is an attribute, as in `@Tweak(…)`.
    let isAttribute: Bool
    /// The type of its values: `Int` of `Tweak<Int>(…)` and of `let t: Tweak<Int> = .init(…)`; empty if the context of an
    /// `.init(…)` has it elsewhere, and nil if only the value tells it.
    let type: String?
    /// The position of its first token, `@` or the name.
    let start: Int
    /// The position of its `)`.
    let end: Int
    let arguments: [Argument]

    var unlabeled: [Argument] { arguments.filter { $0.label == nil } }

    subscript(label: String) -> Argument? { arguments.first { $0.label == label } }
}

/// Reads the tokens of one group.
struct SwiftReader {
    let source: SwiftSource
    let group: SwiftTokens

    init(_ source: SwiftSource, _ group: Int) {
        self.source = source
        self.group = source.groups[group]
    }

    var count: Int { group.tokens.count }

    func token(_ position: Int) -> SwiftToken? {
        group.tokens.indices.contains(position) ? group.tokens[position] : nil
    }

    /// Whether the token there is these characters.
    func isSymbol(_ text: StaticString, at position: Int) -> Bool {
        guard let token = token(position), token.kind == .symbol else { return false }
        return UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
            .elementsEqual(source.bytes[token.range])
    }

    /// The identifier there, without backticks.
    func word(_ position: Int) -> String? {
        guard let token = token(position), token.kind == .identifier else { return nil }
        let text = source.text(token.range)
        return text.hasPrefix("`") ? String(text.dropFirst().dropLast()) : text
    }

    /// Whether nothing stands between two neighboring tokens.
    func touches(_ position: Int) -> Bool {
        guard let token = token(position), let next = self.token(position + 1) else { return false }
        return token.range.upperBound == next.range.lowerBound
    }

    /// The bytes of several tokens and of what is between them.
    func bytes(_ tokens: Range<Int>) -> Range<Int> {
        group.tokens[tokens.lowerBound].range.lowerBound..<group.tokens[tokens.upperBound - 1].range.upperBound
    }

    /// The position after `<…>`; the same position if there is none.
    func afterGenerics(_ position: Int) -> Int {
        guard isSymbol("<", at: position) else { return position }
        var open = 0
        for next in position..<min(count, position + 200) {
            if isSymbol("<", at: next) { open += 1 }
            // `->` ends nothing.
            if isSymbol(">", at: next), !(isSymbol("-", at: next - 1) && touches(next - 1)) { open -= 1 }
            if open == 0 { return next + 1 }
        }
        return position
    }

    /// The calls of functions with one of these names.
    func calls(_ names: Set<String>) -> [SwiftCall] {
        (0..<count).compactMap { position in
            guard let name = word(position), names.contains(name), word(position - 1) != "func" else { return nil }
            return call(name, at: position)
        }
    }

    private func call(_ name: String, at position: Int) -> SwiftCall? {
        let open = afterGenerics(position + 1)
        guard isSymbol("(", at: open), let arguments = arguments(open) else { return nil }
        var start = position
        // `Tweaks.Tweak(…)` is the same.
        while isSymbol(".", at: start - 1), word(start - 2) != nil { start -= 2 }
        let isAttribute = isSymbol("@", at: start - 1)
        let type = open > position + 1 ? type(position + 2..<open - 1) : annotation(before: start)
        return SwiftCall(
            name: name, isAttribute: isAttribute, type: type ?? (name == "init" ? "" : nil),
            start: isAttribute ? start - 1 : start, end: group.closings[open], arguments: arguments)
    }

    /// The type before the `=` of a property; nil if its name stands there, and empty for one that is too long.
    func propertyType(before equals: Int) -> String? {
        if word(equals - 2) == "var" { return nil }
        let colon = (max(0, equals - 200)..<equals).last { isSymbol(":", at: $0) && word($0 - 2) == "var" }
        return colon.map { type($0 + 1..<equals) } ?? ""
    }

    /// The type in the `Tweak<…> =` before a call or an `.init(…)`.
    private func annotation(before start: Int) -> String? {
        let end = (isSymbol(".", at: start - 1) ? start - 2 : start - 1) - 1
        guard isSymbol("=", at: end + 1), isSymbol(">", at: end) else { return nil }
        let name = (max(0, end - 200)..<end).last { word($0) == "Tweak" && afterGenerics($0 + 1) == end + 1 }
        return name.map { type($0 + 2..<end) }
    }

    private func type(_ tokens: Range<Int>) -> String {
        tokens.isEmpty ? "" : source.text(bytes(tokens)).filter { !$0.isWhitespace }
    }

    /// The arguments between the parenthesis there and the one that closes it.
    func arguments(_ open: Int) -> [SwiftCall.Argument]? {
        elements(open)?.map { tokens in
            let isLabeled =
                tokens.count > 2 && word(tokens.lowerBound) != nil && isSymbol(":", at: tokens.lowerBound + 1)
            let label = isLabeled ? word(tokens.lowerBound) : nil
            return SwiftCall.Argument(
                label: label, tokens: (isLabeled ? tokens.lowerBound + 2 : tokens.lowerBound)..<tokens.upperBound)
        }
    }

    /// What commas separate between two brackets; a comma at the end adds nothing. Nil for brackets without a partner, and
    /// where nothing stands between two commas.
    func elements(_ open: Int) -> [Range<Int>]? {
        let end = group.closings[open]
        guard end > open else { return nil }
        var elements: [Range<Int>] = []
        var start = open + 1
        var position = start
        while position < end {
            if isSymbol(",", at: position) {
                if position == start { return nil }
                elements.append(start..<position)
                start = position + 1
            }
            position = max(position, group.closings[position]) + 1
        }
        if start < end { elements.append(start..<end) }
        return elements
    }
}
