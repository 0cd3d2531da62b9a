// Tests the commands of rollouts beside a drive service: rollout, resume, progress, status; and the service as a process.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet
@testable import TweaksFleetOperator

@Suite struct DriveCommandTests {
    private let harness = OperatorHarness()

    /// Registers processes, and a service that leads.
    private func lead(hasPrometheus: Bool = false) async throws {
        let registry = TweakRegistry()
        _ = Tweak("A", "B", "C", 0, in: 0...100, registry: registry)
        let build = FleetBuild(registry)
        harness.etcd.put(harness.keys.build(build.hash), build.bytes)
        for id in ["i1", "i2"] { harness.register(id, build: build.hash) }
        let me = FleetDriver(host: "ops-1", pid: 7, by: "service", at: 0, hasPrometheus: hasPrometheus)
        _ = try await harness.fleet().runForLeader(me, seconds: 20)
    }

    private func run(_ line: String) async throws -> CommandResult { try await harness.run(line) }

    private static let rollout = "rollout 'A/B/C = 5' --steps 50,100 --every 60s --yes"

    @Test func `A rollout is handed to the service, under a lease that outlives it for a while`() async throws {
        try await lead()
        let result = try await run("\(Self.rollout) --detach")
        #expect(
            result.code == .ok && result.text.hasSuffix("ops-1 drives it: progress r1 follows it, abort r1 reverts it"))
        let record = try #require(try await harness.rollout())
        #expect(record.value.isHanded && record.value.lifetime == 600 && record.lease != 0)
        #expect(try await harness.fleet().drivers().isEmpty)
        _ = try await run("abort r1")
        _ = try await run("\(Self.rollout) --detach --keep-if-driver-dies")
        let kept = try #require(try await harness.rollout())
        #expect(kept.value.isHanded && kept.lease == 0 && kept.value.lifetime == nil)
    }

    @Test func `It is followed to its end, whose reason decides the exit code`() async throws {
        try await lead()
        async let result = run(Self.rollout)
        try await harness.etcd.wait(harness.keys.rollouts) { $0.kind == .put }
        _ = try await harness.fleet(by: "service").abort("r1", because: "A/B/C > 5 on 1 of 1 members")
        let (code, text) = try await (result.code, result.text)
        #expect(
            code == .refused && text.contains("reverted: service aborted it: A/B/C > 5 on 1 of 1 members"), "\(text)")
    }

    @Test func `A pause ends what follows it without a terminal, and the rollout stays`() async throws {
        try await lead()
        async let result = run(Self.rollout)
        try await harness.etcd.wait(harness.keys.rollouts) { $0.kind == .put }
        _ = try await harness.fleet(by: "service").pause("r1", because: "no member lives any more")
        let (code, text) = try await (result.code, result.text)
        #expect(code == .refused && text.contains("paused: no member lives any more"), "\(text)")
        #expect(text.hasSuffix("so ops-1 drives it: progress r1 follows it, abort r1 reverts it"), "\(text)")
        #expect(try await harness.rollout()?.value.state == .paused)
        // The service has the claim: resume leaves it to that.
        _ = try await harness.fleet().claim("r1", host: "ops-1", pid: 7)
        let resumed = try await run("resume r1 --detach")
        #expect(
            resumed.code == .ok
                && resumed.text.hasSuffix("ops-1 drives it: progress r1 follows it, abort r1 reverts it"))
        #expect(try await harness.rollout()?.value.state == .open)
    }

    @Test func `A rollout that no driver has is handed to the service by resume`() async throws {
        try await lead()
        var plan = try harness.plan("A/B/C", .int(1))
        plan.lease = try await harness.fleet().grant(seconds: 60)
        _ = try await harness.fleet().begin(plan)
        let result = try await run("resume r1 --detach")
        #expect(result.code == .ok && result.text.contains("ops-1 drives it"), "\(result.text)")
        let record = try #require(try await harness.rollout())
        #expect(record.value.isHanded && record.value.lifetime == 600)
    }

    @Test func `A moment ahead is written down, and status shows it until abort`() async throws {
        try await lead()
        let result = try await run("\(Self.rollout) --at 90s")
        let text = "cluster abc /tweaks/api: rollout r1 is to begin at 1970-01-01T00:18:10Z, entry 1"
        #expect(result.code == .ok && result.lines.contains(text), "\(result.text)")
        #expect(try await harness.rollout() == nil)
        let status = try await run("status").text
        #expect(status.contains("drive service: process 7 on ops-1 leads, as service"), "\(status)")
        #expect(
            status.contains(
                "rollout r1 by alice is to begin at 1970-01-01T00:18:10Z: A/B/C = 5; abort r1 cancels it"), "\(status)")
        let json = try #require(try await run("status --json").json)
        #expect(json["driveService"]?["host"] == .string("ops-1") && json["scheduled"]?.text.contains("\"r1\"") == true)
        #expect(try await run("abort r1").code == .ok)
        #expect(try await run("status").text.contains("to begin") == false)
        #expect(try await run("history").text.contains("schedule r1 (to begin at 1970-01-01T00:18:10Z)"))
    }

    @Test func `Without a service nothing can begin later`() async throws {
        harness.register("i1")
        let result = try await run("\(Self.rollout) --new --at 90s")
        #expect(result.code == .refused && result.text.contains("no drive service would begin it"), "\(result.text)")
        #expect(harness.etcd.value(harness.keys.scheduled("r1")) == nil)
    }

    @Test func `Conditions on Prometheus need a driver that can ask it`() async throws {
        let line = "\(Self.rollout) --abort-if-prometheus 'errors > 5'"
        try await lead()
        let unknown = try await run("\(line) --detach")
        #expect(unknown.code == .refused && unknown.text.contains("the drive service on ops-1 knows no Prometheus"))
        let here = try await run("\(line) --drive-here")
        #expect(here.code == .usage && here.text.contains("name the server with --prometheus URL"), "\(here.text)")
        #expect(try await harness.rollout() == nil)
        harness.etcd.delete(.key(harness.keys.leader))
        try await lead(hasPrometheus: true)
        #expect(try await run("\(line) --detach").code == .ok)
        #expect(try await harness.rollout()?.value.abortIfPrometheus.map(\.text) == ["errors > 5"])
    }

    @Test func `progress follows a rollout, and says what it has seen`() async throws {
        try await lead()
        _ = try await harness.fleet().begin(try harness.plan("A/B/C", .int(1)))
        let lines = LogLines()
        let console = FleetConsole(isJSON: false) { lines.note($0) }
        let client = FleetClient(
            try FleetArguments(["api", "progress", "r1"]), console, harness.fleet(), DriverLimits())
        async let code = client.run()
        await lines.wait(for: "open at 100 %: 0 of 2 reported")
        _ = try await harness.fleet(by: "bob").pause("r1")
        await lines.wait(for: "so no driver has it; resume r1 goes on")
        #expect(try await code == .refused)
        #expect(lines.contains("rollout r1: paused: bob asked for it"))
        let missing = try await run("progress r2")
        #expect(missing.code == .refused && missing.text.hasPrefix("there is no rollout “r2”"))
    }

    @Test(
        arguments: [
            ("2026-12-01T22:00:00Z", 1_796_162_400_000), ("22:00", 1_796_162_400_000 - 86_400_000),
            ("11:59", 1_796_162_400_000 - 36_060_000), ("12:00", 1_796_162_400_000 - 36_000_000),
            ("3h", 1_796_050_800_000),
            ("90s", 1_796_040_090_000),
        ] as [(String, Int64)])
    func `A moment is a time in UTC, or a duration from now`(_ text: String, _ moment: Int64) throws {
        // 2026-11-30T12:00:00Z
        #expect(try RolloutPlan.moment(text, now: 1_796_040_000_000) == moment)
    }

    @Test(arguments: ["", "now", "24:00", "2026-13-01T22:00:00Z", "-3h", "9223372036854775807h", "22:00:00"])
    func `Another text is no moment`(_ text: String) {
        #expect(throws: Failure.self) { try RolloutPlan.moment(text, now: 1_796_040_000_000) }
    }
}

