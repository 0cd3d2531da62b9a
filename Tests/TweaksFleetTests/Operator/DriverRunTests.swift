// Tests a driver: the inputs that it handles, the keys that it writes, the events that it reports.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite struct DriverRunTests {
    private let harness = OperatorHarness()
    private let clock = ManualClock(wall: 1_000_000)
    private let ids = (0..<10).map { "i\($0)" }

    private func fleet() -> FleetOperator {
        FleetOperator(harness.etcd, harness.keys, by: "alice", now: { [clock] in clock.wall })
    }

    /// Begins a rollout with ten processes; the driver has read it.
    private func begin(
        steps: [Int] = [5_000, 10_000], confirmWithin: Int64? = nil, selector: Labels = [:]
    ) async throws -> DriverRun {
        for id in ids { harness.register(id) }
        var plan = try harness.plan("A/B/C", .int(1))
        plan.selector = selector
        (plan.steps, plan.confirmWithin) = (steps.compactMap { Share(hundredths: $0) }, confirmWithin)
        let claim = try await fleet().claim("r1", host: "h", pid: 1)
        plan.driver = claim.fence
        _ = try await fleet().begin(plan)
        var run = DriverRun(fleet(), claim, time: clock)
        #expect(await run.handle(try await read()).isEmpty)
        return run
    }

    private func read() async throws -> DriverInput {
        .read(
            try await fleet().readRollout("r1"),
            instances: try await harness.etcd.range(EtcdRange(.prefix(harness.keys.instances))))
    }

    /// Lets processes report that they have applied all revisions.
    private func report(_ ids: [String]? = nil) {
        let revision = harness.etcd.revision
        for id in ids ?? self.ids { harness.register(id) { $0.revision = revision } }
    }

    /// Advances the driver's clocks and those of etcd, where the driver renews its lease.
    private func pass(_ run: DriverRun, _ seconds: Int64) async throws {
        clock.advance(by: .seconds(seconds))
        _ = try await harness.etcd.keepAlive(#require(run.claim).lease.id)
        harness.etcd.advance(seconds: seconds)
    }

    /// Lets the driver read for 300 seconds, in which nothing happens.
    private func passStep(_ run: inout DriverRun) async throws {
        for _ in 0..<12 {
            #expect(await run.handle(try await read()).isEmpty)
            try await pass(run, 25)
        }
    }

    private func timer() -> EtcdKeyValue? { harness.etcd.value(harness.keys.timer("r1")) }

    /// Deletes the statuses of processes.
    private func remove(_ ids: some Sequence<String>) {
        for id in ids { harness.etcd.delete(.key(harness.keys.instance(id, start: 1))) }
    }

    /// The processes that the rollout includes.
    private func members() async throws -> [String] {
        let rollout = try #require(try await harness.rollout()?.value)
        return ids.filter { rollout.includes(FleetInstance(id: $0)) }
    }

    @Test func `A rollout without problems is stepped and finished`() async throws {
        var run = try await begin()
        report()
        try await pass(run, 25)
        #expect(await run.handle(.tick).isEmpty)
        for _ in 0..<10 {
            try await pass(run, 25)
            #expect(await run.handle(try await read()).isEmpty)
        }
        try await pass(run, 24)
        #expect(await run.handle(try await read()).isEmpty)
        #expect(timer() != nil)
        try await pass(run, 1)
        #expect(await run.handle(try await read()) == [.stepped(to: .all)])
        #expect(timer() != nil)
        report()
        try await passStep(&run)
        #expect(await run.handle(try await read()).first?.finishReceipt?.changes.map(\.new) == [.int(1)])
        #expect(try await harness.fleet().history().entries.map(\.verb) == ["rollout", "step", "finish"])
        #expect(timer() == nil)
    }

    @Test(arguments: [-600_000, 86_400_000] as [Int64])
    func `A wall clock that is set neither delays nor hastens steps and deadlines`(_ jump: Int64) async throws {
        var run = try await begin(steps: [5_000, 10_000], confirmWithin: 600)
        report()
        for expected in [[DriverEvent.stepped(to: .all)], []] {
            clock.jump(by: jump)
            try await passStep(&run)
            #expect(await run.handle(try await read()) == expected)
            report()
        }
        clock.jump(by: jump)
        for number in 1...24 {
            try await pass(run, 25)
            let events = await run.handle(try await read())
            #expect((events.first?.abortReason != nil) == (number == 24), "\(number): \(events)")
        }
        #expect(timer() == nil)
    }

    @Test func `A watch tells at once that a step is due, but not by the end of an earlier timer`() async throws {
        var run = try await begin()
        report()
        #expect(await run.handle(try await read()).isEmpty)
        let key = harness.keys.timer("r1")
        let begun = try #require(try await harness.rollout()).modRevision
        clock.advance(by: .seconds(1))
        let old = EtcdEvent(.delete, EtcdKeyValue(key: key, modRevision: begun - 1))
        #expect(await run.handle(.watched(EtcdHeader(), [old])).isEmpty)
        clock.advance(by: .seconds(1))
        let end = EtcdEvent(.delete, EtcdKeyValue(key: key, modRevision: harness.etcd.revision + 1))
        #expect(await run.handle(.watched(EtcdHeader(), [end])) == [.stepped(to: .all)])
    }

    @Test func `A timer that was read before the record of its step is not known to have ended`() async throws {
        var run = try await begin()
        let bob = harness.fleet(by: "bob")
        _ = try await bob.pause("r1")
        harness.etcd.delete(.key(harness.keys.timer("r1")))
        let old = try await harness.fleet().readRollout("r1")
        _ = try await bob.resume("r1")
        report()
        let new = try await harness.fleet().readRollout("r1")
        let instances = try await harness.etcd.range(EtcdRange(.prefix(harness.keys.instances)))
        let mixed = RolloutReading(rollout: new.rollout, timer: old.timer)
        #expect(await run.handle(.read(mixed, instances: instances)).isEmpty)
        #expect(try await harness.rollout()?.value.share.hundredths == 5_000)
    }

    @Test(arguments: [-600_000, 86_400_000] as [Int64])
    func `A wall clock that is set is no outage, and hides no silence`(_ jump: Int64) async throws {
        var run = try await begin(steps: [10_000])
        let other = run
        clock.jump(by: jump)
        report(["i3"])
        harness.register("i3") { $0.refused = [.init(rollout: "r1", path: "A/B/C", reason: "no")] }
        let events = await run.handle(try await read())
        #expect(events.first?.abortReason?.hasPrefix("i3 refuses it") == true, "\(events)")

        run = other
        _ = try await fleet().begin(try harness.plan("A/B/C", .int(1)))
        report()
        #expect(await run.handle(try await read()).isEmpty)
        remove(["i3"])
        #expect(await run.handle(try await read()).isEmpty)
        clock.jump(by: jump)
        clock.advance(by: .seconds(29))
        #expect(await run.handle(.tick).isEmpty)
        clock.advance(by: .seconds(1))
        #expect(await run.handle(.tick).first?.abortReason?.hasPrefix("1 of 10 members are silent") == true)
    }

    @Test func `Members that restart or leave in an orderly way do not hold it up`() async throws {
        var run = try await begin(steps: [10_000])
        report()
        func status(_ id: String, start: Int64, left: Int64? = nil) {
            let revision = harness.etcd.revision
            harness.register(id, start: start) { ($0.revision, $0.left) = (revision, left) }
        }
        for start: Int64 in 1...4 {
            status("i3", start: start, left: 7)
            #expect(await run.handle(try await read()).isEmpty)
            status("i3", start: start + 1)
            #expect(await run.handle(try await read()).isEmpty)
        }
        status("i5", start: 1, left: 7)
        try await passStep(&run)
        #expect(await run.handle(try await read()).first?.finishReceipt != nil)
    }

    @Test func `A rollout of an older client is timed by the times in it`() async throws {
        var run = try await begin()
        let record = try #require(try await harness.rollout())
        var rollout = record.value
        rollout.isTimed = false
        harness.etcd.put(harness.keys.rollout("r1"), rollout.bytes)
        report()
        for _ in 0..<11 {
            clock.advance(by: .seconds(25))
            #expect(await run.handle(try await read()).isEmpty)
        }
        clock.advance(by: .seconds(25))
        #expect(await run.handle(.tick) == [.stepped(to: .all)])
        #expect(try await harness.rollout()?.value.isTimed == true)
    }

    @Test func `A refusal received by the watch reverts the rollout`() async throws {
        var run = try await begin(steps: [10_000])
        var status = FleetStatus(build: "b1")
        status.refused = [.init(rollout: "r1", path: "A/B/C", reason: "too large")]
        let key = harness.keys.instance("i3", start: 1)
        let event = EtcdEvent(.put, EtcdKeyValue(key: key, value: status.bytes, modRevision: 1_000))
        clock.advance(by: .seconds(1))
        let events = await run.handle(.watched(EtcdHeader(clusterID: 1, revision: 1_000), [event]))
        #expect(events.first?.abortReason == "i3 refuses it: A/B/C: too large")
        #expect(try await harness.rollout() == nil)
    }

    @Test func `An abort by another operator and a lost lease end the driver`() async throws {
        var run = try await begin()
        let other = run
        _ = try await harness.fleet(by: "bob").abort("r1")
        #expect(await run.handle(try await read()) == [.ended(.gone("bob aborted it"))])
        run = other
        let events = await run.handle(.leaseLost)
        guard case .ended(.lost)? = events.first else {
            Issue.record("\(events)")
            return
        }
    }

    @Test(arguments: [[:] as Labels, ["zone": "eu"]])
    func `Another operator's finish ends the driver successfully`(_ selector: Labels) async throws {
        var run = try await begin(steps: [10_000], selector: selector)
        _ = try await harness.fleet(by: "bob").finish("r1")
        #expect(await run.handle(try await read()) == [.ended(.finishedElsewhere(by: "bob"))])
    }

    @Test func `An expired lease of the rollout ends the driver`() async throws {
        var run = try await begin()
        harness.etcd.delete(.key(harness.keys.rollout("r1")))
        #expect(await run.handle(try await read()) == [.ended(.gone("its lease is over, or its key was deleted"))])
    }

    @Test func `The feed reads, watches and renews the driver's lease`() async throws {
        let run = try await begin()
        #expect(try await harness.fleet().drivers()["r1"] != nil)
        let (inputs, continuation) = AsyncStream.makeStream(of: DriverInput.self)
        let tasks = DriverFeed(fleet(), try #require(run.claim), heartbeat: .seconds(3_600)).start(into: continuation)
        defer { for task in tasks { task.cancel() } }
        var received: [String] = []
        for await input in inputs {
            switch input {
            case .read(_, let instances):
                received.append("read \(instances.keys.count)")
                if received.count == 1 { harness.register("new") }
            case .watched(_, let events):
                received.append("watched \(events.count)")
                harness.etcd.setFaults { $0.isUnreachable = true }
            case .outage:
                // A busy machine takes more than one attempt.
                if received.last != "outage" { received.append("outage") }
                harness.etcd.setFaults { $0.isUnreachable = false }
            default: break
            }
            if received.count == 4 { break }
        }
        #expect(received == ["read 10", "watched 1", "outage", "read 11"])
    }

    @Test func `An operator pauses, resumes and finishes; a refused command changes nothing`() async throws {
        var run = try await begin()
        #expect(await run.handle(.command(.pause)) == [.paused("alice asked for it")])
        #expect(run.progress.state == .open, "displayed after the next input")
        _ = await run.handle(.tick)
        #expect(run.progress.state == .paused)
        #expect(await run.handle(.command(.resume)) == [.resumed])
        #expect(await run.handle(.command(.finish)).first?.refusal?.hasPrefix("rollout r1 is at 50") == true)
        #expect(try await harness.rollout() != nil)
    }

    @Test func `The last step asks once for a confirmation, and reverts without one`() async throws {
        var run = try await begin(steps: [10_000], confirmWithin: 600)
        report()
        try await passStep(&run)
        #expect(await run.handle(try await read()).isEmpty)
        let until = clock.wall + 600_000
        #expect(await run.handle(.tick) == [.awaitingConfirmation(until: until)])
        #expect(await run.handle(.tick).isEmpty)
        for _ in 0..<24 {
            try await pass(run, 25)
            _ = await run.handle(try await read())
        }
        #expect(try await harness.rollout() == nil)
        #expect(try await harness.fleet().history().entries.last?.verb == "abort")
    }

    @Test func `An outage is reported once, and nothing is decided until a minute after it`() async throws {
        var run = try await begin(steps: [10_000])
        #expect(await run.handle(.outage("no answer")) == [.outage("no answer")])
        #expect(await run.handle(.outage("no answer")).isEmpty)
        remove(ids.dropLast())
        clock.advance(by: .seconds(20))
        #expect(await run.handle(.tick).isEmpty)
        #expect(await run.handle(try await read()) == [.contact])
        for _ in 0..<2 {
            clock.advance(by: .seconds(29))
            #expect(await run.handle(try await read()).isEmpty)
        }
        clock.advance(by: .seconds(2))
        #expect(await run.handle(try await read()).first?.abortReason != nil)
    }

    @Test func `The next driver pauses if a member has disappeared in between`() async throws {
        let first = try await begin()
        let members = try await members()
        #expect(try await harness.rollout()?.value.reached == Int64(members.count))
        remove([members[0]])
        await fleet().release(try #require(first.claim))
        clock.advance(by: .seconds(600))

        let claim = try await fleet().claim("r1", host: "elsewhere", pid: 2)
        _ = try await fleet().fenced(by: claim.fence).resume("r1")
        var run = DriverRun(fleet(), claim, isResumed: true, time: clock)
        #expect(await run.handle(try await read()).isEmpty)
        var events: [DriverEvent] = []
        for _ in 0..<20 where events.isEmpty {
            clock.advance(by: .seconds(25))
            report(ids.filter { $0 != members[0] })
            events = await run.handle(try await read())
        }
        let counts = "\(members.count - 1) of \(members.count)"
        #expect(events == [.paused("\(counts) members that had this step live; resume r1 goes on with them")])
    }

    @Test func `The sleep of a driver's machine counts as an outage`() async throws {
        var run = try await begin(steps: [10_000])
        clock.advance(by: .seconds(3_000))
        remove(ids.dropLast())
        #expect(await run.handle(try await read()).isEmpty)
        clock.advance(by: .seconds(29))
        #expect(await run.handle(.tick).isEmpty)
    }

    @Test func `A full etcd keeps a rollout at its step, and the write is retried`() async throws {
        var run = try await beginFull()
        #expect(try await harness.rollout()?.value.share.hundredths == 5_000)
        clock.advance(by: .seconds(19))
        #expect(await run.handle(.tick).isEmpty, "not retried at every tick")
        clock.advance(by: .seconds(1))
        #expect(await run.handle(.tick).isEmpty, "reported only once")

        harness.etcd.setFaults { $0.isFull = false }
        clock.advance(by: .seconds(20))
        #expect(await run.handle(.tick) == [.stepped(to: .all)])
    }

    @Test func `An operator who pauses at the same moment as a step does not end the driver`() async throws {
        let bob = harness.fleet(by: "bob")
        for id in ids { harness.register(id) }
        var plan = try harness.plan("A/B/C", .int(1))
        plan.steps = [5_000, 10_000].compactMap { Share(hundredths: $0) }
        let claim = try await fleet().claim("r1", host: "h", pid: 1)
        plan.driver = claim.fence
        _ = try await fleet().begin(plan)
        // The driver's first write is the step.
        let raced = InterposedEtcd.raced(harness.etcd) { _ throws(EtcdError) in _ = try? await bob.pause("r1") }
        var run = DriverRun(harness.fleet(on: raced), claim, time: clock)
        #expect(await run.handle(try await read()).isEmpty)
        report()
        for _ in 0..<12 {
            _ = await run.handle(try await read())
            try await pass(run, 25)
        }
        #expect(await run.handle(try await read()).isEmpty)
        #expect(try await harness.rollout()?.value.state == .paused)
        _ = try await bob.resume("r1")
        #expect(await run.handle(try await read()).isEmpty)
    }

    @Test func `A rollout whose values others have changed is paused, not ended`() async throws {
        var run = try await begin(steps: [10_000])
        report()
        try await passStep(&run)
        try harness.put("A/B/C", .int(7))
        report()
        let events = await run.handle(try await read())
        guard case .paused(let reason)? = events.first else {
            Issue.record("\(events)")
            return
        }
        #expect(reason.contains("A/B/C is 7 now") && events.count == 1)
        #expect(try await harness.rollout()?.value.state == .paused)
    }

    @Test func `A frozen fleet keeps a rollout at its step, which goes on after the freeze`() async throws {
        var run = try await begin()
        report()
        try await passStep(&run)
        _ = try await harness.fleet(by: "bob").freeze("launch", because: "the launch")
        #expect(await run.handle(try await read()).first?.refusal?.contains("api is frozen: launch by bob") == true)
        #expect(try await harness.rollout()?.value.share.hundredths == 5_000)
        clock.advance(by: .seconds(20))
        #expect(await run.handle(.tick).isEmpty, "reported only once")
        _ = try await harness.fleet(by: "bob").unfreeze("launch")
        clock.advance(by: .seconds(20))
        #expect(await run.handle(.tick) == [.stepped(to: .all)])
    }

    @Test func `A full etcd does not prevent an abort`() async throws {
        var run = try await beginFull()
        remove(try await members())
        for seconds in [29, 2] as [Int64] {
            _ = await run.handle(try await read())
            clock.advance(by: .seconds(seconds))
        }
        let events = await run.handle(try await read())
        #expect(events.first?.abortReason != nil, "\(events)")
        #expect(try await harness.rollout() == nil)
    }

    /// Returns a run at 50 % whose next step was just rejected by a full etcd.
    private func beginFull() async throws -> DriverRun {
        var run = try await begin()
        report()
        try await passStep(&run)
        harness.etcd.setFaults { $0.isFull = true }
        #expect(await run.handle(try await read()).first?.refusal?.contains("abort works meanwhile") == true)
        return run
    }
}
