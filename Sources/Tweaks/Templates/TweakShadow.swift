// Defines a drop shadow template: color, offset, blur radius and opacity.

/// The drop shadow of a drawn shape: its color, offset, blur radius and opacity.
///
/// ```swift
/// static let shadow = TweakGroup("Label", "Text", "Shadow", TweakShadow(y: 4))
/// ```
public struct TweakShadow: TweakTemplate {
    /// The color.
    public var color: TweakColor
    /// The offset to the right.
    public var x: Double
    /// The offset downwards.
    public var y: Double
    /// The blur radius.
    public var radius: Double
    /// The opacity: 0 is invisible, 1 is the color's own alpha.
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
        TweakPart("x", \.x, in: -500...500, unit: "pt", help: "Offset to the right"),
        TweakPart("y", \.y, in: -500...500, unit: "pt", help: "Offset downwards"),
        TweakPart("radius", \.radius, in: 0...500, unit: "pt", help: "Blur radius"),
        TweakPart("opacity", \.opacity, in: 0...1, help: "Opacity; 0 is invisible"),
    ]

    /// The color to draw with: its alpha is multiplied by the opacity.
    public var tint: TweakColor {
        var tint = color
        tint.alpha = color.alpha * opacity
        return tint
    }
}
