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
        var position = Self.withBytes(node) { Self.hash($0) } & (slots.count - 1)
        while slots[position] != Int32(slot) {
            if slots[position] == Self.empty { return }
            position = (position + 1) & (slots.count - 1)
        }
        slots[position] = Self.tombstone
    }

    private mutating func place(_ slot: Int, _ node: TweakNode) {
        var position = Self.withBytes(node) { Self.hash($0) } & (slots.count - 1)
        while slots[position] >= 0 { position = (position + 1) & (slots.count - 1) }
        slots[position] = Int32(slot)
    }

    private mutating func grow(_ nodes: [TweakNode?]) {
        let live = slots.filter { $0 >= 0 }
        slots = Array(repeating: Self.empty, count: max(16, live.count.nextPowerOfTwo * 4))
        used = live.count
        for slot in live {
            if let node = nodes[Int(slot)] { place(Int(slot), node) }
        }
    }

    private static func matches(_ node: TweakNode, _ path: UnsafeBufferPointer<UInt8>) -> Bool {
        withBytes(node) { bytes in
            guard bytes.count == path.count else { return false }
            for position in 0..<path.count where bytes[position] != path[position] { return false }
            return true
        }
    }

    private static func withBytes<Result>(
        _ node: TweakNode, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        node.path.withBytes(body)
    }

    /// FNV-1a, 64 bits (Fowler, Noll, Vo), folded because only the low bits are used.
    private static func hash(_ path: UnsafeBufferPointer<UInt8>) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in path { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return Int(truncatingIfNeeded: hash ^ (hash >> 32))
    }
}

extension TweakPath {
    /// The bytes of the joined form.
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        joined.withBytes(body)
    }
}

extension String {
    /// Calls `body` with the UTF-8 of this string; native strings are not copied.
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        utf8.withContiguousStorageIfAvailable(body) ?? Array(utf8).withUnsafeBufferPointer(body)
    }
}

extension Int {
    /// The smallest power of two that is not less.
    fileprivate var nextPowerOfTwo: Int {
        self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount)
    }
}
