// A shadow behind something.

/// The shadow of something drawn: its color, where it falls, how blurred and how strong it is.
///
/// ```swift
/// static let shadow = TweakGroup("Label", "Text", "Shadow", TweakShadow(y: 4))
/// ```
public struct TweakShadow: TweakTemplate {
    /// The color.
    public var color: TweakColor
    /// How far to the right it falls.
    public var x: Double
    /// How far down it falls.
    public var y: Double
    /// How far it is blurred.
    public var radius: Double
    /// How strong it is: 0 is none, 1 as strong as the color.
    public var opacity: Double

    /// A shadow.
    public init(
        color: TweakColor = .black, x: Double = 0, y: Double = 2, radius: Double = 4, opacity: Double = 0.25
    ) {
        self.color = color
        self.x = x
        self.y = y
        self.radius = radius
        self.opacity = opacity
    }

    /// Color, x, y, radius, opacity.
    public static let parts: [TweakPart<TweakShadow>] = [
        TweakPart("color", \.color, help: "Color of the shadow"),
        TweakPart("x", \.x, in: -500...500, unit: "pt", help: "How far to the right it falls"),
        TweakPart("y", \.y, in: -500...500, unit: "pt", help: "How far down it falls"),
        TweakPart("radius", \.radius, in: 0...500, unit: "pt", help: "How far it is blurred"),
        TweakPart("opacity", \.opacity, in: 0...1, help: "How strong it is; 0 is none"),
    ]

    /// The color as strong as the shadow is: its alpha times the opacity.
    public var tint: TweakColor {
        var tint = color
        tint.alpha = color.alpha * opacity
        return tint
    }
}
