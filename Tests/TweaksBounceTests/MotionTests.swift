// Tests the motion of the label: reproducible, within the screen, without jumps.

import Testing

@testable import bounce

@Suite struct MotionTests {
    private static let plain = Motion.Course(room: Vector(60, 40), speed: 30, gravity: 50, easing: .inOut)

    /// Courses that differ in one thing each.
    private static let courses: [Motion.Course] = [
        plain, changed { $0.speed = 90 }, changed { $0.gravity = 0 }, changed { $0.gravity = 400 },
        changed { $0.easing = .linear }, changed { $0.easing = .bounce }, changed { $0.easing = .elastic },
    ]

    private static func changed(_ change: (inout Motion.Course) -> Void) -> Motion.Course {
        var course = plain
        change(&course)
        return course
    }

    private static func way(on course: Motion.Course, seconds: Int = 20, rate: Int = 60) -> [Vector] {
        var motion = Motion()
        return (0..<seconds * rate).map { _ in
            motion.advance(1 / Double(rate), on: course)
            return motion.position
        }
    }

    @Test(arguments: courses) func theMotionIsReproducible(course: Motion.Course) {
        #expect(Self.way(on: course) == Self.way(on: course))
    }

    @Test func speedGravityAndEasingEachChangeTheMotion() {
        let ways = Self.courses.map { Self.way(on: $0, seconds: 3) }
        for (index, way) in ways.enumerated() { #expect(!ways[..<index].contains(way)) }
    }

    @Test(arguments: courses) func theMotionIsIndependentOfTheFrameRate(course: Motion.Course) throws {
        let slow = try #require(Self.way(on: course, seconds: 7, rate: 10).last)
        let fast = try #require(Self.way(on: course, seconds: 7, rate: 200).last)
        #expect(distance(slow, fast) < 0.001)
    }

    @Test(arguments: [.linear, .easeIn, .inOut, .bounce] as [Easing])
    func theLabelTouchesAllEdgesAndCrossesNone(easing: Easing) throws {
        for gravity in [0.0, 5, 400] {
            let way = Self.way(on: Self.changed { ($0.easing, $0.gravity) = (easing, gravity) }, seconds: 60)
            for (values, limit) in [(way.map(\.x), 60.0), (way.map(\.y), 40.0)] {
                let (least, most) = (try #require(values.min()), try #require(values.max()))
                #expect(least >= 0 && least < 1)
                #expect(most <= limit && most > limit - 1)
            }
        }
    }

    @Test func aLabelLargerThanTheScreenShowsBothOfItsEnds() throws {
        let way = Self.way(on: Self.changed { $0.room = Vector(-60, -40) })
        #expect(way.allSatisfy { $0.x <= 0 && $0.x >= -60 && $0.y <= 0 && $0.y >= -40 })
        #expect(try #require(way.map(\.x).min()) < -59)
    }

    @Test func withoutSpeedTheMotionIsVerticalAndWithoutGravityItEnds() {
        let hopping = Self.way(on: Self.changed { $0.speed = 0 })
        #expect(Set(hopping.map(\.x)).count == 1 && Set(hopping.map(\.y)).count > 100)
        #expect(Set(Self.way(on: Self.changed { ($0.speed, $0.gravity) = (0, 0) })) == [.zero])
    }

    @Test(arguments: courses) func aChangedCourseContinuesAtTheSamePosition(course: Motion.Course) {
        var motion = moved()
        let before = motion.position
        motion.advance(0, on: course)
        #expect(distance(motion.position, before) < 0.001)
        motion.advance(0, on: Self.changed { $0.room = Vector(-10, 3) })
        #expect(distance(motion.position, before) < 0.001)
    }

    @Test func aPausedLabelMovesOnlyWhenTheScreenShrinks() {
        var motion = moved()
        let before = motion.position
        motion.advance(5, on: Self.plain, paused: true)
        #expect(motion.position == before)
        motion.advance(5, on: Self.changed { $0.room = Vector(2, 1) }, paused: true)
        #expect(motion.position.x <= 2.001 && motion.position.y <= 1.001)
    }

    @Test(arguments: Easing.allCases) func recenteringMovesSmoothlyToTheMiddle(easing: Easing) {
        for gravity in [0.0, 20, 400] {
            for seconds in [0.7, 1.9, 3.1] {
                let course = Self.changed { ($0.easing, $0.gravity) = (easing, gravity) }
                var motion = moved(by: seconds, on: course)
                let before = motion.position
                motion.recenter()
                motion.advance(0, on: course, paused: true)
                #expect(distance(motion.position, before) < 0.001)
                motion.advance(5, on: course, paused: true)
                #expect(distance(motion.position, Vector(30, 20)) < 1)
            }
        }
    }

    private func moved(by seconds: Double = 1.3, on course: Motion.Course = plain) -> Motion {
        var motion = Motion()
        motion.advance(seconds, on: course)
        return motion
    }

    private func distance(_ one: Vector, _ other: Vector) -> Double {
        let way = one - other
        return (way * way).sum().squareRoot()
    }
}

@Suite struct EasingTests {
    @Test(arguments: Easing.allCases) func eachCurveStartsAt0AndEndsAt1(easing: Easing) {
        #expect(abs(easing(0)) < 0.001 && abs(easing(1) - 1) < 0.001)
    }

    @Test(arguments: Easing.allCases) func eachCurveIsContinuous(easing: Easing) {
        let shares = (0...1000).map { easing(Double($0) / 1000) }
        #expect(zip(shares, shares.dropFirst()).allSatisfy { abs($1 - $0) < 0.02 })
    }

    @Test(arguments: Easing.allCases) func eachCurveHasAnInverse(easing: Easing) {
        for share in [0.1, 0.5, 0.9] { #expect(abs(easing(easing.time(reaching: share)) - share) < 0.02) }
    }
}
