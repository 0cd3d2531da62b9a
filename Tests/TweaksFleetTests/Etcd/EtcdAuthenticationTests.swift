// Checks the client against a real etcd that asks who is there.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

extension RealEtcd {
    @Suite struct EtcdAuthenticationTests {
        private let directory: TemporaryDirectory

        init() throws { directory = try TemporaryDirectory() }

        /// An etcd in which root may do everything, and reader may read what begins with `a`.
        private func server(_ options: [String] = []) async throws -> EtcdServer {
            let server = try await EtcdServer.start(flags: ["--bcrypt-cost=4"] + options)
            let range = #""key":"YQ==","range_end":"Yg==""#
            for (path, body) in [
                ("auth/role/add", #"{"name":"root"}"#), ("auth/user/add", #"{"name":"root","password":"secret"}"#),
                ("auth/user/grant", #"{"user":"root","role":"root"}"#), ("auth/role/add", #"{"name":"reader"}"#),
                ("auth/role/grant", #"{"name":"reader","perm":{"permType":"READ",\#(range)}}"#),
                ("auth/user/add", #"{"name":"reader","password":"secret"}"#),
                ("auth/user/grant", #"{"user":"reader","role":"reader"}"#), ("auth/enable", "{}"),
            ] {
                #expect(try await server.post(path, body).status == 200, "\(path)")
            }
            return server
        }

        private func client(_ server: EtcdServer, _ user: String, password: String = "secret") throws -> EtcdClient {
            let file = directory.file(user)
            try Data("\(password)\n".utf8).write(to: URL(fileURLWithPath: file))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            return try server.client(user: user, passwordFile: file)
        }

        @Test func `Who may read only a part of the keys is told so beyond it`() async throws {
            let server = try await server()
            let (root, reader) = (try client(server, "root"), try client(server, "reader"))
            defer {
                root.close()
                reader.close()
            }
            let revision = try await root.commit(.put("a1", "1")).header.revision
            #expect(try await reader.range(EtcdRange(.prefix(utf8("a")))).keys.count == 1)
            let watch = EtcdWatchReader(reader.watch(.prefix(utf8("a")), from: revision))
            try await watch.created()
            #expect(try await watch.events().map(\.text) == ["a1=1"])
            let forbidden = await etcdFailure { try await reader.commit(.put("a1", "2")) }
            #expect(forbidden?.kind == "forbidden")
            #expect(await etcdFailure { try await reader.range(EtcdRange(.key(utf8("b")))) }?.kind == "forbidden")
            #expect(await EtcdWatchReader(reader.watch(.key(utf8("b")), from: 1)).end()?.kind == "forbidden")
        }

        @Test func `Who does not say who they are, or says it wrongly, is told so`() async throws {
            let server = try await server()
            let (nobody, wrong) = (try server.client(), try client(server, "root", password: "wrong"))
            defer {
                nobody.close()
                wrong.close()
            }
            #expect(await etcdFailure { try await nobody.range(EtcdRange(.key([1]))) }?.kind == "unauthenticated")
            #expect(await etcdFailure { try await wrong.range(EtcdRange(.key([1]))) }?.kind == "unauthenticated")
            #expect(await etcdFailure { try await wrong.commit(.put("a")) }?.kind == "unauthenticated")
        }

        /// Members forget tokens when they start; a write by another token is refused in other words.
        @Test func `A token that etcd does not know any more is replaced`() async throws {
            let server = try await server()
            let client = try client(server, "root")
            defer { client.close() }
            _ = try await client.commit(.put("a", "1"))
            try await server.restart(0)
            _ = try await client.commit(.put("a", "2"))
            try await server.restart(0)
            #expect(try await client.range(EtcdRange(.key(utf8("a")))).keys.first?.version == 2)
            try await server.restart(0)
            let watch = EtcdWatchReader(client.watch(.key(utf8("a")), from: 1))
            try await watch.created()
            #expect(try await watch.events().map(\.text) == ["a=1", "a=2"])
        }

        @Test func `A change of who may do what needs a new token and no new client`() async throws {
            let server = try await server()
            let (root, reader) = (try client(server, "root"), try client(server, "reader"))
            defer {
                root.close()
                reader.close()
            }
            _ = try await reader.range(EtcdRange(.key(utf8("a"))))
            let grant = EtcdRequests.authenticate("root", "secret")
            let answer = try await server.post("auth/authenticate", String(decoding: grant, as: UTF8.self))
            let token = try #require(answer.body["token"]?.string)
            try await server.post(
                "auth/user/add", #"{"name":"more","password":"x"}"#, headers: ["Authorization": token])
            #expect(try await reader.range(EtcdRange(.key(utf8("a")))).keys.isEmpty)
            #expect(try await root.commit(.put("a")).succeeded)
        }

        @Test func `A password is not needed where etcd asks for none`() async throws {
            let server = try await EtcdServer.start()
            let client = try client(server, "root")
            defer { client.close() }
            #expect(try await client.commit(.put("a")).succeeded)
        }
    }
}
