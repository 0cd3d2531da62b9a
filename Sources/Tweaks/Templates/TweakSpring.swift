// The way of a mass on a spring from 0 to 1.

/// How something swings into its place: a mass on a damped spring, let go at rest one unit away from its aim.
///
/// ```swift
/// static let spring = TweakGroup("Card", "Drop", "Spring", TweakSpring(response: .seconds(0.3)))
/// let height = spring.value.progress(at: clock.now - dropped) * depth
/// ```
///
/// It is the harmonic oscillator x″ + 2ζω x′ + ω² x = 0 (H. Goldstein, “Classical Mechanics”, or Wikipedia, “Harmonic
/// oscillator”) with ω = 2π ÷ response and ζ the damping fraction, as in Apple's “Designing Fluid Interfaces” (WWDC 2018).
/// For a mass of 1 that is a stiffness of ω² and a damping of 2ζω.
public struct TweakSpring: TweakTemplate {
    /// How long one swing would take without damping: the stiffer, the shorter.
    public var response: Duration
    /// How soon it comes to rest: 0 never, 1 as soon as it can without going too far, above 1 more slowly.
    public var dampingFraction: Double

    /// A spring.
    public init(response: Duration = .milliseconds(500), dampingFraction: Double = 0.825) {
        self.response = response
        self.dampingFraction = dampingFraction
    }

    /// A spring that moves a mass of 1.
    /// - Parameters:
    ///   - stiffness: The pull for each unit that it is away, above 0.
    ///   - damping: The brake for each unit of speed.
    public init(stiffness: Double, damping: Double) {
        let frequency = max(stiffness, .leastNormalMagnitude).squareRoot()
        self.init(response: .seconds(2 * .pi / frequency), dampingFraction: damping / (2 * frequency))
    }

    /// Response, damping fraction.
    public static let parts: [TweakPart<TweakSpring>] = [
        TweakPart(
            "response", \.response, in: .milliseconds(10) ... .seconds(10),
            help: "How long one swing would take without damping; shorter is stiffer"),
        TweakPart(
            "damping fraction", \.dampingFraction, in: 0...5,
            help: "1 comes to rest without going too far, below 1 it swings, above 1 it is sluggish"),
    ]

    /// How much of the way is done after some time: 0 at first, then towards 1, and beyond it where it swings.
    /// - Parameters:
    ///   - time: Since it was let go.
    ///   - velocity: The speed at first, in ways a second.
    public func progress(at time: Duration, velocity: Double = 0) -> Double {
        guard time > .zero else { return 0 }
        guard response > .zero else { return 1 }
        let frequency = 2 * Double.pi / (response / .seconds(1))
        let flow = Flow(angle: frequency * (time / .seconds(1)), damping: dampingFraction)
        return 1 - flow.one + flow.swing * velocity / frequency
    }
}

/// What time does to a spring, as one + swing · A, where A turns (x, x′) into (x′, x″): so A² = −1 − 2ζA.
///
/// It is e to the power of angle · A, which takes no sines, and no cases for springs that swing and those that do not.
private struct Flow {
    private(set) var one = 1.0
    private(set) var swing = 0.0

    init(angle: Double, damping: Double) {
        // e to the power of a small part of the angle by its series, then squared as often as that was halved.
        var (part, halvings) = (angle, 0)
        while part * (1 + 2 * damping.magnitude) > 0.25 { (part, halvings) = (part / 2, halvings + 1) }
        var term = self
        for count in 1...12 {
            let scale = part / Double(count)
            (term.one, term.swing) = (-term.swing * scale, (term.one - 2 * damping * term.swing) * scale)
            (one, swing) = (one + term.one, swing + term.swing)
        }
        for _ in 0..<halvings {
            (one, swing) = (one * one - swing * swing, 2 * one * swing - 2 * damping * swing * swing)
        }
    }
}
