// Enables implicit members such as `.seconds(5)` in declarations with a generic value.

// Without these, `Tweak("Content", "Text", "Fade", .milliseconds(250), in: .zero ... .seconds(5))` needs a `Duration`
// overload of each generic form: an implicit member is looked up in the constraint of the parameter's type.
extension TweakConvertible where Self == Duration {
    /// Same as `Duration.zero`.
    @inlinable public static var zero: Duration { Duration.zero }
    /// Same as `Duration.seconds(_:)`.
    @inlinable public static func seconds(_ count: some BinaryInteger) -> Duration { Duration.seconds(count) }
    /// Same as `Duration.seconds(_:)`.
    @inlinable public static func seconds(_ count: Double) -> Duration { Duration.seconds(count) }
    /// Same as `Duration.milliseconds(_:)`.
    @inlinable public static func milliseconds(_ count: some BinaryInteger) -> Duration { Duration.milliseconds(count) }
    /// Same as `Duration.milliseconds(_:)`.
    @inlinable public static func milliseconds(_ count: Double) -> Duration { Duration.milliseconds(count) }
    /// Same as `Duration.microseconds(_:)`.
    @inlinable public static func microseconds(_ count: some BinaryInteger) -> Duration { Duration.microseconds(count) }
    /// Same as `Duration.microseconds(_:)`.
    @inlinable public static func microseconds(_ count: Double) -> Duration { Duration.microseconds(count) }
    /// Same as `Duration.nanoseconds(_:)`.
    @inlinable public static func nanoseconds(_ count: some BinaryInteger) -> Duration { Duration.nanoseconds(count) }
}
