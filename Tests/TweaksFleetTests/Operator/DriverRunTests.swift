// What a driver does to the keys: heard input, written keys, told news.

import Synchronization
import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct DriverRunTests {
    private let bench = OperatorBench()

    /// A time that tests move.
    private final class Clock: Sendable {
        private let time = Mutex<Int64>(1_000_000)
        var now: Int64 { time.withLock { $0 } }
        func advance(_ seconds: Int64) { time.withLock { $0 += seconds * 1_000 } }
    }

    private let clock = Clock()

    private func fleet() -> FleetOperator {
        FleetOperator(bench.etcd, bench.keys, by: "alice", now: { [clock] in clock.now })
    }

    /// A rollout that is driven, with so many processes.
    private func begin(
        steps: [Int] = [5_000, 10_000], confirmWithin: Int64? = nil, selector: Labels = [:]
    ) async throws -> DriverRun {
        for number in 0..<10 { try await bench.register("i\(number)") }
        var plan = RolloutPlan(id: "r1", assignments: [try bench.assignment("A/B/C", .int(1))])
        plan.selector = selector
        (plan.steps, plan.confirmWithin) = (steps.compactMap { Share(hundredths: $0) }, confirmWithin)
        let claim = try await self.fleet().claim("r1", host: "h", pid: 1)
        plan.driver = claim.fence
        _ = try await self.fleet().begin(plan)
        return DriverRun(fleet(), claim)
    }

    private func read() async throws -> DriverInput {
        .read(
            rollout: try await bench.etcd.range(EtcdRange(.key(bench.keys.rollout("r1")))),
            instances: try await bench.etcd.range(EtcdRange(.prefix(bench.keys.instances))))
    }

    /// All processes say that they have applied what there is.
    private func report() async throws {
        let revision = try await bench.fleet().look().header.revision
        for number in 0..<10 { try await bench.register("i\(number)") { $0.revision = revision } }
    }

    @Test func `A rollout that goes well is stepped and finished`() async throws {
        var run = try await begin()
        #expect(await run.handle(try await read()).isEmpty)
        try await report()
        clock.advance(25)
        #expect(await run.handle(.tick).isEmpty)
        for _ in 0..<10 {
            clock.advance(25)
            #expect(await run.handle(try await read()).isEmpty)
        }
        clock.advance(24)
        #expect(await run.handle(.tick).isEmpty)
        clock.advance(1)
        #expect(await run.handle(.tick) == [.stepped(to: .all)])
        try await report()
        for _ in 0..<12 {
            #expect(await run.handle(try await read()).isEmpty)
            clock.advance(25)
        }
        let news = await run.handle(.tick)
        guard case .ended(.finished(let receipt))? = news.first else {
            Issue.record("\(news)")
            return
        }
        #expect(receipt.changes.map(\.new) == [.int(1)])
        #expect(try await bench.fleet().history().entries.map(\.verb) == ["rollout", "step", "finish"])
    }

    @Test func `A refusal that the watch brings takes it back`() async throws {
        var run = try await begin(steps: [10_000])
        _ = await run.handle(try await read())
        var status = FleetStatus(build: "b1")
        status.refused = [.init(rollout: "r1", path: "A/B/C", reason: "too large")]
        let key = bench.keys.instance("i3", start: 1)
        let event = EtcdEvent(.put, EtcdKeyValue(key: key, value: status.bytes, modRevision: 1_000))
        clock.advance(1)
        let news = await run.handle(.watched(EtcdHeader(clusterID: 1, revision: 1_000), [event]))
        guard case .ended(.aborted(let reason, _))? = news.first else {
            Issue.record("\(news)")
            return
        }
        #expect(reason == "i3 refuses it: A/B/C: too large")
        #expect(try await bench.fleet().look().rollouts.isEmpty)
    }

    @Test func `Somebody else's abort ends it, and so does a lost lease`() async throws {
        var run = try await begin()
        _ = await run.handle(try await read())
        let other = run
        _ = try await bench.fleet(by: "bob").abort("r1")
        #expect(await run.handle(try await read()) == [.ended(.gone("bob aborted it"))])
        run = other
        let news = await run.handle(.unclaimed)
        guard case .ended(.lost)? = news.first else {
            Issue.record("\(news)")
            return
        }
    }

    @Test(arguments: [[:] as Labels, ["zone": "eu"]])
    func `Somebody else's finish ends it well`(_ selector: Labels) async throws {
        var run = try await begin(steps: [10_000], selector: selector)
        _ = await run.handle(try await read())
        _ = try await bench.fleet(by: "bob").finish("r1")
        #expect(await run.handle(try await read()) == [.ended(.finishedElsewhere(by: "bob"))])
    }

    @Test func `A lease that ends takes it back`() async throws {
        var run = try await begin()
        _ = await run.handle(try await read())
        try await bench.delete(bench.keys.rollout("r1"))
        #expect(await run.handle(try await read()) == [.ended(.gone("its lease is over, or its key was deleted"))])
    }

    @Test func `The feed reads, follows, and keeps the driver's lease`() async throws {
        let run = try await begin()
        let claim = try #require(try await bench.fleet().drivers()["r1"].map { _ in run.claim })
        let (inputs, continuation) = AsyncStream.makeStream(of: DriverInput.self)
        let tasks = DriverFeed(fleet(), claim).start(into: continuation)
        defer { for task in tasks { task.cancel() } }
        var heard: [String] = []
        for await input in inputs {
            switch input {
            case .read(_, let instances):
                heard.append("read \(instances.keys.count)")
                if heard.count == 1 { try await bench.register("new") }
            case .watched(_, let events):
                heard.append("watched \(events.count)")
                bench.etcd.set(.unreachable)
            case .outage:
                heard.append("outage")
                bench.etcd.set(.none)
            default: break
            }
            if heard.count == 4 { break }
        }
        #expect(heard == ["read 10", "watched 1", "outage", "read 11"])
    }

    @Test func `A person pauses, resumes and finishes; what is refused changes nothing`() async throws {
        var run = try await begin()
        _ = await run.handle(try await read())
        #expect(await run.handle(.said(.pause)) == [.paused("alice asked for it")])
        #expect(run.progress.state == .open, "shown with the next look")
        _ = await run.handle(.tick)
        #expect(run.progress.state == .paused)
        #expect(await run.handle(.said(.resume)) == [.resumed])
        let news = await run.handle(.said(.finish))
        guard case .refused(let refusal)? = news.first else {
            Issue.record("\(news)")
            return
        }
        #expect(refusal.description.hasPrefix("rollout r1 is at 50"))
        #expect(try await bench.fleet().look().rollouts.count == 1)
    }

    @Test func `The last step asks once for a confirmation, and reverts without one`() async throws {
        var run = try await begin(steps: [10_000], confirmWithin: 600)
        _ = await run.handle(try await read())
        try await report()
        for _ in 0..<12 {
            _ = await run.handle(try await read())
            clock.advance(25)
        }
        #expect(await run.handle(.tick).isEmpty)
        let until = clock.now + 600_000
        #expect(await run.handle(.tick) == [.asking(until: until)])
        #expect(await run.handle(.tick).isEmpty)
        for _ in 0..<24 {
            clock.advance(25)
            _ = await run.handle(try await read())
        }
        #expect(try await bench.fleet().look().rollouts.isEmpty)
        #expect(try await bench.fleet().history().entries.last?.verb == "abort")
    }

    @Test func `An outage is told once, and nothing is decided in it and a minute after`() async throws {
        var run = try await begin(steps: [10_000])
        _ = await run.handle(try await read())
        #expect(await run.handle(.outage("no answer")) == [.outage("no answer")])
        #expect(await run.handle(.outage("no answer")).isEmpty)
        for number in 0..<9 {
            _ = try await bench.etcd.commit(
                EtcdTransaction(then: [.delete(.key(bench.keys.instance("i\(number)", start: 1)))]))
        }
        clock.advance(20)
        #expect(await run.handle(.tick).isEmpty)
        #expect(await run.handle(try await read()) == [.contact])
        for _ in 0..<2 {
            clock.advance(29)
            #expect(await run.handle(try await read()).isEmpty)
        }
        clock.advance(2)
        let news = await run.handle(try await read())
        guard case .ended(.aborted)? = news.first else {
            Issue.record("\(news)")
            return
        }
    }

    @Test func `A driver that goes on for another one misses the member that went meanwhile`() async throws {
        let first = try await begin()
        let rollout = try #require(try await bench.fleet().look().rollouts["r1"]?.value)
        let members = (0..<10).map { "i\($0)" }.filter { rollout.includes(FleetInstance(id: $0)) }
        #expect(rollout.reached == Int64(members.count))
        _ = try await bench.etcd.commit(
            EtcdTransaction(then: [.delete(.key(bench.keys.instance(members[0], start: 1)))]))
        await fleet().release(first.claim)
        clock.advance(600)

        let claim = try await fleet().claim("r1", host: "elsewhere", pid: 2)
        _ = try await fleet().resume("r1", fence: claim.fence)
        var run = DriverRun(fleet(), claim, isResumed: true)
        #expect(await run.handle(try await read()).isEmpty)
        var news: [DriverNews] = []
        for _ in 0..<20 where news.isEmpty {
            clock.advance(25)
            let revision = try await bench.fleet().look().header.revision
            for id in Set((0..<10).map { "i\($0)" }).subtracting([members[0]]) {
                try await bench.register(id) { $0.revision = revision }
            }
            news = await run.handle(try await read())
        }
        let text =
            "\(members.count - 1) of \(members.count) members that had this step live; resume r1 goes on with them"
        #expect(news == [.paused(text)])
    }

    @Test func `A machine that slept was away`() async throws {
        var run = try await begin(steps: [10_000])
        _ = await run.handle(try await read())
        clock.advance(3_000)
        for number in 0..<9 {
            _ = try await bench.etcd.commit(
                EtcdTransaction(then: [.delete(.key(bench.keys.instance("i\(number)", start: 1)))]))
        }
        #expect(await run.handle(try await read()).isEmpty)
        clock.advance(29)
        #expect(await run.handle(.tick).isEmpty)
    }

    @Test func `An etcd that is full holds a rollout at its step, and is asked again`() async throws {
        var run = try await beginFull()
        #expect(try await bench.fleet().look().rollouts["r1"]?.value.share.hundredths == 5_000)
        clock.advance(19)
        #expect(await run.handle(.tick).isEmpty, "it is not asked at every tick")
        clock.advance(1)
        #expect(await run.handle(.tick).isEmpty, "what was said once is not said again")

        bench.etcd.set(.none)
        clock.advance(20)
        #expect(await run.handle(.tick) == [.stepped(to: .all)])
    }

    @Test func `An etcd that is full does not keep the brake`() async throws {
        var run = try await beginFull()
        let rollout = try #require(try await bench.fleet().look().rollouts["r1"]?.value)
        for id in (0..<10).map({ "i\($0)" }) where rollout.includes(FleetInstance(id: id)) {
            _ = try await bench.etcd.commit(
                EtcdTransaction(then: [.delete(.key(bench.keys.instance(id, start: 1)))]))
        }
        _ = await run.handle(try await read())
        clock.advance(29)
        _ = await run.handle(try await read())
        clock.advance(2)
        let news = await run.handle(try await read())
        guard case .ended(.aborted)? = news.first else {
            Issue.record("the brake does not work without space: \(news)")
            return
        }
        #expect(try await bench.fleet().look().rollouts.isEmpty)
    }

    /// Returns a run at 50 % whose next step an etcd without space has just refused.
    private func beginFull() async throws -> DriverRun {
        var run = try await begin()
        _ = await run.handle(try await read())
        try await report()
        for _ in 0..<12 {
            _ = await run.handle(try await read())
            clock.advance(25)
        }
        bench.etcd.set(.full)
        let news = await run.handle(.tick)
        guard case .refused(let refusal)? = news.first else {
            Issue.record("\(news)")
            return run
        }
        #expect(refusal.description.contains("abort works meanwhile"))
        return run
    }
}
