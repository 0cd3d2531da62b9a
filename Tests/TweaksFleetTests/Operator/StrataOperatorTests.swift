// Tests rollouts with strata, seeds and canaries as an operator writes them: exact at the write, refused where they must be.

import Synchronization
import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet

@Suite struct StrataOperatorTests {
    private let harness = OperatorHarness()
    private let half = Share(hundredths: 5_000) ?? .all
    private let most = Share(hundredths: 9_000) ?? .all

    private func register(_ zones: [String: Int], _ change: (inout FleetStatus) -> Void = { _ in }) {
        for (zone, count) in zones {
            for number in 0..<count { harness.register("\(zone)-\(number)", labels: ["zone": zone], change) }
        }
    }

    private func plan(_ change: (inout RolloutPlan) -> Void = { _ in }) throws -> RolloutPlan {
        var plan = try harness.plan("Service/Pool/Size", .int(80))
        (plan.steps, plan.per) = ([half, most, .all], "zone")
        change(&plan)
        return plan
    }

    /// The members of each stratum among the live processes: `eu 3 of 5`.
    private func members() async throws -> [String] {
        let rollout = try #require(try await harness.rollout()?.value)
        let live = try await harness.fleet().instanceStatuses().live
        return rollout.strata(live).map { "\($0.value ?? "-") \($0.members) of \($0.live)" }
    }

    // MARK: Exact at the write

    @Test func `Begin, step and resume have the share of each stratum, and count the members`() async throws {
        register(["eu": 5, "us": 3])
        harness.register("none")
        let fleet = harness.fleet()
        _ = try await fleet.begin(plan())
        #expect(try await members() == ["- 1 of 1", "eu 3 of 5", "us 2 of 3"])
        #expect(try await harness.rollout()?.value.reached == 6)
        _ = try await fleet.step("r1", from: half, to: most)
        #expect(try await members() == ["- 1 of 1", "eu 5 of 5", "us 3 of 3"])
        #expect(try await harness.rollout()?.value.reached == 9)
        register(["sa": 10])
        _ = try await fleet.pause("r1")
        _ = try await fleet.resume("r1")
        #expect(try await members() == ["- 1 of 1", "eu 5 of 5", "sa 9 of 10", "us 3 of 3"])
        #expect(try await harness.rollout()?.value.reached == 18)
        _ = try await fleet.step("r1", from: most, to: .all)
        register(["af": 2])
        #expect(try await members() == ["- 1 of 1", "af 2 of 2", "eu 5 of 5", "sa 10 of 10", "us 3 of 3"])
        #expect(try await harness.rollout()?.value.edition == 1)
    }

    @Test func `A member stays one when processes leave between two steps`() async throws {
        register(["eu": 10])
        let fleet = harness.fleet()
        _ = try await fleet.begin(plan { $0.steps = [self.half, self.most] })
        let rollout = try #require(try await harness.rollout()?.value)
        let live = try await fleet.instanceStatuses().live
        let (inside, outside) = (
            live.filter { rollout.includes($0.instance) }, live.filter { !rollout.includes($0.instance) }
        )
        #expect(inside.count == 5)
        for process in outside { harness.etcd.delete(.key(harness.keys.instance(process.id, start: 1))) }
        _ = try await fleet.pause("r1")
        _ = try await fleet.resume("r1")
        #expect(try await members() == ["eu 5 of 5"])
        #expect(try await harness.rollout()?.value.cutoffs == rollout.cutoffs)
    }

