// Tests what a driver takes for an orderly exit, a crash, a sample and the end of a step.

import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct DriverJudgmentTests {
    // MARK: Orderly exits

    @Test func `A member that leaves with a farewell neither aborts nor pauses it`() throws {
        var scenario = try DriverScenario(members: 5)
        (scenario.record.value.reached, scenario.record.value.reachedAt) = (5, 0)
        scenario.report()
        #expect(scenario.decide().isWait)
        scenario.leave("eu1")
        for _ in 0..<9 { #expect(scenario.decide(after: 30).isWait) }
        #expect(scenario.driver.progress.left == 1)
        // The farewell is gone after a while.
        scenario.left = []
        #expect(scenario.decide(after: 29).isWait)
        #expect(scenario.decide(after: 1) == .finish)
    }

    @Test func `A member without a farewell still aborts it, also after another one with a farewell`() throws {
        for others in [0, 10] {
            var scenario = try DriverScenario(members: 5, others: others)
            scenario.report()
            #expect(scenario.decide().isWait)
            scenario.leave("eu1", "eu2")
            #expect(scenario.decide(after: 10).isWait)
            scenario.remove("eu3")
            #expect(scenario.decide(after: 40).reason?.hasPrefix("1 of 3 members are silent") == true)
        }
    }

    @Test func `Processes that leave and are replaced with new IDs, as pods are, do not disturb it`() throws {
        var scenario = try DriverScenario(members: 4)
        (scenario.record.value.reached, scenario.record.value.reachedAt) = (4, 0)
        scenario.report()
        #expect(scenario.decide().isWait)
        for number in 0..<4 {
            scenario.leave("eu\(number)")
            #expect(scenario.decide(after: 5).isWait)
            scenario.add("eu\(number + 4)")
            scenario.report()
            #expect(scenario.decide(after: 35).isWait)
        }
        #expect(scenario.decide(after: 140) == .finish)
    }

    @Test func `Orderly restarts are no crashes, and crashes between them are`() throws {
        var scenario = try DriverScenario(members: 5)
        scenario.report()
        #expect(scenario.decide().isWait)
        for start: Int64 in 2...5 {
            try scenario.restart("eu1", start)
            #expect(scenario.decide(after: 5).isWait)
        }
        let member = scenario.live["eu1"]
        try scenario.start(member, 6)
        #expect(scenario.decide(after: 5).isWait, "one crash")
        try scenario.restart("eu1", 7)
        #expect(scenario.decide(after: 5).isWait)
        try scenario.start(member, 8)
        let decision = scenario.decide(after: 5)
        #expect(decision.isAbort && decision.reason?.contains("eu1") == true, "\(decision)")
    }

    @Test func `The farewell of an earlier start does not excuse the silence of a later one`() throws {
        var scenario = try DriverScenario(members: 60, others: 0)
        (scenario.record.value.reached, scenario.record.value.reachedAt) = (60, 0)
        scenario.report()
        #expect(scenario.decide().isWait)
        for number in 1...2 {
            try scenario.restart("eu\(number)", 2)
            #expect(scenario.decide(after: 1).isWait)
        }
        scenario.remove("eu1")
        // One of sixty is not significant, but missing.
        #expect(scenario.decide(after: 40).isWait)
        #expect(scenario.decide(after: 60).reason?.hasPrefix("59 of 60 members that had this step live") == true)
        scenario.remove("eu2")
        _ = scenario.decide(after: 1)
        #expect(scenario.decide(after: 40).reason?.hasPrefix("2 of 60 members are silent") == true)
    }

    @Test func `The only member may restart late in a step, and gets the time to report again`() throws {
        var scenario = try DriverScenario(members: 1, others: 0)
        scenario.report()
        #expect(scenario.decide().isWait)
        let member = scenario.live["eu0"]
        #expect(scenario.decide(after: 200).isWait)
        scenario.leave("eu0")
        #expect(scenario.decide(after: 10).isWait)
        try scenario.start(member, 2)
        scenario.live["eu0"]?.status.revision = 0
        #expect(scenario.decide(after: 10).isWait)
        scenario.report()
        #expect(scenario.decide(after: 80) == .finish)

        scenario.rewrite { $0.next = nil }
        scenario.leave("eu0")
        #expect(scenario.decide(after: 1).isWait)
        #expect(scenario.decide(after: 119).isWait)
        #expect(scenario.decide(after: 1).reason == "no member lives any more")
    }

    @Test func `The next driver counts farewells since the members were counted, and no earlier ones`() throws {
        for isLater in [true, false] {
            var scenario = try DriverScenario(members: 60, others: 60)
            scenario.report()
            scenario.leave("eu1")
            let farewell = try #require(scenario.left.first?.modRevision)
            (scenario.record.value.reached, scenario.record.value.reachedAt) = (60, farewell - (isLater ? 1 : 0))
            scenario.rewrite()
            scenario.report()
            scenario.noteOutage()
            #expect(scenario.decide(after: 61).isWait)
            #expect(scenario.decide(after: 61).isPause == !isLater)
        }
    }

    @Test func `After an outage that outlasts farewells nobody counts as silent, but members are missing`() throws {
        for seconds: Int64 in [500, 700] {
            var scenario = try DriverScenario(members: 5)
            (scenario.record.value.reached, scenario.record.value.reachedAt) = (5, 0)
            scenario.report()
            #expect(scenario.decide().isWait)
            scenario.remove("eu1")
            scenario.now += seconds * 1_000
            scenario.noteOutage()
            #expect(scenario.decide().isWait)
            #expect(scenario.decide(after: 61).isAbort == (seconds == 500))
            if seconds == 700 { #expect(scenario.decide(after: 61).isPause) }
        }
    }

    // MARK: Samples

    @Test func `A sample counts once, in however many statuses it is`() throws {
        var scenario = try DriverScenario(abortIf: 100)
        scenario.report()
        scenario.sample(900)
        scenario.stampSamples()
        #expect(scenario.decide(after: 15).isWait)
        for _ in 0..<3 {
            // A status for another cause, such as another operator's write.
            for id in scenario.live.keys { scenario.live[id]?.status.at += 1_000 }
            #expect(scenario.decide(after: 1).isWait)
        }
        scenario.sample(20)
        scenario.stampSamples()
        #expect(scenario.decide(after: 15).isWait)
        for _ in 0..<2 {
            scenario.sample(900)
            scenario.stampSamples()
            scenario.now += 15_000
            if scenario.decide().isAbort { return }
        }
        Issue.record("two samples in a row do not abort it")
    }

    @Test func `A sample from before a step does not count in it, also in a status from after it`() throws {
        var scenario = try DriverScenario(abortIf: 100)
        scenario.report()
        scenario.sample(900)
        scenario.stampSamples()
        #expect(scenario.decide(after: 15).isWait)
        scenario.rewrite()
        scenario.report()
        #expect(scenario.decide(after: 5).isWait)
        scenario.sample(900)
        scenario.stampSamples()
        #expect(scenario.decide(after: 10).isWait, "the first sample of this step")
        scenario.sample(900)
        scenario.stampSamples()
        #expect(scenario.decide(after: 15).isAbort)
    }

    // MARK: The end of a step

    @Test(arguments: [-600_000, 0, 86_400_000] as [Int64])
    func `A timer decides when a step is due and a deadline over, and no wall clock`(_ wallError: Int64) throws {
        var scenario = try DriverScenario(confirmWithin: 600)
        (scenario.record.value.isTimed, scenario.isTimerRunning, scenario.wallError) = (true, true, wallError)
        scenario.report()
        #expect(scenario.decide(after: 400).isWait)
        scenario.isTimerRunning = false
        #expect(scenario.decide(after: 1) == .awaitConfirmation(within: 600))
        scenario.isTimerRunning = true
        let until = scenario.now + 600_000
        scenario.rewrite { $0.confirmBy = until }
        #expect(scenario.decide(after: 900) == .askToFinish(until: until))
        scenario.isTimerRunning = false
        #expect(scenario.decide(after: 1).isAbort)
    }
}
