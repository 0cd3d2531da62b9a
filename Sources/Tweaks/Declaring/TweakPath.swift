// Defines the three-part path of a tweak.

/// A tweak's path: category, collection and name, compared byte by byte.
///
/// Each part is 1–128 bytes of UTF-8 without `/`, control, line-separator, invisible or bidirectional-control
/// characters; so the joined form is unambiguous.
public struct TweakPath: Sendable {
    /// The three parts joined by `/`, as in `Content/Text/Size`.
    public let joined: String
    private let firstSlash: UInt16
    private let secondSlash: UInt16

    /// A path from its three parts.
    /// - Throws: ``TweakError`` with code `usage` that names the invalid part.
    public init(_ category: String, _ collection: String, _ name: String) throws(TweakError) {
        for (part, role) in [(category, "category"), (collection, "collection"), (name, "name")] {
            try Self.check(part, role)
        }
        joined = "\(category)/\(collection)/\(name)"
        firstSlash = UInt16(category.utf8.count)
        secondSlash = UInt16(category.utf8.count + 1 + collection.utf8.count)
    }

    /// A path from its joined form, `category/collection/name`.
    /// - Throws: ``TweakError`` with code `usage` when there are not exactly three parts, or one is invalid.
    public init(_ joined: String) throws(TweakError) {
        let parts = joined.pathParts
        guard parts.count == 3 else {
            throw TweakError(.usage, "\(Quoting.excerpt(joined)) is not a path; write category/collection/name")
        }
        try self.init(parts[0], parts[1], parts[2])
    }

    private static func check(_ part: String, _ role: String) throws(TweakError) {
        guard (1...128).contains(part.utf8.count), !part.utf8.contains(UInt8(ascii: "/")) else {
            throw TweakError(
                .usage, "the \(role) \(Quoting.excerpt(part)) is not allowed; use 1–128 bytes without “/”")
        }
        if let scalar = Quoting.firstUnsafe(part) {
            let what = "contains \(scalar.codePoint), which is invisible; remove it"
            throw TweakError(.usage, "the \(role) \(Quoting.excerpt(part)) \(what)")
        }
    }

    /// The first part.
    public var category: String { slice(0, firstSlash) }
    /// The second part.
    public var collection: String { slice(firstSlash + 1, secondSlash) }
    /// The third part.
    public var name: String { slice(secondSlash + 1, UInt16(joined.utf8.count)) }

    /// Category and collection, with the slash between them.
    package var groupBytes: Substring.UTF8View { joined.utf8.prefix(Int(secondSlash)) }

    /// Whether category and collection are the same.
    func hasSameGroup(as other: TweakPath) -> Bool {
        if secondSlash != other.secondSlash { return false }
        let count = Int(secondSlash)
        return withBytes { left in
            other.withBytes { right in
                // Byte by byte: slices and iterators are slow in unoptimized builds, especially with a sanitizer.
                var position = 0
                while position < count, left[position] == right[position] { position += 1 }
                return position == count
            }
        }
    }

    /// Calls `body` with the bytes of the joined form.
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        joined.withBytes(body)
    }

    private func slice(_ start: UInt16, _ end: UInt16) -> String {
        let utf8 = joined.utf8
        let from = utf8.index(utf8.startIndex, offsetBy: Int(start))
        return String(joined[from..<utf8.index(utf8.startIndex, offsetBy: Int(end))])
    }

    /// The path as a token of the protocol: in quotes if it contains a blank, a quote, `#`, `=`, `*` or `?`.
    public var token: String {
        Quoting.needsQuotes(joined) ? Quoting.json(joined) : joined
    }
}

extension TweakPath: Hashable, CustomStringConvertible {
    // Not `String ==`, which treats canonically equivalent spellings as equal.
    /// Compares byte by byte.
    public static func == (left: TweakPath, right: TweakPath) -> Bool {
        left.secondSlash == right.secondSlash
            && left.withBytes { left in right.withBytes { right in left.elementsEqual(right) } }
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The joined form.
    public var description: String { joined }
}

extension String {
    /// The parts between slashes.
    package var pathParts: [String] {
        // By bytes: in Swift, a slash followed by a combining mark is a different character.
        utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { String(Substring($0)) }
    }
}
