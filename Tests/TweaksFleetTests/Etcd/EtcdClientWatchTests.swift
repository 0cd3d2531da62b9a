// Tests watches with a scripted transport: start, failover and end.

import Testing

@testable import TweaksFleet

@Suite struct EtcdClientWatchTests {
    private typealias Stream = ScriptedTransport.Stream

    private static let created = #"{"result":{"header":{"revision":"4"},"created":true}}"# + "\n"
    private static let event = #"{"result":{"header":{"revision":"5"},"events":[{"kv":{"key":"YQ=="}}]}}"# + "\n"

    /// - Parameter sleep: By default no time passes.
    private static func client(
        _ open: @escaping @Sendable (ScriptedTransport.Request, Stream.Continuation) -> Void,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in try await Task.sleep(for: .seconds(1_000)) }
    ) throws -> (EtcdClient, ScriptedTransport) {
        let transport = ScriptedTransport(open: open)
        let configuration = try EtcdConfiguration(endpoints: "http://a,http://b")
        return (EtcdClient(configuration, transport: transport, sleep: sleep), transport)
    }

    private static func watch(_ client: EtcdClient) -> EtcdWatchReader {
        EtcdWatchReader(client.watch(.key([0x61]), from: 5))
    }

    @Test func `Messages are delivered as they arrive, in pieces of any size`() async throws {
        let (client, transport) = try Self.client { _, stream in
            stream.yield(.status(200))
            for byte in utf8(Self.created + Self.event) { stream.yield(.bytes([byte])) }
        }
        let reader = EtcdWatchReader(client.watch(.prefix([0x61]), from: 5))
        #expect(try await reader.next() == .created(EtcdHeader(revision: 4)))
        let event = EtcdEvent(.put, EtcdKeyValue(key: [0x61]))
        #expect(try await reader.next() == .events(EtcdHeader(revision: 5), [event]))
        let request = try #require(transport.requests.first)
        #expect(request.headers == ["Grpc-Metadata-hasleader": "true"])
        let keys = #""key":"YQ==","range_end":"Yg==""#
        #expect(request.body == #"{"create_request":{\#(keys),"start_revision":"5","progress_notify":true}}"#)
    }

    @Test func `Messages before the end are delivered`() async throws {
        let (client, _) = try Self.client { _, stream in
            stream.send(200, Self.created + #"{"result":{"canceled":true,"compact_revision":"7"}}"#)
        }
        let reader = Self.watch(client)
        #expect(try await reader.next() == .created(EtcdHeader(revision: 4)))
        #expect(await reader.end() == .compacted(7))
    }

    @Test func `A watch starts at the first endpoint that accepts it`() async throws {
        let (client, transport) = try Self.client { request, stream in
            if request.endpoint == "http://a" {
                stream.finish(throwing: EtcdTransportError(.unreachable("refused"), mayHaveTakenEffect: false))
            } else {
                stream.send(200, Self.created)
                stream.finish()
            }
        }
        let reader = Self.watch(client)
        #expect(try await reader.next() == .created(EtcdHeader(revision: 4)))
        // After that it does not fail over: only its reader knows the next revision.
        #expect(await reader.end() == .unavailable("http://b: the watch has ended"))
        #expect(transport.endpoints == "a b")
        _ = try await client.status()
        #expect(transport.endpoints == "a b a")
    }

    @Test func `A watch that no endpoint accepts ends with the last error`() async throws {
        let (client, transport) = try Self.client { _, stream in
            stream.send(503, #"{"error":{"grpc_code":14,"#, #""message":"etcdserver: no leader"}}"#)
            stream.finish()
        }
        #expect(await Self.watch(client).end() == .unavailable("http://b: no leader"))
        #expect(transport.endpoints == "a b")
    }

    @Test(arguments: [0, 200]) func `A watch that is not created in five seconds ends`(_ status: Int) async throws {
        let (times, time) = AsyncStream.makeStream(of: Duration.self)
        let (client, transport) = try Self.client { _, stream in
            if status != 0 { stream.send(status) }
        } sleep: {
            time.yield($0)
        }
        #expect(await Self.watch(client).end() == .unavailable("http://a: no watch within 5.0 seconds"))
        var slept = times.makeAsyncIterator()
        #expect(await slept.next() == .seconds(5))
        // The next call uses the next endpoint.
        _ = try await client.status()
        #expect(transport.endpoints == "a b")
    }

    @Test(arguments: ["Not Found", Self.event, Self.created + "garbage", Self.created + "{}"])
    func `A malformed message ends the watch`(_ text: String) async throws {
        let (client, transport) = try Self.client { _, stream in stream.send(200, text) }
        #expect(await Self.watch(client).end()?.kind == "garbled")
        #expect(transport.endpoints == "a")
    }

    @Test func `A watch without a reader closes its connection`() async throws {
        let (closed, close) = AsyncStream.makeStream(of: Void.self)
        let (client, _) = try Self.client { _, stream in
            stream.onTermination = { _ in close.finish() }
            stream.send(200, Self.created)
        }
        let reader = Task {
            for try await _ in client.watch(.key([0x61]), from: 5) { withUnsafeCurrentTask { $0?.cancel() } }
        }
        try await reader.value
        for await _ in closed {}
    }
}
