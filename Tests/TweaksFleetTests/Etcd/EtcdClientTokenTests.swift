// Tests with a scripted transport when the client requests tokens.

import Synchronization
import Testing
import TweaksTestSupport

@testable import TweaksFleet

@Suite struct EtcdClientTokenTests {
    /// Issues the tokens t1, t2…, and accepts those that have not expired.
    private final class TokenIssuer: Sendable {
        private let issued = Mutex(0)
        private let oldest: Mutex<Int>

        init(oldest: Int = 1) { self.oldest = Mutex(oldest) }

        func expire() { oldest.withLock { $0 = issued.withLock { $0 } + 1 } }

        func accepts(_ request: ScriptedTransport.Request) -> Bool {
            let number = request.headers["Authorization"].flatMap { Int($0.dropFirst()) } ?? 0
            return number >= oldest.withLock { $0 }
        }

        func token() -> String {
            let number = issued.withLock { issued in
                issued += 1
                return issued
            }
            return #"{"token":"t\#(number)"}"#
        }
    }

    private let directory: TemporaryDirectory
    private let file: String

    init() throws {
        directory = try TemporaryDirectory()
        file = try EtcdConfigurationTests.file(directory, "secret\n")
    }

    private func client(_ transport: ScriptedTransport, _ endpoints: String = "http://127.0.0.1") throws -> EtcdClient {
        EtcdClient(try EtcdConfiguration(endpoints: endpoints, user: "u", passwordFile: file), transport: transport)
    }

    private static func transport(_ issuer: TokenIssuer, refusal: String) -> ScriptedTransport {
        ScriptedTransport { request in
            if request.path == "auth/authenticate" { return .answer(200, issuer.token()) }
            return issuer.accepts(request) ? .answer(200, "{}") : .answer(400, refusal)
        }
    }

    @Test(arguments: [
        #"{"code":16,"message":"etcdserver: invalid auth token"}"#,
        #"{"error":"etcdserver: invalid auth token","code":16}"#,
        #"{"code":3,"message":"etcdserver: revision of auth store is old"}"#,
        #"{"code":3,"message":"etcdserver: user name is empty"}"#,
    ])
    func `A token is requested before the first call, and again when it has expired`(_ refusal: String) async throws {
        let issuer = TokenIssuer()
        let transport = Self.transport(issuer, refusal: refusal)
        let client = try client(transport)
        #expect(transport.requests.isEmpty)
        _ = try await client.status()
        _ = try await client.status()
        issuer.expire()
        _ = try await client.status()
        #expect(
            transport.requests.map(\.path) == [
                "auth/authenticate", "maintenance/status", "maintenance/status", "maintenance/status",
                "auth/authenticate", "maintenance/status",
            ])
        #expect(transport.requests.first?.body == #"{"name":"u","password":"secret"}"#)
        #expect(transport.requests.last?.headers["Authorization"] == "t2")
    }

    @Test func `A rejected new token is an error`() async throws {
        let transport = Self.transport(TokenIssuer(oldest: 100), refusal: #"{"code":16,"message":"no"}"#)
        let client = try client(transport, "http://127.0.0.1,http://127.0.0.2")
        #expect(await etcdFailure { try await client.status() } == .unauthenticated("no"))
        #expect(transport.requests.count == 4)
    }

    @Test func `A rejected password is not sent again`() async throws {
        let message = "authentication failed, invalid user ID or password"
        let transport = ScriptedTransport { _ in .answer(400, #"{"code":3,"message":"etcdserver: \#(message)"}"#) }
        let client = try client(transport, "http://127.0.0.1,http://127.0.0.2")
        #expect(await etcdFailure { try await client.status() } == .unauthenticated(message))
        #expect(transport.requests.count == 1)
    }

    @Test func `Without authentication in etcd no token is sent`() async throws {
        let transport = ScriptedTransport { request in
            request.path == "auth/authenticate"
                ? .answer(412, #"{"code":9,"message":"etcdserver: authentication is not enabled"}"#)
                : .answer(200, "{}")
        }
        let client = try client(transport)
        _ = try await client.status()
        _ = try await client.status()
        #expect(transport.requests.count == 3 && transport.requests.allSatisfy { $0.headers.isEmpty })
    }

    @Test func `An unreadable password file is an error before any request`() async throws {
        let transport = ScriptedTransport()
        let configuration = try EtcdConfiguration(
            endpoints: "http://127.0.0.1", user: "u", passwordFile: directory.file("none"))
        let client = EtcdClient(configuration, transport: transport)
        #expect(await etcdFailure { try await client.status() }?.kind == "unauthenticated")
        #expect(transport.requests.isEmpty)
    }

    /// etcd 3.4 does not report that the token has expired.
    @Test(arguments: ["etcdserver: permission denied", "etcdserver: invalid auth token"])
    func `A forbidden watch is requested once more, with a new token`(_ reason: String) async throws {
        let issuer = TokenIssuer(oldest: 2)
        let transport = ScriptedTransport { _ in
            .answer(200, issuer.token())
        } open: { request, stream in
            let canceled = #"{"result":{"created":true,"canceled":true,"cancel_reason":"\#(reason)"}}"#
            stream.send(200, issuer.accepts(request) ? #"{"result":{"created":true}}"# : canceled)
        }
        let reader = EtcdWatchReader(try client(transport).watch(.key([1]), from: 1))
        #expect(try await reader.next() == .created(EtcdHeader()))
        #expect(transport.requests.count == 4)
    }

    @Test func `A watch that is forbidden with a new token is an error`() async throws {
        let transport = ScriptedTransport { _ in
            .answer(200, #"{"token":"t1"}"#)
        } open: { _, stream in
            stream.send(403, #"{"code":7,"message":"etcdserver: permission denied"}"#)
            stream.finish()
        }
        let reader = EtcdWatchReader(try client(transport).watch(.key([1]), from: 1))
        #expect(await reader.end() == .forbidden("permission denied"))
    }
}
