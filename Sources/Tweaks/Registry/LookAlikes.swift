// Finds tweak paths that are equal in another Unicode normalization, or that look the same on a screen.

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
