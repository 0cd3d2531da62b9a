// Checks the client against a transport that plays etcd: endpoints, pages, tokens.

import Foundation
import Testing
import TweaksTestSupport

@testable import TweaksFleet

@Suite struct EtcdClientTests {
    private static func client(
        _ transport: ScriptedTransport, _ endpoints: String = "http://a,http://b,http://c"
    ) throws -> EtcdClient { EtcdClient(try EtcdConfiguration(endpoints: endpoints), transport: transport) }

    private static let key = EtcdTransaction.Operation.put(key: [0x61], value: [])
    private static let noLeader = #"{"code":14,"message":"etcdserver: no leader"}"#

    // MARK: Endpoints

    @Test func `The endpoint that works is kept, and left when it does not`() async throws {
        let transport = ScriptedTransport { request in
            switch request.endpoint {
            case "http://a": .failure(.unreachable("refused"), mayBeDone: false)
            case "http://b": .answer(503, Self.noLeader)
            default: .answer(200, "{}")
            }
        }
        let client = try Self.client(transport)
        _ = try await client.status()
        _ = try await client.status()
        #expect(transport.endpoints == "a b c c")
    }

    @Test func `Each endpoint is tried once, and the last one's error is told`() async throws {
        let transport = ScriptedTransport { request in
            .failure(.unreachable("refused by \(request.endpoint)"), mayBeDone: true)
        }
        let client = try Self.client(transport)
        let error = await etcdFailure { try await client.status() }
        #expect(error == .unreachable("http://c: refused by http://c"))
        #expect(transport.endpoints == "a b c")
    }

    @Test(arguments: [
        #"{"code":3,"message":"no"}"#, #"{"code":7,"message":"no"}"#, #"{"code":16,"message":"no"}"#,
        #"{"code":8,"message":"etcdserver: mvcc: database space exceeded"}"#, "garbage",
    ])
    func `Other endpoints are not asked what one has refused`(_ answer: String) async throws {
        let transport = ScriptedTransport { _ in .answer(400, answer) }
        let client = try Self.client(transport)
        _ = await etcdFailure { try await client.status() }
        #expect(transport.endpoints == "a")
    }

    /// It would find the comparison false that it has made false itself.
    @Test func `A transaction with comparisons that may be done is not sent again`() async throws {
        let transport = ScriptedTransport { request in
            request.endpoint == "http://a" ? .failure(.unreachable("lost"), mayBeDone: true) : .answer(200, "{}")
        }
        let client = try Self.client(transport)
        let guarded = EtcdTransaction(if: [.modRevision([0x61], equals: 0)], then: [Self.key])
        let error = await etcdFailure { try await client.commit(guarded) }
        #expect(error?.description.contains("may have been done") == true)
        #expect(transport.endpoints == "a")
        _ = try await client.commit(guarded)
        #expect(transport.endpoints == "a b")
    }

    @Test(arguments: [false, true])
    func `A transaction that is not done is sent elsewhere`(_ hasLeader: Bool) async throws {
        let transport = ScriptedTransport { request in
            if request.endpoint == "http://b" { return .answer(200, "{}") }
            return hasLeader ? .failure(.unreachable("refused"), mayBeDone: false) : .answer(503, Self.noLeader)
        }
        let guarded = EtcdTransaction(if: [.modRevision([0x61], equals: 0)], then: [Self.key])
        #expect(try await !Self.client(transport).commit(guarded).succeeded)
        #expect(transport.endpoints == "a b")
    }

    @Test func `A transaction that etcd would not take is not sent`() async throws {
        let transport = ScriptedTransport()
        let client = try Self.client(transport)
        let many = EtcdTransaction(then: Array(repeating: Self.key, count: 129))
        #expect(await etcdFailure { try await client.commit(many) }?.kind == "tooLarge")
        let put = EtcdTransaction.Operation.put(key: [1], value: [UInt8](repeating: 0, count: 1_468_000))
        let large = EtcdTransaction(then: [], otherwise: [put])
        #expect(await etcdFailure { try await client.commit(large) }?.kind == "tooLarge")
        #expect(transport.requests.isEmpty)
    }