@Suite(
    .blockingCluster, .tags(.process), .needsEtcd,
    .enabled(if: BuiltProgram.exists("tweakctl-fleet"), "tweakctl-fleet is not built here")
) struct DriveProcessTests {
    @Test func `A second service drives on after kill -9, and SIGTERM hands over at once`() async throws {
        let fleet = try await FleetProgramFixture(processes: 3)
        let first = try drive(fleet, "first")
        await first.log.wait(for: "leads: drives")
        try fleet.expect("api rollout 'Service/Pool/Size = 80' --steps 100 --every 60s --yes --detach")
        await first.log.wait(for: "drives it")
        let second = try drive(fleet, "second")
        await second.log.wait(for: "waits: process")
        try fleet.expect("api status", output: "drive service: process", ", as first")
        first.kill()
        await second.log.wait(for: "at 100 %: drives it")
        let third = try drive(fleet, "third")
        await third.log.wait(for: "waits: process")
        await second.stop()
        await third.log.wait(for: "at 100 %: drives it")
        try fleet.expect("api status", output: ", as third", "driven by third")
        await third.stop()
    }

    private func drive(_ fleet: FleetProgramFixture, _ name: String) throws -> ChildProcess {
        try ChildProcess(
            [BuiltProgram.path("tweakctl-fleet"), "api", "drive", "--as", name],
            environment: ["TWEAKS_FLEET": fleet.url, "PATH": "/usr/bin:/bin"])
    }

    @Test func `It tells systemd that it is ready, alive and ends`() async throws {
        let fleet = try await FleetProgramFixture(processes: 0)
        let directory = try TemporaryDirectory()
        let receiver = try BoundSocket(directory.file("notify"), for: .datagrams)
        let service = try ChildProcess(
            [BuiltProgram.path("tweakctl-fleet"), "api", "drive"],
            environment: [
                "TWEAKS_FLEET": fleet.url, "NOTIFY_SOCKET": directory.file("notify"), "PATH": "/usr/bin:/bin",
            ])
        #expect(try receiver.next() == "WATCHDOG=1")
        #expect(try receiver.next() == "READY=1\nSTATUS=leads: drives what operators hand over")
        await service.stop()
        var last = ""
        while last != "STOPPING=1" { last = try receiver.next() }
        try fleet.expect("api status", output: "0 processes live")
    }
}
