// Tests the proof of authors: which writes are those of an etcd user, and which only say so.

import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct FleetAuthorsTests {
    private let harness = OperatorHarness()

    private func fleet(_ user: String?) -> FleetOperator {
        var fleet = harness.fleet(by: "ceo@hq")
        fleet.user = user
        return fleet
    }

    private func set(_ value: Int64, by user: String?, of fleet: FleetOperator? = nil) async throws -> Int64 {
        let fleet = fleet ?? self.fleet(user)
        return try await fleet.set([try harness.assignment("A/B/C", .int(value))]).header.revision
    }

    @Test func `Nothing is said of authors where no user proves anything`() async throws {
        let revision = try await set(1, by: nil)
        #expect(try await fleet(nil).authors().verdict(at: revision) == nil)
    }

    @Test func `Each write of a user is proved, also after later ones and those of others`() async throws {
        var expected: [(Int64, FleetAuthors.Verdict)] = []
        for (value, user) in [(1, "ana"), (2, "bob"), (3, nil), (4, "ana"), (5, "ana")] as [(Int64, String?)] {
            let revision = try await set(value, by: user)
            expected.append((revision, user.map { .proved($0) } ?? .unproved))
        }
        let authors = try await fleet(nil).authors()
        for (revision, verdict) in expected { #expect(authors.verdict(at: revision) == verdict) }
        let head = try #require(try await fleet(nil).readState().head)
        #expect(authors.verdict(at: head.modRevision) == .proved("ana"))
    }

    @Test func `A write that names another author is that of its user, or unproved`() async throws {
        _ = try await set(1, by: "ana")
        // Bob repeats everything that Ana has written but what only she may write.
        let copies = harness.etcd.all(harness.keys.all).filter { !$0.key.starts(with: harness.keys.users) }
        let result = try await harness.etcd.commit(
            EtcdTransaction(then: copies.map { .put(key: $0.key, value: $0.value) }))
        #expect(try await fleet(nil).authors().verdict(at: result.header.revision) == .unproved)
    }

    @Test func `A key that cannot be read proves its last write, and is written again`() async throws {
        let first = try await set(1, by: "ana")
        harness.etcd.put(harness.keys.user("ana"), utf8("garbage"))
        #expect(try await fleet(nil).authors().verdict(at: first) == .unproved)
        let second = try await set(2, by: "ana")
        let third = try await set(3, by: "ana")
        let authors = try await fleet(nil).authors()
        #expect(authors.verdict(at: second) == .proved("ana") && authors.verdict(at: third) == .proved("ana"))
    }

    @Test func `A user's key keeps the last 1,000 writes`() throws {
        var user = FleetUser()
        for revision in 1...1_500 as ClosedRange<Int64> { user.add(revision) }
        #expect(user.revisions.count == 1_000 && user.revisions.last == 1_500)
        #expect(try FleetUser(user.bytes) == user && user.bytes.count < 64 << 10)
        for text in [#"{"revisions":["1"]}"#, #"{"revisions":[1.5]}"#, #"{"revisions":[-1]}"#, "[]"] {
            #expect(throws: FleetProblem.self) { try FleetUser(utf8(text)) }
        }
    }

    @Test func `Of two writes of one user at the same time, one is made again`() async throws {
        let (other, assignment) = (fleet("ana"), try harness.assignment("A/B/D", .int(7)))
        let raced = InterposedEtcd.raced(harness.etcd) { _ throws(EtcdError) in _ = try? await other.set([assignment]) }
        var fleet = harness.fleet(on: raced)
        fleet.user = "ana"
        let revision = try await set(1, by: nil, of: fleet)
        let authors = try await fleet.authors()
        #expect(authors.verdict(at: revision) == .proved("ana"))
        #expect(authors.verdict(at: revision - 1) == .proved("ana"))
    }
}
