// Maps paths to tweaks: by their bytes without creating a String, and by what they look like.

/// An open-addressing hash table from joined paths to slots.
///
/// A dictionary would need a `String` for each request from a socket; this compares bytes. All stored paths come from
/// the program, so the hash needs no secret seed.
struct PathIndex: Sendable {
    private var slots: [Int32] = Array(repeating: Self.empty, count: 16)
    /// The number of entries and tombstones.
    private var used = 0
    private static let empty: Int32 = -1
    private static let tombstone: Int32 = -2

    /// The slot of a path, or nil.
    func find(_ path: UnsafeBufferPointer<UInt8>, in nodes: [TweakNode?]) -> Int? {
        var position = Self.hash(path) & (slots.count - 1)
        while true {
            let slot = slots[position]
            if slot == Self.empty { return nil }
            if slot >= 0, let node = nodes[Int(slot)], Self.matches(node, path) { return Int(slot) }
            position = (position + 1) & (slots.count - 1)
        }
    }

    /// Adds a slot whose node is already in `nodes`.
    mutating func insert(_ slot: Int, in nodes: [TweakNode?]) {
        if (used + 1) * 2 > slots.count { grow(nodes) }
        guard let node = nodes[slot] else { return }
        place(slot, node)
        used += 1
    }

    /// Removes a slot whose node is still in `nodes`.
    mutating func remove(_ slot: Int, in nodes: [TweakNode?]) {
        guard let node = nodes[slot] else { return }
        var position = node.path.withBytes(Self.hash) & (slots.count - 1)
        while slots[position] != Int32(slot) {
            if slots[position] == Self.empty { return }
            position = (position + 1) & (slots.count - 1)
        }
        slots[position] = Self.tombstone
    }

    private mutating func place(_ slot: Int, _ node: TweakNode) {
        var position = node.path.withBytes(Self.hash) & (slots.count - 1)
        while slots[position] >= 0 { position = (position + 1) & (slots.count - 1) }
        slots[position] = Int32(slot)
    }

    private mutating func grow(_ nodes: [TweakNode?]) {
        let live = slots.filter { $0 >= 0 }
        // A power of two, as the mask requires.
        var count = 16
        while count < live.count * 4 { count *= 2 }
        slots = Array(repeating: Self.empty, count: count)
        used = live.count
        for slot in live {
            if let node = nodes[Int(slot)] { place(Int(slot), node) }
        }
    }

    private static func matches(_ node: TweakNode, _ path: UnsafeBufferPointer<UInt8>) -> Bool {
        node.path.withBytes { bytes in
            guard bytes.count == path.count else { return false }
            for position in 0..<path.count where bytes[position] != path[position] { return false }
            return true
        }
    }

    /// FNV-1a, 64 bits (Fowler, Noll, Vo), folded because only the low bits are used.
    private static func hash(_ path: UnsafeBufferPointer<UInt8>) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in path { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return Int(truncatingIfNeeded: hash ^ (hash >> 32))
    }
}

// MARK: - Look-alikes

/// The tweaks with non-ASCII paths, indexed by normalized text and by skeleton. Part of a registry's state.
struct LookAlikes: Sendable {
    /// Strings compare by canonical equivalence, as NFC does (Unicode Standard Annex #15).
    private var spellings: [String: TweakNode] = [:]
    private var skeletons: [String: [TweakNode]] = [:]

    var isEmpty: Bool { spellings.isEmpty }

    /// The tweak whose path is this text in any normalization.
    func node(spelled path: String) -> TweakNode? { spellings[path] }

    /// The tweaks whose paths have this skeleton.
    func nodes(looking skeleton: String) -> [TweakNode] { skeletons[skeleton] ?? [] }

    mutating func add(_ node: TweakNode) {
        if node.path.isASCII { return }
        spellings[node.path.joined] = node
        skeletons[node.path.joined.skeleton, default: []].append(node)
    }

    mutating func remove(_ node: TweakNode) {
        if node.path.isASCII { return }
        spellings[node.path.joined] = nil
        skeletons[node.path.joined.skeleton]?.removeAll { $0 === node }
    }
}

extension TweakPath {
    fileprivate var isASCII: Bool { joined.utf8.allSatisfy { $0 < 0x80 } }
}

extension RegistryState {
    /// Another tweak whose path looks like the one of this tweak.
    func lookAlike(of node: TweakNode) -> TweakNode? {
        if lookAlikes.isEmpty { return nil }
        let skeleton = node.path.joined.skeleton
        if let other = lookAlikes.nodes(looking: skeleton).first(where: { $0 !== node }) { return other }
        let plain = skeleton.withBytes { index.find($0, in: nodes) }.flatMap { nodes[$0] }
        return plain === node ? nil : plain
    }
}

extension String {
    /// The text with look-alike letters replaced by Latin ones, and without invisible characters.
    ///
    /// Follows Unicode Technical Standard #39, section 4, with the part of its table (confusables.txt, version 16)
    /// that matters in names: Cyrillic and Greek letters, full-width forms, spaces and dashes. Compare skeletons as
    /// Swift strings, by canonical equivalence.
    var skeleton: String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return self }
        var scalars = String.UnicodeScalarView()
        for scalar in unicodeScalars where !scalar.properties.isDefaultIgnorableCodePoint {
            scalars.append(scalar.lookAlike)
        }
        return String(scalars)
    }
}

extension Unicode.Scalar {
    /// `U+200B`
    var codePoint: String {
        let digits = String(value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    fileprivate var lookAlike: Unicode.Scalar {
        if let known = Self.lookAlikes[self] { return known }
        switch value {
        case 0xFF01...0xFF5E: return Unicode.Scalar(value - 0xFF01 + 0x21) ?? self
        case 0x2010...0x2015, 0x2212, 0xFE58, 0xFE63: return "-"
        default: return properties.generalCategory == .spaceSeparator ? " " : self
        }
    }

    private static let lookAlikes: [Unicode.Scalar: Unicode.Scalar] = {
        let pairs = [
            ("аԁеһіјӏоԛрѕԝхусѵ", "adehijloqpswxycv"), ("АВЕԌНІЈКМОРЅТХҮСԜ", "ABEGHIJKMOPSTXYCW"),
            ("αγιονρσυ", "ayiovpou"), ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),
        ]
        var table: [Unicode.Scalar: Unicode.Scalar] = ["\u{2019}": "'", "\u{212A}": "K"]
        for (others, latin) in pairs {
            for (other, letter) in zip(others.unicodeScalars, latin.unicodeScalars) { table[other] = letter }
        }
        return table
    }()
}
