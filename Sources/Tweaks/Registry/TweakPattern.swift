// Matches paths against glob patterns.

/// A glob over paths.
///
/// `*` matches any run within a part, `?` one character, and `**` as a whole part any number of parts, including none.
/// Fewer than three parts without `**` match everything with that prefix.
package struct TweakPattern: Hashable, Sendable {
    /// The state of a match: bit N is set if part N of the pattern may be matched next.
    package struct Progress: Hashable, Sendable {
        fileprivate var bits: UInt8

        /// Whether no path with the consumed prefix can match.
        package var hasFailed: Bool { bits == 0 }
    }

    package let text: String
    /// Never two `**` in a row, so at most seven: three others, and `**` around them.
    private let parts: [[UInt8]]
    /// The state before the first part of a path.
    private let start: Progress
    /// The literal prefix of the matching paths, or the only matching path; nil for patterns with globs. A fast path:
    /// access rights are checked for each line and each event, and most are literal.
    private let literal: (bytes: [UInt8], isWhole: Bool)?
    private static let anyParts = Array("**".utf8)

    /// A pattern or path without the slashes at its end: `Label/`, as completion leaves it, means `Label`.
    package static func trimmed(_ text: String) -> String {
        // By bytes: a slash can be one character with the scalar before it, as after U+0600.
        var rest = text.utf8[...]
        while rest.count > 1, rest.last == UInt8(ascii: "/") { rest.removeLast() }
        return String(Substring(rest))
    }

    /// Parses a pattern; nil if a part is empty, or if it has more than three parts beside `**`.
    package init?(_ text: String) {
        let text = Self.trimmed(text)
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
        literal = Self.literal(parts)
    }

    private static func literal(_ parts: [[UInt8]]) -> (bytes: [UInt8], isWhole: Bool)? {
        let named = parts.last == anyParts ? parts.dropLast() : parts[...]
        // Three parts are a complete path.
        let isWhole = named.count == 3
        let globs = Array("*?".utf8)
        if named.isEmpty || named.contains(where: { $0.contains(where: globs.contains) }) { return nil }
        let joined = Array(named.joined(separator: [UInt8(ascii: "/")]))
        return (isWhole ? joined : joined + [UInt8(ascii: "/")], isWhole)
    }

    /// Whether it is a complete path, which matches one tweak at most.
    package var isPath: Bool { literal?.isWhole ?? false }

    package static func == (left: TweakPattern, right: TweakPattern) -> Bool {
        left.text == right.text
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Whether the pattern matches a path.
    package func matches(_ path: TweakPath) -> Bool {
        path.withBytes { bytes in
            if let literal {
                let count = literal.bytes.count
                if literal.isWhole ? bytes.count != count : bytes.count <= count { return false }
                return literal.bytes.withUnsafeBufferPointer { wanted in
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

    /// The state after category and collection of a group, computed once for all its tweaks.
    package func progress(in group: TweakListing.Group) -> Progress {
        let collection = after(start, text: group.category)
        return after(collection, text: group.collection)
    }

    /// Whether every path with the consumed prefix matches.
    package func matchesAll(_ progress: Progress) -> Bool {
        parts.last == Self.anyParts && progress.bits & (1 << (parts.count - 1)) != 0
    }

    /// Whether the pattern matches a path whose group led to this state.
    /// - Parameter nameAt: The byte offset of the tweak's name in its path.
    package func matches(_ path: TweakPath, from progress: Progress, nameAt: Int) -> Bool {
        path.withBytes { isComplete(after(progress, $0[nameAt...])) }
    }

    private func isComplete(_ progress: Progress) -> Bool { progress.bits & (1 << parts.count) != 0 }

    private func after(_ progress: Progress, text: String) -> Progress {
        text.withBytes { after(progress, $0[...]) }
    }

    /// The state after one more part of a path.
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

    // `**` may match no part.
    private static func skipping(_ bits: UInt8, _ parts: [[UInt8]]) -> Progress {
        var bits = bits
        for (position, part) in parts.enumerated() where part == anyParts && bits & (1 << position) != 0 {
            bits |= 1 << (position + 1)
        }
        return Progress(bits: bits)
    }

    /// Glob matching with one backtracking point: linear for one star, never exponential.
    private static func matches(_ pattern: ArraySlice<UInt8>, _ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var (patternIndex, position) = (pattern.startIndex, text.startIndex)
        var retry: (patternIndex: Int, position: Int)?
        while position < text.endIndex {
            if patternIndex < pattern.endIndex, pattern[patternIndex] == UInt8(ascii: "*") {
                patternIndex += 1
                retry = (patternIndex, position)
            } else if patternIndex < pattern.endIndex, pattern[patternIndex] == UInt8(ascii: "?") {
                patternIndex += 1
                position = next(text, position)
            } else if patternIndex < pattern.endIndex, pattern[patternIndex] == text[position] {
                patternIndex += 1
                position += 1
            } else if let point = retry {
                let position1 = next(text, point.position)
                (patternIndex, position, retry) = (point.patternIndex, position1, (point.patternIndex, position1))
            } else {
                return false
            }
        }
        return pattern[patternIndex...].allSatisfy { $0 == UInt8(ascii: "*") }
    }

    /// The start of the next character; skips UTF-8 continuation bytes.
    private static func next(_ text: Slice<UnsafeBufferPointer<UInt8>>, _ position: Int) -> Int {
        var position = position + 1
        while position < text.endIndex, text[position] & 0xC0 == 0x80 { position += 1 }
        return position
    }
}
