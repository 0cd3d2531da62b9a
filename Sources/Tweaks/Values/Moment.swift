// Holds a moment in a layout that the compiler knows.

/// A moment of the clock that never jumps.
///
/// The layout of `ContinuousClock.Instant` is its library's own affair: to copy a structure with one of those in it is to
/// ask the runtime each time. What every commit copies holds these instead.
package struct Moment: Hashable, Comparable, Sendable {
    private let sinceStart: Duration

    private static let start = ContinuousClock.now

    private init(sinceStart: Duration) { self.sinceStart = sinceStart }

    package init(_ instant: ContinuousClock.Instant) { sinceStart = Self.start.duration(to: instant) }

    package static var now: Moment { Moment(.now) }

    package var instant: ContinuousClock.Instant { Self.start.advanced(by: sinceStart) }

    package func advanced(by duration: Duration) -> Moment { Moment(sinceStart: sinceStart + duration) }

    package static func < (left: Moment, right: Moment) -> Bool { left.sinceStart < right.sinceStart }

    package static func - (left: Moment, right: Moment) -> Duration { left.sinceStart - right.sinceStart }

    package static func + (moment: Moment, duration: Duration) -> Moment { moment.advanced(by: duration) }

    package static func - (moment: Moment, duration: Duration) -> Moment { moment.advanced(by: .zero - duration) }
}
