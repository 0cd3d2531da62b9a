// Tests shares by stratum with real processes and a real etcd: each process finds out what the operator has counted.

import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.needsEtcd, .clustered, .tags(.process)) struct StrataClusterTests {
    @Test func `Each zone has its share, also of a process that appears before the write`() async throws {
        let cluster = try await ClusterFixture.start()
        let processes = try (0..<9).map { number in
            try cluster.process("i\(number)", labels: ["zone": number < 6 ? "eu" : "us"])
        }
        await cluster.wait { $0.count == 9 }
        var late = FleetStatus(build: "b")
        late.labels = ["zone": "us"]
        let put = EtcdTransaction(then: [.put(key: cluster.keys.instance("late", start: 1), value: late.bytes)])
        let raced = InterposedEtcd.raced(cluster.etcd) { _ throws(EtcdError) in
            _ = try await cluster.etcd.commit(put)
        }
        var plan = try cluster.plan("A/B/Size", .number(70), steps: [50, 100])
        plan.per = "zone"
        let fleet = FleetOperator(raced, cluster.keys, by: "alice", now: { SystemTime().wall })
        let receipt = try await fleet.begin(plan)
        let rollout = try #require(try await fleet.readState().rollouts["r1"]?.value)
        let live = await cluster.wait { live in
            live.count { $0.status.revision >= receipt.header.revision } == 9
        }
        #expect(rollout.strata(live).text == "zone=eu 3 of 6, zone=us 2 of 4")
        for process in processes {
            #expect(process.size.value == (rollout.includes(process.identity.instance) ? 70 : 50))
        }
        _ = try await fleet.step("r1", from: try #require(plan.steps.first), to: .all)
        await processes.wait(size: 70)
        await processes.stop()
    }
}
