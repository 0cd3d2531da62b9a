// Tests the remaining time of temporary overrides after restarts and clock changes.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksStorage

@Suite(.blocking) struct TemporaryOverrideTests {
    private let home: TemporaryDirectory
    private let time = ManualClock()

    init() throws { home = try TemporaryDirectory() }

    private func text() throws -> String { try #require(home.read("state/overrides.json")) }

    /// The override lasts ten minutes and the process ends after four.
    @Test(arguments: [
        (Duration.zero, Int64(0), Optional(Duration.seconds(360))), (.seconds(100), 0, .seconds(260)),
        (.milliseconds(359_999), 0, .milliseconds(1)), (.seconds(360), 0, nil), (.seconds(86_400), 0, nil),
        // The clock is set forward or back; the time never exceeds the whole duration.
        (.zero, 100_000, .seconds(260)), (.zero, 360_000, nil), (.zero, -100_000, .seconds(460)),
        (.zero, -240_000, .seconds(600)), (.zero, -86_400_000, .seconds(600)),
    ])
    func theRemainingTimeFollowsTheWallClock(down: Duration, jump: Int64, left: Duration?) throws {
        try home.withRun(time: time) { run in
            try run.number("Size").set(2)
            try run.number("Size").set(3, for: .seconds(600))
            time.advance(by: .seconds(240))
            run.registry.expire()
        }
        time.advance(by: down)
        time.jump(by: jump)
        try home.withRun(time: time) { run in
            let size = try run.number("Size")
            #expect(size.timeLeft == left && size.value == (left == nil ? 2 : 3))
            time.advance(by: left ?? .zero)
            run.registry.expire()
            #expect(size.value == 2)
        }
        #expect(try home.withRun(time: time) { try $0.number("Size").value } == 2)
        #expect(try !text().contains("expires"))
    }

    /// A machine without a battery for its clock learns the time after its programs have started.
    @Test(arguments: [3_600_000, -3_600_000], [true, false])
    func theWallClockMayBeSetWhileTheProgramRuns(_ jump: Int64, _ isSetBefore: Bool) throws {
        try home.withRun(time: time) { run in
            let size = try run.number("Size")
            if isSetBefore { try size.set(3, for: .seconds(600)) }
            run.flush()
            time.jump(by: jump)
            if !isSetBefore { try size.set(3, for: .seconds(600)) }
        }
        let moment = jump > 0 ? "2026-11-21T10:40:00.123Z" : "2026-11-21T08:40:00.123Z"
        #expect(home.read("state/overrides.json")?.contains("\"expires\": \"\(moment)\"") == true)
        #expect(try home.withRun(time: time) { try $0.number("Size").timeLeft } == .seconds(600))
    }

    @Test func aClockChangeIsNoticedWithinAMinute() throws {
        try home.withRun(time: time) { run in
            try run.number("Size").set(3, for: .seconds(600))
            run.flush()
            time.settle()
            time.waitUntilAsleep(for: .seconds(60))
            time.jump(by: 3_600_000)
            time.advance(by: .seconds(60))
            try eventually { run.text?.contains("\"expires\": \"2026-11-21T10:40:00.123Z\"") == true }
            // Without temporary overrides there is no deadline.
            try run.number("Size").keep()
            run.flush()
            time.waitUntilIdle()
        }
    }

    @Test func theNextWriteAlsoCorrectsTheTimeOfOthers() throws {
        try home.withRun(time: time) { run in
            try run.number("Size").set(3, for: .seconds(600))
            run.flush()
            // The second one is slewing, which is not a clock change.
            for (jump, value) in [(Int64(3_600_000), 2.0), (900, 4)] {
                time.jump(by: jump)
                try run.save("Other", value)
                #expect(try text().contains("\"expires\": \"2026-11-21T10:40:00.123Z\""))
            }
        }
    }

    @Test func anOverrideThatExpiredBetweenRunsIsRemovedFromTheFile() throws {
        try home.withRun(time: time) { run in try run.number("Size").set(3, for: .seconds(600)) }
        #expect(try text().contains("expires"))
        time.advance(by: .seconds(600))
        #expect(try home.withRun(time: time) { try $0.number("Size").value } == 1)
        #expect(try !text().contains("expires"))
    }

    @Test func keepingResettingAndSettingAreSaved() throws {
        try home.withRun(time: time) { run in
            let (kept, reset, plain) = (try run.number("Kept"), try run.number("Reset"), try run.number("Plain"))
            for tweak in [kept, reset, plain] { try tweak.set(2, for: .seconds(600)) }
            run.flush()
            try kept.keep()
            reset.reset()
            try plain.set(3)
        }
        time.advance(by: .seconds(6_000))
        let values = try home.withRun(time: time) { run in
            try ["Kept", "Reset", "Plain"].map { try run.number($0).value }
        }
        #expect(values == [2, 1, 3])
    }

    @Test func aFileCannotAskForMoreThanTheLongestTime() throws {
        let text = """
            {"format":"tweaks-overrides","version":1,"program":"test","revision":5,"overrides":[{"path":"A/B/Size",\
            "kind":"number","value":3,"origin":"uid 0","time":"0001-01-01T00:00:00Z","expires":"9999-12-31T23:59:59Z"}]}
            """
        try home.makeFolder("state")
        try home.write(text, to: "state/overrides.json")
        try home.withRun(time: time) { run in
            let size = try run.number("Size")
            #expect(size.value == 3 && size.timeLeft == .seconds(365 * 86_400))
        }
    }

    @Test func aTweakRegisteredLateOrAgainHasTheRemainingTime() throws {
        try home.withRun(time: time) { run in
            for name in ["Soon", "Late"] { try run.number(name).set(2, for: .seconds(600)) }
        }
        try home.withRun(time: time) { run in
            time.advance(by: .seconds(300))
            let soon = try run.number("Soon")
            #expect(soon.timeLeft == .seconds(300))
            run.registry.remove(soon.path)
            time.advance(by: .seconds(200))
            let again = try run.number("Soon")
            #expect(again.timeLeft == .seconds(100))
            time.advance(by: .seconds(100))
            let late = try run.number("Late")
            #expect(late.value == 1)
            run.registry.expire()
            #expect(again.value == 1)
        }
    }

    private func wide(in run: ProgramRun, to bound: Double) throws -> Tweak<Double> {
        try run.registry.register("A", "B", "Wide", 1.0, in: 0...bound)
    }

    @Test func aRenamedTweakKeepsItsOverrideAndAnInvalidOneIsQuarantined() throws {
        try home.withRun(time: time) { run in
            try run.number("Old").set(2, for: .seconds(600))
            try wide(in: run, to: 200).set(150, for: .seconds(600))
        }
        try home.withRun(time: time) { run in
            let new = try run.registry.register("A", "B", "New", 1.0, formerly: "A/B/Old")
            let wide = try wide(in: run, to: 100)
            #expect(new.value == 2 && new.timeLeft == .seconds(600) && wide.value == 1 && wide.timeLeft == nil)
            let node = try #require(run.registry["A/B/Wide"]).node
            #expect(run.registry.quarantined(node).map(\.layer) == [.temporaryOverride])
        }
        let text = try text()
        #expect(text.contains("A/B/New") && !text.contains("A/B/Old") && text.contains("A/B/Wide"))
        #expect(try home.withRun(time: time) { try wide(in: $0, to: 200).value } == 150)
    }

    @Test func aNewValueEndsAQuarantinedOne() throws {
        try home.withRun(time: time) { try wide(in: $0, to: 200).set(150, for: .seconds(600)) }
        try home.withRun(time: time) { try wide(in: $0, to: 100).set(50) }
        #expect(try !text().contains("expires"))
        #expect(try home.withRun(time: time) { try wide(in: $0, to: 200).value } == 50)
    }
}
