// Parses, prints and validates 64-bit integers.

enum IntKind: KindRules {
    // Decimal or 0x hexadecimal; `_` only between digits, as in Swift source.
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? {
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

    static func parseLeniently(_ text: String, _ context: LenientContext) throws(TweakError) -> TweakValue? {
        let plain = context.definition.withoutUnit(text)
        if let value = parse(plain, of: nil) { return value }
        guard let result = Calculation.result(of: plain) else { return nil }
        if let whole = result.whole.flatMap({ TweakValue(whole: $0) }) { return whole }
        throw context.definition.unreadable(text, result, context.path)
    }

    static func text(_ value: TweakValue) -> String {
        switch value {
        case .int(let whole): String(whole)
        case .unsigned(let whole): String(whole)
        default: ""
        }
    }

    static func append(_ value: TweakValue, to bytes: inout [UInt8]) {
        switch value {
        case .int(let whole): bytes.append(decimal: whole)
        case .unsigned(let whole): bytes.append(decimal: whole)
        default: break
        }
    }

    static func json(_ value: TweakValue) -> JSON {
        switch value {
        case .int(let whole): .int(whole)
        case .unsigned(let whole): .unsigned(whole)
        default: .null
        }
    }

    static func value(_ json: JSON, of component: TweakKind?) -> TweakValue? {
        if case .literal(let text) = json { JSONNumber.whole(text) } else { nil }
    }

    static func validate(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue {
        switch value {
        case .int(let whole): return try definition.validateWhole(Int128(whole), path, policy)
        case .unsigned(let whole): return try definition.validateWhole(Int128(whole), path, policy)
        case .number(let number) where number.rounded() == number && number.isFinite:
            if let whole = TweakValue(whole: Int128(max(min(number, 0x1p100), -0x1p100)))?.whole {
                return try definition.validateWhole(whole, path, policy)
            }
            // Beyond 64 bits, so outside any possible bound.
            let bounds = definition.bounds
            guard let bound = number < 0 ? bounds?.lower : bounds?.upper else {
                throw definition.wrongKind(value, path)
            }
            return try definition.outside(value, nearest: bound, path, policy)
        default: throw definition.wrongKind(value, path)
        }
    }

    static func remedy(_ definition: TweakDefinition) -> String {
        "write a whole number of 64 bits such as 42 or 0x2a" + definition.rangeRemedy
    }

    static func isSet(_ value: TweakValue) -> Bool { value != .int(0) }
}
