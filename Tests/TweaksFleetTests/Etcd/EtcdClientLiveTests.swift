// Tests the client with a real etcd: reads, transactions, leases, watches, compaction, limits.

import Testing

@testable import TweaksFleet

extension RealEtcd {
    @Suite struct EtcdClientLiveTests {
        private let server: EtcdServer
        private let client: EtcdClient

        init() async throws {
            server = try await EtcdServer.start()
            client = try server.client()
        }

        private func watch(_ keys: EtcdKeys, from revision: Int64) -> EtcdWatchReader {
            EtcdWatchReader(client.watch(keys, from: revision))
        }

        @Test func `A transaction compares, puts, reads and deletes`() async throws {
            let key = utf8("a")
            let put = EtcdTransaction(
                if: [.modRevision(key, equals: 0), .createRevision(key, equals: 0)],
                then: [.put(key: key, value: [0, 255])], otherwise: [.range(.key(key)), .range(.key(utf8("z")))])
            let first = try await client.commit(put)
            #expect(first.succeeded && first.responses == [.put] && first.header.clusterID != 0)
            let second = try await client.commit(put)
            let revision = first.header.revision
            let pair = EtcdKeyValue(
                key: key, value: [0, 255], createRevision: revision, modRevision: revision, version: 1)
            #expect(!second.succeeded)
            #expect(
                second.responses == [
                    .range(EtcdRangeResult(header: second.header, keys: [pair], count: 1)),
                    .range(EtcdRangeResult(header: second.header)),
                ])
            let deleted = try await client.commit(
                EtcdTransaction(if: [.modRevision(key, equals: revision)], then: [.delete(.prefix([]))]))
            #expect(deleted.responses == [.delete(count: 1)])
            #expect(try await client.range(EtcdRange(.key(key))).keys.isEmpty)
            let old = try await client.range(EtcdRange(.key(key), revision: revision))
            #expect(old.keys == [pair] && old.header.revision == revision)
            let future = await etcdFailure { try await client.range(EtcdRange(.key(key), revision: 1_000)) }
            #expect(future?.kind == "futureRevision")
        }

        @Test func `A transaction compares that no key has a prefix`() async throws {
            let compare = EtcdTransaction.Compare.absent(prefix: utf8("freeze/"))
            let put = EtcdTransaction(if: [compare], then: [.put(key: utf8("a"), value: [1])])
            _ = try await client.commit(.put("freeze", "no"))
            #expect(try await client.commit(put).succeeded)
            for keys in [["freeze/x"], ["freeze/x", "freeze/y"]] {
                _ = try await client.commit(.put(keys, [1]))
                #expect(try await !client.commit(put).succeeded, "\(keys)")
            }
            _ = try await client.commit(EtcdTransaction(then: [.delete(.prefix(utf8("freeze/")))]))
            #expect(try await client.commit(put).succeeded)
        }

        @Test func `A transaction compares that no key with a prefix was created after a revision`() async throws {
            func put(after revision: Int64) -> EtcdTransaction {
                let compare = EtcdTransaction.Compare.noneCreated(prefix: utf8("i/"), after: revision)
                return EtcdTransaction(if: [compare], then: [.put(key: utf8("a"), value: [1])])
            }
            #expect(try await client.commit(put(after: 0)).succeeded, "there is none")
            let first = try await client.commit(.put("i/1", "a")).header.revision
            _ = try await client.commit(.put("i", "not below it"))
            // A later change is not a creation.
            _ = try await client.commit(.put("i/1", "b"))
            #expect(try await client.commit(put(after: first)).succeeded)
            #expect(try await !client.commit(put(after: first - 1)).succeeded)
            let second = try await client.commit(.put("i/0", "c")).header.revision
            #expect(try await !client.commit(put(after: first)).succeeded)
            #expect(try await client.commit(put(after: second)).succeeded)
        }

        @Test func `A range of 250 keys is read in pages, at one revision`() async throws {
            let keys = (0..<250).map { "k/\(1_000 + $0)" }
            for part in [keys[..<125], keys[125...]] { _ = try await client.commit(.put(Array(part), [1])) }
            let last = try await client.commit(.put("other"))
            let result = try await client.range(EtcdRange(.prefix(utf8("k/"))))
            #expect(result.keys.map(\.key) == keys.map(utf8) && result.count == 250)
            #expect(result.header.revision == last.header.revision)
            let some = try await client.range(EtcdRange(.prefix(utf8("k/")), limit: 3, keysOnly: true))
            #expect(some.keys.map(\.key) == keys.prefix(3).map(utf8) && some.count == 250)
            #expect(some.keys.allSatisfy { $0.value.isEmpty })
        }

