// A colour that does not jump: it crosses over to a new one in a given time.

import TweaksDaemon

/// A colour as red, green, blue and alpha, each 0…255, for calculating.
typealias Paint = SIMD4<Double>

extension Paint {
    init(_ color: TweakColor) {
        self.init(Double(color.red8), Double(color.green8), Double(color.blue8), Double(color.alpha8))
    }

    /// The colour without its alpha.
    var pixel: Pixel { Pixel(red: UInt8(x), green: UInt8(y), blue: UInt8(z)) }

    /// Alpha as 0…1.
    var opacity: Double { w / 255 }
}

/// Follows a colour that may change at any time.
struct Fader {
    private var from = Paint.zero
    private var aim: Paint?
    private var passed = 0.0

    /// Lets `seconds` pass and answers the colour of this moment; the very first one is there at once.
    mutating func follow(_ target: Paint, for seconds: Double, fade: Double) -> Paint {
        if let aim, aim != target { (from, passed) = (color(fade: fade), 0) }
        if aim == nil { (from, passed) = (target, 0) }
        aim = target
        passed += seconds
        return color(fade: fade)
    }

    private func color(fade: Double) -> Paint {
        guard let aim, passed < fade else { return aim ?? from }
        return from + (aim - from) * Easing.inOut(passed / fade)
    }
}
