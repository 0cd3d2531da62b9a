// Defines a color: sRGB with alpha, 8 bits per channel, so that its text represents it exactly.

/// An sRGB color with straight (not premultiplied) alpha, 8 bits per channel.
///
/// Channels are doubles in 0…1, or whole numbers in 0…255 where their name ends in 8:
///
/// ```swift
/// let orange = TweakColor(red: 1, green: 0.53, blue: 0)
/// let same = TweakColor(red8: 255, green8: 136, blue8: 0)
/// let again = TweakColor(0xFF8800)
/// let fromText = TweakColor("#F80")  // nil if the text is not a color
/// ```
public struct TweakColor: Hashable, Sendable {
    /// Red, 0…255.
    public var red8: UInt8
    /// Green, 0…255.
    public var green8: UInt8
    /// Blue, 0…255.
    public var blue8: UInt8
    /// Opacity, 0 (transparent) … 255 (opaque).
    public var alpha8: UInt8

    /// A color from its four channels, each 0…255.
    @inlinable
    public init(red8: UInt8, green8: UInt8, blue8: UInt8, alpha8: UInt8 = 255) {
        self.red8 = red8
        self.green8 = green8
        self.blue8 = blue8
        self.alpha8 = alpha8
    }

    /// A color from its four channels, each 0…1.
    ///
    /// Values are clamped to that range, NaN becomes 0, and each is rounded to the nearest of 256 steps.
    public init(red: Double, green: Double, blue: Double, alpha: Double = 1) {
        self.init(
            red8: Self.channel(red), green8: Self.channel(green), blue8: Self.channel(blue),
            alpha8: Self.channel(alpha))
    }

    /// An opaque color from `0xRRGGBB`.
    ///
    /// - Parameter code: At most `0xFFFFFF`; more traps, because the position of alpha would be ambiguous.
    @inlinable
    public init(_ code: UInt32) {
        precondition(code <= 0xFF_FFFF, "Tweaks: a color is 0xRRGGBB; for alpha write TweakColor(\"#RRGGBBAA\")")
        self.init(known: code)
    }

    // Unchecked, so that the compiler can evaluate the named colors as constants.
    @inlinable
    init(known code: UInt32) {
        self.init(
            red8: UInt8(truncatingIfNeeded: code >> 16), green8: UInt8(truncatingIfNeeded: code >> 8),
            blue8: UInt8(truncatingIfNeeded: code))
    }

    /// Red, 0…1. What is set is clamped, and rounded to the nearest of 256 steps.
    public var red: Double {
        get { Double(red8) / 255 }
        set { red8 = Self.channel(newValue) }
    }
    /// Green, 0…1. What is set is clamped, and rounded to the nearest of 256 steps.
    public var green: Double {
        get { Double(green8) / 255 }
        set { green8 = Self.channel(newValue) }
    }
    /// Blue, 0…1. What is set is clamped, and rounded to the nearest of 256 steps.
    public var blue: Double {
        get { Double(blue8) / 255 }
        set { blue8 = Self.channel(newValue) }
    }
    /// Opacity, 0 (transparent) … 1 (opaque). What is set is clamped, and rounded to the nearest of 256 steps.
    public var alpha: Double {
        get { Double(alpha8) / 255 }
        set { alpha8 = Self.channel(newValue) }
    }

    private static func channel(_ value: Double) -> UInt8 {
        // NaN fails the comparison and becomes 0.
        value > 0 ? UInt8((min(value, 1) * 255).rounded()) : 0
    }
}

extension TweakColor: CustomStringConvertible {
    /// `#RRGGBBAA`, which reads back as the same color.
    public var description: String {
        var text = "#"
        for channel in [red8, green8, blue8, alpha8] {
            text += channel < 16 ? "0" : ""
            text += String(channel, radix: 16, uppercase: true)
        }
        return text
    }
}
