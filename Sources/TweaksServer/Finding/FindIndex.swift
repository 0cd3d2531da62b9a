// What `find` looks through: the text of all tweaks, folded once.

import Tweaks

/// The folded text of one state of a registry, as positions in its listing. Immutable.
///
/// It holds bytes alone and no tweak: one that is removed does not live on for having been searched.
struct FindIndex: Sendable {
    /// Where the text of one tweak stands.
    struct Entry: Sendable {
        /// Which letters the path holds: most tweaks are passed over by this alone.
        let mask: UInt64
        let path: UInt32
        /// Help, unit and choices: which of `details`.
        let details: Int32
        let pathCount: UInt16
        let collectionAt: UInt16
        let nameAt: UInt16
        /// Words begin where only the path as it was written shows it: `fontSize`.
        let hasHiddenWords: Bool
    }

    /// Help, unit and choices, which many tweaks have in common: where the text stands, and its letters.
    struct Details: Sendable {
        let mask: UInt64
        let range: Range<Int>
    }

    /// The state of the registry that it was made of.
    let generation: UInt64
    private(set) var entries: [Entry] = []
    private(set) var details: [Details] = []
    private(set) var bytes: [UInt8] = []

    init(_ listing: TweakListing) {
        generation = listing.generation
        entries.reserveCapacity(listing.count)
        bytes.reserveCapacity(listing.count * 40)
        var known: [String: Int32] = [:]
        for group in listing.groups {
            let prefix = Self.folded(group)
            for node in group.nodes { append(node, prefix, &known) }
        }
    }

    private static func folded(_ group: TweakListing.Group) -> (bytes: [UInt8], collectionAt: Int) {
        // Part by part, so that nothing combines with a slash.
        var bytes = FoldedText.bytes(group.category)
        bytes.append(UInt8(ascii: "/"))
        let collectionAt = bytes.count
        FoldedText.append(group.collection, to: &bytes)
        bytes.append(UInt8(ascii: "/"))
        return (bytes, collectionAt)
    }

    private mutating func append(
        _ node: TweakNode, _ prefix: (bytes: [UInt8], collectionAt: Int), _ known: inout [String: Int32]
    ) {
        let start = bytes.count
        bytes += prefix.bytes
        FoldedText.append(node.path.name, to: &bytes)
        let count = bytes.count - start
        let mask = FoldedText.mask(bytes[start...])
        entries.append(
            Entry(
                mask: mask, path: UInt32(start), details: appendDetails(of: node.definition, &known),
                pathCount: UInt16(count), collectionAt: UInt16(prefix.collectionAt),
                nameAt: UInt16(prefix.bytes.count), hasHiddenWords: node.path.withBytes(Self.hasHiddenWords)))
    }

    private static func hasHiddenWords(_ path: UnsafeBufferPointer<UInt8>) -> Bool {
        // Beyond ASCII, folding moves the letters about; there such words are not found.
        var isHidden = false
        for position in path.indices.dropFirst() {
            let (before, byte) = (path[position - 1], path[position])
            if byte >= 0x80 { return false }
            if FoldedText.isUpper(byte), FoldedText.isLower(before) || FoldedText.isDigit(before) { isHidden = true }
        }
        return isHidden && (path.first ?? 0) < 0x80
    }

    /// - Returns: Its position; -1 when there is no text.
    private mutating func appendDetails(of definition: TweakDefinition, _ known: inout [String: Int32]) -> Int32 {
        // Line by line, so that no word spans two of them.
        var text = definition.help ?? ""
        if let unit = definition.unit { text += "\n" + unit }
        for choice in definition.choices {
            text += "\n" + choice.name
            if let label = choice.label { text += "\n" + label }
        }
        if text.isEmpty { return -1 }
        if let position = known[text] { return position }
        let start = bytes.count
        FoldedText.append(text, to: &bytes)
        details.append(Details(mask: FoldedText.mask(bytes[start...]), range: start..<bytes.count))
        known[text] = Int32(details.count - 1)
        return Int32(details.count - 1)
    }
}
