// Tests tweakctl-fleet as a process with a real etcd: output, writes and exit codes.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

@Suite(
    .blockingCluster, .tags(.process), .needsEtcd,
    .enabled(if: BuiltProgram.exists("tweakctl-fleet"), "tweakctl-fleet is not built here")
) struct FleetProgramTests {
    private static let rollout = "api rollout 'Service/Pool/Size = 80' --steps 100 --every 60s --yes"

    /// The lines of a text, without the last empty one.
    private func lines(_ text: String) -> [String] { text.splitLines().dropLast() }

    @Test func `Values are set, displayed, checked, undone and reset`() async throws {
        let fleet = try await FleetProgramFixture(processes: 0)
        try fleet.expect("api ls")
        try fleet.expect("api set 'Service/Pool/Size = 64'", code: 1, errors: "no build has declared anything yet")
        try await fleet.register(4)

        let set = try fleet.run("api set 'Service/Pool/Size = 64' --as alice")
        #expect(set.code == 0, "\(set)")
        #expect(lines(set.output)[0].hasPrefix("cluster ") && set.output.contains(" /tweaks/api: set, entry 1\n"))
        #expect(lines(set.output)[1] == "Service/Pool/Size = 64  # was (none)")
        #expect(try fleet.output("api ls").hasPrefix("Service/Pool/Size = 64  # by alice, "))
        #expect(try fleet.output("api export") == "Service/Pool/Size = 64\n")
        let shown = try fleet.output("api get Service")
        #expect(lines(shown)[1] == "  4 processes: 64, not yet reported", "\(shown)")

        try fleet.expect("api set Service/Pool/Size = 640", code: 1, errors: "4 processes, refuses it")
        try fleet.expect("api check Service/Pool/Size = 640", code: 1, output: "is outside 0...100")
        try fleet.expect("api check Service/Pool/Size = 64")
        try fleet.expect("api set Service/Pool/Size = 80 --dry-run", output: "Service/Pool/Size = 80")

        try fleet.expect("api set Service/Pool/Size = 80")
        try fleet.expect("api undo")
        #expect(try fleet.output("api export") == "Service/Pool/Size = 64\n")
        try fleet.expect("api undo 2", code: 1, errors: "entry 2 left 80; set it by hand")
        try fleet.expect("api reset Service/Pool/Size")
        #expect(try fleet.output("api export").isEmpty)
        let history = lines(try fleet.output("api history")).filter { !$0.hasPrefix(" ") }
        let entries = history.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        #expect(entries == ["1 set", "2 set", "3 undo", "4 reset"])
    }

    @Test(arguments: [SIGINT, SIGTERM]) func `The page is served until it is interrupted`(_ signal: Int32) async throws
    {
        let fleet = try await FleetProgramFixture(processes: 1)
        try fleet.expect("api panel --port x", code: 2, errors: "--port: “x” is not a port")
        let program = try fleet.start("api panel --port 0")
        let line = try program.line()
        let port = try #require(Int(line.split(separator: ":").last?.split(separator: "/").first ?? ""))
        #expect(line.hasPrefix("panel http://") && line.contains(".localhost:") && line.contains("/#code="), "\(line)")
        let client = try TestClient(port: port)
        try client.send("GET /api/fleet HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n")
        #expect(try client.rest().hasPrefix("HTTP/1.1 401 "))
        program.signal(signal)
        #expect(try program.waitForEnd() == 0)
    }

    @Test(.tags(.quantity)) func `Exported values can be imported, and mirrored`() async throws {
        let fleet = try await FleetProgramFixture(processes: 1)
        let text = "# values\nService/Pool/Size = 64\n\"Other/Path/With blank\" = \"72\"\n"
        try fleet.expect("api import - --new", code: 2, errors: "use --yes", input: text)
        try fleet.expect("api import - --new --yes", input: text)
        try fleet.expect("api history --json", output: "\"verb\":\"import\"")
        #expect(try fleet.output("api export") == "\"Other/Path/With blank\" = \"72\"\nService/Pool/Size = 64\n")
        let count = quantity(10_000, few: 250) - 2
        let many = (1...count).map { "A/B/C\($0) = 1\n" }.joined()
        let parts = (count + 99) / 100
        try fleet.expect(
            "api import - --new --yes", output: "import in \(parts) parts, entry \(parts + 1)",
            errors: "part \(parts) of \(parts): entry \(parts + 1)", "--prune removes what it lacks", input: many)
        #expect(try fleet.output("api export").utf8.count(where: { $0 == 0x0A }) == count + 2)
        try fleet.expect(
            "api import - --prune --yes", output: "\(count) removed:", "import in \(parts) parts", input: text)
        let malformed = "Service/Pool/Size = 1\nnonsense here\n"
        try fleet.expect("api import - --yes", code: 1, errors: "-:2: ", input: malformed)
    }

    @Test func `A rollout is begun, displayed and aborted by another operator`() async throws {
        let fleet = try await FleetProgramFixture(processes: 10)
        try fleet.expect("api rollout 'Service/Pool/Size = 80' --steps 100", code: 2, errors: "use --yes")
        try fleet.expect(
            Self.rollout + " --abort-if 'Service/Errors/Rat > 5'", code: 1,
            errors: "--abort-if: no build has Service/Errors/Rat;")
        try fleet.expect(Self.rollout + " --where zone=mars", code: 1, errors: "none of 10 processes has these labels")

        let driver = try fleet.start(Self.rollout + " --where zone=eu --as alice")
        try driver.wait(for: "0 of 5 reported")
        try fleet.expect("api ls", output: "open at 100 % of zone=eu", "by alice")
        let id = try fleet.rolloutID()
        try fleet.expect("api set Service/Pool/Size = 1", code: 1, errors: "rollout \(id) by alice holds it")
        try fleet.expect(
            "api resume \(id)", code: 1, errors: "is driven by alice", "it is reverted when that driver ends")
        try fleet.expect("api status", output: "rollout \(id)", "driven by alice")
        try fleet.expect("api abort \(id) --as bob")
        let end = try driver.result()
        #expect(end.code == 1 && end.errors.contains("bob aborted it"), "\(end)")
        #expect(try fleet.output("api ls").isEmpty)
    }

    @Test func `An interrupted driver leaves the rollout for another one, and a killed driver blocks it`()
        async throws
    {
        let fleet = try await FleetProgramFixture(processes: 10)
        let driver = try fleet.start(Self.rollout + " --keep-if-driver-dies")
        try driver.wait(for: "0 of 10 reported")
        driver.signal(SIGTERM)
        let end = try driver.result()
        #expect(end.code == 1 && end.errors.contains("the rollout stays at its share: resume"), "\(end)")
        let id = try fleet.rolloutID()
        let second = try fleet.start("api resume \(id)")
        try second.wait(for: "0 of 10 reported")
        second.signal(SIGKILL)
        #expect(try second.result().code == -SIGKILL)
        try fleet.expect("api resume \(id)", code: 1, errors: "or wait until its lease of 60 s is over")
        try fleet.expect("api finish \(id)")
        #expect(try fleet.output("api export") == "Service/Pool/Size = 80\n")
    }

    @Test func `A member's refusal aborts the rollout; the exit code is 1`() async throws {
        let fleet = try await FleetProgramFixture(processes: 3)
        let driver = try fleet.start(Self.rollout)
        try driver.wait(for: "0 of 3 reported")
        let id = try fleet.rolloutID()
        var status = FleetStatus(build: "other")
        status.refused = [.init(rollout: id, path: "Service/Pool/Size", reason: "the pool is fixed")]
        try await fleet.put(fleet.keys.instance("i1", start: 2), status.bytes)
        let end = try driver.result()
        #expect(end.code == 1 && end.errors.contains("i1 refuses it: Service/Pool/Size: the pool is fixed"), "\(end)")
        #expect(end.output.contains("aborted rollout \(id), entry 2"))
        #expect(try fleet.output("api ls").isEmpty)
    }

    @Test(arguments: ["", " --revert-if-driver-dies"])
    func `A rollout is under the lease of its driver, and reverted with it`(_ option: String) async throws {
        let fleet = try await FleetProgramFixture(processes: 3)
        let driver = try fleet.start(Self.rollout + option)
        try driver.wait(for: "0 of 3 reported")
        try fleet.expect("api ls", output: "under a lease of 60 s")
        driver.signal(SIGTERM)
        let errors = try driver.result().errors
        #expect(errors.contains("this driver ends, and the rollout is reverted with it"))
        #expect(!errors.contains("--revert-if-driver-dies"))
        #expect(try fleet.output("api ls").isEmpty)
    }

    @Test func `A rollout has a share of each zone, and a build of an older version stops it`() async throws {
        let fleet = try await FleetProgramFixture(processes: 10)
        let rollout = "api rollout 'Service/Pool/Size = 80' --per zone --steps 10,100 --every 60s --yes"
        try fleet.expect(
            rollout + " --canary zone=mars", code: 1, errors: "--canary: none of 10 processes has the labels zone=mars")
        let driver = try fleet.start(rollout)
        try driver.wait(for: "0 of 2 reported, 0 refused; zone=eu 1 of 5, zone=us 1 of 5")
        try fleet.expect("api status", output: "open at 10 % per zone, ", "\n  zone=eu 1 of 5, zone=us 1 of 5\n")
        let id = try fleet.rolloutID()
        try fleet.expect("api pause \(id)")
        var older = FleetStatus(build: "older")
        older.edition = 1
        try await fleet.put(fleet.keys.instance("old", start: 1), older.bytes)
        try fleet.expect("api resume \(id)", code: 1, errors: "1 process is of an older version that knows neither")
        try fleet.expect(
            "api rollout 'Service/Pool/Size = 81' --seed kept --steps 50 --dry-run", code: 1, errors: "holds it")
        try fleet.expect("api abort \(id)")
        try fleet.expect(
            "api rollout 'Service/Pool/Size = 81' --seed kept --steps 50 --dry-run", code: 1, errors: ": old; restart")
        #expect(try driver.result().code == 1)
    }

    @Test func `A rollout without a driver stays open and says so`() async throws {
        let fleet = try await FleetProgramFixture(processes: 3)
        try fleet.expect(
            Self.rollout + " --detach", errors: "it stays at 100 % without a driver, and nothing aborts it: resume ")
        let list = try fleet.output("api ls")
        #expect(list.contains("open at 100 %, by") && !list.contains("lease"), "\(list)")
    }

    @Test func `A temporary value is a rollout under a lease`() async throws {
        let fleet = try await FleetProgramFixture(processes: 1)
        try fleet.expect("api set 'Service/Pool/Size = 80' --for 10m", output: "set for 600 s as rollout ")
        try fleet.expect("api ls", output: "open at 100 %, under a lease of 600 s")
        #expect(try fleet.output("api export").isEmpty)
    }

    @Test func `Status prints JSON, and adopt needs a confirmation`() async throws {
        let fleet = try await FleetProgramFixture(processes: 3, revision: 1_000)
        _ = try fleet.run("api set 'Service/Pool/Size = 64'")
        let status = try #require(JSON(try fleet.output("api status --json").splitLines()[0]))
        #expect(status["live"]?.wholeNumber == 3 && status["etcd"]?["version"]?.string?.hasPrefix("3.") == true)
        #expect(status["head"]?["counter"]?.wholeNumber == 1 && status["lagging"]?.elements.isEmpty == true)
        #expect(status["builds"]?.elements.first?["live"]?.wholeNumber == 3)
        #expect(status["garbage"]?.elements.isEmpty == true)
        try fleet.expect("api adopt", code: 2)
        try fleet.expect("api adopt --yes --at-least 50", output: "adopt, entry 50", errors: "apply the values here")
    }

    @Test func `Status names a malformed key, which affects nothing else`() async throws {
        let fleet = try await FleetProgramFixture(processes: 1)
        _ = try fleet.run("api set 'Service/Pool/Size = 64'")
        try await fleet.put(fleet.keys.desired + utf8("values/Service/Pool/Depth"), utf8("{"))
        try fleet.expect(
            "api status", output: "1 process live",
            errors: "/tweaks/api/desired/values/Service/Pool/Depth: it is not JSON",
            "set Service/Pool/Depth = VALUE writes it anew")
        let json = try #require(JSON(try fleet.output("api status --json").splitLines()[0]))
        #expect(json["garbage"]?.elements.count == 1)
        let command = "api set 'Service/Pool/Size = 65' --dry-run"
        try fleet.expect(command, output: ": set (dry run)", errors: "nothing is written")
    }

    @Test func `Watch prints each change, and an unreachable etcd is exit code 3`() async throws {
        let fleet = try await FleetProgramFixture(processes: 1)
        let watch = try fleet.start("api watch")
        try watch.wait(for: "watching")
        _ = try fleet.run("api set 'Service/Pool/Size = 64'")
        try watch.wait(for: "set by")
        watch.signal(SIGINT)
        let ended = try watch.result()
        #expect(ended.code == 0 && ended.output.contains("Service/Pool/Size = "), "\(ended)")
        #expect(ended.output.contains(": set by "))
        let unreachable = try fleet.run("api ls --etcd http://127.0.0.1:1")
        #expect(unreachable.code == 3 && unreachable.errors.hasPrefix("tweakctl-fleet: etcd: "), "\(unreachable)")
    }
}
