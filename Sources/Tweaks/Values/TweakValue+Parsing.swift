// How values are read from text, one small function for each kind.

extension TweakValue {
    /// A value of the given kind from its text, or nil when the text is none.
    ///
    /// Strings and choices are taken as they are: quotes are the tokenizer's business.
    /// - Parameters:
    ///   - text: What was written, without surrounding quotes.
    ///   - kind: The kind to read; `.action` has no values.
    package init?(parsing text: String, as kind: TweakKind) {
        let value: TweakValue? =
            switch kind {
            case .bool: Self.parseBool(text).map(TweakValue.bool)
            case .int: Self.parseInt(text)
            case .number: Self.parseNumber(text).map(TweakValue.number)
            case .string: .string(text)
            case .color: TweakColor(text).map(TweakValue.color)
            case .choice: .choice(text)
            case .duration: DurationText.parse(text).map { .duration(.nanoseconds($0)) }
            case .action: nil
            }
        guard let value else { return nil }
        self = value
    }

    private static func parseBool(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "on", "yes", "1": true
        case "false", "off", "no", "0": false
        default: nil
        }
    }

    // Decimal or 0x hexadecimal; `_` only between digits, as in Swift source.
    private static func parseInt(_ text: String) -> TweakValue? {
        if let whole = Int64(text) { return .int(whole) }
        var digits = text[...]
        let sign = digits.first == "-" || digits.first == "+" ? String(digits.removeFirst()) : ""
        let radix = digits.lowercased().hasPrefix("0x") ? 16 : 10
        if radix == 16 { digits = digits.dropFirst(2) }
        guard let first = digits.first, let last = digits.last, first != "_", last != "_" else { return nil }
        guard !zip(digits, digits.dropFirst()).contains(where: { $0 == "_" && $1 == "_" }) else { return nil }
        guard first != "-", first != "+" else { return nil }
        let plain = sign + digits.filter { $0 != "_" }
        return Int64(plain, radix: radix).map(TweakValue.int)
            ?? UInt64(plain, radix: radix).flatMap { TweakValue(whole: $0) }
    }

    // `Double.init` also reads hexadecimal, "inf" and "nan", so the characters are checked first.
    private static func parseNumber(_ text: String) -> Double? {
        // Most are small whole numbers, which need no decimal conversion.
        if text.utf8.count <= 15, let whole = Int64(text), whole != 0 { return Double(whole) }
        let allowed = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"),
                UInt8(ascii: "+"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard allowed, let value = Double(text), value.isFinite else { return nil }
        // Too small for a double: 0 is not what was written.
        let mantissa = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        if value == 0, mantissa.contains(where: { (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }) { return nil }
        return value
    }
}
