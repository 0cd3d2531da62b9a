// Makes the fixed-width integers usable as tweak values, with exact conversions that never trap.

/// An integer type that a tweak can hold.
public protocol TweakInteger: TweakBounded, TweakWord, FixedWidthInteger
where TweakStorage == TweakWordCell<Self> {}

extension TweakInteger {
    /// From a whole number within the range of this type, or a `.number` without a fraction.
    public init?(_ value: TweakValue) {
        switch value {
        case .int(let whole): self.init(exactly: whole)
        case .unsigned(let whole): self.init(exactly: whole)
        case .number(let number):
            // Through Int64: above it, doubles skip integers, so a match would be accidental.
            guard let whole = Int64(exactly: number) else { return nil }
            self.init(exactly: whole)
        default: return nil
        }
    }
    /// `.int`.
    public static var tweakKind: TweakKind? { .int }
    /// `.int`, or `.unsigned` above `Int64.max`. Values beyond 64 bits become a `.number`, which no tweak accepts.
    public var erased: TweakValue { TweakValue(whole: self) ?? .number(Double(self)) }
    /// The bits.
    @inlinable public var tweakWord: UInt64 { UInt64(truncatingIfNeeded: self) }
    /// From the bits.
    @inlinable public init(tweakWord: UInt64) { self.init(truncatingIfNeeded: tweakWord) }
    /// The limits of this type, where they differ from those of Int64.
    public static var tweakTypeBounds: (lower: TweakValue?, upper: TweakValue?) {
        (
            Self.min > Int64.min ? .int(Int64(clamping: Self.min)) : nil,
            Self.max != Int64.max ? TweakValue(whole: UInt64(clamping: Self.max)) : nil
        )
    }
}

extension Int: TweakInteger {}
extension Int8: TweakInteger {}
extension Int16: TweakInteger {}
extension Int32: TweakInteger {}
extension Int64: TweakInteger {}
extension UInt: TweakInteger {}
extension UInt8: TweakInteger {}
extension UInt16: TweakInteger {}
extension UInt32: TweakInteger {}
extension UInt64: TweakInteger {}
