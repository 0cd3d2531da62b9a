// Fades from one color to another in a given time.

import TweaksDaemon

/// A color as red, green, blue and alpha, each 0…255, for arithmetic.
typealias RGBA = SIMD4<Double>

extension RGBA {
    init(_ color: TweakColor) {
        self.init(Double(color.red8), Double(color.green8), Double(color.blue8), Double(color.alpha8))
    }

    /// The color without its alpha.
    var pixel: Pixel { Pixel(red: UInt8(x), green: UInt8(y), blue: UInt8(z)) }

    /// Alpha as 0…1.
    var opacity: Double { w / 255 }
}

/// Fades to a target color that may change at any time.
struct Fader {
    private var from = RGBA.zero
    private var target: RGBA?
    private var elapsed = 0.0

    /// Advances by `seconds` and returns the current color; the first target applies without a fade.
    mutating func follow(_ newTarget: RGBA, for seconds: Double, fade: Double, curve: TweakCurve) -> RGBA {
        if let target, target != newTarget { (from, elapsed) = (color(fade, curve), 0) }
        if target == nil { (from, elapsed) = (newTarget, 0) }
        target = newTarget
        elapsed += seconds
        return color(fade, curve)
    }

    private func color(_ fade: Double, _ curve: TweakCurve) -> RGBA {
        guard let target, elapsed < fade else { return target ?? from }
        let color = from + (target - from) * curve.value(at: elapsed / fade)
        // A curve may overshoot, and no channel can.
        return color.clamped(lowerBound: .zero, upperBound: RGBA(repeating: 255))
    }
}
