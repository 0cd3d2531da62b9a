// Tests child processes that start under faults: with a proxy, a damaged file, or all at once without an etcd.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite(
    .needsEtcd, .clustered, .tags(.process),
    .enabled(if: BuiltProgram.exists("fleet"), "the example fleet is not built")
) struct ServiceFaultTests {
    private let keys = FleetKeys(name: "quotes")

    private func set(_ cluster: ClusterFixture, retries: Int64) async throws {
        try await cluster.set("Upstream/Quotes/Retries", .int(retries), in: keys)
    }

    private func ids(_ cluster: ClusterFixture) async throws -> Set<String> {
        Set(try await cluster.fleet(of: keys).instanceStatuses().live.map(\.id))
    }

    /// Waits until a number of services have applied the last write without trouble.
    private func wait(_ cluster: ClusterFixture, for count: Int) async throws {
        let revision = try await cluster.headRevision(of: keys)
        await cluster.wait(of: keys) { live in
            live.count { $0.status.revision >= revision && $0.status.trouble == nil } == count
        }
    }

    @Test func `A proxy in the environment is not used`() async throws {
        let cluster = try await ClusterFixture.start()
        try await set(cluster, retries: 2)
        let dead = "http://127.0.0.1:1"
        let directory = try TemporaryDirectory()
        let service = try FleetService(
            cluster.server.endpoints[0], in: directory,
            ["http_proxy": dead, "HTTP_PROXY": dead, "https_proxy": dead, "all_proxy": dead, "ALL_PROXY": dead])
        await service.log.wait(for: "follows the fleet quotes")
        try await wait(cluster, for: 1)
        await service.stop()
        await cluster.wait(of: keys) { $0.isEmpty }
    }

    @Test(arguments: ["", "garbage", "tweaks fleet 1 0\n{}\n"])
    func `A damaged last good file is logged and written again`(content: String) async throws {
        let cluster = try await ClusterFixture.start()
        try await set(cluster, retries: 2)
        let directory = try TemporaryDirectory()
        let first = try FleetService(cluster.server.endpoints[0], in: directory)
        await first.log.wait(for: "follows the fleet quotes")
        try await waitForFile(directory)
        await first.stop()
        let file = directory.file("state/fleet-quotes.json")
        try #require(FileManager.default.fileExists(atPath: file))
        try Data(content.utf8).write(to: URL(fileURLWithPath: file))
        let second = try FleetService(cluster.server.endpoints[0], in: directory)
        await second.log.wait(for: "the fleet's values are not in effect until etcd answers")
        await second.log.wait(for: "follows the fleet quotes")
        await second.stop()
        #expect(try LastGoodFile(directory: directory.file("state"), keys: keys).load()?.keys.count == 2)
    }

    @Test func `After a restart of all, processes have their last good values, and then follow`() async throws {
        let cluster = try await ClusterFixture.start()
        try await set(cluster, retries: 2)
        let directories = try (0..<4).map { _ in try TemporaryDirectory() }
        let endpoint = cluster.server.endpoints[0]
        let first = try directories.map { try FleetService(endpoint, in: $0) }
        try await wait(cluster, for: 4)
        for service in first { await service.log.wait(for: "follows the fleet quotes") }
        // The state is on disk after about a second; a process that is killed earlier starts with an older one.
        for directory in directories { try await waitForFile(directory) }
        let ids = try await ids(cluster)
        cluster.server.kill()
        for service in first { service.kill() }
        let second = try directories.map { try FleetService(endpoint, in: $0) }
        for service in second { await service.log.wait(for: "the last good values stay") }
        for directory in directories {
            let client = try TestClient(unix: directory.file("tweaks/quotes.sock"))
            try client.send("get Upstream/Quotes/Retries\n")
            client.endInput()
            let reply = try client.rest()
            #expect(reply.contains("2"), "\(reply)")
        }
        try await cluster.server.restart()
        try await set(cluster, retries: 3)
        try await wait(cluster, for: 4)
        #expect(try await self.ids(cluster) == ids)
        for service in second { await service.stop() }
    }

    /// Waits until a service's last good state is on disk, by polling a file of another process.
    private func waitForFile(_ directory: TemporaryDirectory) async throws {
        let file = LastGoodFile(directory: directory.file("state"), keys: keys)
        while try file.load()?.position.head?.counter != 1 { try await Task.sleep(for: .milliseconds(20)) }
    }
}