        /// Such a page is 8 MiB, above the default limit of gRPC.
        @Test func `A hundred values of 64 KiB are read in one page`() async throws {
            let value = [UInt8](repeating: 7, count: 65_536)
            for part in 0..<5 { _ = try await client.commit(.put((0..<20).map { "k/\(part * 20 + $0)" }, value)) }
            let result = try await client.range(EtcdRange(.prefix(utf8("k/"))))
            #expect(result.keys.count == 100 && result.keys.allSatisfy { $0.value == value })
        }

        @Test func `A lease is granted, renewed and revoked, and its key is deleted with it`() async throws {
            let lease = try await client.grantLease(seconds: 60)
            #expect(lease.id != 0 && lease.seconds == 60)
            #expect(try await client.keepAlive(lease.id) == lease)
            let put = try await client.commit(.put("a", "1", lease: lease.id))
            #expect(try await client.range(EtcdRange(.key(utf8("a")))).keys.first?.lease == lease.id)
            let reader = watch(.key(utf8("a")), from: put.header.revision + 1)
            try await reader.created()
            try await client.revokeLease(lease.id)
            #expect(try await reader.events().map(\.text) == ["-a"])
            #expect(try await client.keepAlive(lease.id) == nil)
            #expect(await etcdFailure { try await client.revokeLease(lease.id) } == .leaseNotFound)
            let error = await etcdFailure { try await client.commit(.put("a", "1", lease: lease.id)) }
            #expect(error == .leaseNotFound)
        }

        @Test func `A lease that is not renewed expires, and a put without it detaches the key`() async throws {
            // Long enough for three puts on a busy machine.
            let lease = try await client.grantLease(seconds: 10)
            _ = try await client.commit(.put("a", "1", lease: lease.id))
            _ = try await client.commit(.put("b", "1", lease: lease.id))
            let put = try await client.commit(.put("b", "2"))
            #expect(try await watch(.prefix([]), from: put.header.revision + 1).events().map(\.text) == ["-a"])
            #expect(try await client.keepAlive(lease.id) == nil)
            #expect(try await client.range(EtcdRange(.prefix([]))).keys.map(\.key) == [utf8("b")])
        }

        @Test func `A watch delivers past and future events, in order and by whole revisions`() async throws {
            let first = try await client.commit(.put("a", "1")).header.revision
            _ = try await client.commit(.put(["a", "b"], utf8("2")))
            _ = try await client.commit(.put("c", "3"))
            let reader = watch(.prefix([]), from: first)
            try await reader.created()
            // Several revisions are one message.
            let past = try await reader.events()
            #expect(past.map(\.text) == ["a=1", "a=2", "b=2", "c=3"])
            #expect(past.map { $0.pair.modRevision - first } == [0, 1, 1, 2])
            _ = try await client.commit(EtcdTransaction(then: [.delete(.prefix([]))]))
            #expect(try await reader.events().map(\.text) == ["-a", "-b", "-c"])
        }

        @Test func `A watch from a compacted revision ends with the first remaining revision`() async throws {
            _ = try await client.commit(.put("a", "1"))
            let revision = try await client.commit(.put("a", "2")).header.revision
            #expect(try await server.post("kv/compaction", #"{"revision":"\#(revision)"}"#).status == 200)
            #expect(await watch(.key(utf8("a")), from: 1).end() == .compacted(revision))
            let old = await etcdFailure { try await client.range(EtcdRange(.key(utf8("a")), revision: 1)) }
            #expect(old == .compacted(0))
            let next = watch(.key(utf8("a")), from: revision)
            try await next.created()
            #expect(try await next.events().map(\.text) == ["a=2"])
        }

        @Test func `A watch from a future revision waits for it`() async throws {
            let revision = try await client.status().header.revision
            let reader = watch(.key(utf8("a")), from: revision + 2)
            try await reader.created()
            _ = try await client.commit(.put("a", "1"))
            _ = try await client.commit(.put("a", "2"))
            #expect(try await reader.events().map(\.text) == ["a=2"])
        }

        @Test func `A watch whose past events exceed a message ends with an error`() async throws {
            let value = [UInt8](repeating: 7, count: 65_536)
            for _ in 0..<13 { _ = try await client.commit(.put((0..<20).map { "k\($0)" }, value)) }
            let past = watch(.prefix(utf8("k")), from: 1)
            try await past.created()
            #expect(await past.end()?.kind == "tooLarge")
        }

        @Test func `A transaction at the limits of the client is accepted`() async throws {
            #expect(try await client.commit(.put((0..<128).map { "k\($0)" }, [])).responses.count == 128)
            let value = [UInt8](repeating: 0, count: EtcdRequests.maxBytes - 33)
            #expect(try await client.commit(.put(["a"], value)).succeeded)
            #expect(try await client.range(EtcdRange(.key(utf8("a")))).keys.first?.value.count == value.count)
        }
    }
}
