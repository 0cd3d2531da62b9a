// Describes handles for `print`, by path and value.

extension Tweak: CustomStringConvertible {
    /// `Content/Text/Size = 60`, the value in the protocol's syntax; for a secret only `(set)` or `(unset)`.
    public var description: String { erased.description }
}

extension TweakAction: CustomStringConvertible {
    /// `Player/Audio/Mute = (action)`.
    public var description: String { AnyTweak(node: node, registry: registry).description }
}

extension TweakGroup: CustomStringConvertible {
    /// Its parts, one per line: `Upstream/Payments/Attempts = 5`.
    public var description: String { parts.map(\.description).joined(separator: "\n") }
}
