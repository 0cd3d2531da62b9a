// The roles that the guide proposes, made by the commands that it shows, in an etcd that asks who is there.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

extension DocumentedBlock {
    static let access = all("sh", of: "Sources/TweaksFleet/TweaksFleet.docc/RunningAFleet.md")
        .filter { $0.text.contains("etcdctl role add") }
}

@Suite(.needsEtcd, .clustered, .serialized, .blocking, .tags(.process)) struct AccessGuideTests {
    private static let etcdctl = ["/usr/bin/etcdctl", "/usr/local/bin/etcdctl", "/opt/homebrew/bin/etcdctl"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    private let keys = FleetKeys(name: "api")
    private let directory: TemporaryDirectory
    private let weather: Weather

    /// The guide's commands, then those of whoever has etcd: root, other users of the roles, and that it asks from now on.
    init() async throws {
        directory = try TemporaryDirectory()
        weather = try await Weather.start(flags: ["--bcrypt-cost=4"])
        let block = try #require(DocumentedBlock.access.first)
        let rest = """
            etcdctl user add root:secret
            etcdctl user grant-role root root
            etcdctl user add ana:secret
            etcdctl user grant-role ana api-operator
            etcdctl user add guest:secret
            etcdctl user grant-role guest api-reader
            etcdctl auth enable
            """
        let place = try #require(Self.etcdctl, "etcdctl is not installed: apt-get install etcd-client")
        let script = """
            set -e
            export ETCDCTL_API=3 ETCDCTL_ENDPOINTS=\(weather.server.endpoints[0])
            etcdctl() { \(place) "$@"; }
            \(block.text.replacingOccurrences(of: "PASSWORD", with: "secret"))
            \(rest)
            echo done
            """
        let output = try Tool.sh.run(["-c", script], input: "")
        #expect(output.hasSuffix("done\n"), "\(output)")
    }

    /// A client of somebody whose password is in a file.
    private func client(_ user: String) throws -> EtcdClient {
        let file = directory.file(user)
        if !FileManager.default.createFile(
            atPath: file, contents: Data("secret\n".utf8), attributes: [.posixPermissions: 0o600])
        {
            Issue.record("\(file) cannot be written")
        }
        return EtcdClient(
            try EtcdConfiguration(endpoints: weather.server.endpoints[0], user: user, passwordFile: file))
    }

    private func fleet(_ user: String) throws -> FleetOperator {
        FleetOperator(try client(user), keys, by: user, now: { FleetSystemTime().wall })
    }

    private func isForbidden(_ user: String, _ key: [UInt8]) async throws -> Bool {
        let etcd = try client(user)
        do throws(EtcdError) {
            _ = try await etcd.commit(EtcdTransaction(then: [.put(key: key, value: [0x78])]))
            return false
        } catch .forbidden {
            return true
        }
    }

    @Test func `An instance follows and tells how it is, an operator sets, a reader reads, and none does more`()
        async throws
    {
        let size = FleetAssignment(try TweakPath("A/B/Size"), .number(60))
        _ = try await fleet("ana").set([size])
        let process = try FollowingProcess(
            client("api-process"), keys, time: FleetSystemTime(), timings: Weather.timings)
        process.start()
        await process.wait(process.size, 60)
        let guest = try fleet("guest")
        // A status and the declarations of its build came from the instance, and the reader sees them.
        for try await message in guest.etcd.watch(.prefix(keys.instances), from: 1) {
            if case .events(_, let events) = message, !events.isEmpty { break }
        }
        #expect(try await guest.population().live.map(\.id) == ["i1"])
        #expect(try await guest.builds().hashes.count == 1)
        #expect(try await guest.look().value(TweakPath("A/B/Size")) == .number(60))

        let value = keys.value(try TweakPath("A/B/Size"))
        #expect(try await isForbidden("api-process", value))
        #expect(try await isForbidden("api-process", keys.head))
        #expect(try await isForbidden("api-process", keys.log(1)))
        #expect(try await isForbidden("guest", value))
        #expect(try await isForbidden("guest", keys.instance("i9", start: 1)))
        #expect(try await isForbidden("ana", Array("/tweaks/other/desired/head".utf8)))
        let refusal = await #expect(throws: FleetRefusal.self) {
            _ = try await guest.set([FleetAssignment(size.path, .number(61))])
        }
        #expect(refusal?.description.contains("ask for the operator's role") ?? false, "\(String(describing: refusal))")

        // What operators do besides: a rollout with a driver's claim, and taking it back.
        let claim = try await fleet("ana").claim("r1", host: "here", pid: 1)
        var plan = RolloutPlan(id: "r1", assignments: [FleetAssignment(try TweakPath("A/B/Size"), .number(70))])
        plan.driver = claim.fence
        _ = try await fleet("ana").begin(plan)
        await process.wait(process.size, 70)
        _ = try await fleet("ana").abort("r1")
        await process.wait(process.size, 60)
        await process.stop()
        // In order: its lease is its own to end.
        #expect(try await guest.population().live.isEmpty)
    }
}
