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

/// The values are those of CSS: `.green` is CSS's dark green, and the brightest green is `.lime`.
extension TweakColor {
    /// `#000000`.
    @inlinable public static var black: TweakColor { TweakColor(known: 0x000000) }
    /// `#C0C0C0`.
    @inlinable public static var silver: TweakColor { TweakColor(known: 0xC0C0C0) }
    /// `#808080`.
    @inlinable public static var gray: TweakColor { TweakColor(known: 0x808080) }
    /// `#FFFFFF`.
    @inlinable public static var white: TweakColor { TweakColor(known: 0xFFFFFF) }
    /// `#800000`.
    @inlinable public static var maroon: TweakColor { TweakColor(known: 0x800000) }
    /// `#FF0000`.
    @inlinable public static var red: TweakColor { TweakColor(known: 0xFF0000) }
    /// `#800080`.
    @inlinable public static var purple: TweakColor { TweakColor(known: 0x800080) }
    /// `#FF00FF`.
    @inlinable public static var magenta: TweakColor { TweakColor(known: 0xFF00FF) }
    /// `#008000`.
    @inlinable public static var green: TweakColor { TweakColor(known: 0x008000) }
    /// `#00FF00`.
    @inlinable public static var lime: TweakColor { TweakColor(known: 0x00FF00) }
    /// `#808000`.
    @inlinable public static var olive: TweakColor { TweakColor(known: 0x808000) }
    /// `#FFFF00`.
    @inlinable public static var yellow: TweakColor { TweakColor(known: 0xFFFF00) }
    /// `#000080`.
    @inlinable public static var navy: TweakColor { TweakColor(known: 0x000080) }
    /// `#0000FF`.
    @inlinable public static var blue: TweakColor { TweakColor(known: 0x0000FF) }
    /// `#008080`.
    @inlinable public static var teal: TweakColor { TweakColor(known: 0x008080) }
    /// `#00FFFF`.
    @inlinable public static var cyan: TweakColor { TweakColor(known: 0x00FFFF) }
    /// `#FFA500`.
    @inlinable public static var orange: TweakColor { TweakColor(known: 0xFFA500) }
    /// `#A52A2A`.
    @inlinable public static var brown: TweakColor { TweakColor(known: 0xA52A2A) }
    /// `#FFC0CB`.
    @inlinable public static var pink: TweakColor { TweakColor(known: 0xFFC0CB) }
    /// `#4B0082`.
    @inlinable public static var indigo: TweakColor { TweakColor(known: 0x4B0082) }
    /// Fully transparent black.
    @inlinable public static var clear: TweakColor { TweakColor(red8: 0, green8: 0, blue8: 0, alpha8: 0) }
}

extension TweakColor {
    /// A color from CSS notation.
    ///
    /// Hexadecimal in 3, 4, 6 or 8 digits with or without `#`; `rgb()` and `hsl()`, also as `rgba()` and `hsla()`, with
    /// commas or blanks and an alpha of 0…1 or in percent; the 148 names and `transparent`. Nil for other text, and
    /// for channels out of range.
    ///
    /// ```swift
    /// TweakColor("#FF880080"); TweakColor("F80"); TweakColor("rgb(255 136 0 / 50%)")
    /// TweakColor("hsl(32deg, 100%, 50%)"); TweakColor("hwb(32 0% 0%)"); TweakColor("oklch(75% 0.17 60)")
    /// ```
    /// An `oklch()` outside sRGB becomes the color of its three channels, each clipped to 0…1, as browsers show it.
    /// - Parameter text: The text, in upper or lower case.
    public init?(_ text: String) {
        let lowered = text.lowercased()
        if lowered.hasPrefix("#") {
            self.init(hexadecimal: lowered.utf8.dropFirst())
        } else if lowered.hasSuffix(")") {
            self.init(function: lowered)
        } else if let code = Self.cssNames[lowered] {
            self.init(known: code)
        } else if lowered == "transparent" {
            self = .clear
        } else {
            self.init(hexadecimal: lowered.utf8[...])
        }
    }

    private init?(hexadecimal digits: Substring.UTF8View) {
        var values: [UInt8] = []
        for digit in digits {
            guard let value = Character(Unicode.Scalar(digit)).hexDigitValue, values.count < 8 else { return nil }
            values.append(UInt8(value))
        }
        switch values.count {
        case 3, 4: values = values.map { $0 * 17 }
        case 6, 8: values = stride(from: 0, to: values.count, by: 2).map { values[$0] * 16 + values[$0 + 1] }
        default: return nil
        }
        self.init(red8: values[0], green8: values[1], blue8: values[2], alpha8: values.count == 4 ? values[3] : 255)
    }
}
