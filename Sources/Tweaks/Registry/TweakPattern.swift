// Patterns that name several tweaks at once.

/// A glob over paths: `*` is any run within a part, `?` one character; fewer than three parts mean everything beneath.
package struct TweakPattern: Hashable, Sendable {
    package let text: String
    private let parts: [[UInt8]]
    private let matchesEverything: Bool

    /// A pattern from its text; nil when it has more than three parts, or an empty one.
    package init?(_ text: String) {
        self.text = text
        matchesEverything = text == "*"
        parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Array($0) }
        if parts.count > 3 || parts.contains(where: \.isEmpty) { return nil }
    }

    /// Whether the tweak with this path is meant.
    package func matches(_ path: TweakPath) -> Bool {
        if matchesEverything { return true }
        return path.withBytes { bytes in
            var rest = bytes[...]
            for part in parts {
                let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
                guard Self.matches(part[...], rest[..<end]) else { return false }
                rest = end < rest.endIndex ? rest[(end + 1)...] : rest[rest.endIndex...]
            }
            return true
        }
    }

    /// Glob matching with one point to return to: linear for one star, never exponential.
    private static func matches(_ pattern: ArraySlice<UInt8>, _ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var (glyph, position) = (pattern.startIndex, text.startIndex)
        var retry: (glyph: Int, position: Int)?
        while position < text.endIndex {
            if glyph < pattern.endIndex, pattern[glyph] == UInt8(ascii: "*") {
                glyph += 1
                retry = (glyph, position)
            } else if glyph < pattern.endIndex, pattern[glyph] == UInt8(ascii: "?") {
                glyph += 1
                position = next(text, position)
            } else if glyph < pattern.endIndex, pattern[glyph] == text[position] {
                glyph += 1
                position += 1
            } else if let point = retry {
                let position1 = next(text, point.position)
                (glyph, position, retry) = (point.glyph, position1, (point.glyph, position1))
            } else {
                return false
            }
        }
        return pattern[glyph...].allSatisfy { $0 == UInt8(ascii: "*") }
    }

    /// The start of the next character: continuation bytes of UTF-8 are stepped over.
    private static func next(_ text: Slice<UnsafeBufferPointer<UInt8>>, _ position: Int) -> Int {
        var position = position + 1
        while position < text.endIndex, text[position] & 0xC0 == 0x80 { position += 1 }
        return position
    }
}

extension TweakRegistry {
    /// The nodes that a pattern names, in listing order. A text that is a registered path means that tweak alone.
    /// - Throws: `unknown-tweak` when nothing matches, except for `*`.
    package func resolve(_ text: String) throws(TweakError) -> [TweakNode] {
        if let tweak = self[text] { return [tweak.node] }
        // Everything is a list that is there already: no session has to wait while it is made.
        if text == "*" { return listing().nodes }
        guard let pattern = TweakPattern(text) else { throw unknown(text) }
        let nodes = listing().nodes.filter { pattern.matches($0.path) }
        if nodes.isEmpty { throw unknown(text) }
        return nodes
    }

    /// The nodes that several patterns name, in listing order, each once.
    package func resolve(_ texts: [String]) throws(TweakError) -> [TweakNode] {
        if texts.count == 1 { return try resolve(texts[0]) }
        var wanted = Set<ObjectIdentifier>()
        for text in Set(texts) {
            for node in try resolve(text) { wanted.insert(ObjectIdentifier(node)) }
        }
        return listing().nodes.filter { wanted.contains(ObjectIdentifier($0)) }
    }
}
