// One entry of a list that a tweak's value is chosen from.

/// One of the values a tweak may take, with the name it has on the wire and, maybe, a label for people.
public struct TweakChoice<Value: Sendable>: Sendable {
    /// The value.
    public let value: Value
    /// The name that is typed and stored.
    public let name: String
    /// What people are shown instead of the name.
    public let label: String?

    /// A choice.
    public init(_ value: Value, name: String, label: String? = nil) {
        self.value = value
        self.name = name
        self.label = label
    }
}

extension TweakChoice: Equatable where Value: Equatable {}
