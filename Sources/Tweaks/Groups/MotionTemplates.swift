// Defines the templates for drawing: springs, easing curves and shadows.

/// A spring animation: a mass on a damped spring, released at rest one unit away from its target.
///
/// ```swift
/// static let spring = TweakGroup("Card", "Drop", "Spring", TweakSpring(response: .seconds(0.3)))
/// let height = spring.value.progress(at: clock.now - dropped) * depth
/// ```
///
/// It is the harmonic oscillator x″ + 2ζω x′ + ω² x = 0 (H. Goldstein, “Classical Mechanics”, or Wikipedia, “Harmonic
/// oscillator”) with ω = 2π ÷ response and ζ the damping fraction, as in Apple's “Designing Fluid Interfaces” (WWDC
/// 2018). For a mass of 1 that is a stiffness of ω² and a damping of 2ζω.
public struct TweakSpring: TweakTemplate {
    /// The period of one oscillation without damping: the stiffer the spring, the shorter.
    public var response: Duration
    /// The damping ratio: 0 never stops, 1 is critically damped (fastest without overshoot), above 1 is slower.
    public var dampingFraction: Double

    /// A spring.
    public init(response: Duration = .milliseconds(500), dampingFraction: Double = 0.825) {
        self.response = response
        self.dampingFraction = dampingFraction
    }

    /// A spring that moves a mass of 1.
    /// - Parameters:
    ///   - stiffness: The force per unit of distance, above 0.
    ///   - damping: The friction force per unit of speed.
    public init(stiffness: Double, damping: Double) {
        let frequency = max(stiffness, .leastNormalMagnitude).squareRoot()
        self.init(response: .seconds(2 * .pi / frequency), dampingFraction: damping / (2 * frequency))
    }

    /// Response, damping fraction.
    public static let parts: [TweakPart<TweakSpring>] = [
        TweakPart(
            "response", \.response, in: .milliseconds(10) ... .seconds(10),
            help: "Period of one oscillation without damping; shorter is stiffer"),
        TweakPart(
            "damping fraction", \.dampingFraction, in: 0...5,
            help: "1 stops without overshoot, below 1 oscillates, above 1 is sluggish"),
    ]

    /// The progress after some time: 0 at first, then toward 1, and beyond it when it overshoots.
    /// - Parameters:
    ///   - time: The time since the release.
    ///   - velocity: The initial speed, in whole distances per second.
    public func progress(at time: Duration, velocity: Double = 0) -> Double {
        guard time > .zero else { return 0 }
        guard response > .zero else { return 1 }
        let frequency = 2 * Double.pi / (response / .seconds(1))
        let flow = Propagator(angle: frequency * (time / .seconds(1)), damping: dampingFraction)
        return 1 - flow.identity + flow.linear * velocity / frequency
    }
}

/// The time evolution of a spring, as identity + linear · A, where A maps (x, x′) to (x′, x″): so A² = −1 − 2ζA.
///
/// It is the matrix exponential exp(angle · A): it needs no sines, and no cases for under- and overdamped springs.
private struct Propagator {
    private(set) var identity = 1.0
    private(set) var linear = 0.0

    init(angle: Double, damping: Double) {
        // The exponential series of a small part of the angle, then squared once for each halving.
        var (part, halvings) = (angle, 0)
        while part * (1 + 2 * damping.magnitude) > 0.25 { (part, halvings) = (part / 2, halvings + 1) }
        var term = self
        for count in 1...12 {
            let scale = part / Double(count)
            (term.identity, term.linear) = (-term.linear * scale, (term.identity - 2 * damping * term.linear) * scale)
            identity = identity + term.identity
            linear = linear + term.linear
        }
        for _ in 0..<halvings {
            let (i, l) = (identity, linear)
            identity = i * i - l * l
            linear = 2 * i * l - 2 * damping * l * l
        }
    }
}

/// An easing curve between two states, CSS's `cubic-bezier(x1, y1, x2, y2)`, as four tweaks; ``TweakCurve`` is one.
///
/// ```swift
/// static let ease = TweakGroup("Card", "Flip", "Ease", TweakEase.inOut)
/// let angle = 180 * ease.value.progress(at: elapsed / duration)
/// ```
///
/// The definition is that of W3C, “CSS Easing Functions Level 1”, section “Cubic Bézier Easing Functions”.
public struct TweakEase: TweakTemplate {
    /// Time of the first control point, 0…1.
    public var x1: Double
    /// Progress at the first control point.
    public var y1: Double
    /// Time of the second control point, 0…1.
    public var x2: Double
    /// Progress at the second control point.
    public var y2: Double

    /// A curve from its control points.
    public init(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) {
        (self.x1, self.y1, self.x2, self.y2) = (x1, y1, x2, y2)
    }

    /// CSS's `ease`: fast at first, slow at the end.
    public static var standard: TweakEase { TweakEase(0.25, 0.1, 0.25, 1) }
    /// CSS's `linear`.
    public static var linear: TweakEase { TweakEase(0, 0, 1, 1) }
    /// CSS's `ease-in`: slow at first.
    public static var `in`: TweakEase { TweakEase(0.42, 0, 1, 1) }
    /// CSS's `ease-out`: slow at the end.
    public static var out: TweakEase { TweakEase(0, 0, 0.58, 1) }
    /// CSS's `ease-in-out`: slow at both ends.
    public static var inOut: TweakEase { TweakEase(0.42, 0, 0.58, 1) }

    /// X1, y1, x2, y2.
    public static let parts: [TweakPart<TweakEase>] = [
        TweakPart("x1", \.x1, in: 0...1, help: "Time of the curve's first control point"),
        TweakPart("y1", \.y1, in: -5...5, help: "Progress at the first control point; below 0 moves back first"),
        TweakPart("x2", \.x2, in: 0...1, help: "Time of the curve's second control point"),
        TweakPart("y2", \.y2, in: -5...5, help: "Progress at the second control point; above 1 overshoots"),
    ]

    /// The same curve as one value: times and progress out of its range are limited.
    public var curve: TweakCurve { TweakCurve(x1, y1, x2, y2) }

    /// The control points of a curve; nil for steps, which have none.
    public init?(_ curve: TweakCurve) {
        guard case .bezier(let x1, let y1, let x2, let y2) = curve.shape else { return nil }
        self.init(x1, y1, x2, y2)
    }

    /// The progress after a fraction of the time; 0 before the start, 1 after the end.
    public func progress(at time: Double) -> Double { curve.value(at: time) }
}

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
