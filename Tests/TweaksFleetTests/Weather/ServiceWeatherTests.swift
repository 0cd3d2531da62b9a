// Processes of their own that start in bad weather: with a proxy, a damaged file, or all at once without an etcd.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite(
    .needsEtcd, .clustered, .serialized, .tags(.process),
    .enabled(if: FleetService.exists, "the example fleet is not built")
) struct ServiceWeatherTests {
    private let keys = FleetKeys(name: "quotes")

    private func fleet(_ weather: Weather) -> FleetOperator {
        FleetOperator(weather.etcd, keys, by: "alice", now: { FleetSystemTime().wall })
    }

    private func set(_ weather: Weather, retries: Int64) async throws {
        let assignment = FleetAssignment(try TweakPath("Upstream/Quotes/Retries"), .int(retries))
        _ = try await weather.insist { () throws(FleetRefusal) in try await fleet(weather).set([assignment]) }
    }

    /// Waits until so many services live that have applied the last write, and have no trouble.
    private func wait(_ weather: Weather, for count: Int) async throws {
        let revision = try await fleet(weather).look().head?.modRevision ?? 0
        for await live in weather.statuses(of: keys)
        where live.count(where: { $0.status.revision >= revision && $0.status.trouble == nil }) == count { return }
    }

    @Test func `A proxy that the environment names is not asked`() async throws {
        let weather = try await Weather.start()
        try await set(weather, retries: 2)
        let dead = "http://127.0.0.1:1"
        let directory = try TemporaryDirectory()
        let service = try FleetService(
            weather.server.endpoints[0], in: directory,
            ["http_proxy": dead, "HTTP_PROXY": dead, "https_proxy": dead, "all_proxy": dead, "ALL_PROXY": dead])
        await service.log.wait(for: "follows the fleet quotes")
        try await wait(weather, for: 1)
        await service.stop()
        #expect(try await fleet(weather).population().live.isEmpty)
    }

    @Test(arguments: ["", "garbage", "tweaks fleet 1 0\n{}\n"])
    func `A damaged last good file is said, and is written anew`(content: String) async throws {
        let weather = try await Weather.start()
        try await set(weather, retries: 2)
        let directory = try TemporaryDirectory()
        let first = try FleetService(weather.server.endpoints[0], in: directory)
        await first.log.wait(for: "follows the fleet quotes")
        await first.stop()
        let file = directory.file("state/fleet-quotes.json")
        try #require(FileManager.default.fileExists(atPath: file))
        try Data(content.utf8).write(to: URL(fileURLWithPath: file))
        let second = try FleetService(weather.server.endpoints[0], in: directory)
        await second.log.wait(for: "the fleet's values are not in effect until etcd answers")
        await second.log.wait(for: "follows the fleet quotes")
        await second.stop()
        #expect(try LastGoodFile(directory: directory.file("state"), keys: keys).load()?.keys.count == 2)
    }

    @Test func `When everything starts anew at once, processes have their last good values, and then follow`()
        async throws
    {
        let weather = try await Weather.start()
        try await set(weather, retries: 2)
        let directories = try (0..<4).map { _ in try TemporaryDirectory() }
        let endpoint = weather.server.endpoints[0]
        let first = try directories.map { try FleetService(endpoint, in: $0) }
        try await wait(weather, for: 4)
        for service in first { await service.log.wait(for: "follows the fleet quotes") }
        // What is kept is on disk within a second or so; a process that is killed before has the state before it.
        for directory in directories { try await kept(directory) }
        let ids = Set(try await fleet(weather).population().live.map(\.id))
        weather.server.kill()
        for service in first { await service.kill() }
        let second = try directories.map { try FleetService(endpoint, in: $0) }
        for service in second { await service.log.wait(for: "the last good values stay") }
        for directory in directories {
            let answer = try await converse(directory, "get Upstream/Quotes/Retries")
            #expect(answer.contains("2"), "\(answer)")
        }
        try await weather.server.restart()
        try await set(weather, retries: 3)
        try await wait(weather, for: 4)
        #expect(Set(try await fleet(weather).population().live.map(\.id)) == ids)
        for service in second { await service.stop() }
    }

    /// Waits until a service's last good state is on disk. It is a file that somebody else replaces.
    private func kept(_ directory: TemporaryDirectory) async throws {
        let file = LastGoodFile(directory: directory.file("state"), keys: keys)
        while try file.load()?.position.head?.counter != 1 { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// What a service answers on its socket.
    private func converse(_ directory: TemporaryDirectory, _ line: String) async throws -> String {
        let client = try TestClient(unix: directory.file("tweaks/quotes.sock"))
        try client.send(line + "\n")
        client.endInput()
        return try client.rest()
    }
}
