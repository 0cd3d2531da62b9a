// Checks a fleet as a source of a daemon: from start to stop, beside clients, and where there is none.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksFleet
import TweaksInterface
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.blocking) struct FleetDaemonTests {
    private let directory: TemporaryDirectory
    private let registry = TweakRegistry()
    private let log = FleetLog()
    private let size: Tweak<Double>

    init() throws {
        directory = try TemporaryDirectory()
        size = Tweak("A", "B", "Size", 50.0, in: 10...100, registry: registry)
    }

    private func start(
        _ environment: [String: String], sources: [TweakDaemon.Source] = [.etcd()]
    ) throws -> TweakDaemon {
        let own = [
            "TWEAKS_SOCKET": directory.file("socket"), "TWEAKS_STATE_DIR": directory.file("state"),
        ]
        let configuration = TweakDaemon.Configuration.test(registry, own.merging(environment) { $1 }) {
            [log] in
            ($0.storage, $0.sources) = (.standard, sources)
            $0.onEvent = { log.add($0.description) }
        }
        return try TweakDaemon.start("api", configuration)
    }

    private func explain(_ daemon: TweakDaemon) throws -> [String] {
        try TestClient(unix: directory.file("socket")).ask("explain A/B/Size")
    }

    @Test(arguments: [[:], ["TWEAKS_FLEET": "off"]])
    func `Where no fleet is named nothing is followed, written or said`(environment: [String: String]) throws {
        let daemon = try start(environment)
        #expect(try !TestClient(unix: directory.file("socket")).ask("stats").contains { $0.contains("fleet") })
        daemon.stop()
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.file("state"))
        #expect(!files.contains { $0.hasPrefix("fleet") || $0 == "instance-id" })
        #expect(!log.lines.contains { $0.contains("fleet") })
    }

    @Test func `A program without a source says that the variable is not used`() throws {
        let daemon = try start(["TWEAKS_FLEET": "http://127.0.0.1:1"], sources: [])
        #expect(log.lines.contains { $0.hasPrefix("TWEAKS_FLEET is not used: this program follows no fleet") })
        daemon.stop()
    }

    @Test func `A frozen process has no follower`() throws {
        let daemon = try start(["TWEAKS_FLEET": "http://127.0.0.1:1", "TWEAKS_FROZEN": "1"])
        #expect(try !TestClient(unix: directory.file("socket")).ask("stats").contains { $0.contains("fleet") })
        daemon.stop()
    }

    @Test func `A wrong variable ends the start, and leaves nothing open`() throws {
        do {
            _ = try start(["TWEAKS_FLEET": "nowhere"])
            Issue.record("it is taken")
        } catch {
            #expect("\(error)".contains("TWEAKS_FLEET: nowhere is not a URL"))
        }
        try start([:]).stop()
    }

    @Test func `The last good state is in effect when the start returns, with etcd away`() throws {
        let keys = FleetKeys(name: "api")
        let head = FleetHead(counter: 7, by: "ana", what: "set", at: 0)
        let state = LastGood(
            position: FleetPosition(clusterID: 1, revision: 42, head: head),
            keys: [
                EtcdKeyValue(key: keys.head, value: head.bytes, modRevision: 41),
                EtcdKeyValue(
                    key: keys.value(try TweakPath("A/B/Size")),
                    value: DesiredValue(value: .number(80), by: "ana", at: 0).bytes, modRevision: 41),
            ])
        try FileManager.default.createDirectory(
            atPath: directory.file("state"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try LastGoodFile(directory: directory.file("state"), keys: keys).save(state)
        let daemon = try start(["TWEAKS_FLEET": "http://127.0.0.1:1"])
        #expect(size.value == 80)
        #expect(try explain(daemon).contains { $0.contains("→ fleet") && $0.contains("fleet: ana, etcd revision 41") })
        try size.set(72)
        #expect(try TestClient(unix: directory.file("socket")).ask("stats").contains("  fleet: api"))
        daemon.stop()
    }

    @Test(.needsEtcd, .clustered)
    func `Clients see what the fleet wants, who wanted it, and what it changed beneath overrides`()
        async throws
    {
        let etcd = try await EtcdServer.start()
        let keys = FleetKeys(name: "api")
        let client = EtcdClient(try EtcdConfiguration(endpoints: etcd.endpoints.joined(separator: ",")))
        func set(_ value: Double, _ counter: UInt64) async throws {
            let head = FleetHead(counter: counter, by: "ana", what: "set A/B/Size", at: 0)
            let record = DesiredValue(value: .number(value), by: "ana", at: 0)
            _ = try await client.commit(
                EtcdTransaction(then: [
                    .put(key: keys.head, value: head.bytes),
                    .put(key: keys.value(try TweakPath("A/B/Size")), value: record.bytes),
                ]))
        }
        let daemon = try start(["TWEAKS_FLEET": etcd.endpoints[0], "TWEAKS_FLEET_INSTANCE": "pod-1"])
        let watcher = try TestClient(unix: directory.file("socket"))
        #expect(try watcher.ask("watch A/B/Size").last?.hasPrefix("ok") == true)
        try await set(64, 1)
        #expect(try watcher.line().contains("A/B/Size = 64"))
        try size.set(72)
        #expect(try watcher.line().contains("A/B/Size = 72"))
        try await set(80, 2)
        // What is covered makes no event: the next one is that of the reset.
        while try !explain(daemon).contains(where: { $0.contains("fleet changed 64 → 80 since; the override stays") }) {
            await Task.yield()
        }
        size.reset()
        #expect(try watcher.line().contains("A/B/Size = 80"))
        daemon.stop()
        #expect(try await client.range(EtcdRange(.prefix(keys.instances))).keys.isEmpty)
        client.close()
    }
}
