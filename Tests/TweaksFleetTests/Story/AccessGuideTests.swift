// Tests the roles that the guide proposes, created by its commands in an etcd with authentication.

import Foundation
import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet

extension DocumentedBlock {
    static let access = all("sh", of: "Sources/TweaksFleet/TweaksFleet.docc/RunningAFleet.md")
        .filter { $0.text.contains("etcdctl role add") }
}

@Suite(.needsEtcd, .blockingCluster, .tags(.process)) struct AccessGuideTests {
    static let etcdctl = ["/usr/bin/etcdctl", "/usr/local/bin/etcdctl", "/opt/homebrew/bin/etcdctl"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    private let keys = FleetKeys(name: "api")
    private let directory: TemporaryDirectory
    private let cluster: ClusterFixture

    /// Runs the commands of the guide, and adds a reader before the last one.
    init() async throws {
        directory = try TemporaryDirectory()
        cluster = try await ClusterFixture.start(flags: ["--bcrypt-cost=4"])
        let block = try #require(DocumentedBlock.access.first)
        let guest = "etcdctl user add guest:secret\netcdctl user grant-role guest api-reader\n"
        let guide = block.text.replacingOccurrences(of: "PASSWORD", with: "secret")
            .replacingOccurrences(of: "etcdctl auth enable", with: guest + "etcdctl auth enable")
        let etcdctl = try #require(Self.etcdctl, "etcdctl is not installed: apt-get install etcd-client")
        let script = """
            set -e
            export ETCDCTL_API=3 ETCDCTL_ENDPOINTS=\(cluster.server.endpoints[0])
            export ETCDCTL_DIAL_TIMEOUT=120s ETCDCTL_COMMAND_TIMEOUT=120s
            etcdctl() { \(etcdctl) "$@"; }
            \(guide)
            echo done
            """
        let output = try Tool.sh.run(["-c", script], input: "")
        #expect(output.hasSuffix("done\n"), "\(output)")
    }

    private func client(_ user: String) throws -> EtcdClient {
        let file = directory.file(user)
        _ = FileManager.default.createFile(
            atPath: file, contents: Data("secret\n".utf8), attributes: [.posixPermissions: 0o600])
        return try cluster.server.client(user: user, passwordFile: file)
    }

    private func fleet(_ user: String) throws -> FleetOperator {
        var fleet = FleetOperator(try client(user), keys, by: user, now: { SystemTime().wall })
        fleet.user = user
        return fleet
    }

    private func isForbidden(_ user: String, _ key: [UInt8]) async throws -> Bool {
        let etcd = try client(user)
        let put = EtcdTransaction(then: [.put(key: key, value: [0x78])])
        return await etcdFailure { try await etcd.commit(put) }?.kind == "forbidden"
    }

    @Test func `Processes follow and report, operators write, readers read, and none can do more`() async throws {
        let size = FleetAssignment(try TweakPath("A/B/Size"), .number(60))
        _ = try await fleet("ana").set([size])
        let process = try FollowingProcess(
            client("api-process"), keys, time: SystemTime(), timings: ClusterFixture.timings)
        process.start()
        await process.wait(process.size, 60)
        let guest = try fleet("guest")
        // The reader sees the status and the declarations that the process has written.
        for try await message in guest.etcd.watch(.prefix(keys.instances), from: 1) {
            if case .events(_, let events) = message, !events.isEmpty { break }
        }
        #expect(try await guest.instanceStatuses().live.map(\.id) == ["i1"])
        #expect(try await guest.builds().hashes.count == 1)
        #expect(try await guest.readState().value(TweakPath("A/B/Size")) == .number(60))

        let value = keys.value(try TweakPath("A/B/Size"))
        for (user, key) in [
            ("api-process", value), ("api-process", keys.head), ("api-process", keys.log(1)), ("guest", value),
            ("guest", keys.instance("i9", start: 1)), ("ana", keys.user("bob")),
            ("ana", utf8("/tweaks/other/desired/head")),
        ] { #expect(try await isForbidden(user, key), "\(user): \(String(decoding: key, as: UTF8.self))") }
        let text = await refusal { try await guest.set([FleetAssignment(size.path, .number(61))]) }
        #expect(text.contains("ask for the operator's role"), "\(text)")
        let head = try #require(try await guest.readState().head)
        #expect(try await guest.authors().verdict(at: head.modRevision) == .proved("ana"))

        // Operators also begin rollouts with a driver's claim, compare that no process appears, and abort them.
        let claim = try await fleet("ana").claim("r1", host: "here", pid: 1, seconds: ClusterFixture.patience)
        var plan = RolloutPlan(id: "r1", assignments: [FleetAssignment(try TweakPath("A/B/Size"), .number(70))])
        (plan.driver, plan.per) = (claim.fence, "zone")
        plan.steps = [Share(hundredths: 5_000) ?? .all, .all]
        _ = try await fleet("ana").begin(plan)
        await process.wait(process.size, 70)
        _ = try await fleet("ana").abort("r1")
        await process.wait(process.size, 60)
        await process.stop()
        #expect(try await guest.instanceStatuses().live.isEmpty, "a process may end its own lease")
    }
}
