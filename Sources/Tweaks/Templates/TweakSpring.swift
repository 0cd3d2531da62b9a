// Defines a spring animation template: a damped spring that moves from 0 to 1.

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
            (identity, linear) = (identity + term.identity, linear + term.linear)
        }
        for _ in 0..<halvings {
            let (i, l) = (identity, linear)
            (identity, linear) = (i * i - l * l, 2 * i * l - 2 * damping * l * l)
        }
    }
}
