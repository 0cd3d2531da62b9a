// Parses, prints and validates numbers: 64-bit integers, finite doubles, durations, and points of two doubles.

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
        var calculation = Calculation(plain)
        guard let result = calculation.result()?.amount, calculation.hasOperator else { return nil }
        if let whole = result.whole.flatMap({ TweakValue(whole: $0) }) { return whole }
        throw context.definition.unreadable(text, meaning: result, context.path)
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
        if case .literal(let text) = json { whole(text) } else { nil }
    }

    /// The whole number that JSON's text of a number stands for: `5`, `5.0` and `50e-1` are the same.
    static func whole(_ text: String) -> TweakValue? {
        if let whole = Int64(text) { return .int(whole) }
        return ExactDecimal(text)?.whole.flatMap { TweakValue(whole: $0) }
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

    static func hint(at text: String) -> String? { CommaText.hint(at: text, isWhole: true) }

    static func isSet(_ value: TweakValue) -> Bool { value != .int(0) }
}

enum NumberKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? { number(text).map(TweakValue.number) }

    // `Double.init` also reads hexadecimal, "inf" and "nan", so the characters are checked first.
    static func number(_ text: String) -> Double? {
        // Small whole numbers are the common case and need no decimal conversion.
        if text.utf8.count <= 15, let whole = Int64(text), whole != 0 { return Double(whole) }
        let allowed = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "+"), UInt8(ascii: "-"): true
            default: byte.isDigit
            }
        }
        guard allowed, let value = Double(text), value.isFinite else { return nil }
        // Underflow: the text is not 0, but the double is.
        let mantissa = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        if value == 0, mantissa.contains(where: { $0.isDigit && $0 != UInt8(ascii: "0") }) { return nil }
        return value
    }

    static func parseLeniently(_ text: String, _ context: LenientContext) throws(TweakError) -> TweakValue? {
        let plain = context.definition.withoutUnit(text)
        return (number(plain) ?? Calculation.number(plain)?.nearest).map(TweakValue.number)
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

    static func hint(at text: String) -> String? { CommaText.hint(at: text) }

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

enum DurationKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? {
        DurationText.parse(text).map { .duration(.nanoseconds($0)) }
    }

    static func parseLeniently(_ text: String, _ context: LenientContext) throws(TweakError) -> TweakValue? {
        var calculation = Calculation(text, readsDurations: true)
        guard var result = calculation.result() else {
            guard let mistake = calculation.mistake else { return nil }
            throw context.definition.unreadable(text, reason: mistake, context.path)
        }
        if !result.isDuration {
            // A number alone has the unit of the default.
            guard let unit = unit(of: context.standard, for: result.amount),
                let amount = Fraction(unit).flatMap({ result.amount.times($0) })
            else { return nil }
            result = Calculation.Quantity(amount: amount, isDuration: true)
        }
        // A quotient is rounded to the nanosecond, while a duration that is written out must be exact.
        let whole = calculation.hasOperator ? result.amount.rounded : result.amount.whole
        return whole.flatMap { Int64(exactly: $0) }.map { .duration(.nanoseconds($0)) }
    }

    private static func unit(of standard: TweakValue?, for amount: Fraction) -> Int128? {
        // 0 is the same in all units.
        if amount.numerator == 0 { return 1 }
        guard case .duration(let duration)? = standard else { return nil }
        return duration.exactNanoseconds.flatMap(DurationText.unit)
    }

    static func text(_ value: TweakValue) -> String {
        guard case .duration(let duration) = value else { return "" }
        return duration.exactNanoseconds.map(DurationText.print) ?? "\(duration)"
    }

    static func json(_ value: TweakValue) -> JSON { value.whole == nil ? .null : .string(text(value)) }

    static func validate(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue {
        guard case .duration = value else { throw definition.wrongKind(value, path) }
        guard let nanoseconds = value.whole else {
            throw path.refusal(.badValue, "a duration is a 64-bit count of nanoseconds; this one is not")
        }
        return try definition.validateWhole(nanoseconds, path, policy)
    }

    static func remedy(_ definition: TweakDefinition) -> String {
        "write a time such as 250ms, 1.5s or 1h30m" + definition.rangeRemedy
    }

    static func hint(at text: String) -> String? { CommaText.hint(at: text) }

    static func isSet(_ value: TweakValue) -> Bool { value != .duration(.zero) }
}

/// Explains a comma within a number, which other languages write for a point, or between thousands.
private enum CommaText {
    /// How to write a number such as `1,5` or `1,000`; nil for other text.
    static func hint(at text: String, isWhole: Bool = false) -> String? {
        // A longer text is no number with a comma, and would be repeated in the error.
        guard text.utf8.count <= 40 else { return nil }
        let sign = text.hasPrefix("-") || text.hasPrefix("+") ? text.prefix(1) : ""
        let parts = text.dropFirst(sign.count).split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count > 1, parts.dropLast().allSatisfy({ isDigits($0) }), let last = parts.last else { return nil }
        let digits = last.prefix { $0.isASCII && $0.isNumber }
        let unit = last.dropFirst(digits.count)
        guard !digits.isEmpty, unit.allSatisfy(\.isLetter) else { return nil }
        var readings: [String] = []
        let hasThousands =
            parts[0].utf8.count <= 3 && (parts.dropFirst().dropLast() + [digits]).allSatisfy { $0.utf8.count == 3 }
        if hasThousands { readings.append(sign + parts.joined()) }
        if parts.count == 2, !isWhole { readings.append(sign + parts.joined(separator: ".")) }
        return "a comma separates values" + (readings.isEmpty ? "" : "; write " + readings.joined(separator: " or "))
    }

    private static func isDigits(_ text: Substring) -> Bool { !text.isEmpty && text.utf8.allSatisfy(\.isDigit) }
}

enum PointKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? {
        guard let (x, y) = parts(text), let x = NumberKind.number(x), let y = NumberKind.number(y) else { return nil }
        return .point(TweakPoint(x: x, y: y))
    }

    static func parseLeniently(_ text: String, _ context: LenientContext) throws(TweakError) -> TweakValue? {
        guard let (x, y) = parts(context.definition.withoutUnit(text)),
            let x = try NumberKind.parseLeniently(x, context).flatMap({ Double($0) }),
            let y = try NumberKind.parseLeniently(y, context).flatMap({ Double($0) })
        else { return nil }
        return .point(TweakPoint(x: x, y: y))
    }

    /// The texts on both sides of the comma; JSON's brackets around them are optional.
    private static func parts(_ text: String) -> (String, String)? {
        let isBracketed = text.utf8.first == UInt8(ascii: "[") && text.utf8.last == UInt8(ascii: "]")
        let plain = isBracketed ? text.dropFirst().dropLast() : text[...]
        let parts = plain.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmedBlanks }
        return parts.count == 2 ? (parts[0], parts[1]) : nil
    }

    static func text(_ value: TweakValue) -> String {
        guard case .point(let point) = value else { return "" }
        return "\(TweakValue.shortest(point.x)),\(TweakValue.shortest(point.y))"
    }

    static func json(_ value: TweakValue) -> JSON {
        guard case .point(let point) = value, point.x.isFinite, point.y.isFinite else { return .null }
        return .array([.number(point.x), .number(point.y)])
    }

    static func value(_ json: JSON, of component: TweakKind?) -> TweakValue? {
        if let text = json.string { return parse(text, of: nil) }
        let numbers = json.elements.compactMap { NumberKind.value($0, of: nil).flatMap { Double($0) } }
        guard numbers.count == 2, json.elements.count == 2 else { return nil }
        return .point(TweakPoint(x: numbers[0], y: numbers[1]))
    }

    static func validate(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue {
        guard case .point(let point) = value else { throw definition.wrongKind(value, path) }
        let components = definition.components
        guard components.count == 2 else { return ValidatedValue(value) }
        let x = try components[0].validate(.number(point.x), for: path, policy: policy)
        let y = try components[1].validate(.number(point.y), for: path, policy: policy)
        guard let newX = Double(x.value), let newY = Double(y.value) else { throw definition.wrongKind(value, path) }
        return ValidatedValue(
            .point(TweakPoint(x: newX, y: newY)), TweakAdjustment(of: [x.adjustment, y.adjustment], to: value))
    }

    static func remedy(_ definition: TweakDefinition) -> String {
        "write two numbers such as 12,40" + definition.rangeRemedy
    }

    static func isSet(_ value: TweakValue) -> Bool { value != .point(.zero) }
}

extension TweakPointConvertible {
    /// From a `.point` of finite numbers.
    public init?(_ value: TweakValue) {
        guard case .point(let point) = value, point.x.isFinite, point.y.isFinite else { return nil }
        self.init(point)
    }
    /// `.point`.
    public var erased: TweakValue { .point(tweakPoint) }
    /// `.point`.
    public static var tweakKind: TweakKind? { .point }
}

extension TweakPoint: TweakPointConvertible {
    /// The same point.
    public init(_ point: TweakPoint) { self = point }
    /// The same point.
    public var tweakPoint: TweakPoint { self }
}
