// Tests which processes instances lists, and what it and instance tell of each.

import Testing
import Tweaks
import TweaksSystem

@testable import TweaksFleet

@Suite struct InstanceReportTests {
    private let harness = OperatorHarness()

    /// Registers eu-0 and eu-1, and us-0, which is behind and in trouble; begins the rollout r1 in zone eu.
    private func register() async throws {
        var plan = try harness.plan("A/B/C", .int(80))
        plan.selector = ["zone": "eu"]
        let revision = try await harness.fleet().begin(plan).header.revision
        for (id, zone) in [("eu-0", "eu"), ("eu-1", "eu"), ("us-0", "us")] {
            harness.register(id, labels: ["zone": zone]) { status in
                (status.revision, status.head) = (zone == "eu" ? revision : revision - 1, 1)
                (status.started, status.at) = (400_000, 990_000)
                status.trouble = zone == "us" ? "etcd is another cluster" : nil
                guard id == "eu-1" else { return }
                status.refused = [.init(rollout: "r1", path: "A/B/C", reason: "80 is outside 0...10")]
                (status.covered, status.moreCovered) = (["A/B/D", "A/B/E"], 2)
                status.overrides = [.init(path: "A/B/E", value: "7"), .init(path: "A/B/Key", value: nil)]
                status.host = "web-1"
                status.metrics = ["Service/Errors/Rate": 0.5]
                status.isUnstable = true
            }
        }
        harness.etcd.put(harness.keys.build("b1"), FleetBuild(TweakRegistry()).bytes)
    }

    @Test func `Instances has a line for each live process, with its rollouts and problems`() async throws {
        #expect(try await harness.run("instances").lines == ["tweakctl-fleet: no process of api lives"])
        try await register()
        let result = try await harness.run("instances")
        #expect(
            result.lines == [
                "eu-0: zone=eu, build b1, revision 2, in r1, 10 s ago",
                "eu-1: zone=eu, on web-1, build b1, revision 2, in r1, 1 refused, 4 local overrides, 10 s ago",
                "us-0: zone=us, build b1, revision 1, which is not the newest, in trouble, 10 s ago",
            ], "\(result.text)")
    }

    @Test func `Where selects processes by labels, and JSON has all that they report`() async throws {
        try await register()
        let eu = try #require(try await harness.run("instances --where zone=eu --json").json).elements
        #expect(eu.map { $0["id"]?.string } == ["eu-0", "eu-1"])
        #expect(eu[1]["rollouts"]?.elements == [.string("r1")] && eu[1]["lagging"] == .bool(false))
        #expect(eu[1]["refused"]?.elements.first?["reason"]?.string == "80 is outside 0...10")
        #expect(eu[1]["host"]?.string == "web-1" && eu[1]["overrides"]?.text == #"{"A/B/E":"7","A/B/Key":null}"#)
        #expect(eu[1]["moreCovered"]?.wholeNumber == 2 && eu[1]["declared"] == .bool(true))
        #expect(try await harness.run("instance us-0 --json").json?["trouble"]?.string == "etcd is another cluster")
        let none = try await harness.run("instances --where zone=mars")
        #expect(none.code == .ok && none.text.contains("no process of api with zone=mars lives"))
        #expect(try await harness.run("instances --where zone").code == .usage)
    }

    @Test func `Instance tells all of one process, and an unknown one is refused`() async throws {
        try await register()
        let result = try await harness.run("instance eu-1")
        #expect(
            result.lines == [
                "eu-1: zone=eu", "  its ID is another one after each restart", "  on web-1", "  build b1",
                "  started 10 min ago, reported 10 s ago", "  applied revision 2, write 1: the newest",
                "  in rollout r1, open at 100 %, which it refuses",
                "  refuses A/B/C (rollout r1): 80 is outside 0...10",
                "  local override A/B/E = 7, above the fleet's value",
                "  local override A/B/Key = a secret", "  has a local override above A/B/D",
                "  2 more local overrides are not listed", "  figure Service/Errors/Rate: 0.5",
            ], "\(result.text)")
        let unknown = try await harness.run("instance eu-9")
        #expect(unknown.code == .refused && unknown.text.contains("no process “eu-9” lives; did you mean eu-"))
    }
}
