// Tests connections that a connector makes: what it is asked for, reuse, errors, and who closes its sockets.

import Foundation
import Synchronization
import Testing
import TweaksInterface
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet

/// Returns one end of a socket pair; what is written there gets the same reply each time.
private final class ScriptedConnector: EtcdConnector {
    struct Refusal: Error, CustomStringConvertible { let description: String }

    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
    private let refusal: String?
    private let state = Mutex((calls: [String](), requests: [String]()))
    /// Emits once for each connection that the client has closed.
    let closings: AsyncStream<Void>
    private let closing: AsyncStream<Void>.Continuation

    init(refusal: String? = nil) {
        self.refusal = refusal
        (closings, closing) = AsyncStream.makeStream()
    }

    /// `HOST PORT` of each call.
    var calls: [String] { state.withLock { $0.calls } }
    var requests: [String] { state.withLock { $0.requests } }

    func connect(host: String, port: Int) throws -> Int32 {
        state.withLock { $0.calls.append("\(host) \(port)") }
        if let refusal { throw Refusal(description: refusal) }
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            throw Refusal(description: errorText())
        }
        // As event loops leave theirs.
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let other = ends[1]
        SystemThread.start("peer") { self.serve(other) }
        return ends[0]
    }

    private func serve(_ socket: Int32) {
        defer {
            Foundation.close(socket)
            closing.yield()
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = recv(socket, &buffer, buffer.count, 0), count > 0 {
            let request = String(decoding: buffer.prefix(count), as: UTF8.self)
            state.withLock { $0.requests.append(request) }
            _ = Sockets.send(utf8(Self.ok), to: socket)
        }
    }
}

/// Returns a number that is no descriptor of a socket.
private struct BrokenConnector: EtcdConnector {
    let opened: @Sendable () -> Int32
    func connect(host: String, port: Int) -> Int32 { opened() }
}

@Suite(.timeLimit(.minutes(30))) struct EtcdConnectorTests {
    private func client(_ endpoints: String, _ connector: any EtcdConnector) throws -> EtcdClient {
        EtcdClient(try EtcdConfiguration(endpoints: endpoints, connector: connector))
    }

    @Test(arguments: [
        ("https://etcd.example.org", "etcd.example.org 443", "etcd.example.org"),
        ("https://etcd.example.org:2379/", "etcd.example.org 2379", "etcd.example.org:2379"),
        ("https://[::1]:2379", "::1 2379", "[::1]:2379"),
    ])
    func `Requests go over a connection of the connector, which is reused`(
        _ url: String, _ call: String, _ host: String
    ) async throws {
        let connector = ScriptedConnector()
        let client = try client(url, connector)
        for _ in 0..<3 { _ = try await client.status() }
        #expect(connector.calls == [call])
        #expect(connector.requests.count == 3)
        let head = "POST /v3/maintenance/status HTTP/1.1\r\nHost: \(host)\r\n"
        #expect(connector.requests.allSatisfy { $0.hasPrefix(head) })
        client.close()
        for await _ in connector.closings { break }
    }

    @Test func `A canceled watch closes its connection`() async throws {
        let connector = ScriptedConnector()
        let transport = SocketTransport(connector: connector)
        let stream = transport.stream("https://a/v3/watch", utf8("{}"), headers: [:])
        let reader = Task {
            for try await part in stream where part == .status(200) { withUnsafeCurrentTask { $0?.cancel() } }
        }
        try await reader.value
        transport.close()
        for await _ in connector.closings { break }
    }

    @Test func `Plain URLs do not go to the connector, and their connections are apart`() async throws {
        let stub = try HTTPStub("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        defer { stub.close() }
        let connector = ScriptedConnector()
        let transport = SocketTransport(connector: connector)
        defer { transport.close() }
        let authority = "127.0.0.1:\(stub.port)"
        for scheme in ["http", "https", "http", "https"] {
            _ = try await transport.post("\(scheme)://\(authority)/", [], headers: [:], timeout: .seconds(30))
        }
        #expect(stub.connections == 1 && connector.calls == ["127.0.0.1 \(stub.port)"])
        #expect(stub.requests.count == 2 && connector.requests.count == 2)
    }

    @Test func `The error of a connector names the member, and nothing was sent`() async throws {
        let connector = ScriptedConnector(refusal: "its certificate has expired\u{1B}[2J")
        let client = try client("https://a:1,https://b:2", connector)
        let error = try #require(await etcdFailure { try await client.commit(.put("a")) })
        #expect(error.kind == "unreachable")
        #expect(error.description.contains("https://b:2: cannot connect: its certificate has expired\u{FFFD}[2J;"))
        #expect(!error.description.contains("all the same"))
        #expect(connector.calls == ["a 1", "b 2"])
    }

    @Test func `A connector that returns no socket is an error`() async throws {
        // The package closes what it gets, so each call opens it anew.
        for opened in [{ @Sendable in -1 }, { @Sendable in open("/dev/null", O_RDONLY) }] {
            let client = try client("https://a:1", BrokenConnector(opened: opened))
            let error = try #require(await etcdFailure { try await client.status() })
            #expect(error.description.contains(", which is not a stream socket"), "\(error)")
        }
    }

    @Test func `Another member is tried where a connector fails`() async throws {
        let stub = try HTTPStub("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        defer { stub.close() }
        let connector = ScriptedConnector(refusal: "no")
        let client = try client("https://a:1,\(stub.url)", connector)
        _ = try await client.status()
        #expect(connector.calls == ["a 1"] && stub.connections == 1)
        client.close()
    }
}
