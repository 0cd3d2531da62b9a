// What a driver decides from what it sees, with the time given.

import Testing
import Tweaks

@testable import TweaksFleet

/// A rollout and processes in the zone eu, which are its members, and in us, which are not.
private struct Scene {
    var held: Held<Rollout>
    var driver: RolloutDriver
    var live: [String: LiveInstance] = [:]
    /// Milliseconds.
    var now: Int64 = 1_000_000

    static let figure = "Service/Errors/Rate"

    init(
        members: Int = 10, others: Int = 10, share: Share = .all, steps: [Share] = [.all], abortIf: Double? = nil,
        confirmWithin: Int64? = nil
    ) throws {
        let path = try TweakPath("Service/Pool/Size")
        var rollout = Rollout(
            id: "r1", changes: [.init(path: path, value: .int(80), found: .int(64))], share: share, by: "alice", at: 0)
        (rollout.selector, rollout.steps, rollout.every) = (["zone": "eu"], steps, 300)
        (rollout.next, rollout.confirmWithin) = (now + 300_000, confirmWithin)
        if let abortIf {
            rollout.abortIf = [
                FigureCondition(path: try TweakPath(Self.figure), comparison: .above, limit: abortIf)
            ]
        }
        held = Held(rollout, EtcdKeyValue(key: [], createRevision: 40, modRevision: 50))
        driver = RolloutDriver()
        for number in 0..<members { live["eu\(number)"] = Self.instance("eu\(number)", "eu") }
        for number in 0..<others { live["us\(number)"] = Self.instance("us\(number)", "us") }
    }

    private static func instance(_ id: String, _ zone: String) -> LiveInstance {
        var status = FleetStatus(build: "b")
        (status.labels, status.revision) = (["zone": zone], 49)
        return LiveInstance(id: id, start: 1, status: status)
    }

    /// All, or some, have applied the rollout.
    mutating func report(_ ids: [String]? = nil) {
        for id in ids ?? Array(live.keys) { live[id]?.status.revision = held.modRevision }
    }

    /// A new sample of some members.
    mutating func sample(_ figure: Double?, _ ids: [String]? = nil) {
        for id in ids ?? live.keys.filter({ $0.hasPrefix("eu") }) {
            live[id]?.status.at = now
            live[id]?.status.figures = figure.map { [Self.figure: $0] } ?? [:]
        }
    }

    mutating func leave(_ ids: String...) { for id in ids { live[id] = nil } }

    mutating func decide(after seconds: Int64 = 0) -> DriverDecision {
        now += seconds * 1_000
        return driver.decide(
            DriverObservation(rollout: held, live: live.values.sorted { $0.id < $1.id }, now: now))
    }
}

extension DriverDecision {
    /// Why it aborts or pauses.
    fileprivate var reason: String? {
        switch self {
        case .abort(let reason), .pause(let reason): reason
        default: nil
        }
    }

    fileprivate var isAbort: Bool { if case .abort = self { true } else { false } }
    fileprivate var isPause: Bool { if case .pause = self { true } else { false } }
    fileprivate var isWait: Bool { if case .wait = self { true } else { false } }
}

@Suite struct RolloutDriverTests {
    private let half = Share(hundredths: 5_000) ?? .all

    // MARK: Going on

    @Test func `It advances when every live member has reported, and not before its time`() throws {
        var scene = try Scene(share: half, steps: [half, .all])
        let members = scene.live.values.filter { scene.held.value.includes($0.instance) }.map(\.id)
        let member = try #require(members.first)
        #expect(scene.decide() == .wait(until: scene.held.value.next))
        scene.report(Array(members.dropFirst()))
        #expect(scene.decide(after: 100).isWait)
        scene.report([member])
        #expect(scene.decide(after: 10).isWait, "not before its time")
        #expect(scene.decide(after: 190) == .advance(to: .all))
    }

    @Test func `After the last step it finishes by itself`() throws {
        var scene = try Scene()
        scene.report()
        #expect(scene.decide(after: 10).isWait)
        #expect(scene.decide(after: 290) == .finish)
    }

    @Test func `With a confirmation the last step waits for a person, and reverts without one`() throws {
        var scene = try Scene(confirmWithin: 600)
        scene.report()
        #expect(scene.decide(after: 300) == .awaitConfirmation(until: scene.now + 600_000))
        let until = scene.now + 600_000
        (scene.held.value.confirmBy, scene.held.modRevision) = (until, 60)
        #expect(scene.decide(after: 1) == .ask(until: until))
        #expect(scene.decide(after: 598) == .ask(until: until))
        #expect(scene.decide(after: 1).isAbort)
    }

