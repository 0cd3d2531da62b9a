// Defines an untyped value of any kind, for exchange between tweaks, files and sockets.

/// A value without static type, for listings, batches and the wire.
///
/// ```swift
/// try registry.commit(origin: .code) { $0.set("Content/Text/Size", .number(72)) }
/// ```
public enum TweakValue: Hashable, Sendable {
    /// A Boolean.
    case bool(Bool)
    /// A whole number.
    case int(Int64)
    /// A whole number above `Int64.max`, for tweaks of `UInt64` and `UInt`; smaller ones are ``int(_:)``.
    case unsigned(UInt64)
    /// A finite number; no tweak accepts NaN and infinities.
    case number(Double)
    /// Text.
    case string(String)
    /// A color.
    case color(TweakColor)
    /// The name of one of the declared choices.
    case choice(String)
    /// A duration; it must be a whole number of nanoseconds that fits in 64 bits.
    case duration(Duration)
    /// Two finite numbers.
    case point(TweakPoint)
    // Indirect: of its size, every value would be twice as large.
    /// A timing curve.
    indirect case curve(TweakCurve)
    /// Values of one kind, in order.
    case list([TweakValue])
    /// An optional without a value; one with a value is represented by that value.
    case notSet

    // Not the synthesized comparison: `String ==` treats canonically equivalent spellings as equal, but a client must
    // read back the spelling that it set.
    /// Compares exactly; text byte by byte.
    public static func == (left: TweakValue, right: TweakValue) -> Bool {
        switch (left, right) {
        case (.bool(let left), .bool(let right)): left == right
        case (.int(let left), .int(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)), (.choice(let left), .choice(let right)):
            left.utf8.elementsEqual(right.utf8)
        case (.color(let left), .color(let right)): left == right
        case (.duration(let left), .duration(let right)): left == right
        case (.point(let left), .point(let right)): left == right
        case (.curve(let left), .curve(let right)): left == right
        case (.list(let left), .list(let right)): left == right
        case (.notSet, .notSet): true
        default: false
        }
    }

    /// The kind of this value.
    public var kind: TweakKind {
        switch self {
        case .bool: .bool
        case .int, .unsigned: .int
        case .number: .number
        case .string: .string
        case .color: .color
        case .choice: .choice
        case .duration: .duration
        case .point: .point
        case .curve: .curve
        case .list: .list
        case .notSet: .optional
        }
    }
}

extension TweakValue {
    /// A whole number: ``int(_:)`` if it fits in 64 signed bits, ``unsigned(_:)`` above; nil beyond `UInt64.max`, and
    /// below `Int64.min`.
    public init?(whole: some BinaryInteger) {
        if let signed = Int64(exactly: whole) {
            self = .int(signed)
        } else if let unsigned = UInt64(exactly: whole) {
            self = .unsigned(unsigned)
        } else {
            return nil
        }
    }

    /// An int unchanged, a duration in nanoseconds; nil for other kinds.
    package var whole: Int128? {
        switch self {
        case .int(let value): Int128(value)
        case .unsigned(let value): Int128(value)
        case .duration(let duration): duration.exactNanoseconds.map { Int128($0) }
        default: nil
        }
    }
}

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
    /// A timing curve, as in CSS: a ``TweakCurve``.
    case curve
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
        case .curve: CurveKind.self
        case .list: ListKind.self
        case .optional: OptionalKind.self
        case .action: ActionKind.self
        }
    }
}
