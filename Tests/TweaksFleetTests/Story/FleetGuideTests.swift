// Runs the lines of the guide about canaries, freezes, reviews and the export of the log, as an operator's shell does.

import Foundation
import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet

extension DocumentedBlock {
    private static let guide = "Sources/TweaksFleet/TweaksFleet.docc/RunningAFleet.md"
    static let fleet = all("fleet", of: guide)
    static let fleetOutput = all("fleet-output", of: guide)
    static let drive = all("fleet-drive", of: guide)
}

@Suite(
    .needsEtcd, .blockingCluster, .tags(.process),
    .enabled(if: BuiltProgram.exists("tweakctl-fleet"), "tweakctl-fleet is not built here")
) struct FleetGuideTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// The lines of the block with a text.
    private func block(_ text: String) throws -> [String] {
        try #require(DocumentedBlock.fleet.first { $0.text.contains(text) }).text.splitLines().filter { !$0.isEmpty }
    }

    /// Runs lines in a shell; each prints its exit code after its output.
    private func run(_ lines: [String], on server: EtcdServer) throws -> String {
        let program = BuiltProgram.path("tweakctl-fleet")
        let script = """
            export TWEAKS_FLEET=\(server.url(0)) HOME='\(directory.path)'
            tweakctl() { shift; '\(program)' "$@"; echo "exit $?"; }
            exec 2>&1
            \(lines.joined(separator: "\n"))
            """
        return try Tool.sh.run(["-c", script], input: "")
    }

    @Test func `A freeze refuses writes until it ends`() async throws {
        let server = try await EtcdServer.start()
        let lines = try block("freeze launch")
        #expect(lines.count == 2)
        let set = "tweakctl fleet api set 'Service/Pool/Size = 64' --new"
        let output = try run([lines[0], set, "tweakctl fleet api status", lines[1], set], on: server)
        #expect(
            output.contains("api is frozen: launch by ") && output.contains("the launch of the new site"), "\(output)")
        #expect(output.contains("\nfrozen: launch, until about "), "\(output)")
        let codes = output.splitLines().filter { $0.hasPrefix("exit ") }
        #expect(codes == ["exit 0", "exit 1", "exit 0", "exit 0", "exit 0"], "\(output)")
    }

    @Test func `Canaries are alone in the first step, and each zone has its share`() async throws {
        let server = try await EtcdServer.start()
        let (keys, etcd) = (FleetKeys(name: "api"), try server.client())
        for number in 0..<30 {
            var status = FleetStatus(build: "b1")
            status.labels = ["zone": number < 26 ? "eu" : "us", "host": "web\(number)"]
            let put = EtcdTransaction.Operation.put(key: keys.instance("i\(number)", start: 1), value: status.bytes)
            _ = try await etcd.commit(EtcdTransaction(then: [put]))
        }
        let lines = try block("--canary").map { $0 + " --new --yes" }
        #expect(lines.count == 2)
        let output = try run(
            [lines[0] + " --dry-run", lines[1] + " --detach", "tweakctl fleet api status"], on: server)
        #expect(output.contains("\n  canaries: 1\n  0 %: 1\n  10 %: "), "\(output)")
        let expected = try #require(DocumentedBlock.fleetOutput.first).text
        #expect(output.contains(expected.splitLines().filter { !$0.isEmpty }.joined(separator: "\n")), "\(output)")
        #expect(output.contains("open at 1 % per zone, seed pool, by "), "\(output)")
        #expect(output.contains("\n  zone=eu 1 of 26, zone=us 1 of 4\n"), "\(output)")
    }

    @Test func `The export goes on after a restart, and the history reads it`() async throws {
        let server = try await EtcdServer.start()
        let file = directory.file("api.jsonl")
        let lines = try block("audit --follow").map {
            $0.replacingOccurrences(of: "/var/log/tweaks-api.jsonl", with: file)
        }
        // The function of the shell would write its exit code into the file.
        let export = lines[0].replacingOccurrences(of: "--follow ", with: "")
            .replacingOccurrences(of: "tweakctl fleet", with: "'\(BuiltProgram.path("tweakctl-fleet"))'")
        func set(_ value: Int) -> String { "tweakctl fleet api set 'Service/Pool/Size = \(value)' --new" }
        _ = try run([set(1), set(2), export, export, set(3), export], on: server)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.splitLines().dropLast().count == 3 && text.contains("\"sequence\":3"), "\(text)")
        // A crash has cut the last line.
        try String(text.dropLast(20)).write(toFile: file, atomically: false, encoding: .utf8)
        let output = try run([export, lines[1]], on: server)
        let entries = output.splitLines().filter { $0.contains(" set by ") }.map { String($0.prefix(1)) }
        #expect(entries == ["1", "2", "3"], "\(output)")
    }

    @Test func `Two operators propose and approve, and each write is that of its user`() async throws {
        let server = try await EtcdServer.start(flags: ["--bcrypt-cost=4"])
        let access = try #require(DocumentedBlock.access.first).text.replacingOccurrences(
            of: "PASSWORD", with: "secret")
        let bob = access.splitLines().filter { $0.contains("ana") }.joined(separator: "\n")
            .replacingOccurrences(of: "ana", with: "bob")
        let setup = access.replacingOccurrences(of: "etcdctl auth enable", with: bob + "\netcdctl auth enable")
        let etcdctl = try #require(AccessGuideTests.etcdctl, "etcdctl is not installed: apt-get install etcd-client")
        try Data("secret\n".utf8).write(to: URL(fileURLWithPath: directory.file(".etcd-password")))
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: directory.file(".etcd-password"))
        let prepared = try run(
            [
                "export ETCDCTL_API=3 ETCDCTL_ENDPOINTS=\(server.endpoints[0]) ETCDCTL_COMMAND_TIMEOUT=120s",
                "etcdctl() { \(etcdctl) \"$@\"; }", setup, "echo done",
            ], on: server)
        #expect(prepared.hasSuffix("done\n"), "\(prepared)")
        let (ana, asBob) = (
            " --user ana --password-file ~/.etcd-password", " --user bob --password-file ~/.etcd-password"
        )
        let lines = try block("approve k3x9mp")
        let proposed = try run([lines[0] + " --new", lines[1] + ana], on: server)
        let known = try #require(
            proposed.components(separatedBy: "approve ").dropFirst().first?.prefix { $0.isLetter || $0.isNumber })
        let approve = lines[2].replacingOccurrences(of: "k3x9mp", with: String(known))
        let own = approve.replacingOccurrences(of: "bob", with: "ana")
        let output = try run(
            [
                own, approve, "tweakctl fleet api set 'Service/Pool/Size = 80' --new --as ceo@hq" + asBob,
                "tweakctl fleet api history" + ana, "tweakctl fleet api ls" + ana,
            ], on: server)
        #expect(output.contains("ana has proposed it; another operator approves it"), "\(output)")
        #expect(output.contains("approved proposal \(known)"), "\(output)")
        #expect(output.contains("by ceo@hq (etcd user bob)"), "\(output)")
        #expect(!output.contains("unproved"), "\(output)")
    }

    @Test func `A service takes what is handed over, and begins what is planned`() async throws {
        let server = try await EtcdServer.start()
        let lines = try #require(DocumentedBlock.drive.first).text.splitLines().filter { !$0.isEmpty }
        let fleet = FleetOperator(
            try server.client(), FleetKeys(name: "api"), by: "test", now: { ThisProcess.wallClock })
        let service = try ChildProcess(
            [BuiltProgram.path("tweakctl-fleet"), "api", "drive"],
            environment: ["TWEAKS_FLEET": server.url(0), "PATH": "/usr/bin:/bin"])
        #expect(lines[0] == "tweakctl fleet api drive &")
        await service.log.wait(for: "leads: drives")
        let build = try await register(on: fleet)
        let output = try run(Array(lines.dropFirst()), on: server)
        #expect(output.contains("drives it: progress "), "\(build): \(output)")
        #expect(output.contains(" is to begin at "), "\(output)")
        #expect(output.contains("drive service: process "), "\(output)")
        #expect(output.splitLines().filter { $0.hasPrefix("exit ") } == ["exit 0", "exit 0", "exit 0"], "\(output)")
        await service.log.wait(for: "drives it")
        await service.stop()
    }

    /// Registers a hundred processes of one build.
    private func register(on fleet: FleetOperator) async throws -> String {
        let registry = TweakRegistry()
        _ = Tweak("Service", "Pool", "Size", 32, in: 0...100, registry: registry)
        _ = Tweak("Service", "Pool", "Wait", 10, in: 0...100, registry: registry)
        let build = FleetBuild(registry)
        var operations = [EtcdTransaction.Operation.put(key: fleet.keys.build(build.hash), value: build.bytes)]
        for number in 0..<100 {
            let status = FleetStatus(build: build.hash)
            operations.append(.put(key: fleet.keys.instance("i\(number)", start: 1), value: status.bytes))
        }
        _ = try await fleet.etcd.commit(EtcdTransaction(then: operations))
        return build.hash
    }
}
