// Checks the client against a real etcd: reads, transactions, leases, watches, compaction, a full store.

import Testing

@testable import TweaksFleet

extension RealEtcd {
    @Suite struct EtcdClientLiveTests {
        @Test func `A transaction puts, compares and deletes, and says what it found`() async throws {
            let server = try await EtcdServer.start()
            let client = try server.client()
            defer { client.close() }
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

        @Test func `A range of 250 keys is read in pages, at one revision`() async throws {
            let server = try await EtcdServer.start()
            let client = try server.client()
            defer { client.close() }
            let keys = (0..<250).map { utf8("k/\(1_000 + $0)") }
            for part in stride(from: 0, to: keys.count, by: 125) {
                let puts = keys[part..<(part + 125)].map { EtcdTransaction.Operation.put(key: $0, value: [1]) }
                _ = try await client.commit(EtcdTransaction(then: puts))
            }
            let last = try await client.commit(.put("other"))
            let result = try await client.range(EtcdRange(.prefix(utf8("k/"))))
            #expect(result.keys.map(\.key) == keys && result.count == 250)
            #expect(result.header.revision == last.header.revision)
            let some = try await client.range(EtcdRange(.prefix(utf8("k/")), limit: 3, keysOnly: true))
            #expect(some.keys.map(\.key) == Array(keys.prefix(3)) && some.count == 250)
            #expect(some.keys.allSatisfy { $0.value.isEmpty })
        }

        /// A page of these is 8 MiB, and more than gRPC takes by default.
        @Test func `A hundred values of 64 KiB are one page`() async throws {
            let server = try await EtcdServer.start()
            let client = try server.client()
            defer { client.close() }
            let value = [UInt8](repeating: 7, count: 65_536)
            for part in 0..<5 {
                let puts = (0..<20).map { number in
                    EtcdTransaction.Operation.put(key: utf8("k/\(part * 20 + number)"), value: value)
                }
                _ = try await client.commit(EtcdTransaction(then: puts))
            }
            let result = try await client.range(EtcdRange(.prefix(utf8("k/"))))
            #expect(result.keys.count == 100 && result.keys.allSatisfy { $0.value == value })
        }

        @Test func `A lease is granted, kept alive and revoked, and its key goes with it`() async throws {
            let server = try await EtcdServer.start()
            let client = try server.client()
            defer { client.close() }
            let lease = try await client.grantLease(seconds: 60)
            #expect(lease.id != 0 && lease.seconds == 60)
            #expect(try await client.keepAlive(lease.id) == lease)
            let put = try await client.commit(.put("a", "1", lease: lease.id))
            #expect(try await client.range(EtcdRange(.key(utf8("a")))).keys.first?.lease == lease.id)
            let reader = EtcdWatchReader(client.watch(.key(utf8("a")), from: put.header.revision + 1))
            try await reader.created()
            try await client.revokeLease(lease.id)
            #expect(try await reader.events().map(\.text) == ["-a"])
            #expect(try await client.keepAlive(lease.id) == nil)
            #expect(await etcdFailure { try await client.revokeLease(lease.id) } == .leaseNotFound)
            let error = await etcdFailure { try await client.commit(.put("a", "1", lease: lease.id)) }
            #expect(error == .leaseNotFound)
        }

        @Test func `A lease that nobody keeps alive expires, and a put without it keeps its key`() async throws {
            let server = try await EtcdServer.start()
            let client = try server.client()
            defer { client.close() }
            let lease = try await client.grantLease(seconds: 1)
            _ = try await client.commit(.put("a", "1", lease: lease.id))
            _ = try await client.commit(.put("b", "1", lease: lease.id))
            let put = try await client.commit(.put("b", "2"))
            let reader = EtcdWatchReader(client.watch(.prefix([]), from: put.header.revision + 1))
            #expect(try await reader.events().map(\.text) == ["-a"])
            #expect(try await client.keepAlive(lease.id) == nil)
            #expect(try await client.range(EtcdRange(.prefix([]))).keys.map(\.key) == [utf8("b")])
        }

        // MARK: Watches

        @Test func `A watch has what was, then what comes, whole revisions in their order`() async throws {
            let server = try await EtcdServer.start()
            let client = try server.client()
            defer { client.close() }
            let first = try await client.commit(.put("a", "1"))
            let two = EtcdTransaction(then: [
                .put(key: utf8("a"), value: utf8("2")), .put(key: utf8("b"), value: utf8("2")),
            ])
            _ = try await client.commit(two)
            _ = try await client.commit(.put("c", "3"))
            let reader = EtcdWatchReader(client.watch(.prefix([]), from: first.header.revision))
            try await reader.created()
            // Several revisions are one message.
            let past = try await reader.events()
            #expect(past.map(\.text) == ["a=1", "a=2", "b=2", "c=3"])
            #expect(past.map { $0.pair.modRevision - first.header.revision } == [0, 1, 1, 2])
            _ = try await client.commit(EtcdTransaction(then: [.delete(.prefix([]))]))
            #expect(try await reader.events().map(\.text) == ["-a", "-b", "-c"])
        }

        @Test func `A watch from a revision that is compacted says where what is left begins`() async throws {
            let server = try await EtcdServer.start()
            let client = try server.client()
            defer { client.close() }
            _ = try await client.commit(.put("a", "1"))
            let revision = try await client.commit(.put("a", "2")).header.revision
            #expect(try await server.post("kv/compaction", #"{"revision":"\#(revision)"}"#).status == 200)
            let reader = EtcdWatchReader(client.watch(.key(utf8("a")), from: 1))
            #expect(await reader.end() == .compacted(revision))
            let old = await etcdFailure { try await client.range(EtcdRange(.key(utf8("a")), revision: 1)) }
            #expect(old == .compacted(0))
            let standing = EtcdWatchReader(client.watch(.key(utf8("a")), from: revision))
            try await standing.created()
            #expect(try await standing.events().map(\.text) == ["a=2"])
        }

        @Test func `A watch of a future revision waits for it`() async throws {
            let server = try await EtcdServer.start()
            let client = try server.client()
            defer { client.close() }
            let revision = try await client.status().header.revision
            let reader = EtcdWatchReader(client.watch(.key(utf8("a")), from: revision + 2))
            try await reader.created()
            _ = try await client.commit(.put("a", "1"))
            _ = try await client.commit(.put("a", "2"))
            #expect(try await reader.events().map(\.text) == ["a=2"])
        }

        @Test func `A past that is too large for one message is told so`() async throws {
            let server = try await EtcdServer.start()
            let client = try server.client()
            defer { client.close() }
            let value = [UInt8](repeating: 7, count: 65_536)
            for _ in 0..<13 {
                let puts = (0..<20).map { EtcdTransaction.Operation.put(key: utf8("k\($0)"), value: value) }
                _ = try await client.commit(EtcdTransaction(then: puts))
            }
            let past = EtcdWatchReader(client.watch(.prefix(utf8("k")), from: 1))
            try await past.created()
            #expect(await past.end()?.kind == "tooLarge")
        }

        // MARK: Limits

        @Test func `A full store refuses to put, and deletes all the same`() async throws {
            let server = try await EtcdServer.start(flags: ["--quota-backend-bytes=300000"])
            let client = try server.client()
            defer { client.close() }
            let value = [UInt8](repeating: 0, count: 50_000)
            let full = await etcdFailure {
                for number in 0..<50 {
                    _ = try await client.commit(EtcdTransaction(then: [.put(key: utf8("k\(number)"), value: value)]))
                }
            }
            #expect(full == .noSpace("mvcc: database space exceeded"))
            let deleted = try await client.commit(EtcdTransaction(then: [.delete(.key(utf8("k0")))]))
            #expect(deleted.responses == [.delete(count: 1)])
        }

        @Test func `A transaction at the limits of the client is taken by etcd`() async throws {
            let server = try await EtcdServer.start()
            let client = try server.client()
            defer { client.close() }
            let many = (0..<128).map { EtcdTransaction.Operation.put(key: utf8("k\($0)"), value: []) }
            #expect(try await client.commit(EtcdTransaction(then: many)).responses.count == 128)
            let value = [UInt8](repeating: 0, count: EtcdRequests.maxBytes - 33)
            let large = EtcdTransaction(then: [.put(key: utf8("a"), value: value)])
            #expect(try await client.commit(large).succeeded)
            #expect(try await client.range(EtcdRange(.key(utf8("a")))).keys.first?.value.count == value.count)
        }
    }
}
