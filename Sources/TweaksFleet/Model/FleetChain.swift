// Chains the operators' writes by hashes, and decides whether a store continues what a process has applied.

import Tweaks
import TweaksWire

/// The chain of a fleet's writes: each head names a hash of everything that operators have written before it.
///
///     chain = SHA-256(previous LF counter LF operations), in hexadecimal
///
/// `previous` is the chain of the head before, or nothing if that had none. The operations are those of the write below
/// `desired/`, except for the head, sorted by the bytes of their keys: `put KEY LF VALUE LF` or `delete KEY LF`. What
/// ends with a lease, or is changed without a head, is outside of the chain.
package enum FleetChain {
    /// The number of writes that a process can have missed and still prove that a store continues its own.
    package static let length: UInt64 = 10_000
    /// The digits that a status has room for.
    package static let shortLength = 16

    /// The chain after a write.
    package static func next(
        _ previous: String?, _ counter: UInt64, _ operations: [EtcdTransaction.Operation]
    ) -> String {
        let lines = operations.compactMap(line).sorted { $0.key.lexicographicallyPrecedes($1.key) }
        let text = Array("\(previous ?? "")\n\(counter)\n".utf8) + lines.flatMap(\.bytes)
        return hash(text)
    }

    /// SHA-256 in hexadecimal.
    package static func hash(_ bytes: [UInt8]) -> String { hex(SHA256.digest(bytes)) }

    private static func line(_ operation: EtcdTransaction.Operation) -> (key: [UInt8], bytes: [UInt8])? {
        switch operation {
        case .put(let key, let value, _): (key, Array("put ".utf8) + key + [0x0A] + value + [0x0A])
        case .delete(.key(let key)): (key, Array("delete ".utf8) + key + [0x0A])
        case .delete(.prefix), .range: nil
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func hex(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Whether a text is a chain: 64 hexadecimal digits, in lower case.
    package static func isChain(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 2 * SHA256.count && text.utf8.allSatisfy { digits.contains($0) }
    }
}

/// Why a process does not apply the content of a store.
package struct StoreProblem: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Sendable {
        /// The store does not continue what was applied.
        case otherPast = "other past"
        /// Whether it does cannot be known any more.
        case unproven
        /// There are more keys than a process takes.
        case tooLarge = "too large"
    }

    package let kind: Kind
    package let description: String

    init(_ kind: Kind, _ text: String) {
        self.kind = kind
        description = kind == .tooLarge ? text : "\(kind.rawValue): \(text)"
    }

    /// Whether `adopt` resolves it.
    package var needsAdoption: Bool { kind != .tooLarge }

    static let tooLarge = StoreProblem(
        .tooLarge, "the fleet has more than \(DesiredState.maxKeys) keys; remove some")
}

/// What a store says of its past, read at one revision.
package struct FleetProof: Hashable, Sendable {
    package var header: EtcdHeader
    package var head: FleetHead?
    /// The revision at which the head was written; 0 if there is none.
    package var headRevision: Int64 = 0
    /// The chain that the store has for the write that the process has applied last; nil if it has none.
    package var ancestor: String?

    package init(header: EtcdHeader, head: FleetHead?, headRevision: Int64 = 0, ancestor: String? = nil) {
        self.header = header
        self.head = head
        self.headRevision = headRevision
        self.ancestor = ancestor
    }
}

/// How far a process has followed its fleet.
package struct FleetPosition: Hashable, Sendable {
    package var clusterID: UInt64
    package var revision: Int64
    package var head: FleetHead?

    package init(clusterID: UInt64, revision: Int64, head: FleetHead?) {
        self.clusterID = clusterID
        self.revision = revision
        self.head = head
    }

    /// Whether a store is followed because it was adopted, so that all of it must be read: changes since an applied
    /// revision are those of another past.
    package func needsRead(for head: FleetHead?) -> Bool {
        guard let head, head.adopted > (self.head?.counter ?? 0), head != self.head else { return false }
        return head.previous == nil || head.previous != self.head?.chain
    }

    /// Whether ``problem(with:)`` depends on the ancestor in the proof.
    package func needsAncestor(for head: FleetHead?) -> Bool {
        guard let known = self.head, let chain = known.chain, let head, head.chain != nil else { return false }
        return head.adopted <= known.counter && head.counter > known.counter && head.previous != chain
    }

    /// Returns why a store does not continue what was applied; nil if it does, or is declared to be the one to follow.
    package func problem(with proof: FleetProof) -> StoreProblem? {
        if let head = proof.head, head.adopted > (self.head?.counter ?? 0) { return nil }
        if proof.header.clusterID != clusterID {
            let (old, new) = (String(clusterID, radix: 16), String(proof.header.clusterID, radix: 16))
            return StoreProblem(.otherPast, "etcd is another cluster, \(new) and not \(old)")
        }
        guard let known = head else { return nil }
        guard let head = proof.head else {
            return StoreProblem(.otherPast, "etcd has no head of the fleet anymore: it was emptied")
        }
        if head.counter < known.counter || proof.header.revision < revision {
            return StoreProblem(
                .otherPast, "etcd was restored: it is at write \(head.counter), and \(known.counter) was applied")
        }
        if head == known { return nil }
        // What was written until the revision that was applied is known.
        if head.counter == known.counter || proof.headRevision > 0 && proof.headRevision <= revision {
            return StoreProblem(.otherPast, "write \(head.counter) of etcd is not the one that was applied")
        }
        return lineageProblem(head, known, proof.ancestor)
    }

    /// Returns why a later write does not follow from the one that was applied. Heads without a chain, of an older
    /// operator, prove nothing.
    private func lineageProblem(_ head: FleetHead, _ known: FleetHead, _ ancestor: String?) -> StoreProblem? {
        guard let chain = known.chain, head.chain != nil, head.previous != chain else { return nil }
        if ancestor == chain { return nil }
        if ancestor == nil {
            return StoreProblem(
                .unproven, "etcd no longer has the record of write \(known.counter), which was applied last")
        }
        return StoreProblem(.otherPast, "write \(known.counter) of etcd is not the one that was applied")
    }
}
