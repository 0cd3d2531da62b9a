// The kinds of value a tweak can hold.

/// What a tweak holds: one of seven kinds of value, or an action.
public enum TweakKind: String, Hashable, Sendable, CaseIterable {
    /// `true` or `false`.
    case bool
    /// An integer of 64 bits: signed, or unsigned where the program's type is.
    case int
    /// A finite double.
    case number
    /// Text.
    case string
    /// An sRGB color with alpha, 8 bits a channel.
    case color
    /// One of a declared list of names.
    case choice
    /// A span of time, held as a signed 64-bit count of nanoseconds.
    case duration
    /// Something to run; it has no value.
    case action

    /// The kind in a sentence: `a number`, `an int`.
    package var phrase: String { (self == .int || self == .action ? "an " : "a ") + rawValue }
}
