// Makes the floating-point types usable as tweak values.

/// A floating-point type that a tweak can hold.
///
/// `Double` and `Float` conform, and `CGFloat` where CoreGraphics exists. Elsewhere, and for types such as `Float16`,
/// one line adds the conformance:
///
/// ```swift
/// extension CGFloat: @retroactive TweakFloatingPoint {}
/// ```
public protocol TweakFloatingPoint: TweakBounded, TweakWord, BinaryFloatingPoint
where TweakStorage == TweakWordCell<Self> {}

extension TweakFloatingPoint {
    /// From a `.number` or a whole number within the range of this type, rounded to the nearest value. Nil where a
    /// nonzero number would become 0.
    public init?(_ value: TweakValue) {
        guard let number = Double(value) else { return nil }
        self.init(number)
        guard isFinite, self != 0 || number == 0 else { return nil }
    }
    /// `.number`.
    public static var tweakKind: TweakKind? { .number }
    // Types narrower than a double convert by their shortest text, so that 0.1 does not become 0.10000000149011612.
    /// `.number` with the same shortest text.
    public var erased: TweakValue {
        let isNarrow = Self.significandBitCount < Double.significandBitCount && isFinite
        return .number((isNarrow ? Double("\(self)") : nil) ?? Double(self))
    }
    /// The bit pattern as a double.
    @inlinable public var tweakWord: UInt64 { Double(self).bitPattern }
    /// From the bit pattern of a double.
    @inlinable public init(tweakWord: UInt64) { self.init(Double(bitPattern: tweakWord)) }
}

extension Double: TweakFloatingPoint {
    /// From a finite `.number`, or a whole number that a double holds exactly.
    public init?(_ value: TweakValue) {
        switch value {
        case .number(let number) where number.isFinite: self = number
        case .int(let whole): self.init(exactly: whole)
        case .unsigned(let whole): self.init(exactly: whole)
        default: return nil
        }
    }
    /// `.number`.
    public var erased: TweakValue { .number(self) }
    /// The bit pattern.
    @inlinable public var tweakWord: UInt64 { bitPattern }
    /// From a bit pattern.
    @inlinable public init(tweakWord: UInt64) { self.init(bitPattern: tweakWord) }
}

extension Float: TweakFloatingPoint {
    /// The bit pattern.
    @inlinable public var tweakWord: UInt64 { UInt64(bitPattern) }
    /// From a bit pattern.
    @inlinable public init(tweakWord: UInt64) { self.init(bitPattern: UInt32(truncatingIfNeeded: tweakWord)) }
}
