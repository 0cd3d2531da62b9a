// Tests the client with a scripted transport: endpoints, transactions, pages, leases.

import Synchronization
import Testing
import TweaksTestSupport
import TweaksWire

@testable import TweaksFleet

@Suite struct EtcdClientTests {
    /// Returns a client of the endpoints a, b and c, and its transport.
    private static func client(
        _ reply: @escaping @Sendable (ScriptedTransport.Request) -> ScriptedTransport.Reply
    ) throws -> (EtcdClient, ScriptedTransport) {
        let transport = ScriptedTransport(reply: reply)
        let configuration = try EtcdConfiguration(endpoints: "http://a,http://b,http://c")
        return (EtcdClient(configuration, transport: transport), transport)
    }

    private static let key = EtcdTransaction.Operation.put(key: [0x61], value: [])
    private static let guarded = EtcdTransaction(if: [.modRevision([0x61], equals: 0)], then: [key])
    private static let noLeader = #"{"code":14,"message":"etcdserver: no leader"}"#

    @Test func `Failing endpoints are skipped, and the first one that works is kept`() async throws {
        let (client, transport) = try Self.client { request in
            switch request.endpoint {
            case "http://a": .failure(.unreachable("refused"), mayHaveTakenEffect: false)
            case "http://b": .answer(503, Self.noLeader)
            default: .answer(200, "{}")
            }
        }
        _ = try await client.status()
        _ = try await client.status()
        #expect(transport.endpoints == "a b c c")
    }

    @Test func `Each endpoint is tried once, and the error is that of the last one`() async throws {
        let (client, transport) = try Self.client { request in
            .failure(.unreachable("refused by \(request.endpoint)"), mayHaveTakenEffect: true)
        }
        #expect(await etcdFailure { try await client.status() } == .unreachable("http://c: refused by http://c"))
        #expect(transport.endpoints == "a b c")
    }

    @Test(arguments: [
        #"{"code":3,"message":"no"}"#, #"{"code":7,"message":"no"}"#, #"{"code":16,"message":"no"}"#,
        #"{"code":8,"message":"etcdserver: mvcc: database space exceeded"}"#, "garbage",
    ])
    func `A request that an endpoint has rejected is not sent to others`(_ reply: String) async throws {
        let (client, transport) = try Self.client { _ in .answer(400, reply) }
        _ = await etcdFailure { try await client.status() }
        #expect(transport.endpoints == "a")
    }