    @Test func `Processes with unstable IDs do not count, and are members by their hash`() async throws {
        let zone = ["zone": "eu"]
        register(["eu": 4])
        for number in 0..<50 { harness.register("x\(number)", labels: ["zone": "eu"]) { $0.isUnstable = true } }
        _ = try await harness.fleet().begin(plan())
        let rollout = try #require(try await harness.rollout()?.value)
        let live = try await harness.fleet().instanceStatuses().live
        let members = live.filter { rollout.includes($0.instance) }
        #expect(members.count { !$0.status.isUnstable } == 2 && rollout.reached == 2)
        let cutoff = try #require(rollout.cutoffs.first)
        #expect(cutoff == (0..<4).map { rollout.position(of: FleetInstance(id: "eu-\($0)", labels: zone)) }.sorted()[1])
        for process in live {
            #expect(rollout.includes(process.instance) == (rollout.position(of: process.instance) <= cutoff))
        }
        #expect((1..<50).contains(members.count - 2))
    }

    /// A process of zone eu appears before each of the first writes of the rollout.
    private func appearing(times: Int) -> (etcd: InterposedEtcd, attempts: CallCounter) {
        let (harness, attempts) = (harness, CallCounter())
        let etcd = InterposedEtcd(
            etcd: harness.etcd,
            beforeCommit: { transaction throws(EtcdError) in
                guard transaction.success.contains(where: { $0.puts(harness.keys.rollout("r1")) }) else { return }
                let number = attempts.next()
                if number < times { harness.register("late-\(number)", labels: ["zone": "eu"]) }
            })
        return (etcd, attempts)
    }

    @Test(arguments: ["begin", "step", "resume"])
    func `A process that appears between reading and writing is counted by another attempt`(_ verb: String) async throws
    {
        register(["eu": 2])
        let (etcd, attempts) = appearing(times: 3)
        let raced = harness.fleet(on: etcd)
        switch verb {
        case "begin": _ = try await raced.begin(plan())
        case "step":
            _ = try await harness.fleet().begin(plan { $0.steps = [Share(hundredths: 1) ?? .all, self.half] })
            _ = try await raced.step("r1", from: Share(hundredths: 1) ?? .all, to: half)
        default:
            _ = try await harness.fleet().begin(plan())
            _ = try await harness.fleet().pause("r1")
            _ = try await raced.resume("r1")
        }
        #expect(attempts.count == 4)
        #expect(try await members() == ["eu 3 of 5"])
        #expect(try await harness.rollout()?.value.reached == 3)
    }

    @Test func `Where processes appear all the time, the write goes on and says so`() async throws {
        register(["eu": 2])
        let (etcd, attempts) = appearing(times: 1_000)
        let receipt = try await harness.fleet(on: etcd).begin(plan())
        #expect(attempts.count == 5 && receipt.notes.contains { $0.contains("may be off by some") })
        // Seven live, the last of which was not counted.
        #expect(try await harness.rollout()?.value.reached == 3)
        #expect(try await harness.fleet().history().entries.last?.why?.contains("may be off by some") == true)
    }

    @Test func `A rollout without strata does not compare whether processes appear`() async throws {
        register(["eu": 2])
        let (etcd, attempts) = appearing(times: 1_000)
        _ = try await harness.fleet(on: etcd).begin(plan { ($0.per, $0.seed) = (nil, "kept") })
        #expect(attempts.count == 1)
    }

    @Test func `A status that is written again is no new process`() async throws {
        register(["eu": 2])
        let (harness, count) = (harness, CallCounter())
        let etcd = InterposedEtcd(
            etcd: harness.etcd,
            beforeCommit: { _ throws(EtcdError) in
                _ = count.next()
                harness.register("eu-0", labels: ["zone": "eu"])
            })
        _ = try await harness.fleet(on: etcd).begin(plan())
        #expect(count.count == 1)
    }

