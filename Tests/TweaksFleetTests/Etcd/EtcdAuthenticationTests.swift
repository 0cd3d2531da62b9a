// Tests the client with a real etcd that requires authentication.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

extension RealEtcd {
    @Suite struct EtcdAuthenticationTests {
        private static let key = EtcdRange(.key(utf8("a")))
        private let directory: TemporaryDirectory

        init() throws { directory = try TemporaryDirectory() }

        /// Starts an etcd in which root may do everything, and reader may read keys that begin with `a`.
        private func server() async throws -> EtcdServer {
            let server = try await EtcdServer.start(flags: ["--bcrypt-cost=4"])
            let range = #""key":"YQ==","range_end":"Yg==""#
            for (path, body) in [
                ("auth/role/add", #"{"name":"root"}"#), ("auth/user/add", #"{"name":"root","password":"secret"}"#),
                ("auth/user/grant", #"{"user":"root","role":"root"}"#), ("auth/role/add", #"{"name":"reader"}"#),
                ("auth/role/grant", #"{"name":"reader","perm":{"permType":"READ",\#(range)}}"#),
                ("auth/user/add", #"{"name":"reader","password":"secret"}"#),
                ("auth/user/grant", #"{"user":"reader","role":"reader"}"#), ("auth/enable", "{}"),
            ] { #expect(try await server.post(path, body).status == 200, "\(path)") }
            return server
        }

        private func client(_ server: EtcdServer, _ user: String, password: String = "secret") throws -> EtcdClient {
            let file = try EtcdConfigurationTests.file(directory, "\(password)\n", name: user)
            return try server.client(user: user, passwordFile: file)
        }

        @Test func `Reads, writes and watches without permission are forbidden`() async throws {
            let server = try await server()
            let (root, reader) = (try client(server, "root"), try client(server, "reader"))
            let revision = try await root.commit(.put("a1", "1")).header.revision
            #expect(try await reader.range(EtcdRange(.prefix(utf8("a")))).keys.count == 1)
            let watch = EtcdWatchReader(reader.watch(.prefix(utf8("a")), from: revision))
            try await watch.created()
            #expect(try await watch.events().map(\.text) == ["a1=1"])
            #expect(await etcdFailure { try await reader.commit(.put("a1", "2")) }?.kind == "forbidden")
            #expect(await etcdFailure { try await reader.range(EtcdRange(.key(utf8("b")))) }?.kind == "forbidden")
            #expect(await EtcdWatchReader(reader.watch(.key(utf8("b")), from: 1)).end()?.kind == "forbidden")
        }

        @Test func `A missing user and a wrong password are errors`() async throws {
            let server = try await server()
            let (anonymous, wrong) = (try server.client(), try client(server, "root", password: "wrong"))
            #expect(await etcdFailure { try await anonymous.range(EtcdRange(.key([1]))) }?.kind == "unauthenticated")
            #expect(await etcdFailure { try await wrong.range(EtcdRange(.key([1]))) }?.kind == "unauthenticated")
            #expect(await etcdFailure { try await wrong.commit(.put("a")) }?.kind == "unauthenticated")
        }

        /// Members lose their tokens when they restart; the error for a write differs from that for a read.
        @Test func `A token that etcd has lost is replaced`() async throws {
            let server = try await server()
            let client = try client(server, "root")
            _ = try await client.commit(.put("a", "1"))
            try await server.restart(0)
            _ = try await client.commit(.put("a", "2"))
            try await server.restart(0)
            #expect(try await client.range(Self.key).keys.first?.version == 2)
            try await server.restart(0)
            let watch = EtcdWatchReader(client.watch(Self.key.keys, from: 1))
            try await watch.created()
            #expect(try await watch.events().map(\.text) == ["a=1", "a=2"])
        }

        @Test func `A token is replaced after a change of users`() async throws {
            let server = try await server()
            let (root, reader) = (try client(server, "root"), try client(server, "reader"))
            _ = try await reader.range(Self.key)
            let grant = EtcdRequests.authenticate("root", "secret")
            let reply = try await server.post("auth/authenticate", String(decoding: grant, as: UTF8.self))
            let token = try #require(reply.body["token"]?.string)
            try await server.post(
                "auth/user/add", #"{"name":"more","password":"x"}"#, headers: ["Authorization": token])
            #expect(try await reader.range(Self.key).keys.isEmpty)
            #expect(try await root.commit(.put("a")).succeeded)
        }

        @Test func `A user and a password work without authentication, too`() async throws {
            let server = try await EtcdServer.start()
            #expect(try await client(server, "root").commit(.put("a")).succeeded)
        }
    }
}
