// Tests the client with a full etcd, without one, and with three members of which some are killed or frozen.

import Foundation
import Testing
import TweaksTestSupport

@testable import TweaksFleet

extension RealEtcd {
    @Suite struct EtcdClusterTests {
        private static let key = EtcdKeys.key(utf8("a"))

        @Test func `Calls and the next watch survive a killed leader`() async throws {
            let server = try await EtcdServer.start(members: 3)
            let leader = try await server.leader()
            // The client asks the leader first.
            let order = [leader] + (0..<3).filter { $0 != leader }
            let client = EtcdClient(try EtcdConfiguration(endpoints: order.map(server.url).joined(separator: ",")))
            let revision = try await client.commit(.put("a", "1")).header.revision
            let reader = EtcdWatchReader(client.watch(Self.key, from: revision + 1))
            try await reader.created()
            server.kill(leader)
            #expect(await reader.end()?.isWorthAnotherEndpoint == true)
            for member in order.dropFirst() { try await server.waitUntilLed(member) }
            _ = try await client.commit(.put("a", "2"))
            let next = EtcdWatchReader(client.watch(Self.key, from: revision + 1))
            try await next.created()
            #expect(try await next.events().map(\.text) == ["a=2"])
        }

        /// Returns three members, the index of one that does not lead, and the configuration of a client that asks that
        /// one first, and the leader second.
        private func cluster() async throws -> (EtcdServer, follower: Int, EtcdConfiguration) {
            let server = try await EtcdServer.start(members: 3)
            let leader = try await server.leader()
            let follower = (leader + 1) % 3
            return (server, follower, try EtcdConfiguration(endpoints: "\(server.url(follower)),\(server.url(leader))"))
        }

        @Test func `The client leaves a frozen member after the timeout`() async throws {
            var (server, frozen, configuration) = try await cluster()
            // Of the other member, too, which may be slow.
            configuration.timeout = .seconds(10)
            let client = EtcdClient(configuration)
            _ = try await client.commit(.put("a", "1"))
            server.stop(frozen)
            defer { server.resume(frozen) }
            #expect(try await client.range(EtcdRange(Self.key)).keys.count == 1)
            #expect(try await client.commit(.put("a", "2")).succeeded)
        }

        @Test func `A watch at a frozen member ends, and the next one uses another member`() async throws {
            let (server, frozen, configuration) = try await cluster()
            // The test ends the sleep of five seconds.
            let (times, time) = AsyncStream.makeStream(of: Void.self)
            let client = EtcdClient(configuration) { _ in for await _ in times { return } }
            server.stop(frozen)
            defer { server.resume(frozen) }
            time.yield()
            #expect(await EtcdWatchReader(client.watch(Self.key, from: 1)).end()?.kind == "unavailable")
            try await EtcdWatchReader(client.watch(Self.key, from: 1)).created()
        }

        /// Without the header it would remain open, but silent.
        @Test func `A watch at a member without a leader ends`() async throws {
            // A member notices after an election that it has no leader.
            let server = try await EtcdServer.start(
                members: 3, flags: ["--heartbeat-interval=30", "--election-timeout=300"])
            let client = try server.client(0)
            let reader = EtcdWatchReader(client.watch(Self.key, from: 1))
            try await reader.created()
            server.kill(1)
            server.kill(2)
            let end = await reader.end()
            #expect(end?.kind == "unavailable" && end?.description.contains("no leader") == true)
            #expect(await etcdFailure { try await client.commit(.put("a")) }?.isWorthAnotherEndpoint == true)
        }

        @Test func `The error for a closed port contains the URL and the reason`() async throws {
            let closed = try BoundSocket(loopback: .version4, backlog: nil)
            let port = closed.port
            let client = EtcdClient(try EtcdConfiguration(endpoints: "http://127.0.0.1:\(port)"))
            let error = await etcdFailure { try await client.status() }
            #expect(error?.kind == "unreachable")
            let text = error?.description ?? ""
            #expect(text.contains("http://127.0.0.1:\(port): ") && text.contains("connect"), "\(text)")
            #expect(await EtcdWatchReader(client.watch(.key([1]), from: 1)).end()?.kind == "unreachable")
            withExtendedLifetime(closed) {}
        }

        @Test func `A full store rejects puts but accepts deletions`() async throws {
            let server = try await EtcdServer.start(flags: ["--quota-backend-bytes=300000"])
            let client = try server.client()
            let value = [UInt8](repeating: 0, count: 50_000)
            let full = await etcdFailure {
                for number in 0..<50 { _ = try await client.commit(.put(["k\(number)"], value)) }
            }
            #expect(full == .noSpace("mvcc: database space exceeded"))
            #expect(try await client.status().alarms == [.noSpace])
            let deleted = try await client.commit(EtcdTransaction(then: [.delete(.key(utf8("k0")))]))
            #expect(deleted.responses == [.delete(count: 1)])
        }

        @Test func `A canceled call ends at once`() async throws {
            let server = try await EtcdServer.start()
            let client = try server.client()
            server.stop(0)
            defer { server.resume(0) }
            let call = Task { await etcdFailure { try await client.status() } }
            call.cancel()
            #expect(await call.value == .cancelled)
        }

        @Test func `A closed client ends its watches and rejects calls`() async throws {
            let server = try await EtcdServer.start()
            let client = try server.client()
            let reader = EtcdWatchReader(client.watch(Self.key, from: 1))
            try await reader.created()
            client.close()
            #expect(await reader.end()?.kind == "unreachable")
            #expect(await etcdFailure { try await client.status() }?.kind == "unreachable")
        }

        @Test func `A proxy in the environment is not used`() async throws {
            let server = try await EtcdServer.start()
            let url = server.url(0)
            await #expect(processExitsWith: .success) { [url = url as String] in
                for name in ["http_proxy", "https_proxy", "all_proxy", "ALL_PROXY"] {
                    setenv(name, "http://127.0.0.1:1", 1)
                }
                let client = EtcdClient(try EtcdConfiguration(endpoints: url))
                _ = try await client.status()
                try await EtcdWatchReader(client.watch(.key(utf8("a")), from: 1)).created()
            }
        }
    }
}