    @Test func `A driver goes on from canaries alone to the share of each stratum`() async throws {
        register(["eu": 5, "us": 2])
        let clock = ManualClock(wall: 1_000_000)
        let fleet = FleetOperator(harness.etcd, harness.keys, by: "alice", now: { clock.wall })
        let claim = try await fleet.claim("r1", host: "h", pid: 1)
        var plan = try plan { ($0.canary, $0.driver) = (["zone": "us"], claim.fence) }
        plan.steps = [.none, half, .all]
        _ = try await fleet.begin(plan)
        #expect(try await members() == ["eu 0 of 5", "us 2 of 2"])
        var run = DriverRun(fleet, claim, time: clock)
        var events: [DriverEvent] = []
        for _ in 0..<13 {
            let revision = harness.etcd.revision
            register(["eu": 5, "us": 2]) { $0.revision = revision }
            let instances = try await harness.etcd.range(EtcdRange(.prefix(harness.keys.instances)))
            events += await run.handle(.read(try await fleet.readRollout("r1"), instances: instances))
            clock.advance(by: .seconds(25))
            _ = try await harness.etcd.keepAlive(claim.lease.id)
            harness.etcd.advance(seconds: 25)
        }
        #expect(events == [.stepped(to: half)])
        #expect(await run.handle(.tick).isEmpty)
        #expect(run.progress.strata.text == "zone=eu 3 of 5, zone=us 2 of 2" && run.progress.members == 5)
    }

    // MARK: The same each time

