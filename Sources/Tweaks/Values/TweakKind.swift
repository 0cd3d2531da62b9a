// Lists the kinds of value that a tweak can hold.

/// The kind of a tweak: a kind of value, or an action.
public enum TweakKind: String, Hashable, Sendable, CaseIterable {
    /// `true` or `false`.
    case bool
    /// A 64-bit integer: signed, or unsigned if the program's type is.
    case int
    /// A finite double.
    case number
    /// Text.
    case string
    /// An sRGB color with alpha, 8 bits per channel.
    case color
    /// One of a declared list of names.
    case choice
    /// A duration, stored as a signed 64-bit count of nanoseconds.
    case duration
    /// Two numbers: a ``TweakPoint``.
    case point
    /// Several values of one kind, in order: an array.
    case list
    /// A value of one kind, or none: an optional.
    case optional
    /// A closure to run; it has no value.
    case action

    /// The kind with an article: `a number`, `an int`.
    package var phrase: String {
        switch self {
        case .int, .optional, .action: "an " + rawValue
        default: "a " + rawValue
        }
    }

    /// The parsing, printing and validation rules of this kind.
    package var rules: any KindRules.Type {
        switch self {
        case .bool: BoolKind.self
        case .int: IntKind.self
        case .number: NumberKind.self
        case .string: StringKind.self
        case .color: ColorKind.self
        case .choice: ChoiceKind.self
        case .duration: DurationKind.self
        case .point: PointKind.self
        case .list: ListKind.self
        case .optional: OptionalKind.self
        case .action: ActionKind.self
        }
    }
}
