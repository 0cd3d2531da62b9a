// Reads a fuzz input as a sequence of choices, so that a generator of inputs becomes a generator of texts.

/// The choices that a grammar makes. Past the end each choice is the first one, so productions begin with a short one.
package struct Choices {
    private var rest: ArraySlice<UInt8>

    package init(_ bytes: [UInt8]) { rest = bytes[...] }

    package var isAtEnd: Bool { rest.isEmpty }

    /// A number from 0 up to a limit of at most 256.
    package mutating func below(_ limit: Int) -> Int { Int(rest.popFirst() ?? 0) % limit }

    package mutating func pick<Item>(_ items: [Item]) -> Item { items[below(items.count)] }

    /// A production repeated up to a limit, and joined.
    package mutating func several(
        _ limit: Int, separator: String = "", _ make: (inout Choices) -> String
    ) -> String {
        var parts: [String] = []
        for _ in 0..<below(limit + 1) { parts.append(make(&self)) }
        return parts.joined(separator: separator)
    }

    /// The text as bytes with up to three mutations.
    package mutating func mutated(_ text: String) -> [UInt8] {
        var bytes = Array(text.utf8)
        for _ in 0..<below(8) / 2 where !bytes.isEmpty {
            let position = (below(256) << 8 | below(256)) % bytes.count
            switch below(4) {
            case 0: bytes.remove(at: position)
            case 1: bytes[position] = UInt8(below(256))
            case 2: bytes.insert(UInt8(below(256)), at: position)
            default: bytes.insert(contentsOf: bytes[position...].prefix(below(64)), at: position)
            }
        }
        return bytes
    }
}