    @Test func `Canaries and the first by a seed are the same in three rollouts`() async throws {
        register(["eu": 20, "us": 20])
        var seen: [[String]] = []
        for per in [nil, "zone"] {
            for id in ["a", "b", "c"] {
                var plan = try plan { ($0.per, $0.seed, $0.canary) = (per, "kept", ["zone": "us"]) }
                (plan.id, plan.steps) = (id, [.none, half])
                let fleet = harness.fleet()
                _ = try await fleet.begin(plan)
                let live = try await fleet.instanceStatuses().live
                let first = try #require(try await fleet.readState().rollouts[id]?.value)
                #expect(
                    live.filter { first.includes($0.instance) }.map(\.id)
                        == live.map(\.id).filter { $0.hasPrefix("us") })
                _ = try await fleet.step(id, from: .none, to: half)
                let second = try #require(try await fleet.readState().rollouts[id]?.value)
                seen.append(live.filter { second.includes($0.instance) }.map(\.id))
                _ = try await fleet.abort(id)
            }
        }
        #expect(seen[0] == seen[1] && seen[1] == seen[2] && seen[3] == seen[4] && seen[4] == seen[5])
        #expect(seen[3].count == 30)
    }

    @Test func `What an operator counts is what each process composes from the keys`() async throws {
        register(["eu": 37, "us": 11])
        harness.register("none")
        _ = try await harness.fleet().begin(plan { $0.canary = ["zone": "us"] })
        let view = try await harness.fleet().readState()
        let rollout = try #require(view.rollouts["r1"]?.value)
        let live = try await harness.fleet().instanceStatuses().live
        var desired = DesiredState(keys: harness.keys)
        desired.replace(with: harness.etcd.all(harness.keys.desired))
        let path = try TweakPath("Service/Pool/Size")
        let composed = live.filter { desired.composed(for: $0.instance) { _, _ in .accepted }.values[path] != nil }
        #expect(composed.map(\.id) == live.filter { rollout.includes($0.instance) }.map(\.id))
        #expect(composed.count == 19 + 11 + 1)
    }

    @Test func `A standing rule and values are plain, whatever began them`() async throws {
        register(["eu": 4])
        for (selector, expected) in [([:], 0), (["zone": "eu"], 1)] as [(Labels, Int)] {
            let change = { (plan: inout RolloutPlan) in
                (plan.selector, plan.canary, plan.seed) = (selector, ["zone": "eu"], "kept")
            }
            _ = try await harness.fleet().begin(plan(change))
            _ = try await harness.fleet().finish("r1", force: true)
            let rollouts = try await harness.fleet().readState().rollouts
            #expect(rollouts.count == expected)
            let text = rollouts["r1"].map { String(decoding: $0.pair.value, as: UTF8.self) } ?? ""
            for name in ["seed", "canary", "per\"", "cutoffs", "share"] { #expect(!text.contains("\"\(name)")) }
        }
    }

    // MARK: Refused

    @Test func `Live builds of an older version refuse what they do not know, until all are members`() async throws {
        register(["eu": 3])
        harness.register("old-1", labels: ["zone": "us"]) { $0.edition = 1 }
        let changes: [(inout RolloutPlan) -> Void] = [
            { $0.per = "zone" }, { ($0.per, $0.seed) = (nil, "s") }, { ($0.per, $0.canary) = (nil, ["zone": "eu"]) },
        ]
        let fleet = harness.fleet()
        for change in changes {
            let text = await refusal { try await fleet.begin(plan(change)) }
            #expect(text.hasPrefix("rollout r1: 1 process is of an older version that knows neither --seed"), "\(text)")
            #expect(text.contains(": old-1; restart them") && text.contains("--where"))
        }
        #expect(try await harness.rollout() == nil)
        _ = try await fleet.begin(plan { $0.per = nil })
        _ = try await fleet.abort("r1")
        _ = try await fleet.begin(plan { $0.selector = ["zone": "eu"] })
        harness.register("old-2", labels: ["zone": "eu"]) { $0.edition = 1 }
        #expect(await refusal { try await fleet.step("r1", from: half, to: most) }.contains(": old-2; restart them"))
        _ = try await fleet.pause("r1")
        #expect(await refusal { try await fleet.resume("r1") }.contains("old-2"))
        harness.register("old-2", labels: ["zone": "eu"])
        _ = try await fleet.resume("r1")
        harness.register("old-2", labels: ["zone": "eu"]) { $0.edition = 1 }
        // An older process reads that all are members.
        _ = try await fleet.step("r1", from: half, to: .all)
        #expect(try await members() == ["eu 4 of 4"])
    }

    @Test func `A member that starts again in an older version is none, for the operator as for itself`() async throws {
        register(["eu": 4])
        let fleet = harness.fleet()
        _ = try await fleet.begin(plan())
        let rollout = try #require(try await harness.rollout()?.value)
        let member = try #require(try await fleet.instanceStatuses().live.first { rollout.includes($0.instance) }?.id)
        harness.register(member, start: 2, labels: ["zone": "eu"]) { $0.edition = 1 }
        #expect(try await members() == ["eu 1 of 4"])
        #expect(try await !harness.run("instance \(member)").text.contains("in rollout"))
        _ = try await fleet.step("r1", from: half, to: .all)
        #expect(try await members() == ["eu 4 of 4"])
        #expect(try await harness.run("instance \(member)").text.contains("in rollout r1, open at 100 %"))
    }

    @Test func `More than 64 strata are refused, at the begin and at a step`() async throws {
        for number in 0..<64 { harness.register("i\(number)", labels: ["zone": "z\(number)"]) }
        let fleet = harness.fleet()
        _ = try await fleet.begin(plan())
        harness.register("late")
        let remedy = "zone has 65 values, and --per takes at most 64; begin one with another label"
        #expect(await refusal { try await fleet.step("r1", from: half, to: most) }.contains(remedy))
        _ = try await fleet.step("r1", from: half, to: .all)
        _ = try await fleet.abort("r1")
        #expect(await refusal { try await fleet.begin(plan { $0.steps = [.none, .all] }) }.contains(remedy))
        #expect(try await harness.rollout() == nil)
    }

    // MARK: The program

    private static let command = "rollout 'Service/Pool/Size = 80' --new --yes --dry-run "

    @Test func `A dry run lists canaries and the strata of each step`() async throws {
        register(["eu": 26, "us": 4])
        harness.register("none")
        let result = try await harness.run(Self.command + "--per zone --canary zone=us --steps 0,10,100")
        #expect(
            result.lines.dropFirst(3).prefix(5) == [
                "31 of 31 processes:", "  canaries: 4", "  0 %: 4; no zone 0 of 1, zone=eu 0 of 26, zone=us 4 of 4",
                "  10 %: 8; no zone 1 of 1, zone=eu 3 of 26, zone=us 4 of 4",
                "  100 %: 31; no zone 1 of 1, zone=eu 26 of 26, zone=us 4 of 4",
            ], "\(result.text)")
        #expect(result.code == .ok)
        let json = try await harness.run(Self.command + "--per zone --canary zone=us --steps 0,10,100 --json").json
        let steps = try #require(json?["steps"]?.elements)
        #expect(steps.map { $0["members"]?.wholeNumber } == [4, 8, 31])
        #expect(steps[1]["strata"]?.elements.map { $0["members"]?.wholeNumber } == [1, 3, 4])
        #expect(steps[1]["strata"]?.elements.map { $0["stratum"]?.string } == [nil, "eu", "us"])
    }

    @Test(arguments: [
        ("--canary zone=mars", "--canary: none of 4 processes has the labels zone=mars; see instances, or use --force"),
        ("--canary zone=mars --where zone=us", "--canary: none of 2 processes has"),
        ("--canary zone=mars --force --steps 0,10", "the first step, 0 %, reaches none of 4 processes"),
        ("--per zone --where zone=sa", "--per: none of 1 process has an ID that survives a restart"),
    ])
    func `A rollout that would reach none is refused with the remedy`(_ options: String, _ text: String) async throws {
        register(["eu": 1, "us": 2])
        harness.register("x", labels: ["zone": "sa"]) { $0.isUnstable = true }
        let result = try await harness.run(Self.command + options)
        #expect(result.code == .refused && result.text.contains(text), "\(result.text)")
    }

    @Test func `Canaries that do not live yet need --force`() async throws {
        register(["eu": 2])
        let result = try await harness.run(Self.command + "--canary zone=mars --steps 50,100 --per zone --force")
        #expect(result.code == .ok, "\(result.text)")
    }

    @Test func `Status, instances and instance tell the shares, also as JSON`() async throws {
        register(["eu": 5, "us": 2])
        _ = try await harness.fleet().begin(plan { ($0.seed, $0.canary) = ("kept", ["zone": "us"]) })
        let status = try await harness.run("status")
        #expect(status.text.contains("open at 50 % per zone, canaries zone=us, seed kept, by alice"), "\(status.text)")
        #expect(status.lines.contains("  zone=eu 3 of 5, zone=us 2 of 2"), "\(status.text)")
        let json = try #require(try await harness.run("status --json").json?["rollouts"]?.elements.first)
        #expect(json["strata"]?.elements.map { $0["members"]?.wholeNumber } == [3, 2])
        #expect(json["strata"]?.elements.map { $0["stratum"]?.string } == ["eu", "us"])
        #expect(json["record"]?["cutoffs"]?.elements.count == 2)
        let instances = try await harness.run("instances --where zone=us")
        #expect(instances.lines.allSatisfy { $0.contains("in r1 (zone=us 2 of 2)") }, "\(instances.text)")
        let instance = try await harness.run("instance us-0")
        #expect(
            instance.lines.contains("  in rollout r1, open at 50 %, zone=us 2 of 2, as a canary"), "\(instance.text)")
        let one = try await harness.run("instance us-0 --json").json
        #expect(one?["strata"]?["r1"]?["live"]?.wholeNumber == 2 && one?["edition"]?.wholeNumber == 2)
    }
}

extension EtcdTransaction.Operation {
    fileprivate func puts(_ key: [UInt8]) -> Bool { if case .put(key, _, _) = self { true } else { false } }
}

/// A counter that closures share.
private final class CallCounter: Sendable {
    private let value = Mutex(0)

    /// The number of calls before this one.
    func next() -> Int {
        value.withLock { value in
            value += 1
            return value - 1
        }
    }

    var count: Int { value.withLock { $0 } }
}