    @Test func `A transaction has a response for each operation`() async throws {
        let transport = ScriptedTransport { _ in .answer(200, #"{"succeeded":true}"#) }
        let client = try Self.client(transport)
        #expect(await etcdFailure { try await client.commit(EtcdTransaction(then: [Self.key])) }?.kind == "garbled")
    }

    // MARK: Ranges

    @Test func `A range is read in pages, at the revision of the first`() async throws {
        let transport = ScriptedTransport { request in
            if request.body.contains("revision") {
                return .answer(200, #"{"header":{"revision":"12"},"kvs":[{"key":"YWI="}],"count":"1"}"#)
            }
            let keys = #"[{"key":"YQ=="},{"key":"YWE="}]"#
            return .answer(200, #"{"header":{"revision":"9"},"kvs":\#(keys),"more":true,"count":"3"}"#)
        }
        let result = try await Self.client(transport).range(EtcdRange(.prefix([0x61])))
        #expect(result.keys.map(\.key) == [[0x61], [0x61, 0x61], [0x61, 0x62]])
        #expect(result.header.revision == 9 && result.count == 3)
        #expect(
            transport.requests.map(\.body) == [
                #"{"key":"YQ==","range_end":"Yg==","limit":"100"}"#,
                #"{"key":"YWEA","range_end":"Yg==","revision":"9","limit":"100"}"#,
            ])
    }

    @Test func `A limit is one page, and a revision is the one that is asked for`() async throws {
        let transport = ScriptedTransport { _ in
            .answer(200, #"{"header":{"revision":"9"},"kvs":[{"key":"YQ=="}],"more":true,"count":"3"}"#)
        }
        let range = EtcdRange(.prefix([]), revision: 5, limit: 1, keysOnly: true)
        let result = try await Self.client(transport).range(range)
        #expect(result.header.revision == 5 && result.count == 3)
        #expect(
            transport.requests.map(\.body)
                == [#"{"key":"AA==","range_end":"AA==","revision":"5","limit":"1","keys_only":true}"#])
    }

    @Test(arguments: [#""kvs":[]"#, #""kvs":[{"key":"YQ=="}]"#])
    func `Pages that lead nowhere end`(_ keys: String) async throws {
        let transport = ScriptedTransport { _ in .answer(200, #"{"header":{"revision":"9"},\#(keys),"more":true}"#) }
        let client = try Self.client(transport)
        #expect(await etcdFailure { try await client.range(EtcdRange(.prefix([0x61]))) }?.kind == "garbled")
        #expect(transport.requests.count <= 2)
    }

    @Test func `Pages of two clusters are not one range`() async throws {
        let transport = ScriptedTransport { request in
            let cluster = request.body.contains("revision") ? 2 : 1
            let header = #""header":{"cluster_id":"\#(cluster)","revision":"9"}"#
            return .answer(200, #"{\#(header),"kvs":[{"key":"\#(cluster == 1 ? "YQ==" : "YWE=")"}],"more":true}"#)
        }
        let client = try Self.client(transport)
        #expect(await etcdFailure { try await client.range(EtcdRange(.prefix([0x61]))) }?.kind == "garbled")
    }

    @Test(arguments: [
        ([0x61] as [UInt8], [0x62] as [UInt8]), ([0x61, 0xFF], [0x62]), ([0xFF], [0]), ([0xFF, 0xFF], [0]),
        ([0x61, 0], [0x61, 1]),
    ])
    func `The end of a prefix is the next key without it`(_ prefix: [UInt8], _ end: [UInt8]) {
        #expect(EtcdRequests.ends(.prefix(prefix)).end == end)
    }

    // MARK: Leases

    @Test func `A lease that is gone is nil to keep alive, and an error to revoke`() async throws {
        let transport = ScriptedTransport { _ in
            .answer(404, #"{"code":5,"message":"etcdserver: requested lease not found"}"#)
        }
        let client = try Self.client(transport)
        #expect(try await client.keepAlive(7) == nil)
        #expect(await etcdFailure { try await client.revokeLease(7) } == .leaseNotFound)
        #expect(transport.requests.map(\.body) == [#"{"ID":"7"}"#, #"{"ID":"7"}"#])
    }
}
