// Parses, prints and validates finite doubles.

enum NumberKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? { number(text).map(TweakValue.number) }

    // `Double.init` also reads hexadecimal, "inf" and "nan", so the characters are checked first.
    static func number(_ text: String) -> Double? {
        // Small whole numbers are the common case and need no decimal conversion.
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
        // Underflow: the text is not 0, but the double is.
        let mantissa = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        if value == 0, mantissa.contains(where: { (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }) { return nil }
        return value
    }

    static func parseLeniently(_ text: String, _ context: LenientContext) throws(TweakError) -> TweakValue? {
        let plain = context.definition.withoutUnit(text)
        return (number(plain) ?? Calculation.result(of: plain)?.nearest).map(TweakValue.number)
    }

    static func text(_ value: TweakValue) -> String {
        if case .number(let number) = value { TweakValue.shortest(number) } else { "" }
    }

    static func append(_ value: TweakValue, to bytes: inout [UInt8]) {
        guard case .number(let number) = value else { return }
        guard let whole = TweakValue.shortWhole(number) else { return bytes.append(number.description) }
        bytes.append(decimal: whole)
    }

    static func json(_ value: TweakValue) -> JSON {
        if case .number(let number) = value, number.isFinite { .number(number) } else { .null }
    }

    static func value(_ json: JSON, of component: TweakKind?) -> TweakValue? {
        if case .literal(let text) = json { parse(text, of: nil) } else { nil }
    }

    static func validate(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue {
        // NaN and infinities get their own error, not the one for a wrong kind.
        if case .number(let number) = value { return try definition.validateReal(number, path, policy) }
        guard let number = Double(value) else { throw definition.wrongKind(value, path) }
        return try definition.validateReal(number, path, policy)
    }

    static func remedy(_ definition: TweakDefinition) -> String {
        "write a finite number such as 72 or 1.5e3" + definition.rangeRemedy
    }

    static func isSet(_ value: TweakValue) -> Bool { value != .number(0) }
}

extension TweakValue {
    /// The shortest text that parses to the same double; whole numbers without a decimal point.
    package static func shortest(_ value: Double) -> String {
        shortWhole(value).map { String($0) } ?? value.description
    }

    /// A whole number that is printed without a decimal point; nil for others.
    fileprivate static func shortWhole(_ value: Double) -> Int64? {
        guard let whole = Int64(exactly: value), whole.magnitude < 1 << 53 else { return nil }
        return whole
    }
}
