// Tests the decisions of a driver from rollouts, statuses and times.

import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct RolloutDriverTests {
    private let half = Share(hundredths: 5_000) ?? .all

    // MARK: Steps

    @Test func `The next step begins when all live members have reported, and not before its time`() throws {
        var scenario = try DriverScenario(share: half, steps: [half, .all])
        let members = scenario.live.values.filter { scenario.record.value.includes($0.instance) }.map(\.id)
        let member = try #require(members.first)
        #expect(scenario.decide().isWait)
        scenario.report(Array(members.dropFirst()))
        #expect(scenario.decide(after: 100).isWait)
        scenario.report([member])
        #expect(scenario.decide(after: 10).isWait, "not before its time")
        #expect(scenario.decide(after: 190) == .advance(to: .all))
    }

    @Test func `After the last step at 100 % the rollout finishes, and below it pauses`() throws {
        for share in [Share.all, half] {
            var scenario = try DriverScenario(share: share, steps: [share])
            scenario.report()
            #expect(scenario.decide(after: 10).isWait)
            if share == .all {
                #expect(scenario.decide(after: 290) == .finish)
            } else {
                #expect(scenario.decide(after: 300).isPause)
            }
        }
    }

    @Test func `With a confirmation the last step waits for an operator, and reverts without one`() throws {
        var scenario = try DriverScenario(confirmWithin: 600)
        scenario.report()
        #expect(scenario.decide(after: 300) == .awaitConfirmation(within: 600))
        let until = scenario.now + 600_000
        (scenario.record.value.confirmBy, scenario.record.pair.modRevision) = (until, 60)
        #expect(scenario.decide(after: 1) == .askToFinish(until: until))
        #expect(scenario.decide(after: 598) == .askToFinish(until: until))
        #expect(scenario.decide(after: 1).isAbort)
    }

    @Test func `A paused rollout waits for an operator; a finished or deleted one ends the driver`() throws {
        var scenario = try DriverScenario()
        scenario.report()
        scenario.record.value.state = .paused
        #expect(scenario.decide(after: 1_000) == .awaitResume)
        scenario.record.value.state = .done
        #expect(scenario.decide() == .done)
        #expect(scenario.driver.decide(DriverObservation(nil, live: []), now: .now) == .gone)
    }

    // MARK: Aborts

    @Test(arguments: [("r1", "eu3", true), ("r2", "eu3", false), (nil, "eu3", false), ("r1", "us3", false)])
    func `A member's refusal of this rollout aborts it`(_ rollout: String?, _ id: String, _ aborts: Bool) throws {
        var scenario = try DriverScenario()
        scenario.report()
        scenario.refuse(id, rollout: rollout)
        let decision = scenario.decide(after: 10)
        #expect(decision.isAbort == aborts)
        if aborts { #expect(decision.reason?.contains("eu3 refuses it: Service/Pool/Size: too large") == true) }
    }

    @Test(arguments: [
        (members: 10, others: 10, silent: 1, silentOthers: 0, aborts: true),
        (10, 10, 1, 1, false), (10, 10, 2, 1, false), (10, 10, 3, 1, true), (10, 0, 1, 0, true), (10, 10, 0, 5, false),
        (1, 99, 1, 10, true), (100, 100, 1, 0, false), (100, 100, 2, 0, true), (10, 90, 10, 90, false),
        (5, 95, 5, 40, true), (50, 50, 1, 0, true),
    ])
    func `Silence of significantly more members than other processes aborts it`(
        _ row: (members: Int, others: Int, silent: Int, silentOthers: Int, aborts: Bool)
    ) throws {
        var scenario = try DriverScenario(members: row.members, others: row.others)
        scenario.report()
        #expect(scenario.decide(after: 10).isWait)
        for number in 0..<row.silent { scenario.remove("eu\(number)") }
        for number in 0..<row.silentOthers { scenario.remove("us\(number)") }
        #expect(scenario.decide(after: 1).isWait, "it may be a restart")
        #expect(scenario.decide(after: 40).isAbort == row.aborts)
    }

    @Test func `A member that returns in time was not silent, and the step waits for it`() throws {
        var scenario = try DriverScenario()
        scenario.report()
        _ = scenario.decide(after: 290)
        let member = scenario.live["eu1"]
        scenario.remove("eu1")
        #expect(scenario.decide(after: 15).isWait)
        scenario.live["eu1"] = member
        scenario.live["eu1"]?.start = 2
        #expect(scenario.decide(after: 10) == .finish)
    }

    @Test func `A member that restarts repeatedly aborts it`() throws {
        var scenario = try DriverScenario()
        scenario.report()
        _ = scenario.decide(after: 1)
        scenario.live["eu1"]?.start = 2
        #expect(scenario.decide(after: 5).isWait)
        scenario.live["eu1"]?.start = 3
        let decision = scenario.decide(after: 5)
        #expect(decision.isAbort && decision.reason?.contains("eu1") == true)
    }

    @Test func `Silence before a step does not count after it`() throws {
        var scenario = try DriverScenario()
        scenario.report()
        _ = scenario.decide(after: 10)
        scenario.remove("eu1", "us1")
        #expect(scenario.decide(after: 40).isWait, "others are silent, too")
        scenario.record.pair.modRevision = 60
        scenario.report()
        #expect(scenario.decide(after: 1).isWait)
        #expect(scenario.decide(after: 260) == .finish)
    }

    // MARK: Processes with random IDs

    @Test func `Processes that restart with new IDs are not silent`() throws {
        var scenario = try DriverScenario(members: 4, others: 0, isUnstable: true)
        scenario.report()
        #expect(scenario.decide(after: 1).isWait)
        scenario.live = [:]
        for number in 4..<8 { scenario.add("eu\(number)", "eu", true) }
        scenario.report()
        #expect(scenario.decide(after: 1).isWait)
        #expect(scenario.decide(after: 300) == .finish)
    }

    @Test func `A process that restarted with a new ID just before a step is not silent after it`() throws {
        var scenario = try DriverScenario(members: 4, others: 0, isUnstable: true)
        scenario.report()
        #expect(scenario.decide(after: 1).isWait)
        // The status of the old process remains for a while, into the next step.
        scenario.add("eu4", "eu", true)
        scenario.report()
        #expect(scenario.decide(after: 10).isWait)
        scenario.record.pair.modRevision = 60
        scenario.report()
        #expect(scenario.decide(after: 10).isWait)
        scenario.remove("eu0")
        #expect(scenario.decide(after: 20).isWait)
        #expect(scenario.decide(after: 300) == .finish)
    }

    @Test func `Processes that crash with a new ID each time are silent`() throws {
        var scenario = try DriverScenario(members: 2, others: 0, isUnstable: true)
        scenario.report()
        #expect(scenario.decide(after: 1).isWait)
        let status = try #require(scenario.live["eu1"]?.status)
        var decision = DriverDecision.wait
        for number in 2..<5 {
            scenario.remove("eu\(number - 1)")
            scenario.live["eu\(number)"] = LiveInstance(id: "eu\(number)", start: 1, status: status)
            if !decision.isAbort { decision = scenario.decide(after: 40) }
        }
        #expect(decision.isAbort, "\(decision)")
    }

    // MARK: Metrics

    /// The number of affected members, of ten, and their values in two samples.
    @Test(arguments: [
        (affected: 1, first: 6.0, second: 6.0, aborts: true), (10, 6, 6, true), (1, 6, 5, false), (1, 5, 6, false),
        (0, 6, 6, false), (10, 5, 5, false),
    ])
    func `A tenth of the members that meet the condition in two samples in a row abort it`(
        _ row: (affected: Int, first: Double, second: Double, aborts: Bool)
    ) throws {
        var scenario = try DriverScenario(abortIf: 5)
        scenario.report()
        for (index, value) in [row.first, row.second].enumerated() {
            scenario.sample(1)
            scenario.sample(value, (0..<row.affected).map { "eu\($0)" })
            let decision = scenario.decide(after: 15)
            #expect(decision.isAbort == (row.aborts && index == 1), "\(decision)")
        }
    }

    /// A scenario with a condition on the metric.
    private func scenario(_ end: String, others: Int = 10) throws -> DriverScenario {
        var scenario = try DriverScenario(others: others, abortIf: 5)
        let condition = try #require(MetricCondition(parsing: "\(DriverScenario.metric) \(end)"))
        scenario.record.value.abortIf = [condition]
        scenario.report()
        return scenario
    }

    @Test func `Members are compared with the median of the others`() throws {
        for (figure, aborts) in [(21.0, true), (19, false)] {
            var scenario = try scenario("> 2 × others")
            for _ in 0..<2 {
                scenario.sample(10, (0..<10).map { "us\($0)" })
                // One of the others is far off, which the median does not notice.
                scenario.sample(1_000, ["us3"])
                scenario.sample(10)
                scenario.sample(figure, ["eu4"])
                _ = scenario.decide(after: 15)
            }
            let decision = scenario.decide()
            #expect(decision.isAbort == aborts, "\(figure): \(decision)")
            if aborts { #expect("\(decision)".contains("> 2 × others (10) on 1 of 10 members: eu4 21"), "\(decision)") }
        }
    }

    @Test func `Once all are members the last median of the others counts`() throws {
        var scenario = try scenario("> 2 × others")
        scenario.sample(10, (0..<10).map { "us\($0)" })
        scenario.sample(10)
        _ = scenario.decide(after: 15)
        scenario.remove((0..<10).map { "us\($0)" })
        for _ in 0..<2 {
            scenario.sample(30)
            _ = scenario.decide(after: 15)
        }
        #expect(scenario.decide().isAbort)
    }

    @Test func `Without others to compare with the rollout pauses`() throws {
        var scenario = try scenario("> 2 × others", others: 0)
        for _ in 0..<8 {
            scenario.sample(30)
            #expect(scenario.decide(after: 15).isWait)
        }
        scenario.sample(30)
        guard case .pause(let reason) = scenario.decide(after: 15) else {
            Issue.record("it does not pause")
            return
        }
        #expect(reason == "no process that is not a member sends Service/Errors/Rate, to compare with")
    }

    @Test(arguments: [1, 3])
    func `A condition can ask for another number of samples`(count: Int) throws {
        var scenario = try scenario("> 5 for \(count) samples")
        for number in 1...count {
            scenario.sample(6)
            #expect(scenario.decide(after: 15).isAbort == (number == count))
        }
    }

    @Test func `One of twenty members that meets the condition does not abort it, two do`() throws {
        var scenario = try DriverScenario(members: 20, abortIf: 5)
        scenario.report()
        for _ in 0..<3 {
            scenario.sample(1)
            scenario.sample(9, ["eu0"])
            #expect(scenario.decide(after: 15).isWait)
        }
        for _ in 0..<2 {
            scenario.sample(1)
            scenario.sample(9, ["eu0", "eu1"])
            scenario.now += 15_000
        }
        _ = scenario.decide()
        scenario.sample(9, ["eu0", "eu1"])
        #expect(scenario.decide(after: 15).isAbort)
    }

    @Test func `A sample counts once, and not if it is from before the step`() throws {
        var scenario = try DriverScenario(abortIf: 5)
        for _ in 0..<3 {
            scenario.sample(9)
            #expect(scenario.decide(after: 15).isWait, "not reported yet")
        }
        scenario = try DriverScenario(abortIf: 5)
        scenario.report()
        scenario.sample(9)
        for _ in 0..<2 { #expect(scenario.decide(after: 1).isWait) }
    }

    @Test func `Members without samples pause it after some time`() throws {
        var scenario = try DriverScenario(abortIf: 5)
        scenario.report()
        for _ in 0..<7 {
            scenario.sample(1)
            scenario.sample(nil, ["eu4"])
            #expect(scenario.decide(after: 15).isWait)
        }
        scenario.sample(1)
        scenario.sample(nil, ["eu4"])
        let decision = scenario.decide(after: 30)
        #expect(decision.isPause && decision.reason?.contains("1 of 10 members send no figures") == true)

        scenario = try DriverScenario(abortIf: 5)
        scenario.report()
        for _ in 0..<3 {
            scenario.sample(1)
            #expect(scenario.decide(after: 15).isWait)
        }
        #expect(scenario.decide(after: 100).isWait)
        #expect(scenario.decide(after: 30).isPause, "the samples have stopped")
    }

    // MARK: Missing members

    @Test func `Members that do not report pause it; the reason contains their trouble`() throws {
        var scenario = try DriverScenario()
        scenario.report(["eu0", "eu1"])
        scenario.live["eu2"]?.status.trouble = "another cluster"
        #expect(scenario.decide().isWait)
        #expect(scenario.decide(after: 119).isWait)
        let decision = scenario.decide(after: 1)
        #expect(decision.isPause)
        #expect(decision.reason?.hasPrefix("8 of 10 members have not reported it: eu2, eu3") == true)
        #expect(decision.reason?.hasSuffix("another cluster") == true)
    }

    @Test func `A member that starts late gets as much time as the others`() throws {
        var scenario = try DriverScenario()
        scenario.report()
        #expect(scenario.decide().isWait)
        scenario.add("eu99")
        #expect(scenario.decide(after: 200).isWait)
        #expect(scenario.decide(after: 119).isWait)
        #expect(scenario.decide(after: 1).reason == "1 of 11 members have not reported it: eu99")
    }

    @Test(arguments: ["it stays away", "it returns", "an operator resumes"])
    func `A missing member holds the step, which pauses after a minute or continues after`(_ end: String) throws {
        var scenario = try DriverScenario(members: 60, others: 60, steps: [.all])
        scenario.record.value.reached = 60
        scenario.report()
        #expect(scenario.decide().isWait)
        // One of sixty does not indicate harm, but its state is unknown.
        let missing = scenario.live["eu0"]
        scenario.remove("eu0")
        scenario.now += 300_000
        #expect(scenario.decide() == .wait)
        switch end {
        case "it stays away":
            #expect(scenario.decide(after: 59) == .wait)
            let decision = scenario.decide(after: 1)
            #expect(decision.isPause)
            #expect(decision.reason == "59 of 60 members that had this step live; resume r1 goes on with them")
            return
        case "it returns": scenario.live["eu0"] = missing
        default:
            (scenario.record.value.reached, scenario.record.pair.modRevision) = (59, 60)
            scenario.report()
        }
        #expect(scenario.decide(after: 10) == .finish)
    }

    // MARK: Outages of the driver

    @Test func `Nothing within a minute after an outage of the driver counts`() throws {
        var scenario = try DriverScenario()
        scenario.report()
        _ = scenario.decide(after: 10)
        scenario.now += 300_000
        scenario.noteOutage()
        scenario.remove("eu1", "eu2")
        #expect(scenario.decide().isWait)
        scenario.refuse("eu3")
        #expect(scenario.decide(after: 59).isWait)
        scenario.live["eu3"]?.status.refused = []
        #expect(scenario.decide(after: 1).isAbort, "still silent")
    }

    @Test func `Samples from an outage do not count`() throws {
        var scenario = try DriverScenario(abortIf: 5)
        scenario.report()
        scenario.sample(1)
        _ = scenario.decide(after: 10)
        scenario.noteOutage()
        for _ in 0..<3 {
            scenario.sample(9)
            #expect(scenario.decide(after: 15).isWait)
        }
        scenario.sample(1)
        #expect(scenario.decide(after: 20).isWait)
    }
}

@Suite struct RolloutReachTests {
    private func instances(_ count: Int) -> [LiveInstance] {
        (0..<count).map { number in
            var status = FleetStatus(build: "b")
            status.labels = ["zone": "eu"]
            return LiveInstance(id: "eu\(number)", start: 1, status: status)
        }
    }

    private func rollout(_ steps: [Int], _ selector: Labels = [:]) throws -> Rollout {
        var rollout = try Rollout("r1", ["A/B/C": .int(1)])
        (rollout.steps, rollout.selector) = (steps.compactMap { Share(hundredths: $0) }, selector)
        rollout.share = rollout.steps.first ?? .all
        return rollout
    }

    @Test func `The members of each step are counted, and grow`() throws {
        let rollout = try rollout([1_000, 5_000, 10_000])
        let reach = RolloutReach(rollout, instances(1_000))
        let counts = reach.members.map(\.count)
        #expect(counts == counts.sorted() && counts.last == 1_000 && reach.eligible == 1_000)
        #expect((50...150).contains(counts[0]) && (450...550).contains(counts[1]), "\(counts)")
        try reach.check(rollout)
    }

    @Test func `An empty first step is refused; the refusal contains the smallest share with a member`() throws {
        let live = instances(3)
        var rollout = try rollout([1, 10_000])
        let reach = RolloutReach(rollout, live)
        let smallest = try #require(reach.smallest)
        let refusal = #expect(throws: FleetRefusal.self) { try reach.check(rollout) }
        #expect(refusal?.description.contains("\(smallest.text) is the smallest that reaches one") == true)
        rollout.steps = [smallest, .all]
        #expect(RolloutReach(rollout, live).members[0].count == 1)
        rollout.steps = [try #require(Share(hundredths: smallest.hundredths - 1))]
        #expect(RolloutReach(rollout, live).members[0].count == 0)
    }

    @Test func `A selector without members is refused`() throws {
        let rollout = try rollout([10_000], ["zone": "mars"])
        let reach = RolloutReach(rollout, instances(3))
        let refusal = #expect(throws: FleetRefusal.self) { try reach.check(rollout) }
        #expect(refusal?.description.hasPrefix("none of 3 processes has these labels") == true)
    }
}
