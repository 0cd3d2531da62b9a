// Tests the sums of statuses and the distribution of values over processes.

import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct FleetSummaryTests {
    private let harness = OperatorHarness()
    private var fleet: FleetOperator { harness.fleet() }

    @Test func `The newest start of a process counts, and malformed statuses are counted separately`() async throws {
        // The clock of its machine was set back before the last start.
        for (start, build) in [(2, "old"), (10, "new"), (9, "newest")] as [(Int64, String)] {
            harness.register("i1", start: start, build: build)
        }
        harness.register("i2")
        harness.etcd.put(utf8("/tweaks/api/instances/i3/x"), utf8("{}"))
        harness.etcd.put(harness.keys.instance("i4", start: 1), utf8("garbage"))
        var statuses = try await fleet.instanceStatuses()
        #expect(statuses.live.map(\.status.build) == ["newest", "b1"] && statuses.unreadable.count == 2)
        let deleted = EtcdKeyValue(key: harness.keys.instance("i1", start: 9), modRevision: 99)
        statuses.apply(EtcdHeader(clusterID: 1, revision: 99), [EtcdEvent(.delete, deleted)])
        #expect(statuses.live.map(\.status.build) == ["new", "b1"] && statuses.revision == 99)
    }

    @Test func `A process that has left is not live, and one that has started again is`() async throws {
        harness.register("i1")
        harness.register("i1", start: 2)
        harness.register("i2")
        harness.register("i1", start: 2) { $0.left = 5 }
        harness.register("i2") { $0.left = 5 }
        harness.register("i2", start: 0)
        let statuses = try await fleet.instanceStatuses()
        #expect(statuses.live.map(\.id) == ["i2"] && statuses.live.map(\.start) == [0])
        #expect(Set(statuses.left.map { "\($0.id) \($0.start)" }) == ["i1 2", "i2 1"])
    }

    @Test func `A summary counts processes, builds, refusals, overrides and troubles`() async throws {
        let revision = try await fleet.set([try harness.assignment("A/B/C", .int(64))]).header.revision
        for number in 0..<4 {
            harness.register("i\(number)", build: number == 0 ? "b2" : "b1") { status in
                status.revision = number == 3 ? revision - 1 : revision
                status.isUnstable = number == 1
                if number < 2 { status.refused = [.init(rollout: nil, path: "A/B/C", reason: "too large")] }
                status.covered = number == 2 ? ["A/B/C"] : []
                status.trouble = number == 3 ? "another cluster" : nil
            }
        }
        let summary = FleetSummary(try await fleet.readState(), try await fleet.instanceStatuses(), builds: ["b1"])
        #expect(summary.live == 4 && summary.unstable == 1 && summary.lagging.map(\.id) == ["i3"])
        #expect(
            summary.builds == [.init(hash: "b1", live: 3, isKnown: true), .init(hash: "b2", live: 1, isKnown: false)])
        #expect(summary.refusals.map(\.count) == [2] && summary.refusals.map(\.example) == ["i0"])
        #expect(summary.covered.map(\.path) == ["A/B/C"] && summary.trouble.map(\.example) == ["i3"])
    }

    @Test func `The distribution of a value follows from values, rollouts and statuses`() async throws {
        let registry = TweakRegistry()
        _ = Tweak("A", "B", "C", 5, registry: registry)
        let (build, other) = (FleetBuild(registry), FleetBuild(TweakRegistry()))
        for build in [build, other] { harness.etcd.put(harness.keys.build(build.hash), build.bytes) }
        _ = try await fleet.set([try harness.assignment("A/B/C", .int(64)), try harness.assignment("X/Y/Z", .int(1))])
        var plan = try harness.plan("A/B/C", .int(80))
        plan.selector = ["zone": "eu"]
        let revision = try await fleet.begin(plan).header.revision
        func register(_ id: String, _ zone: String, _ change: (inout FleetStatus) -> Void = { _ in }) {
            harness.register(id, build: build.hash, labels: ["zone": zone]) { status in
                status.revision = revision
                change(&status)
            }
        }
        for number in 0..<3 { register("us\(number)", "us") }
        for number in 0..<2 { register("eu\(number)", "eu") }
        register("refusing", "eu") { $0.refused = [.init(rollout: "r1", path: "A/B/C", reason: "no")] }
        register("old", "us") { $0.refused = [.init(rollout: nil, path: "A/B/C", reason: "no")] }
        register("covered", "us") { $0.covered = ["A/B/C"] }
        register("late", "us") { $0.revision = revision - 1 }
        harness.register("lacking", build: other.hash) { $0.revision = revision }
        let distribution = ValueDistribution(
            try await fleet.readState(), try await fleet.instanceStatuses().live, try await fleet.builds(),
            keys: harness.keys
        ) { $0.joined.hasPrefix("A/") }
        #expect(distribution.paths.map(\.joined) == ["A/B/C"])
        #expect(
            distribution.of(distribution.paths[0]).map { "\($0.count) \($0.text)" } == [
                "4 64", "2 80 by rollout r1", "1 64, not yet reported", "1 a build that lacks it",
                "1 a local override above 64", "1 refused, so the previous value",
            ])
    }
}