    @Test func `A last step below 100 % is where it stays`() throws {
        var scene = try Scene(share: half, steps: [half])
        scene.report()
        #expect(scene.decide(after: 10).isWait)
        #expect(scene.decide(after: 300).isPause)
    }

    @Test func `A rollout that is gone, done or paused is left alone`() throws {
        var scene = try Scene()
        scene.report()
        scene.held.value.state = .paused
        #expect(scene.decide(after: 1_000) == .held)
        scene.held.value.state = .done
        #expect(scene.decide() == .done)
        let gone = DriverObservation(rollout: nil, live: [], now: 0)
        #expect(scene.driver.decide(gone) == .gone)
    }

    // MARK: The brake

    @Test(arguments: [
        ("r1", "eu3", true), ("r2", "eu3", false), (nil, "eu3", false), ("r1", "us3", false),
    ])
    func `A refusal of this rollout by a member stops it`(_ rollout: String?, _ id: String, _ stops: Bool) throws {
        var scene = try Scene()
        scene.report()
        scene.live[id]?.status.refused = [.init(rollout: rollout, path: "Service/Pool/Size", reason: "too large")]
        let decision = scene.decide(after: 10)
        #expect(decision.isAbort == stops)
        if stops { #expect(decision.reason?.contains("eu3 refuses it: Service/Pool/Size: too large") == true) }
    }

    /// Members and others of which so many fall silent.
    @Test(arguments: [
        (members: 10, others: 10, silent: 1, silentOthers: 0, stops: true),
        (10, 10, 1, 1, false), (10, 10, 2, 1, false), (10, 10, 3, 1, true), (10, 0, 1, 0, true), (10, 10, 0, 5, false),
        (1, 99, 1, 10, true), (100, 100, 1, 0, false), (100, 100, 2, 0, true), (10, 90, 10, 90, false),
        (5, 95, 5, 40, true), (50, 50, 1, 0, true),
    ])
    func `Members that fall silent where others do not stop it`(
        _ row: (members: Int, others: Int, silent: Int, silentOthers: Int, stops: Bool)
    ) throws {
        var scene = try Scene(members: row.members, others: row.others)
        scene.report()
        #expect(scene.decide(after: 10).isWait)
        for number in 0..<row.silent { scene.leave("eu\(number)") }
        for number in 0..<row.silentOthers { scene.leave("us\(number)") }
        #expect(scene.decide(after: 1).isWait, "it may be a restart")
        #expect(scene.decide(after: 40).isAbort == row.stops)
    }

    @Test func `A member that comes back in time was not silent, but is waited for`() throws {
        var scene = try Scene()
        scene.report()
        _ = scene.decide(after: 290)
        let member = scene.live["eu1"]
        scene.leave("eu1")
        #expect(scene.decide(after: 15).isWait)
        scene.live["eu1"] = member
        scene.live["eu1"]?.start = 2
        #expect(scene.decide(after: 10) == .finish)
    }

    @Test func `A member that starts again and again stops it`() throws {
        var scene = try Scene()
        scene.report()
        _ = scene.decide(after: 1)
        scene.live["eu1"]?.start = 2
        #expect(scene.decide(after: 5).isWait)
        scene.live["eu1"]?.start = 3
        let decision = scene.decide(after: 5)
        #expect(decision.isAbort && decision.reason?.contains("eu1") == true)
    }

    @Test func `Who was silent before a step does not count after it`() throws {
        var scene = try Scene()
        scene.report()
        _ = scene.decide(after: 10)
        scene.leave("eu1", "us1")
        #expect(scene.decide(after: 40).isWait, "others are silent, too")
        scene.held.modRevision = 60
        scene.report()
        #expect(scene.decide(after: 1).isWait)
        #expect(scene.decide(after: 260) == .finish)
    }

    @Test func `Processes that restart under other names are not silent`() throws {
        var scene = try Scene(members: 4, others: 0)
        scene.report()
        for id in scene.live.keys { scene.live[id]?.status.isUnstable = true }
        #expect(scene.decide(after: 1).isWait)
        var next = try Scene(members: 8, others: 0).live.filter { $0.key >= "eu4" }
        for id in next.keys { next[id]?.status.isUnstable = true }
        scene.live = next
        scene.report()
        #expect(scene.decide(after: 1).isWait)
        #expect(scene.decide(after: 300) == .finish)
    }

    @Test func `A process that restarted under another name just before a step is not silent after it`() throws {
        var scene = try Scene(members: 4, others: 0)
        for id in scene.live.keys { scene.live[id]?.status.isUnstable = true }
        scene.report()
        #expect(scene.decide(after: 1).isWait)
        // The status of the one that is gone stays for a while, and sees the next step begin.
        scene.live["eu4"] = try Scene(members: 5, others: 0).live["eu4"]
        scene.live["eu4"]?.status.isUnstable = true
        scene.report()
        #expect(scene.decide(after: 10).isWait)
        scene.held.modRevision = 60
        scene.report()
        #expect(scene.decide(after: 10).isWait)
        scene.leave("eu0")
        #expect(scene.decide(after: 20).isWait)
        #expect(scene.decide(after: 300) == .finish)
    }

    @Test func `Processes that crash under a new name each time are silent`() throws {
        var scene = try Scene(members: 2, others: 0)
        scene.report()
        for id in scene.live.keys { scene.live[id]?.status.isUnstable = true }
        #expect(scene.decide(after: 1).isWait)
        let pod = try #require(scene.live["eu1"])
        var decision = DriverDecision.wait(until: nil)
        for number in 2..<5 {
            scene.live["eu\(number - 1)"] = nil
            scene.live["eu\(number)"] = LiveInstance(id: "eu\(number)", start: 1, status: pod.status)
            if !decision.isAbort { decision = scene.decide(after: 40) }
        }
        #expect(decision.isAbort, "\(decision)")
    }

    // MARK: Figures

    /// Figures of so many of ten members in two samples.
    @Test(arguments: [
        (hurt: 1, first: 6.0, second: 6.0, stops: true), (10, 6, 6, true), (1, 6, 5, false), (1, 5, 6, false),
        (0, 6, 6, false), (10, 5, 5, false),
    ])
    func `The condition on a tenth of the members twice in a row stops it`(
        _ row: (hurt: Int, first: Double, second: Double, stops: Bool)
    ) throws {
        var scene = try Scene(abortIf: 5)
        scene.report()
        let hurt = (0..<row.hurt).map { "eu\($0)" }
        for figure in [row.first, row.second] {
            scene.sample(1)
            scene.sample(figure, hurt)
            let decision = scene.decide(after: 15)
            #expect(decision.isAbort == (row.stops && figure == row.second && scene.now > 1_020_000), "\(decision)")
        }
    }

    @Test func `One of twenty is not a tenth`() throws {
        var scene = try Scene(members: 20, abortIf: 5)
        scene.report()
        for _ in 0..<3 {
            scene.sample(1)
            scene.sample(9, ["eu0"])
            #expect(scene.decide(after: 15).isWait)
        }
        for _ in 0..<2 {
            scene.sample(1)
            scene.sample(9, ["eu0", "eu1"])
            scene.now += 15_000
        }
        _ = scene.decide()
        scene.sample(9, ["eu0", "eu1"])
        #expect(scene.decide(after: 15).isAbort)
    }

    @Test func `The same sample seen twice is one`() throws {
        var scene = try Scene(abortIf: 5)
        scene.report()
        scene.sample(9)
        #expect(scene.decide(after: 1).isWait)
        #expect(scene.decide(after: 1).isWait)
    }

    @Test func `A sample from before the step does not count`() throws {
        var scene = try Scene(abortIf: 5)
        for _ in 0..<3 {
            scene.sample(9)
            #expect(scene.decide(after: 15).isWait)
        }
    }

    @Test func `Missing figures pause it, after some time`() throws {
        var scene = try Scene(abortIf: 5)
        scene.report()
        for _ in 0..<7 {
            scene.sample(1)
            scene.sample(nil, ["eu4"])
            #expect(scene.decide(after: 15).isWait)
        }
        scene.sample(1)
        scene.sample(nil, ["eu4"])
        let decision = scene.decide(after: 30)
        #expect(decision.isPause && decision.reason?.contains("1 of 10 members send no figures") == true)
    }

    @Test func `Figures that no longer come pause it`() throws {
        var scene = try Scene(abortIf: 5)
        scene.report()
        for _ in 0..<3 {
            scene.sample(1)
            #expect(scene.decide(after: 15).isWait)
        }
        #expect(scene.decide(after: 100).isWait)
        #expect(scene.decide(after: 30).isPause)
    }

    // MARK: Missing data

    @Test func `Members that do not report pause it, with their trouble`() throws {
        var scene = try Scene()
        scene.report(["eu0", "eu1"])
        scene.live["eu2"]?.status.trouble = "another cluster"
        #expect(scene.decide().isWait)
        #expect(scene.decide(after: 119).isWait)
        let decision = scene.decide(after: 1)
        #expect(decision.isPause)
        #expect(decision.reason?.hasPrefix("8 of 10 members have not reported it: eu2, eu3") == true)
        #expect(decision.reason?.hasSuffix("another cluster") == true)
    }

    // MARK: Members that come and go

    @Test func `Fewer members than had the step hold it, and pause it when they stay away`() throws {
        var scene = try Scene(members: 60, others: 60, steps: [.all])
        scene.held.value.reached = 60
        scene.report()
        #expect(scene.decide().isWait)
        // One of sixty is no sign of harm, and yet it is not known what became of it.
        scene.leave("eu0")
        scene.now += 300_000
        #expect(scene.decide() == .wait(until: nil))
        #expect(scene.decide(after: 59) == .wait(until: nil))
        let decision = scene.decide(after: 1)
        #expect(decision.isPause)
        #expect(decision.reason == "59 of 60 members that had this step live; resume r1 goes on with them")
    }

    @Test func `A rollout goes on when the members that were away are back, or a person goes on without them`() throws {
        for isBack in [true, false] {
            var scene = try Scene(members: 60, others: 60, steps: [.all])
            scene.held.value.reached = 60
            scene.report()
            _ = scene.decide()
            let away = scene.live["eu0"]
            scene.leave("eu0")
            scene.now += 300_000
            #expect(scene.decide() == .wait(until: nil))
            if isBack {
                scene.live["eu0"] = away
            } else {
                // What resume writes.
                (scene.held.value.reached, scene.held.modRevision) = (59, 60)
                scene.report()
            }
            #expect(scene.decide(after: 10) == .finish)
        }
    }

    @Test func `A member that comes late has as much time as the others had`() throws {
        var scene = try Scene()
        scene.report()
        #expect(scene.decide().isWait)
        var late = try #require(scene.live["eu0"])
        (late.id, late.status.revision) = ("eu99", 49)
        scene.live["eu99"] = late
        #expect(scene.decide(after: 200).isWait)
        #expect(scene.decide(after: 119).isWait)
        #expect(scene.decide(after: 1).reason == "1 of 11 members have not reported it: eu99")
    }

    // MARK: The driver's own outage

    @Test func `Nothing within a minute of the driver's own outage counts`() throws {
        var scene = try Scene()
        scene.report()
        _ = scene.decide(after: 10)
        scene.now += 300_000
        scene.driver.noteOutage(until: scene.now)
        scene.leave("eu1", "eu2")
        #expect(scene.decide() == .wait(until: scene.now + 60_000))
        scene.live["eu3"]?.status.refused = [.init(rollout: "r1", path: "p", reason: "r")]
        #expect(scene.decide(after: 59).isWait)
        scene.live["eu3"]?.status.refused = []
        #expect(scene.decide(after: 1).isAbort, "who is silent still, is")
    }

    @Test func `Figures of an outage do not count`() throws {
        var scene = try Scene(abortIf: 5)
        scene.report()
        scene.sample(1)
        _ = scene.decide(after: 10)
        scene.driver.noteOutage(until: scene.now)
        for _ in 0..<3 {
            scene.sample(9)
            #expect(scene.decide(after: 15).isWait)
        }
        scene.sample(1)
        #expect(scene.decide(after: 20).isWait)
    }
}

@Suite struct RolloutReachTests {
    private func instances(_ count: Int, _ zone: String) -> [LiveInstance] {
        (0..<count).map { number in
            var status = FleetStatus(build: "b")
            status.labels = ["zone": zone]
            return LiveInstance(id: "\(zone)\(number)", start: 1, status: status)
        }
    }

