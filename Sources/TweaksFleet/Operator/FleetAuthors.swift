// Proves who has written to a fleet, where etcd knows its users: each keeps a list that no other may write.

import Tweaks

/// `users/NAME`: the revisions at which an etcd user has written to the fleet.
///
/// etcd stores no author. So each write of a user who has signed in changes this key in the same transaction, and etcd's
/// roles let no other user write it. The revision of the last write is that of the key itself, and the next write adds it.
package struct FleetUser: Hashable, Sendable {
    /// In ascending order, without the last one.
    package private(set) var revisions: [Int64] = []

    /// How many are kept; older writes are unproved.
    package static let maxRevisions = 1_000

    package init() {}

    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        let fields = try FleetFields(bytes, max: 64 << 10)
        for json in try fields.array("revisions", max: Self.maxRevisions) {
            guard let number = json.wholeNumber, let revision = Int64(exactly: number) else {
                throw FleetProblem("“revisions” holds something that is not a revision")
            }
            revisions.append(revision)
        }
    }

    /// One line of JSON.
    package var bytes: [UInt8] { [("revisions", .array(revisions.map { .int($0) }))].line }

    /// Adds the revision of the key before it is written again.
    mutating func add(_ revision: Int64) {
        revisions = revisions.suffix(Self.maxRevisions - 1) + [revision]
    }
}

/// The user of an operator, and the state of its key.
struct SignedInUser: Sendable {
    let name: String
    let record: FleetUser
    /// 0 if the key does not exist.
    let revision: Int64

    /// What the key has after the next write.
    var nextBytes: [UInt8] {
        var next = record
        if revision > 0 { next.add(revision) }
        return next.bytes
    }
}

/// The proved authors of a fleet's writes.
package struct FleetAuthors: Sendable {
    package enum Verdict: Hashable, Sendable {
        /// This etcd user has written it.
        case proved(String)
        case unproved
    }

    private var names: [Int64: String] = [:]
    /// Whether users prove their writes in this fleet; otherwise nothing is said of any.
    package let areProved: Bool

    /// - Parameter users: The keys below `users/`.
    package init(_ users: EtcdRangeResult, _ keys: FleetKeys) {
        areProved = !users.keys.isEmpty
        for pair in users.keys {
            guard let name = String(validating: pair.key.dropFirst(keys.users.count), as: UTF8.self) else { continue }
            // Only the user can have made it unreadable, and the last write is proved all the same.
            let earlier = (try? FleetUser(pair.value))?.revisions ?? []
            for revision in earlier + [pair.modRevision] { names[revision] = name }
        }
    }

    /// Who has written what was last changed at a revision; nil where users prove nothing.
    package func verdict(at revision: Int64) -> Verdict? {
        areProved ? names[revision].map { .proved($0) } ?? .unproved : nil
    }
}

extension FleetOperator {
    package func authors() async throws(FleetRefusal) -> FleetAuthors {
        FleetAuthors(try await range(.prefix(keys.users)), keys)
    }

    /// Reads the key of the user who has signed in; nil without one.
    func signedIn() async throws(FleetRefusal) -> SignedInUser? {
        guard let user else { return nil }
        let pair = try await range(.key(keys.user(user))).keys.first
        // Where authentication is off, any client can have any name.
        guard etcd.isSignedIn else { return nil }
        // What cannot be read proves nothing, and is written again.
        let record = pair.flatMap { try? FleetUser($0.value) } ?? FleetUser()
        return SignedInUser(name: user, record: record, revision: pair?.modRevision ?? 0)
    }
}
