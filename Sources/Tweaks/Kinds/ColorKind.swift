// Parses, prints and validates colors.

enum ColorKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? {
        TweakColor(text).map(TweakValue.color)
    }

    static func text(_ value: TweakValue) -> String {
        if case .color(let color) = value { color.description } else { "" }
    }

    static func validate(
        _ value: TweakValue, by definition: TweakDefinition, for path: TweakPath, _ policy: TweakPolicy
    ) throws(TweakError) -> ValidatedValue {
        guard case .color = value else { throw definition.wrongKind(value, path) }
        return ValidatedValue(value)
    }

    static func remedy(_ definition: TweakDefinition) -> String {
        "write #RRGGBB, #RRGGBBAA, rgb(r,g,b), hsl(h,s%,l%) or a CSS color name"
    }

    static func guess(at text: String) -> String? { TweakColor.name(near: text) }
}
