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
        if case .string(let value) = self { return Quoting.appendJSON(value, to: &bytes) }
        bytes.append(contentsOf: text.utf8)
    }

    /// The same as ``text``.
    public var description: String { text }

    /// The shortest text that reads back as the same double; whole numbers without a point.
    package static func shortest(_ value: Double) -> String {
        if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return String(whole) }
        return value.description
    }
}
