// Makes Swift's types usable as tweak values: Booleans, texts, numbers, durations, arrays and optionals.

extension Bool: TweakConvertible, TweakWord {
    /// One atomic word.
    public typealias TweakStorage = TweakWordCell<Bool>
    /// From `.bool`.
    public init?(_ value: TweakValue) {
        guard case .bool(let flag) = value else { return nil }
        self = flag
    }
    /// `.bool`.
    public static var tweakKind: TweakKind? { .bool }
    /// `.bool`.
    public var erased: TweakValue { .bool(self) }
    /// 0 or 1.
    @inlinable public var tweakWord: UInt64 { self ? 1 : 0 }
    /// From 0 or 1.
    @inlinable public init(tweakWord: UInt64) { self = tweakWord != 0 }
}

extension String: TweakConvertible {
    /// A lock.
    public typealias TweakStorage = TweakLockedCell<String>
    /// From `.string` or `.choice`.
    public init?(_ value: TweakValue) {
        switch value {
        case .string(let text), .choice(let text): self = text
        default: return nil
        }
    }
    /// `.string`.
    public static var tweakKind: TweakKind? { .string }
    /// `.string`.
    public var erased: TweakValue { .string(self) }
}

extension TweakColor: TweakConvertible, TweakWord {
    /// One atomic word.
    public typealias TweakStorage = TweakWordCell<TweakColor>
    /// From `.color`.
    public init?(_ value: TweakValue) {
        guard case .color(let color) = value else { return nil }
        self = color
    }
    /// `.color`.
    public static var tweakKind: TweakKind? { .color }
    /// `.color`.
    public var erased: TweakValue { .color(self) }
    // In memory order on little-endian machines, so that the conversion compiles to nothing.
    /// The four channels.
    @inlinable public var tweakWord: UInt64 {
        UInt64(red8) | UInt64(green8) << 8 | UInt64(blue8) << 16 | UInt64(alpha8) << 24
    }
    /// From the four channels.
    @inlinable public init(tweakWord: UInt64) {
        self.init(
            red8: UInt8(truncatingIfNeeded: tweakWord), green8: UInt8(truncatingIfNeeded: tweakWord >> 8),
            blue8: UInt8(truncatingIfNeeded: tweakWord >> 16), alpha8: UInt8(truncatingIfNeeded: tweakWord >> 24))
    }
}

extension Duration: TweakBounded, TweakWord {
    /// One atomic word of nanoseconds: 16 bytes would need a locked exchange for each read.
    public typealias TweakStorage = TweakWordCell<Duration>
    /// From a `.duration` of whole nanoseconds within 64 bits.
    public init?(_ value: TweakValue) {
        guard case .duration(let duration) = value, duration.exactNanoseconds != nil else { return nil }
        self = duration
    }
    /// `.duration`.
    public static var tweakKind: TweakKind? { .duration }
    /// `.duration`.
    public var erased: TweakValue { .duration(self) }
    /// Nanoseconds; 0 for fractions of one, which validation keeps out of cells.
    @inlinable public var tweakWord: UInt64 { UInt64(bitPattern: exactNanoseconds ?? 0) }
    /// From nanoseconds.
    @inlinable public init(tweakWord: UInt64) { self = .nanoseconds(Int64(bitPattern: tweakWord)) }
}

/// A floating-point type that a tweak can hold.
///
/// `Double` and `Float` conform, and `CGFloat` where CoreGraphics exists; elsewhere the module `TweaksFoundation` adds it.
/// For types such as `Float16` one line adds the conformance:
///
/// ```swift
/// extension Float16: @retroactive TweakFloatingPoint {}
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

#if canImport(CoreGraphics)
    public import CoreGraphics

    extension CGFloat: TweakFloatingPoint {}
#endif
