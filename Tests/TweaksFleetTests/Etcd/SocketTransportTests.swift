// Tests connections to etcd: reuse, renewal, truncated and missing replies, and closing by the client.

import Testing
import TweaksTestSupport

@testable import TweaksFleet

/// A transport and a stub to connect to; both close with this object.
private final class StubFixture: Sendable {
    let stub: HTTPStub
    let transport = SocketTransport()

    init(_ reply: String, closesConnections: Bool = false) throws {
        stub = try HTTPStub(reply, closesConnections: closesConnections)
    }

    deinit {
        transport.close()
        stub.close()
    }

    func post(_ path: String = "/") async throws(EtcdTransportError) -> (status: Int, body: [UInt8]) {
        try await transport.post(stub.url + path, utf8("{}"), headers: ["Authorization": "t"], timeout: .seconds(30))
    }

    func failure(timeout: Duration = .seconds(30)) async -> EtcdTransportError? {
        await transport.failure(stub.url, timeout: timeout)
    }

    /// Waits until a connection is closed.
    func waitForClosing() async { for await _ in stub.closings { return } }
}

extension SocketTransport {
    /// Returns the error of a request that must fail.
    fileprivate func failure(_ url: String, timeout: Duration = .seconds(30)) async -> EtcdTransportError? {
        do throws(EtcdTransportError) {
            Issue.record("no error: \(try await post(url, utf8("{}"), headers: [:], timeout: timeout))")
            return nil
        } catch {
            return error
        }
    }
}

@Suite(.prompt, .timeLimit(.minutes(30))) struct SocketTransportTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

    @Test func `A connection is reused, and the request has the necessary headers`() async throws {
        let fixture = try StubFixture(Self.ok)
        for _ in 0..<3 { #expect(try await fixture.post("/v3/kv/range").body == utf8("{}")) }
        #expect(fixture.stub.connections == 1)
        let request = fixture.stub.requests.first ?? ""
        #expect(request.hasPrefix("POST /v3/kv/range HTTP/1.1\r\nHost: 127.0.0.1:\(fixture.stub.port)\r\n"))
        #expect(request.hasSuffix("\r\n\r\n{}") && request.contains("\r\nContent-Length: 2\r\n"))
        #expect(request.contains("\r\nAuthorization: t\r\n"))
        fixture.transport.close()
        await fixture.waitForClosing()
    }

    @Test func `A connection that the server has closed is not reused`() async throws {
        let fixture = try StubFixture(Self.ok, closesConnections: true)
        for _ in 0..<3 {
            #expect(try await fixture.post().status == 200)
            await fixture.waitForClosing()
        }
        #expect(fixture.stub.connections == 3)
    }

    @Test func `A reply with trailers is complete, and its connection is reused`() async throws {
        let fixture = try StubFixture(
            "HTTP/1.1 400 Bad\r\nTrailer: A\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nA: b\r\n\r\n")
        for _ in 0..<2 {
            let reply = try await fixture.post()
            #expect(reply.status == 400 && reply.body == utf8("hi"))
        }
        #expect(fixture.stub.connections == 1)
    }

    @Test func `A redirect is a reply and is not followed`() async throws {
        let fixture = try StubFixture("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n")
        #expect(try await fixture.post().status == 302)
        #expect(fixture.stub.requests.count == 1)
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"])
    func `A request with a truncated reply may have been executed`(_ reply: String) async throws {
        let failure = await (try StubFixture(reply, closesConnections: true)).failure()
        #expect(failure?.error.kind == "unreachable" && failure?.mayHaveTakenEffect == true)
    }

    @Test func `A request to an unknown host or a closed port was not executed`() async throws {
        let closed = try BoundSocket(loopback: .version4, backlog: nil)
        let urls = [("http://127.0.0.1:\(closed.port)/", "refused"), ("http://no-such-host.invalid:1/", "no address")]
        for (url, word) in urls {
            let failure = await SocketTransport().failure(url)
            #expect(failure?.mayHaveTakenEffect == false && failure?.error.description.contains(word) == true)
        }
        withExtendedLifetime(closed) {}
    }

    @Test func `A request without a reply ends at the timeout, and its connection closes`() async throws {
        let fixture = try StubFixture("HTTP/1.1 200 OK\r\n")
        // On a busy machine the time may be over before it has connected.
        repeat {
            let failure = await fixture.failure(timeout: .milliseconds(20))
            #expect(
                failure == EtcdTransportError(.unreachable("no answer within 0.02 seconds"), mayHaveTakenEffect: true))
        } while fixture.stub.connections == 0
        await fixture.waitForClosing()
    }

    @Test func `A stream without a reader closes its connection at once`() async throws {
        let fixture = try StubFixture("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n")
        let stream = fixture.transport.stream(fixture.stub.url, [], headers: [:])
        let reader = Task {
            for try await part in stream where part == .bytes(utf8("hi")) { withUnsafeCurrentTask { $0?.cancel() } }
        }
        try await reader.value
        await fixture.waitForClosing()
    }

    @Test func `A canceled request ends at once`() async throws {
        let fixture = try StubFixture("")
        let call = Task { await fixture.failure() }
        call.cancel()
        #expect(await call.value?.error == .cancelled)
    }

    @Test func `A transport that is closed ends its requests and rejects more`() async throws {
        let fixture = try StubFixture("HTTP/1.1 200 OK\r\n\r\nhi")
        var parts = fixture.transport.stream(fixture.stub.url, [], headers: [:]).makeAsyncIterator()
        #expect(try await parts.next() == .status(200))
        fixture.transport.close()
        await #expect(throws: EtcdTransportError(.unreachable("the client is closed"), mayHaveTakenEffect: true)) {
            while try await parts.next() != nil {}
        }
        let failure = await fixture.failure()
        #expect(failure == EtcdTransportError(.unreachable("the client is closed"), mayHaveTakenEffect: false))
    }

    @Test func `A reply without an end is rejected at the size limit`() async throws {
        let megabyte = String(repeating: "a", count: 1 << 20)
        let fixture = try StubFixture("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: megabyte, count: 17))
        #expect(await fixture.failure()?.error.kind == "tooLarge")
    }

    @Test func `A stream that is longer than its buffer loses nothing`() async throws {
        let megabyte = String(repeating: "a", count: 1 << 20)
        let fixture = try StubFixture(
            "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: megabyte, count: 20), closesConnections: true)
        var size = 0
        for try await part in fixture.transport.stream(fixture.stub.url, [], headers: [:]) {
            if case .bytes(let bytes) = part { size += bytes.count }
        }
        #expect(size == 20 << 20)
    }
}
