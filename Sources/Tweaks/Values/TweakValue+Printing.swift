// How values are written: each text reads back as the same value.

extension TweakValue: CustomStringConvertible {
    /// The value as the protocol, `export` and config files write it; it reads back as the same value.
    public var text: String {
        switch self {
        case .bool(let value): value ? "true" : "false"
        case .int(let value): String(value)
        case .unsigned(let value): String(value)
        case .number(let value): Self.shortest(value)
        case .string(let value): Quoting.json(value)
        case .color(let value): value.description
        case .choice(let value): Quoting.isBareWord(value) ? value : Quoting.json(value)
        case .duration(let value): value.exactNanoseconds.map(DurationText.print) ?? "\(value)"
        }
    }

    /// Appends the same as UTF-8: texts are long, and need not become another text first.
    package func append(to bytes: inout [UInt8]) {
        switch self {
        case .string(let value): Quoting.appendJSON(value, to: &bytes)
        case .int(let number): bytes.append(decimal: number)
        case .number(let number):
            guard let whole = Self.shortWhole(number) else { return bytes.append(contentsOf: text.utf8) }
            bytes.append(decimal: whole)
        default: bytes.append(contentsOf: text.utf8)
        }
    }

    /// The same as ``text``.
    public var description: String { text }

    /// The shortest text that reads back as the same double; whole numbers without a point.
    package static func shortest(_ value: Double) -> String {
        shortWhole(value).map { String($0) } ?? value.description
    }

    /// A whole number that is printed without a point; nil for others.
    private static func shortWhole(_ value: Double) -> Int64? {
        guard let whole = Int64(exactly: value), whole.magnitude < 1 << 53 else { return nil }
        return whole
    }
}
