// Checks the client against three members of which some die, stop, or are alone; and against nobody at all.

import Foundation
import Testing
import TweaksTestSupport

@testable import TweaksFleet

extension RealEtcd {
    @Suite struct EtcdClusterTests {
        @Test func `A killed leader is survived by calls and by the next watch`() async throws {
            let server = try await EtcdServer.start(members: 3)
            let leader = try #require(try await server.leader())
            // The leader is the first that the client asks.
            let order = [leader] + (0..<3).filter { $0 != leader }
            let client = EtcdClient(
                try EtcdConfiguration(endpoints: order.map(server.url).joined(separator: ",")))
            defer { client.close() }
            let revision = try await client.commit(.put("a", "1")).header.revision
            let reader = EtcdWatchReader(client.watch(.key(utf8("a")), from: revision + 1))
            try await reader.created()
            server.kill(leader)
            #expect(await reader.end()?.isWorthAnotherEndpoint == true)
            for member in order.dropFirst() { try await server.waitUntilLed(member) }
            _ = try await client.commit(.put("a", "2"))
            let next = EtcdWatchReader(client.watch(.key(utf8("a")), from: revision + 1))
            try await next.created()
            #expect(try await next.events().map(\.text) == ["a=2"])
        }

        @Test func `A member that is stopped is left after the timeout`() async throws {
            let server = try await EtcdServer.start(members: 3)
            let leader = try #require(try await server.leader())
            let stopped = (leader + 1) % 3
            var configuration = try EtcdConfiguration(endpoints: "\(server.url(stopped)),\(server.url(leader))")
            configuration.timeout = .seconds(1)
            let client = EtcdClient(configuration)
            defer { client.close() }
            _ = try await client.commit(.put("a", "1"))
            server.stop(stopped)
            defer { server.resume(stopped) }
            #expect(try await client.range(EtcdRange(.key(utf8("a")))).keys.count == 1)
            #expect(try await client.commit(.put("a", "2")).succeeded)
        }

        @Test func `A watch at a member that is stopped ends, and the next one stands elsewhere`() async throws {
            let server = try await EtcdServer.start(members: 3)
            let leader = try #require(try await server.leader())
            let stopped = (leader + 1) % 3
            let configuration = try EtcdConfiguration(endpoints: "\(server.url(stopped)),\(server.url(leader))")
            // Five seconds pass when the test says so.
            let (times, time) = AsyncStream.makeStream(of: Void.self)
            let client = EtcdClient(configuration) { _ in for await _ in times { return } }
            defer { client.close() }
            server.stop(stopped)
            defer { server.resume(stopped) }
            time.yield()
            #expect(await EtcdWatchReader(client.watch(.key(utf8("a")), from: 1)).end()?.kind == "unavailable")
            try await EtcdWatchReader(client.watch(.key(utf8("a")), from: 1)).created()
        }

        /// Without the header it would stand, and say nothing.
        @Test func `A watch at a member without a leader ends`() async throws {
            let server = try await EtcdServer.start(members: 3)
            let client = try server.client(0)
            defer { client.close() }
            let reader = EtcdWatchReader(client.watch(.key(utf8("a")), from: 1))
            try await reader.created()
            server.kill(1)
            server.kill(2)
            let end = await reader.end()
            #expect(end?.kind == "unavailable" && end?.description.contains("no leader") == true)
            #expect(await etcdFailure { try await client.commit(.put("a")) }?.isWorthAnotherEndpoint == true)
        }

        @Test func `Where nobody listens, the error says where, and what is wrong`() async throws {
            let port = try BoundSocket(loopback: .version4).port
            let client = EtcdClient(try EtcdConfiguration(endpoints: "http://127.0.0.1:\(port)"))
            defer { client.close() }
            let error = await etcdFailure { try await client.status() }
            #expect(error?.kind == "unreachable")
            let text = error?.description ?? ""
            #expect(text.contains("http://127.0.0.1:\(port): ") && text.contains("connect"), "\(text)")
            let watch = await EtcdWatchReader(client.watch(.key([1]), from: 1)).end()
            #expect(watch?.kind == "unreachable")
        }

        @Test func `A cancelled call ends at once`() async throws {
            let server = try await EtcdServer.start()
            let client = try server.client()
            defer { client.close() }
            server.stop(0)
            defer { server.resume(0) }
            let call = Task { await etcdFailure { try await client.status() } }
            call.cancel()
            #expect(await call.value == .cancelled)
        }

        @Test func `A client that is closed ends its watches, and is no use any more`() async throws {
            let server = try await EtcdServer.start()
            let client = try server.client()
            let reader = EtcdWatchReader(client.watch(.key(utf8("a")), from: 1))
            try await reader.created()
            client.close()
            #expect(await reader.end()?.kind == "unreachable")
            #expect(await etcdFailure { try await client.status() }?.kind == "unreachable")
        }

        @Test func `A proxy that the environment names is not asked`() async throws {
            let server = try await EtcdServer.start()
            let url = server.url(0)
            await #expect(processExitsWith: .success) { [url = url as String] in
                for name in ["http_proxy", "https_proxy", "all_proxy", "ALL_PROXY"] {
                    setenv(name, "http://127.0.0.1:1", 1)
                }
                let client = EtcdClient(try EtcdConfiguration(endpoints: url))
                _ = try await client.status()
                let reader = EtcdWatchReader(client.watch(.key(utf8("a")), from: 1))
                try await reader.created()
            }
        }
    }
}
