// A value of any kind, as it travels between tweaks, files and sockets.

/// A value without its static type, as listings, batches and the wire see it.
///
/// ```swift
/// try registry.commit(origin: .code) { $0.set("Content/Text/Size", .number(72)) }
/// ```
public enum TweakValue: Hashable, Sendable {
    /// A truth value.
    case bool(Bool)
    /// A whole number.
    case int(Int64)
    /// A finite number; NaN and infinities are refused wherever a tweak would take them.
    case number(Double)
    /// Text.
    case string(String)
    /// A colour.
    case color(TweakColor)
    /// The name of one of the declared choices.
    case choice(String)
    /// A span of time; it must be a whole number of nanoseconds that fits 64 bits.
    case duration(Duration)

    /// The kind of this value.
    public var kind: TweakKind {
        switch self {
        case .bool: .bool
        case .int: .int
        case .number: .number
        case .string: .string
        case .color: .color
        case .choice: .choice
        case .duration: .duration
        }
    }
}
