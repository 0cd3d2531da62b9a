// Where the label is: a pure function of where it was, of the time that passed, and of the course it is on.

import Foundation

/// A place or a distance, in px.
typealias Vector = SIMD2<Double>

/// The label's way across the screen, without any screen or clock.
///
/// It goes from side to side by the easing and up and down by gravity; each is a `Leg` that turns round at its end.
struct Motion: Equatable {
    /// What the way depends on.
    struct Course: Equatable {
        /// How far it can go; negative where the label is larger than the screen and shows one end after the other.
        var room: Vector
        /// The way from side to side, in px a second.
        var speed: Double
        /// The pull, in px a second each second.
        var gravity: Double
        /// The manner in which it goes from side to side.
        var easing: Easing
    }

    /// The label's left upper corner, in px.
    private(set) var position = Vector.zero
    private var course: Course?
    private var across = Leg()
    private var down = Leg()
    /// What lies between `position` and the place on the course. It shrinks, so that any change of the course
    /// – a resize, another easing – is a glide and never a jump.
    private var slack = Vector.zero

    /// Lets `seconds` pass on the course.
    mutating func advance(_ seconds: Double, on course: Course, paused: Bool = false) {
        turn(to: course)
        if !paused {
            across.advance(seconds * course.speed / max(abs(course.room.x), 1))
            down.advance(seconds / Fall(on: course).duration)
        }
        slack *= exp(-seconds * 6)
        position = place(on: course) + slack
    }

    /// Goes on from the middle of the screen, and glides there.
    mutating func recenter() {
        guard let course else { return }
        across.progress = course.easing.time(reaching: 0.5)
        down.progress = Fall(on: course).time(reaching: 0.5, isReturning: down.isReturning)
        slack = position - place(on: course)
    }

    private mutating func turn(to new: Course) {
        if self.course != nil, self.course != new { slack = position - place(on: new) }
        course = new
    }

    private func place(on course: Course) -> Vector {
        let eased = course.easing(across.progress)
        let fallen = Fall(on: course)(down.isReturning ? 1 - down.progress : down.progress)
        return course.room * Vector(across.isReturning ? 1 - eased : eased, fallen)
    }
}

/// One way to and fro: how much of it is done, and in which direction.
private struct Leg: Equatable {
    var progress = 0.0
    var isReturning = false

    mutating func advance(_ share: Double) {
        let total = progress + share
        progress = total - total.rounded(.down)
        if Int(total) % 2 == 1 { isReturning.toggle() }
    }
}

/// A fall from the upper edge to the lower one; rising is the same, backwards.
private struct Fall {
    let duration: Double
    /// How much of the fall is due to the speed at its start; the rest is due to gravity.
    private let steadiness: Double

    /// The speed given is that at mid-height; strong gravity makes it what it takes to reach the upper edge.
    init(on course: Motion.Course) {
        let height = max(abs(course.room.y), 1)
        let steady = course.speed * 0.6
        let first = max(0, steady * steady - course.gravity * height).squareRoot()
        let last = (first * first + 2 * course.gravity * height).squareRoot()
        duration = 2 * height / (first + last)
        steadiness = last > 0 ? 2 * first / (first + last) : 1
    }

    /// The share of the height that is behind it after `time`.
    func callAsFunction(_ time: Double) -> Double {
        steadiness * time + (1 - steadiness) * time * time
    }

    func time(reaching share: Double, isReturning: Bool) -> Double {
        let weight = 1 - steadiness
        let root = (steadiness * steadiness + 4 * weight * share).squareRoot()
        let time = 2 * share / (steadiness + root)
        return isReturning ? 1 - time : time
    }
}
