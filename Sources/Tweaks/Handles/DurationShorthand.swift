// `.seconds(5)` where a declaration takes a value of any kind.

// Without these, `Tweak("Content", "Text", "Fade", .milliseconds(250), in: .zero ... .seconds(5))` needs a form of its own
// beside each generic one: an implicit member is looked up in what the parameter's type is constrained to.
extension TweakConvertible where Self == Duration {
    /// No time, as `Duration.zero`.
    @inlinable public static var zero: Duration { Duration.zero }
    /// So many seconds, as `Duration.seconds(_:)`.
    @inlinable public static func seconds(_ count: some BinaryInteger) -> Duration { Duration.seconds(count) }
    /// So many seconds, as `Duration.seconds(_:)`.
    @inlinable public static func seconds(_ count: Double) -> Duration { Duration.seconds(count) }
    /// So many milliseconds, as `Duration.milliseconds(_:)`.
    @inlinable public static func milliseconds(_ count: some BinaryInteger) -> Duration { Duration.milliseconds(count) }
    /// So many milliseconds, as `Duration.milliseconds(_:)`.
    @inlinable public static func milliseconds(_ count: Double) -> Duration { Duration.milliseconds(count) }
    /// So many microseconds, as `Duration.microseconds(_:)`.
    @inlinable public static func microseconds(_ count: some BinaryInteger) -> Duration { Duration.microseconds(count) }
    /// So many microseconds, as `Duration.microseconds(_:)`.
    @inlinable public static func microseconds(_ count: Double) -> Duration { Duration.microseconds(count) }
    /// So many nanoseconds, as `Duration.nanoseconds(_:)`.
    @inlinable public static func nanoseconds(_ count: some BinaryInteger) -> Duration { Duration.nanoseconds(count) }
}
