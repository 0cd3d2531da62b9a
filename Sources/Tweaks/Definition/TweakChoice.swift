// Defines an entry of a tweak's list of choices.

/// A value that a tweak may have, with its name on the wire and an optional display label.
public struct TweakChoice<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value
    /// The name on the wire and in files.
    public let name: String
    /// The label shown in place of the name.
    public let label: String?

    /// A choice.
    public init(_ value: Value, name: String, label: String? = nil) {
        self.value = value
        self.name = name
        self.label = label
    }
}

extension TweakChoice: Equatable where Value: Equatable {}