    private static func page(_ keys: Int, more: Bool = true, key: String = "eg==", value: String = "") -> String {
        let pairs = (0..<keys).map { _ in #"{"key":"\#(key)","value":"\#(value)","mod_revision":"1"}"# }
        return #"{"header":{"revision":"5"},"kvs":[\#(pairs.joined(separator: ","))],"more":\#(more)}"#
    }

    @Test func `A page that is too large is requested with fewer keys`() async throws {
        let (client, transport) = try Self.client { request in
            request.body.contains(#""limit":"100""#) || request.body.contains(#""limit":"12""#)
                ? .failure(.tooLarge("an answer"), mayHaveTakenEffect: true) : .answer(200, Self.page(1, more: false))
        }
        #expect(try await client.range(EtcdRange(.prefix([0x61]))).keys.count == 1)
        #expect(transport.requests.count == 3)
        let (refusing, all) = try Self.client { _ in .failure(.tooLarge("an answer"), mayHaveTakenEffect: true) }
        #expect(await etcdFailure { try await refusing.range(EtcdRange(.prefix([0x61]))) }?.kind == "tooLarge")
        #expect(all.requests.count == 3)
    }

    @Test func `An answer of many small values is too large`() async throws {
        for text in [
            #"{"x":["# + Array(repeating: "0", count: 100_001).joined(separator: ",") + "]}", Self.page(30_000),
        ] {
            let (client, _) = try Self.client { _ in .answer(200, text) }
            let error = await etcdFailure { try await client.range(EtcdRange(.prefix([0x61]))) }
            #expect(error == .tooLarge("an answer of more than 100000 JSON values; \(EtcdReplies.remedy)"))
        }
    }

    /// A server that always has more.
    @Test(.tags(.quantity), .enabled(if: isQuantityFull, "set TWEAKS_TEST_QUANTITY=full"))
    func `A range without an end is too large`() async throws {
        let value = String(repeating: "AAAA", count: 300_000)
        let count = Mutex<UInt8>(0)
        let (client, transport) = try Self.client { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let key = Base64.encode([0x61, number])
            return .answer(200, Self.page(8, key: key, value: value))
        }
        let error = await etcdFailure { try await client.range(EtcdRange(.prefix([0x61]))) }
        #expect(error?.description.contains("keys and values of more than 67108864 bytes; delete the keys") == true)
        #expect(transport.requests.count == 10)
    }

    /// A repeated transaction could fail its own comparison.
    @Test func `A transaction with comparisons that may be executed is not sent again`() async throws {
        let (client, transport) = try Self.client { request in
            if request.endpoint != "http://a" { return .answer(200, "{}") }
            return .failure(.unreachable("lost"), mayHaveTakenEffect: true)
        }
        let error = await etcdFailure { try await client.commit(Self.guarded) }
        #expect(error?.description.contains("may have been done") == true && transport.endpoints == "a")
        _ = try await client.commit(Self.guarded)
        #expect(transport.endpoints == "a b")
    }

    @Test(arguments: [false, true])
    func `A transaction that was not executed is sent to another endpoint`(_ hasLeader: Bool) async throws {
        let (client, transport) = try Self.client { request in
            if request.endpoint == "http://b" { return .answer(200, "{}") }
            if !hasLeader { return .answer(503, Self.noLeader) }
            return .failure(.unreachable("refused"), mayHaveTakenEffect: false)
        }
        #expect(try await !client.commit(Self.guarded).succeeded)
        #expect(transport.endpoints == "a b")
    }

    @Test func `A transaction above etcd's limits is not sent`() async throws {
        let (client, transport) = try Self.client { _ in .answer(200, "{}") }
        let many = EtcdTransaction(then: Array(repeating: Self.key, count: 129))
        #expect(await etcdFailure { try await client.commit(many) }?.kind == "tooLarge")
        let put = EtcdTransaction.Operation.put(key: [1], value: [UInt8](repeating: 0, count: 1_468_000))
        let large = EtcdTransaction(then: [], otherwise: [put])
        #expect(await etcdFailure { try await client.commit(large) }?.kind == "tooLarge")
        #expect(transport.requests.isEmpty)
    }

    @Test func `A reply without a response for each operation is malformed`() async throws {
        let (client, _) = try Self.client { _ in .answer(200, #"{"succeeded":true}"#) }
        #expect(await etcdFailure { try await client.commit(EtcdTransaction(then: [Self.key])) }?.kind == "garbled")
    }

    @Test func `A range is read in pages, at the revision of the first`() async throws {
        let (client, transport) = try Self.client { request in
            if request.body.contains("revision") {
                return .answer(200, #"{"header":{"revision":"12"},"kvs":[{"key":"YWI="}],"count":"1"}"#)
            }
            let keys = #"[{"key":"YQ=="},{"key":"YWE="}]"#
            return .answer(200, #"{"header":{"revision":"9"},"kvs":\#(keys),"more":true,"count":"3"}"#)
        }
        let result = try await client.range(EtcdRange(.prefix([0x61])))
        #expect(result.keys.map(\.key) == [[0x61], [0x61, 0x61], [0x61, 0x62]])
        #expect(result.header.revision == 9 && result.count == 3)
        #expect(
            transport.requests.map(\.body) == [
                #"{"key":"YQ==","range_end":"Yg==","limit":"100"}"#,
                #"{"key":"YWEA","range_end":"Yg==","revision":"9","limit":"100"}"#,
            ])
    }

    @Test func `A range with a limit is read in one page, at the requested revision`() async throws {
        let (client, transport) = try Self.client { _ in
            .answer(200, #"{"header":{"revision":"9"},"kvs":[{"key":"YQ=="}],"more":true,"count":"3"}"#)
        }
        let result = try await client.range(EtcdRange(.prefix([]), revision: 5, limit: 1, keysOnly: true))
        #expect(result.header.revision == 5 && result.count == 3)
        let body = #"{"key":"AA==","range_end":"AA==","revision":"5","limit":"1","keys_only":true}"#
        #expect(transport.requests.map(\.body) == [body])
    }

    @Test(arguments: [#""kvs":[]"#, #""kvs":[{"key":"YQ=="}]"#])
    func `Pages without progress are an error`(_ keys: String) async throws {
        let (client, transport) = try Self.client { _ in
            .answer(200, #"{"header":{"revision":"9"},\#(keys),"more":true}"#)
        }
        #expect(await etcdFailure { try await client.range(EtcdRange(.prefix([0x61]))) }?.kind == "garbled")
        #expect(transport.requests.count <= 2)
    }

    @Test func `Pages of two clusters are an error`() async throws {
        let (client, _) = try Self.client { request in
            let cluster = request.body.contains("revision") ? 2 : 1
            let header = #""header":{"cluster_id":"\#(cluster)","revision":"9"}"#
            return .answer(200, #"{\#(header),"kvs":[{"key":"\#(cluster == 1 ? "YQ==" : "YWE=")"}],"more":true}"#)
        }
        #expect(await etcdFailure { try await client.range(EtcdRange(.prefix([0x61]))) }?.kind == "garbled")
    }

    @Test(arguments: [
        ([0x61] as [UInt8], [0x62] as [UInt8]), ([0x61, 0xFF], [0x62]), ([0xFF], [0]), ([0xFF, 0xFF], [0]),
        ([0x61, 0], [0x61, 1]),
    ])
    func `The end of a prefix is the first key after all keys with it`(_ prefix: [UInt8], _ end: [UInt8]) {
        #expect(EtcdRequests.ends(.prefix(prefix)).end == end)
    }

    @Test func `Renewal of an expired lease returns nil, and revocation is an error`() async throws {
        let (client, transport) = try Self.client { _ in
            .answer(404, #"{"code":5,"message":"etcdserver: requested lease not found"}"#)
        }
        #expect(try await client.keepAlive(7) == nil)
        #expect(await etcdFailure { try await client.revokeLease(7) } == .leaseNotFound)
        #expect(transport.requests.map(\.body) == [#"{"ID":"7"}"#, #"{"ID":"7"}"#])
    }
}
