// Tests a fleet as a source of a daemon: start, stop, and what clients receive.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksInterface
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.blockingCluster) struct FleetDaemonTests {
    private let directory: TemporaryDirectory
    private let registry = TweakRegistry()
    private let log = LogLines()
    private let size: Tweak<Double>

    init() throws {
        directory = try TemporaryDirectory()
        size = Tweak("A", "B", "Size", 50.0, in: 10...100, registry: registry)
    }

    private func start(
        _ environment: [String: String], sources: [TweakDaemon.Source] = [.etcd()]
    ) throws -> TweakDaemon {
        let own = ["TWEAKS_SOCKET": directory.file("socket"), "TWEAKS_STATE_DIR": directory.file("state")]
        let configuration = TweakDaemon.Configuration.test(registry, own.merging(environment) { $1 }) { [log] in
            ($0.storage, $0.sources) = (.standard, sources)
            $0.onEvent = { log.note($0.description) }
        }
        return try TweakDaemon.start("api", configuration)
    }

    private func ask(_ line: String) throws -> [String] { try TestClient(unix: directory.file("socket")).ask(line) }

    @Test(arguments: [[:], ["TWEAKS_FLEET": "off"]])
    func `Without a fleet no follower runs, and no file and no log line is written`(
        environment: [String: String]
    ) throws {
        let daemon = try start(environment)
        #expect(try !ask("stats").contains { $0.contains("fleet") })
        daemon.stop()
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.file("state"))
        #expect(!files.contains { $0.hasPrefix("fleet") || $0 == "instance-id" })
        #expect(!log.contains("fleet"))
    }

    @Test func `A program without a fleet source logs that the variable is not used`() throws {
        let daemon = try start(["TWEAKS_FLEET": "http://127.0.0.1:1"], sources: [])
        let text = "TWEAKS_FLEET is not used: this program follows no fleet"
        #expect(log.firstIndex { $0.hasPrefix(text) } != nil)
        daemon.stop()
    }

    @Test func `A frozen process has no follower`() throws {
        let daemon = try start(["TWEAKS_FLEET": "http://127.0.0.1:1", "TWEAKS_FROZEN": "1"])
        #expect(try !ask("stats").contains { $0.contains("fleet") })
        daemon.stop()
    }

    @Test func `An invalid variable fails the start, and leaves nothing open`() throws {
        let error = #expect(throws: ServerError.self) { try start(["TWEAKS_FLEET": "nowhere"]) }
        #expect(error?.description.contains("TWEAKS_FLEET: nowhere is not a URL") == true)
        try start([:]).stop()
    }

    @Test func `Without etcd the last good state is in effect when the start returns`() throws {
        let keys = FleetKeys(name: "api")
        let head = FleetHead(counter: 7, by: "ana", what: "set", at: 0)
        let value = DesiredValue(value: .number(80), by: "ana", at: 0)
        let pairs = [(keys.head, head.bytes), (keys.value(try TweakPath("A/B/Size")), value.bytes)]
        let state = LastGood(
            position: FleetPosition(clusterID: 1, revision: 42, head: head),
            keys: pairs.map { EtcdKeyValue(key: $0, value: $1, modRevision: 41) })
        try directory.makeFolder("state")
        try LastGoodFile(directory: directory.file("state"), keys: keys).save(state)
        let daemon = try start(["TWEAKS_FLEET": "http://127.0.0.1:1"])
        #expect(size.value == 80)
        let layers = try ask("explain A/B/Size")
        #expect(layers.contains { $0.contains("→ fleet") && $0.contains("fleet: ana, etcd revision 41") })
        try size.set(72)
        #expect(try ask("stats").contains("  fleet: api"))
        daemon.stop()
    }

    @Test(.needsEtcd)
    func `Clients see values of the fleet, their origins, and changes under overrides`() async throws {
        let etcd = try await EtcdServer.start()
        let keys = FleetKeys(name: "api")
        let client = try etcd.client()
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
        // A change under an override is no event: the next event is that of the reset.
        let text = "fleet changed 64 → 80 since; the override stays"
        while try !ask("explain A/B/Size").contains(where: { $0.contains(text) }) { await Task.yield() }
        size.reset()
        #expect(try watcher.line().contains("A/B/Size = 80"))
        daemon.stop()
        // The stop waits for the withdrawal only briefly.
        _ = try await statuses(client) { $0.live.isEmpty }
    }

    /// Waits until the statuses in etcd meet a condition; returns them.
    private func statuses(
        _ client: EtcdClient, _ isMatch: (InstanceStatuses) -> Bool
    ) async throws -> InstanceStatuses {
        let keys = FleetKeys(name: "api")
        let instances = EtcdKeys.prefix(keys.instances)
        var statuses = InstanceStatuses(try await client.range(EtcdRange(instances)), keys)
        if isMatch(statuses) { return statuses }
        for try await message in client.watch(instances, from: statuses.revision + 1) {
            if case .events(let header, let events) = message { statuses.apply(header, events) }
            if isMatch(statuses) { break }
        }
        return statuses
    }

    @Test(.needsEtcd)
    func `A program that fails leaves no farewell`() async throws {
        let etcd = try await EtcdServer.start()
        let client = try etcd.client()
        let daemon = try start(["TWEAKS_FLEET": etcd.endpoints[0], "TWEAKS_FLEET_INSTANCE": "pod-1"])
        let running = Gate()
        let program = Task {
            try await daemon.run {
                await running.wait()
                throw TweakError(.io, "its work cannot be done")
            }
        }
        #expect(try await statuses(client) { !$0.live.isEmpty }.left.isEmpty)
        running.open()
        await #expect(throws: TweakError.self) { try await program.value }
        #expect(try await statuses(client) { $0.live.isEmpty }.left.isEmpty)
    }
}
