// Parses, prints and validates points: `12,40`, in JSON `[12,40]`. A definition has a component for each number.

enum PointKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? {
        guard let (x, y) = parts(text), let x = NumberKind.number(x), let y = NumberKind.number(y) else { return nil }
        return .point(TweakPoint(x: x, y: y))
    }

    static func parseLeniently(_ text: String, _ context: LenientContext) throws(TweakError) -> TweakValue? {
        guard let (x, y) = parts(context.definition.withoutUnit(text)), let x = try number(x, context),
            let y = try number(y, context)
        else { return nil }
        return .point(TweakPoint(x: x, y: y))
    }

    private static func number(_ text: String, _ context: LenientContext) throws(TweakError) -> Double? {
        if let number = NumberKind.number(text) { return number }
        return try NumberKind.parseLeniently(text, context).flatMap { Double($0) }
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

extension Substring {
    /// The text without blanks at both ends.
    var trimmedBlanks: String {
        var rest = self
        while rest.utf8.first == 0x20 { rest.removeFirst() }
        while rest.utf8.last == 0x20 { rest.removeLast() }
        return String(rest)
    }
}

extension TweakPoint: TweakConvertible {
    /// From a `.point` of finite numbers.
    public init?(_ value: TweakValue) {
        guard case .point(let point) = value, point.x.isFinite, point.y.isFinite else { return nil }
        self = point
    }
    /// `.point`.
    public var erased: TweakValue { .point(self) }
    /// `.point`.
    public static var tweakKind: TweakKind? { .point }
}
