// Tests the chain of writes: its hashes, and which stores continue what a process has applied.

import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct FleetChainTests {
    private let harness = OperatorHarness()

    @Test func `The chain is a hash that other programs compute, too`() {
        // printf '\n7\ndelete /a\nput /b\n{"x":1}\n' | sha256sum
        let operations: [EtcdTransaction.Operation] = [
            .put(key: utf8("/b"), value: utf8(#"{"x":1}"#), lease: 5), .delete(.key(utf8("/a"))),
        ]
        #expect(
            FleetChain.next(nil, 7, operations) == "7d3127d9d364e617219907c42e9ba299edc50dfed94f0b2009c282236ccbf1ab")
        #expect(
            FleetChain.next(String(repeating: "0", count: 64), 7, operations)
                == "1f78ed52d10422d132ca41d915a370b68c4e88579275f4ff45d5a7f597d23921")
        #expect(FleetChain.next(nil, 7, operations) == FleetChain.next(nil, 7, operations.reversed()))
    }

    @Test func `Each write names the chain before it, and keeps its own for processes that missed it`() async throws {
        let fleet = harness.fleet()
        var previous: String?
        for number in 1...4 {
            _ = try await fleet.set([try harness.assignment("A/B/C", .int(Int64(number)))])
            let head = try #require(try await fleet.readState().head?.value)
            #expect(head.previous == previous && head.chain != previous && head.chain != nil)
            #expect(harness.etcd.value(harness.keys.chain(UInt64(number)))?.value == head.chain.map(utf8))
            previous = head.chain
        }
        // An older operator writes none, and the next write begins a chain.
        harness.etcd.put(harness.keys.head, FleetHead(counter: 5, by: "old", what: "set", at: 0).bytes)
        _ = try await fleet.set([try harness.assignment("A/B/C", .int(9))])
        let head = try #require(try await fleet.readState().head?.value)
        #expect(head.counter == 6 && head.previous == nil && head.chain != nil)
    }

    @Test func `The chains of the last 10,000 writes stay`() async throws {
        for counter in [1, 2, 3] as [UInt64] { harness.etcd.put(harness.keys.chain(counter), utf8("x")) }
        harness.etcd.put(harness.keys.head, FleetHead(counter: 10_001, by: "ana", what: "set", at: 0).bytes)
        _ = try await harness.fleet().set([try harness.assignment("A/B/C", .int(1))])
        let kept = harness.etcd.all(utf8("/tweaks/api/chain/")).map {
            String(decoding: $0.key.suffix(5), as: UTF8.self)
        }
        #expect(kept == ["00001", "00003", "10002"])
    }

    /// A head with a chain of a repeated digit.
    private func head(
        _ counter: UInt64, _ chain: Character? = nil, after previous: Character? = nil, adopted: UInt64 = 0
    ) -> FleetHead {
        var head = FleetHead(counter: counter, by: "ana", what: "set", at: 0)
        (head.chain, head.previous) = (chain.map { String(repeating: $0, count: 64) }, nil)
        head.previous = previous.map { String(repeating: $0, count: 64) }
        head.adopted = adopted
        return head
    }

    @Test func `A store is followed only if it continues what was applied`() {
        typealias Case = (known: FleetHead?, head: FleetHead?, ancestor: Character?, found: StoreProblem.Kind?)
        let cases: [Case] = [
            (nil, head(5, "5"), nil, nil), (nil, nil, nil, nil),
            (head(5, "5"), head(5, "5"), nil, nil),
            (head(5, "5"), head(6, "6", after: "5"), nil, nil),
            (head(5, "5"), head(8, "8", after: "7"), "5", nil),
            (head(5, "5"), head(8, "8", after: "7"), "4", .otherPast),
            (head(5, "5"), head(8, "8", after: "7"), nil, .unproven),
            (head(5, "5"), head(6, "6", after: "4"), "4", .otherPast),
            (head(5, "5"), head(5, "6"), nil, .otherPast),
            (head(5, "5"), head(4, "4"), nil, .otherPast),
            (head(5, "5"), nil, nil, .otherPast),
            (head(5, "5"), head(8, "8", after: "7", adopted: 6), "4", nil),
            (head(5, "5"), head(8, "8", after: "7", adopted: 5), "4", .otherPast),
            // Of older operators.
            (head(5), head(6, "6"), nil, nil), (head(5, "5"), head(6), nil, nil), (head(5), head(6), nil, nil),
            (head(5), head(4), nil, .otherPast),
        ]
        for (known, head, ancestor, found) in cases {
            let position = FleetPosition(clusterID: 1, revision: 50, head: known)
            let proof = FleetProof(
                header: EtcdHeader(clusterID: 1, revision: 90), head: head, headRevision: head == known ? 50 : 60,
                ancestor: ancestor.map { String(repeating: $0, count: 64) })
            #expect(position.problem(with: proof)?.kind == found, "\(String(describing: (known, head, ancestor)))")
        }
    }

    @Test func `An adopted store is read as a whole, unless it continues what was applied`() {
        let position = FleetPosition(clusterID: 1, revision: 50, head: head(5, "5"))
        #expect(position.needsRead(for: head(7, "7", after: "6", adopted: 6)))
        #expect(position.needsRead(for: head(6, "6", adopted: 6)))
        #expect(!position.needsRead(for: head(6, "6", after: "5", adopted: 6)))
        #expect(!position.needsRead(for: head(7, "7", after: "6", adopted: 5)))
        let adopted = FleetPosition(clusterID: 1, revision: 50, head: head(6, "6", after: "4", adopted: 6))
        #expect(!adopted.needsRead(for: head(6, "6", after: "4", adopted: 6)))
        #expect(!adopted.needsRead(for: head(7, "7", after: "6", adopted: 6)))
    }

    @Test func `What the store says of the past that was applied must be the same`() {
        let position = FleetPosition(clusterID: 1, revision: 50, head: head(5, "5"))
        func problem(_ header: EtcdHeader, _ head: FleetHead, at revision: Int64) -> StoreProblem.Kind? {
            position.problem(with: FleetProof(header: header, head: head, headRevision: revision))?.kind
        }
        let header = EtcdHeader(clusterID: 1, revision: 90)
        #expect(problem(header, head(6, "6", after: "5"), at: 50) == .otherPast)
        #expect(problem(header, head(6, "6", after: "5"), at: 51) == nil)
        #expect(problem(EtcdHeader(clusterID: 2, revision: 90), head(5, "5"), at: 50) == .otherPast)
        #expect(problem(EtcdHeader(clusterID: 1, revision: 49), head(5, "5"), at: 49) == .otherPast)
    }
}
