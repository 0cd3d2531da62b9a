// Makes Bool, String, TweakColor and Duration usable as tweak values.

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
