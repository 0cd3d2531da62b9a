// Defines the flags and the policy of a tweak.

/// Flags of a tweak, which change how it is shown or who may set it.
public struct TweakFlags: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Flags from their bits.
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The value is never printed, logged or sent; clients only see whether it is set.
    @inlinable public static var secret: TweakFlags { TweakFlags(rawValue: 1) }
    /// A figure: the program publishes it, and clients cannot set it.
    @inlinable public static var readOnly: TweakFlags { TweakFlags(rawValue: 2) }
    /// A change takes effect at the next start of the program; shown next to the value.
    @inlinable public static var needsRestart: TweakFlags { TweakFlags(rawValue: 4) }

    /// The words that listings show, in a fixed order.
    package var words: [String] {
        [(TweakFlags.readOnly, "read-only"), (.needsRestart, "needs-restart"), (.secret, "secret")]
            .filter { contains($0.0) }.map(\.1)
    }
}

/// The treatment of a client's value that violates the tweak's range or step.
public enum TweakPolicy: String, Hashable, Sendable {
    /// It is rejected and nothing changes.
    case reject
    /// Outside the range it becomes the nearest bound; off-step it is rejected.
    case clamp
    /// It becomes the nearest value that is in range and on step.
    case snap
}
