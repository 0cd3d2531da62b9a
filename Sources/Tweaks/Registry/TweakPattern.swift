// Patterns that name several tweaks at once.

/// A glob over paths: `*` is any run within a part, `?` one character, `**` alone in a part any parts, also none; fewer
/// than three parts without `**` mean everything beneath.
package struct TweakPattern: Hashable, Sendable {
    /// How far a path can have come in a pattern: bit N says that part N of the pattern may be next.
    package struct Progress: Hashable, Sendable {
        fileprivate var bits: UInt8

        /// No path that begins so is meant.
        package var hasFailed: Bool { bits == 0 }
    }

    package let text: String
    /// Never two `**` in a row, so at most seven: three others, and `**` around them.
    private let parts: [[UInt8]]
    /// Where a path of no parts stands.
    private let start: Progress
    /// What the paths begin with that are meant, or what the one path is, where there is no more to it. Rights are asked
    /// for each line and each event, and most of them are of this kind.
    private let plain: (bytes: [UInt8], isWhole: Bool)?
    private static let anyParts = Array("**".utf8)

    /// A pattern from its text; nil when an empty part is in it, or more than three beside `**`.
    package init?(_ text: String) {
        self.text = text
        var parts: [[UInt8]] = []
        for part in text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map({ Array($0) }) {
            if part.isEmpty || parts.count == 7 { return nil }
            if part != Self.anyParts || part != parts.last { parts.append(part) }
        }
        let named = parts.count { $0 != Self.anyParts }
        if named > 3 { return nil }
        if named == parts.count, named < 3 { parts.append(Self.anyParts) }
        self.parts = parts
        start = Self.skipping(1, parts)
        plain = Self.plain(parts)
    }

    private static func plain(_ parts: [[UInt8]]) -> (bytes: [UInt8], isWhole: Bool)? {
        let named = parts.last == anyParts ? parts.dropLast() : parts[...]
        // Beneath three parts there is nothing.
        let isWhole = named.count == 3
        let globs = Array("*?".utf8)
        if named.isEmpty || named.contains(where: { $0.contains(where: globs.contains) }) { return nil }
        let joined = Array(named.joined(separator: [UInt8(ascii: "/")]))
        return (isWhole ? joined : joined + [UInt8(ascii: "/")], isWhole)
    }

    package static func == (left: TweakPattern, right: TweakPattern) -> Bool {
        left.text == right.text
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Whether the tweak with this path is meant.
    package func matches(_ path: TweakPath) -> Bool {
        path.withBytes { bytes in
            if let plain {
                if plain.isWhole ? bytes.count != plain.bytes.count : bytes.count <= plain.bytes.count { return false }
                return plain.bytes.withUnsafeBufferPointer { wanted in
                    wanted.indices.allSatisfy { wanted[$0] == bytes[$0] }
                }
            }
            var progress = start
            var rest = bytes[...]
            while !progress.hasFailed {
                let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
                progress = after(progress, rest[..<end])
                if end == rest.endIndex { break }
                rest = rest[(end + 1)...]
            }
            return isComplete(progress)
        }
    }

    /// How far the paths of a group have come: the same for all, so it is found out once.
    package func progress(in group: TweakListing.Group) -> Progress {
        let collection = after(start, text: group.category)
        return after(collection, text: group.collection)
    }

    /// Whether everything that may follow is meant.
    package func takesAll(_ progress: Progress) -> Bool {
        parts.last == Self.anyParts && progress.bits & (1 << (parts.count - 1)) != 0
    }

    /// Whether the tweak is meant whose group came so far, and whose name begins at this byte of its path.
    package func matches(_ path: TweakPath, from progress: Progress, nameAt: Int) -> Bool {
        path.withBytes { isComplete(after(progress, $0[nameAt...])) }
    }

    private func isComplete(_ progress: Progress) -> Bool { progress.bits & (1 << parts.count) != 0 }

    private func after(_ progress: Progress, text: String) -> Progress {
        text.withBytes { after(progress, $0[...]) }
    }

    /// One part of a path further.
    private func after(_ progress: Progress, _ part: Slice<UnsafeBufferPointer<UInt8>>) -> Progress {
        var bits: UInt8 = 0
        for (position, wanted) in parts.enumerated() where progress.bits & (1 << position) != 0 {
            if wanted == Self.anyParts {
                bits |= 1 << position
            } else if Self.matches(wanted[...], part) {
                bits |= 1 << (position + 1)
            }
        }
        return Self.skipping(bits, parts)
    }

    // `**` may stand for nothing.
    private static func skipping(_ bits: UInt8, _ parts: [[UInt8]]) -> Progress {
        var bits = bits
        for (position, part) in parts.enumerated() where part == anyParts && bits & (1 << position) != 0 {
            bits |= 1 << (position + 1)
        }
        return Progress(bits: bits)
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
