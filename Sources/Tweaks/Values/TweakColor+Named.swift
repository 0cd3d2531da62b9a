// Defines named color constants: those of HTML 4, and a few other common ones.

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
