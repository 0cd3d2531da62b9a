// Defines easing curves; a choice tweak only needs an enum like this one.

import Foundation
import TweaksDaemon

/// Easing curves, named as in CSS.
enum Easing: String, CaseIterable, TweakConvertible {
    /// Constant speed.
    case linear
    /// Slow at the start.
    case easeIn = "ease-in"
    /// Slow at the end.
    case easeOut = "ease-out"
    /// Slow at both ends.
    case inOut = "ease-in-out"
    /// Overshoots the target and returns.
    case back
    /// Oscillates around the target, like a rubber band.
    case elastic
    /// Bounces off the target, like a ball.
    case bounce

    /// The progress at `time`, where both go from 0 to 1.
    func callAsFunction(_ time: Double) -> Double {
        let left = 1 - time
        return switch self {
        case .linear: time
        case .easeIn: time * time * time
        case .easeOut: 1 - left * left * left
        case .inOut: time < 0.5 ? 4 * time * time * time : 1 - 4 * left * left * left
        case .back: 1 - left * left * (2.7 * left - 1.7)
        case .elastic: Self.elasticCurve(time)
        case .bounce: Self.bounceCurve(time)
        }
    }

    /// The first time at which the progress reaches `share`; some curves reach it more than once.
    func time(reaching share: Double) -> Double {
        let steps = 1024
        let times = (0...steps).lazy.map { Double($0) / Double(steps) }
        return times.first { self($0) >= share } ?? 1
    }

    private static func elasticCurve(_ time: Double) -> Double {
        guard time > 0, time < 1 else { return time }
        return 1 + exp2(-10 * time) * sin((time * 10 - 0.75) * 2 * .pi / 3)
    }

    private static func bounceCurve(_ time: Double) -> Double {
        let bounces: [(until: Double, at: Double, height: Double)] = [
            (1 / 2.75, 0, 0), (2 / 2.75, 1.5 / 2.75, 0.75), (2.5 / 2.75, 2.25 / 2.75, 0.9375),
        ]
        let bounce = bounces.first { time < $0.until } ?? (1, 2.625 / 2.75, 0.984375)
        return 7.5625 * (time - bounce.at) * (time - bounce.at) + bounce.height
    }
}
