// Checks the client against a real etcd.

import Testing
import TweaksTestSupport

@testable import TweaksFleet

@Suite(
    .serialized, .enabled(if: EtcdServer.isInstalled, "etcd is not installed: apt-get install etcd-server"),
    .timeLimit(.minutes(2)))
struct EtcdClientLiveTests {
    @Test func `A transaction puts, compares and deletes, and what it did can be read`() async throws {
        let server = try await EtcdServer()
        let client = try server.client()
        defer { client.close() }
        let key = Array("a".utf8)
        let put = EtcdTransaction(
            if: [.modRevision(key, equals: 0)], then: [.put(key: key, value: [0, 255])],
            otherwise: [.range(.key(key)), .range(.key([0x7A]))])
        let first = try await client.commit(put)
        #expect(first.succeeded && first.responses == [.put])
        let second = try await client.commit(put)
        #expect(!second.succeeded)
        guard case .range(let range)? = second.responses.first else {
            throw EtcdServer.Failure(description: "no range")
        }
        #expect(range.keys.map(\.value) == [[0, 255]] && range.keys.first?.modRevision == first.header.revision)
        let deleted = try await client.commit(EtcdTransaction(then: [.delete(.prefix(key))]))
        #expect(deleted.responses == [.delete(count: 1)])
    }

    @Test func `A watch has what was, then what comes`() async throws {
        let server = try await EtcdServer()
        let client = try server.client()
        defer { client.close() }
        let key = Array("a".utf8)
        let first = try await client.commit(EtcdTransaction(then: [.put(key: key, value: [1])]))
        var messages = client.watch(.prefix(key), from: first.header.revision).makeAsyncIterator()
        guard case .created? = try await messages.next() else { throw EtcdServer.Failure(description: "not created") }
        guard case .events(_, let past)? = try await messages.next() else { throw EtcdServer.Failure(description: "?") }
        #expect(past.map(\.pair.value) == [[1]])
        _ = try await client.commit(EtcdTransaction(then: [.delete(.key(key))]))
        guard case .events(_, let live)? = try await messages.next() else { throw EtcdServer.Failure(description: "?") }
        #expect(live.map(\.kind) == [.delete] && live.first?.pair.key == key)
    }
}
