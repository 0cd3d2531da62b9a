// Computes the label's position from the previous one, the elapsed time and the course.

import Foundation

/// A position or a distance, in px.
typealias Vector = SIMD2<Double>

/// The label's motion across the screen; needs neither a screen nor a clock.
///
/// It moves horizontally by the easing and vertically by gravity; each is an `Oscillation`.
struct Motion: Equatable {
    /// The parameters of the motion.
    struct Course: Equatable {
        /// The distance it can move, in px; negative where the label is larger than the screen.
        var room: Vector
        /// The horizontal speed, in px a second.
        var speed: Double
        /// The vertical acceleration, in px a second each second.
        var gravity: Double
        /// The easing of the horizontal motion.
        var easing: Easing
    }

    /// The label's upper left corner, in px.
    private(set) var position = Vector.zero
    private var course: Course?
    private var horizontal = Oscillation()
    private var vertical = Oscillation()
    /// The distance between `position` and the position on the course. It decays, so that a change of the course, such
    /// as a resize or another easing, causes no jump.
    private var offset = Vector.zero

    /// Advances by `seconds` on the course.
    mutating func advance(_ seconds: Double, on course: Course, paused: Bool = false) {
        change(to: course)
        if !paused {
            horizontal.advance(seconds * course.speed / max(abs(course.room.x), 1))
            vertical.advance(seconds / Fall(on: course).duration)
        }
        offset *= exp(-seconds * 6)
        position = position(on: course) + offset
    }

    /// Continues from the middle of the screen, and glides there.
    mutating func recenter() {
        guard let course else { return }
        horizontal.progress = course.easing.time(reaching: 0.5)
        vertical.progress = Fall(on: course).time(reaching: 0.5, isReturning: vertical.isReturning)
        offset = position - position(on: course)
    }

    private mutating func change(to new: Course) {
        if self.course != nil, self.course != new { offset = position - position(on: new) }
        course = new
    }

    private func position(on course: Course) -> Vector {
        let eased = course.easing(horizontal.progress)
        let fallen = Fall(on: course)(vertical.isReturning ? 1 - vertical.progress : vertical.progress)
        return course.room * Vector(horizontal.isReturning ? 1 - eased : eased, fallen)
    }
}

/// A back-and-forth motion: its progress, 0…1, and its direction.
private struct Oscillation: Equatable {
    var progress = 0.0
    var isReturning = false

    mutating func advance(_ share: Double) {
        let total = progress + share
        progress = total - total.rounded(.down)
        if Int(total) % 2 == 1 { isReturning.toggle() }
    }
}

/// A fall from the upper edge to the lower one; a rise is the reverse.
private struct Fall {
    let duration: Double
    /// The share of the fall that is due to the initial speed; the rest is due to gravity.
    private let linearShare: Double

    /// The course's speed applies at mid-height; strong gravity raises it, so that the label reaches the upper edge.
    init(on course: Motion.Course) {
        let height = max(abs(course.room.y), 1)
        let steady = course.speed * 0.6
        let first = max(0, steady * steady - course.gravity * height).squareRoot()
        let last = (first * first + 2 * course.gravity * height).squareRoot()
        duration = 2 * height / (first + last)
        linearShare = last > 0 ? 2 * first / (first + last) : 1
    }

    /// The share of the height at `time`.
    func callAsFunction(_ time: Double) -> Double {
        linearShare * time + (1 - linearShare) * time * time
    }

    func time(reaching share: Double, isReturning: Bool) -> Double {
        let weight = 1 - linearShare
        let root = (linearShare * linearShare + 4 * weight * share).squareRoot()
        let time = 2 * share / (linearShare + root)
        return isReturning ? 1 - time : time
    }
}
