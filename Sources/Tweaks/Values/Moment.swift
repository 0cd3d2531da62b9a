// Defines the time that this package computes with.

/// An instant of the continuous clock.
///
/// `ContinuousClock.Instant` is resilient: its size is unknown to the compiler. A structure that contains one has no
/// fixed layout, and each copy of it, and each access to its other fields, needs calls of the runtime. Code outside this
/// package gets instants, all code within it has moments.
package struct Moment: Hashable, Comparable, Sendable {
    private let sinceStart: Duration

    private static let start = ContinuousClock.now

    private init(sinceStart: Duration) { self.sinceStart = sinceStart }

    // Out of line, as is the conversion back: each copy would be a hundred bytes.
    @inline(never) package init(_ instant: ContinuousClock.Instant) { sinceStart = Self.start.duration(to: instant) }

    package static var now: Moment { Moment(.now) }

    package var instant: ContinuousClock.Instant {
        @inline(never) get { Self.start.advanced(by: sinceStart) }
    }

    package func advanced(by duration: Duration) -> Moment { Moment(sinceStart: sinceStart + duration) }

    package static func < (left: Moment, right: Moment) -> Bool { left.sinceStart < right.sinceStart }

    package static func - (left: Moment, right: Moment) -> Duration { left.sinceStart - right.sinceStart }

    package static func + (moment: Moment, duration: Duration) -> Moment { moment.advanced(by: duration) }

    package static func += (moment: inout Moment, duration: Duration) { moment = moment + duration }

    package static func - (moment: Moment, duration: Duration) -> Moment { moment.advanced(by: .zero - duration) }
}
