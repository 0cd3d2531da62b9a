// Checks connections: kept, renewed, cut, silent, and ended from this side.

import Testing
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.timeLimit(.minutes(4))) struct SocketTransportTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

    private static func post(
        _ transport: SocketTransport, _ stub: HTTPStub, _ path: String = "/"
    ) async throws(EtcdTransportError) -> (status: Int, body: [UInt8]) {
        try await transport.post(
            stub.url + path, utf8("{}"), headers: ["Authorization": "t"], timeout: .seconds(30))
    }

    /// Why a request fails.
    private static func failure(
        _ transport: SocketTransport, _ url: String, timeout: Duration = .seconds(30)
    ) async -> EtcdTransportError? {
        do throws(EtcdTransportError) {
            let answer = try await transport.post(url, utf8("{}"), headers: [:], timeout: timeout)
            Issue.record("it did not fail: \(answer)")
            return nil
        } catch {
            return error
        }
    }

    @Test func `A connection is used again, and not asked for what is not needed`() async throws {
        let stub = try HTTPStub { _ in .init(Self.ok) }
        defer { stub.close() }
        let transport = SocketTransport()
        for _ in 0..<3 { #expect(try await Self.post(transport, stub, "/v3/kv/range").body == utf8("{}")) }
        #expect(stub.connections == 1)
        let request = stub.requests.first ?? ""
        #expect(request.hasPrefix("POST /v3/kv/range HTTP/1.1\r\nHost: 127.0.0.1:\(stub.port)\r\n"))
        #expect(request.hasSuffix("\r\n\r\n{}") && request.contains("\r\nContent-Length: 2\r\n"))
        #expect(request.contains("\r\nAuthorization: t\r\n"))
        transport.close()
        var closings = stub.closings.makeAsyncIterator()
        await closings.next()
    }

    @Test func `A connection that was closed meanwhile is not used again`() async throws {
        let stub = try HTTPStub { _ in .init(Self.ok, .close) }
        defer { stub.close() }
        let transport = SocketTransport()
        defer { transport.close() }
        var closings = stub.closings.makeAsyncIterator()
        for _ in 0..<3 {
            #expect(try await Self.post(transport, stub).status == 200)
            await closings.next()
        }
        #expect(stub.connections == 3)
    }

    @Test func `An answer with trailers is an answer`() async throws {
        let stub = try HTTPStub { _ in
            .init("HTTP/1.1 400 Bad\r\nTrailer: A\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nA: b\r\n\r\n")
        }
        defer { stub.close() }
        let transport = SocketTransport()
        defer { transport.close() }
        for _ in 0..<2 {
            let answer = try await Self.post(transport, stub)
            #expect(answer.status == 400 && answer.body == utf8("hi"))
        }
        #expect(stub.connections == 1)
    }

    @Test func `A redirect is an answer, and not followed`() async throws {
        let stub = try HTTPStub { _ in .init("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n") }
        defer { stub.close() }
        let transport = SocketTransport()
        defer { transport.close() }
        #expect(try await Self.post(transport, stub).status == 302)
        #expect(stub.requests.count == 1)
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"])
    func `An answer that is cut off may be done`(_ text: String) async throws {
        let stub = try HTTPStub { _ in .init(text, .close) }
        defer { stub.close() }
        let transport = SocketTransport()
        defer { transport.close() }
        let failure = await Self.failure(transport, stub.url)
        #expect(failure?.error.kind == "unreachable" && failure?.mayBeDone == true)
    }

    @Test func `A host that there is not, and a port that nobody has, are not done`() async throws {
        let transport = SocketTransport()
        defer { transport.close() }
        let port = try BoundSocket(loopback: .version4).port
        let urls = [("http://127.0.0.1:\(port)/", "refused"), ("http://no-such-host.invalid:1/", "no address")]
        for (url, word) in urls {
            let failure = await Self.failure(transport, url)
            #expect(failure?.mayBeDone == false && failure?.error.description.contains(word) == true)
        }
    }

    @Test func `Silence ends with the timeout, and the connection with it`() async throws {
        let stub = try HTTPStub { _ in .init("HTTP/1.1 200 OK\r\n", .hold) }
        defer { stub.close() }
        let transport = SocketTransport()
        defer { transport.close() }
        let failure = await Self.failure(transport, stub.url, timeout: .milliseconds(20))
        #expect(failure == EtcdTransportError(.unreachable("no answer within 0.02 seconds"), mayBeDone: true))
        var closings = stub.closings.makeAsyncIterator()
        await closings.next()
    }

    @Test func `A stream that is not read any more is closed at once`() async throws {
        let stub = try HTTPStub { _ in
            .init("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", .hold)
        }
        defer { stub.close() }
        let transport = SocketTransport()
        defer { transport.close() }
        let stream = transport.stream(stub.url, [], headers: [:])
        let reader = Task {
            for try await part in stream where part == .bytes(utf8("hi")) { withUnsafeCurrentTask { $0?.cancel() } }
        }
        try await reader.value
        var closings = stub.closings.makeAsyncIterator()
        await closings.next()
    }

    @Test func `A cancelled request ends at once`() async throws {
        let stub = try HTTPStub { _ in .init("", .hold) }
        defer { stub.close() }
        let transport = SocketTransport()
        defer { transport.close() }
        let call = Task { await Self.failure(transport, stub.url) }
        call.cancel()
        #expect(await call.value?.error == .cancelled)
    }

    @Test func `A transport that is closed ends what is asked, and refuses more`() async throws {
        let stub = try HTTPStub { _ in .init("HTTP/1.1 200 OK\r\n\r\nhi", .hold) }
        defer { stub.close() }
        let transport = SocketTransport()
        var parts = transport.stream(stub.url, [], headers: [:]).makeAsyncIterator()
        #expect(try await parts.next() == .status(200))
        transport.close()
        await #expect(throws: EtcdTransportError(.unreachable("the client is closed"), mayBeDone: true)) {
            while try await parts.next() != nil {}
        }
        let failure = await Self.failure(transport, stub.url)
        #expect(failure == EtcdTransportError(.unreachable("the client is closed"), mayBeDone: false))
    }

    @Test func `An answer without an end is not taken whole`() async throws {
        let megabyte = String(repeating: "a", count: 1 << 20)
        let stub = try HTTPStub { _ in
            .init("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: megabyte, count: 81), .hold)
        }
        defer { stub.close() }
        let transport = SocketTransport()
        defer { transport.close() }
        let failure = await Self.failure(transport, stub.url)
        #expect(failure?.error.kind == "tooLarge")
    }
}
