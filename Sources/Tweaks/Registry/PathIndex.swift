// Maps the bytes of a path to its slot in the registry without creating a String.

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