    private func rollout(_ steps: [Int], _ selector: Labels = [:]) throws -> Rollout {
        let steps = steps.compactMap { Share(hundredths: $0) }
        let path = try TweakPath("A/B/C")
        var rollout = Rollout(
            id: "r1", changes: [.init(path: path, value: .int(1), found: nil)], share: steps.first ?? .all, by: "a",
            at: 0)
        (rollout.steps, rollout.selector) = (steps, selector)
        return rollout
    }

    @Test func `Members of each step are counted, and grow`() throws {
        let rollout = try rollout([1_000, 5_000, 10_000])
        let reach = RolloutReach(rollout, instances(1_000, "eu"))
        let counts = reach.members.map(\.count)
        #expect(counts == counts.sorted() && counts.last == 1_000 && reach.eligible == 1_000)
        #expect((50...150).contains(counts[0]) && (450...550).contains(counts[1]), "\(counts)")
        try reach.check(rollout)
    }

    @Test func `An empty first step is refused with the smallest share that catches one`() throws {
        let live = instances(3, "eu")
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

    @Test func `A selector that names nobody is refused`() throws {
        let rollout = try rollout([10_000], ["zone": "mars"])
        let reach = RolloutReach(rollout, instances(3, "eu"))
        let refusal = #expect(throws: FleetRefusal.self) { try reach.check(rollout) }
        #expect(refusal?.description.hasPrefix("none of 3 processes has these labels") == true)
    }
}
