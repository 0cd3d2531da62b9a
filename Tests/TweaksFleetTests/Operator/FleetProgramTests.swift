// tweakctl-fleet against a real etcd: what it prints, what it writes, how it ends.

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
    .clustered, .blocking, .tags(.process), .needsEtcd,
    .enabled(if: FleetSurroundings.exists, "tweakctl-fleet is not built here")
) struct FleetProgramTests {
    /// Lines of a text, without the last empty one.
    private func lines(_ text: String) -> [String] { text.splitLines().dropLast() }

    @Test func `Values are set, shown, checked, undone and taken back`() async throws {
        let fleet = try await FleetSurroundings()
        #expect(try fleet.run("api ls").code == 0)
        let unknown = try fleet.run("api set 'Service/Pool/Size = 64'")
        #expect(unknown.code == 1 && unknown.errors.contains("no build has declared anything yet"))
        try await fleet.register(4)

        let set = try fleet.run("api set 'Service/Pool/Size = 64' --as alice")
        #expect(set.code == 0, "\(set)")
        #expect(lines(set.output)[0].hasPrefix("cluster ") && set.output.contains(" /tweaks/api: set, entry 1\n"))
        #expect(lines(set.output)[1] == "Service/Pool/Size = 64  # was (none)")
        #expect(try fleet.run("api ls").output == "Service/Pool/Size = 64  # by alice, just now\n")
        #expect(try fleet.run("api export").output == "Service/Pool/Size = 64\n")
        let held = try fleet.run("api get Service").output
        #expect(lines(held)[1] == "  4 processes: 64, not yet reported", "\(held)")

        let bad = try fleet.run("api set Service/Pool/Size = 640")
        #expect(bad.code == 1 && bad.errors.contains("4 processes, refuses it"), "\(bad)")
        let check = try fleet.run("api check Service/Pool/Size = 640")
        #expect(check.code == 1 && check.output.contains("is outside 0...100"))
        #expect(try fleet.run("api check Service/Pool/Size = 64").code == 0)
        #expect(try fleet.run("api set Service/Pool/Size = 80 --dry-run").output.contains("Service/Pool/Size = 80"))

        #expect(try fleet.run("api set Service/Pool/Size = 80").code == 0)
        #expect(try fleet.run("api undo").code == 0)
        #expect(try fleet.run("api export").output == "Service/Pool/Size = 64\n")
        let again = try fleet.run("api undo 2")
        #expect(again.code == 1 && again.errors.contains("entry 2 left 80; set it by hand"))
        #expect(try fleet.run("api reset Service/Pool/Size").code == 0)
        #expect(try fleet.run("api export").output.isEmpty)
        let history = try fleet.run("api history").output
        #expect(
            lines(history).filter { !$0.hasPrefix(" ") }.map {
                $0.split(separator: " ").prefix(2).joined(separator: " ")
            }
                == ["1 set", "2 set", "3 undo", "4 reset"])
    }

    @Test func `What is exported can be imported elsewhere, in one write`() async throws {
        let fleet = try await FleetSurroundings()
        try await fleet.register(1)
        let text = "# values\nService/Pool/Size = 64\n\"Other/Path/With blank\" = \"72\"\n"
        let asked = try fleet.run("api import - --new", input: text)
        #expect(asked.code == 2 && asked.errors.contains("say --yes"), "\(asked)")
        #expect(try fleet.run("api import - --new --yes", input: text).code == 0)
        #expect(try fleet.run("api history --json").output.contains("\"verb\":\"import\""))
        #expect(
            try fleet.run("api export").output == "\"Other/Path/With blank\" = \"72\"\nService/Pool/Size = 64\n")
        let many = (1...101).map { "A/B/C\($0) = 1\n" }.joined()
        let refused = try fleet.run("api import - --new --yes", input: many)
        #expect(refused.code == 1 && refused.errors.contains("101 changes are too many"))
        let wrong = try fleet.run("api import - --yes", input: "Service/Pool/Size = 1\nnonsense here\n")
        #expect(wrong.code == 1 && wrong.errors.contains("-:2: "), "\(wrong)")
    }

    @Test func `A rollout is begun, shown and aborted from elsewhere`() async throws {
        let fleet = try await FleetSurroundings()
        try await fleet.register(10)
        let asked = try fleet.run("api rollout 'Service/Pool/Size = 80' --steps 100")
        #expect(asked.code == 2 && asked.errors.contains("say --yes"))
        let figure = try fleet.run(
            "api rollout 'Service/Pool/Size = 80' --steps 100 --abort-if 'Service/Errors/Rat > 5' --yes")
        #expect(figure.code == 1 && figure.errors.contains("--abort-if: no build has Service/Errors/Rat;"))
        let nobody = try fleet.run("api rollout 'Service/Pool/Size = 80' --where zone=mars --yes")
        #expect(nobody.code == 1 && nobody.errors.contains("none of 10 processes has these labels"))

        let driver = try fleet.start(
            "api rollout 'Service/Pool/Size = 80' --where zone=eu --steps 100 --every 60s --yes --as alice")
        try driver.wait(for: "0 of 5 reported")
        let list = try fleet.run("api ls").output
        #expect(list.contains("open at 100 % of zone=eu") && list.contains("by alice"), "\(list)")
        let id = try #require(list.split(separator: " ").dropFirst().first?.dropLast())
        let blocked = try fleet.run("api set Service/Pool/Size = 1")
        #expect(blocked.code == 1 && blocked.errors.contains("rollout \(id) by alice holds it"))
        let second = try fleet.run("api resume \(id)")
        #expect(second.code == 1 && second.errors.contains("is driven by alice"), "\(second)")
        let status = try fleet.run("api status").output
        #expect(status.contains("rollout \(id)") && status.contains("driven by alice"), "\(status)")
        #expect(try fleet.run("api abort \(id) --as bob").code == 0)
        let end = try driver.result()
        #expect(end.code == 1 && end.errors.contains("bob aborted it"), "\(end)")
        #expect(try fleet.run("api ls").output.isEmpty)
    }

    @Test func `A driver that is interrupted leaves the rollout for another one, and a killed one blocks it`()
        async throws
    {
        let fleet = try await FleetSurroundings()
        try await fleet.register(10)
        let driver = try fleet.start("api rollout 'Service/Pool/Size = 80' --steps 100 --every 60s --yes")
        try driver.wait(for: "0 of 10 reported")
        driver.signal(SIGTERM)
        let end = try driver.result()
        #expect(end.code == 1 && end.errors.contains("drives it on"), "\(end)")
        let list = try fleet.run("api ls").output
        let id = try #require(list.split(separator: " ").first { $0.hasSuffix(":") }?.dropLast())
        let second = try fleet.start("api resume \(id)")
        try second.wait(for: "0 of 10 reported")
        second.signal(SIGKILL)
        #expect(try second.result().code == -SIGKILL)
        #expect(try fleet.run("api resume \(id)").code == 1)
        #expect(try fleet.run("api finish \(id)").code == 0)
        #expect(try fleet.run("api export").output == "Service/Pool/Size = 80\n")
    }

    @Test func `A refusal by a member takes the rollout back, and the exit code says so`() async throws {
        let fleet = try await FleetSurroundings()
        try await fleet.register(3)
        let driver = try fleet.start("api rollout 'Service/Pool/Size = 80' --steps 100 --every 60s --yes")
        try driver.wait(for: "0 of 3 reported")
        let list = try fleet.run("api ls").output
        let id = try #require(list.split(separator: " ").first { $0.hasSuffix(":") }?.dropLast())
        var status = FleetStatus(build: "other")
        status.refused = [.init(rollout: String(id), path: "Service/Pool/Size", reason: "the pool is fixed")]
        try await fleet.put(fleet.keys.instance("i1", start: 2), status.bytes)
        let end = try driver.result()
        #expect(end.code == 1 && end.errors.contains("i1 refuses it: Service/Pool/Size: the pool is fixed"), "\(end)")
        #expect(end.output.contains("aborted rollout \(id), entry 2"))
        #expect(try fleet.run("api ls").output.isEmpty)
    }

    @Test func `A rollout that reverts when its driver dies is under the driver's lease`() async throws {
        let fleet = try await FleetSurroundings()
        try await fleet.register(3)
        let driver = try fleet.start(
            "api rollout 'Service/Pool/Size = 80' --steps 100 --every 60s --yes --revert-if-driver-dies")
        try driver.wait(for: "0 of 3 reported")
        #expect(try fleet.run("api ls").output.contains("under a lease of 60 s"))
        driver.signal(SIGTERM)
        #expect(try driver.result().errors.contains("it is reverted, because this driver ends"))
        #expect(try fleet.run("api ls").output.isEmpty)
    }

    @Test func `For a while is a rollout under a lease`() async throws {
        let fleet = try await FleetSurroundings()
        try await fleet.register(1)
        let set = try fleet.run("api set 'Service/Pool/Size = 80' --for 10m")
        #expect(set.code == 0 && set.output.contains("set for 600 s as rollout "), "\(set)")
        #expect(try fleet.run("api ls").output.contains("open at 100 %, under a lease of 600 s"))
        #expect(try fleet.run("api export").output.isEmpty)
    }

    @Test func `Status and adopt are for scripts, too`() async throws {
        let fleet = try await FleetSurroundings()
        try await fleet.register(3, revision: 1_000)
        _ = try fleet.run("api set 'Service/Pool/Size = 64'")
        let status = try #require(JSON(try fleet.run("api status --json").output.splitLines()[0]))
        #expect(status["live"]?.wholeNumber == 3 && status["etcd"]?["version"]?.string?.hasPrefix("3.") == true)
        #expect(status["head"]?["counter"]?.wholeNumber == 1 && status["lagging"]?.elements.isEmpty == true)
        #expect(status["builds"]?.elements.first?["live"]?.wholeNumber == 3)
        #expect(status["garbage"]?.elements.isEmpty == true)
        #expect(try fleet.run("api adopt").code == 2)
        let adopt = try fleet.run("api adopt --yes --at-least 50")
        #expect(adopt.code == 0 && adopt.output.contains("adopt, entry 50"), "\(adopt)")
        #expect(adopt.errors.contains("take what is here as theirs"))
    }

    @Test func `A key that is garbage is named by status, and harms nothing else`() async throws {
        let fleet = try await FleetSurroundings()
        try await fleet.register(1)
        _ = try fleet.run("api set 'Service/Pool/Size = 64'")
        try await fleet.put(fleet.keys.desired + Array("values/Service/Pool/Depth".utf8), Array("{".utf8))
        let status = try fleet.run("api status")
        #expect(status.code == 0 && status.output.contains("1 process live"), "\(status)")
        #expect(status.errors.contains("/tweaks/api/desired/values/Service/Pool/Depth: it is not JSON"), "\(status)")
        #expect(status.errors.contains("; delete it with etcdctl del"), "\(status)")
        let json = try #require(JSON(try fleet.run("api status --json").output.splitLines()[0]))
        #expect(json["garbage"]?.elements.count == 1)
        let dry = try fleet.run("api set 'Service/Pool/Size = 65' --dry-run")
        #expect(dry.output.contains(": set (dry run)") && dry.errors.contains("nothing is written"), "\(dry)")
    }

    @Test func `A watch tells each change`() async throws {
        let fleet = try await FleetSurroundings()
        try await fleet.register(1)
        let watch = try fleet.start("api watch")
        try watch.wait(for: "watching")
        _ = try fleet.run("api set 'Service/Pool/Size = 64'")
        try watch.wait(for: "set by")
        watch.signal(SIGINT)
        let ended = try watch.result()
        #expect(ended.code == 0 && ended.output.contains("Service/Pool/Size = "), "\(ended)")
        #expect(ended.output.contains(": set by "))
    }

    @Test func `An etcd that does not answer is code 3`() async throws {
        let fleet = try await FleetSurroundings()
        let run = try fleet.run("api ls --etcd http://127.0.0.1:1")
        #expect(run.code == 3 && run.errors.hasPrefix("tweakctl-fleet: etcd: "), "\(run)")
    }
}
