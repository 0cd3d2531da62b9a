// Stores a continuous-clock instant in a type with a known layout, so that copies are cheap.

/// An instant of the continuous clock.
///
/// `ContinuousClock.Instant` is resilient: copying a structure that contains one needs a runtime call each time.
/// Structures that every commit copies contain this type instead.
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
