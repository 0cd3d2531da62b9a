// A colour: sRGB with alpha, 8 bits a channel, so that what is printed is what is held.

/// An sRGB colour with straight (not premultiplied) alpha, 8 bits a channel.
///
/// ```swift
/// let orange = TweakColor(red: 255, green: 136, blue: 0)
/// let same = TweakColor("#F80")
/// ```
public struct TweakColor: Hashable, Sendable {
    /// Red, 0…255.
    public var red: UInt8
    /// Green, 0…255.
    public var green: UInt8
    /// Blue, 0…255.
    public var blue: UInt8
    /// Opacity, 0 (transparent) … 255 (opaque).
    public var alpha: UInt8

    /// A colour from its four channels, each 0…255.
    @inlinable
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Opaque black.
    @inlinable public static var black: TweakColor { TweakColor(red: 0, green: 0, blue: 0) }
    /// Opaque white.
    @inlinable public static var white: TweakColor { TweakColor(red: 255, green: 255, blue: 255) }
    /// Fully transparent black.
    @inlinable public static var clear: TweakColor { TweakColor(red: 0, green: 0, blue: 0, alpha: 0) }
}

extension TweakColor: CustomStringConvertible {
    /// `#RRGGBBAA`, which reads back as the same colour.
    public var description: String {
        var text = "#"
        for channel in [red, green, blue, alpha] {
            text += channel < 16 ? "0" : ""
            text += String(channel, radix: 16, uppercase: true)
        }
        return text
    }
}
