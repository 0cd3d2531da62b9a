// Declares what the fleet asks of etcd: reads at a revision, transactions, leases and watches.

/// A store of keys with revisions, as etcd is one. The client speaks to real ones; tests have one in memory.
package protocol Etcd: Sendable {
    /// All keys of a range, at one revision, however many pages that takes.
    func range(_ range: EtcdRange) async throws(EtcdError) -> EtcdRangeResult
    /// Compares, and does one list of operations or the other, at one revision.
    func commit(_ transaction: EtcdTransaction) async throws(EtcdError) -> EtcdTransactionResult
    /// A lease that lives for so many seconds unless it is kept alive.
    func grantLease(seconds: Int64) async throws(EtcdError) -> EtcdLease
    /// Keeps a lease alive; nil where it is gone.
    func keepAlive(_ lease: Int64) async throws(EtcdError) -> EtcdLease?
    /// Ends a lease; its keys go with it.
    func revokeLease(_ lease: Int64) async throws(EtcdError)
    /// Changes of a range from a revision on. It ends by throwing; cancelling the task that reads it closes it. Where it
    /// throws `.compacted`, or `.tooLarge` for a past beyond 16 MiB in one message, the range has to be read anew.
    func watch(_ range: EtcdKeys, from revision: Int64) -> AsyncThrowingStream<EtcdWatchMessage, any Error>
    /// What a member says of itself.
    func status() async throws(EtcdError) -> EtcdStatus
}

/// Which keys: one, or all with a prefix. Keys are bytes, and need not be text.
package enum EtcdKeys: Hashable, Sendable {
    case key([UInt8])
    case prefix([UInt8])
}

/// A read.
package struct EtcdRange: Sendable {
    package var keys: EtcdKeys
    /// 0: the newest.
    package var revision: Int64 = 0
    /// At most so many keys; 0: all of them.
    package var limit = 0
    /// Without values.
    package var keysOnly = false

    package init(_ keys: EtcdKeys, revision: Int64 = 0, limit: Int = 0, keysOnly: Bool = false) {
        (self.keys, self.revision, self.limit, self.keysOnly) = (keys, revision, limit, keysOnly)
    }
}

/// What every answer says of the store.
package struct EtcdHeader: Hashable, Sendable {
    package var clusterID: UInt64 = 0
    package var revision: Int64 = 0

    package init(clusterID: UInt64 = 0, revision: Int64 = 0) {
        (self.clusterID, self.revision) = (clusterID, revision)
    }
}

/// A key and its value.
package struct EtcdKeyValue: Hashable, Sendable {
    package var key: [UInt8]
    package var value: [UInt8] = []
    package var createRevision: Int64 = 0
    package var modRevision: Int64 = 0
    package var version: Int64 = 0
    /// 0: none.
    package var lease: Int64 = 0

    package init(
        key: [UInt8], value: [UInt8] = [], createRevision: Int64 = 0, modRevision: Int64 = 0, version: Int64 = 0,
        lease: Int64 = 0
    ) {
        (self.key, self.value, self.version, self.lease) = (key, value, version, lease)
        (self.createRevision, self.modRevision) = (createRevision, modRevision)
    }
}

package struct EtcdRangeResult: Hashable, Sendable {
    /// Its revision is that at which all of it was read.
    package var header: EtcdHeader
    package var keys: [EtcdKeyValue] = []
    /// How many keys the range has, also beyond a limit.
    package var count: Int64 = 0

    package init(header: EtcdHeader, keys: [EtcdKeyValue] = [], count: Int64 = 0) {
        (self.header, self.keys, self.count) = (header, keys, count)
    }
}

/// Operations that happen together or not at all.
package struct EtcdTransaction: Sendable {
    package enum Compare: Hashable, Sendable {
        /// The key was last changed at this revision; 0: it does not exist.
        case modRevision([UInt8], equals: Int64)
        /// The key was created at this revision; 0: it does not exist.
        case createRevision([UInt8], equals: Int64)
    }

    package enum Operation: Hashable, Sendable {
        /// A put without a lease takes one off its key.
        case put(key: [UInt8], value: [UInt8], lease: Int64 = 0)
        case delete(EtcdKeys)
        case range(EtcdKeys, limit: Int = 0)
    }

    package var compares: [Compare]
    package var success: [Operation]
    package var failure: [Operation]

    package init(
        if compares: [Compare] = [], then success: [Operation], otherwise failure: [Operation] = []
    ) {
        (self.compares, self.success, self.failure) = (compares, success, failure)
    }
}

package struct EtcdTransactionResult: Hashable, Sendable {
    package enum Response: Hashable, Sendable {
        case put
        case delete(count: Int64)
        case range(EtcdRangeResult)
    }

    package var header: EtcdHeader
    package var succeeded: Bool
    package var responses: [Response]

    package init(header: EtcdHeader, succeeded: Bool, responses: [Response]) {
        (self.header, self.succeeded, self.responses) = (header, succeeded, responses)
    }
}

package struct EtcdLease: Hashable, Sendable {
    package var id: Int64
    /// What etcd grants, in seconds: at least what was asked for.
    package var seconds: Int64

    package init(id: Int64, seconds: Int64) { (self.id, self.seconds) = (id, seconds) }
}

package struct EtcdStatus: Hashable, Sendable {
    package var header: EtcdHeader
    package var version: String
    /// 0: there is none.
    package var leader: UInt64
    /// Bytes of the store.
    package var size: Int64

    package init(header: EtcdHeader, version: String, leader: UInt64, size: Int64) {
        (self.header, self.version, self.leader, self.size) = (header, version, leader, size)
    }
}

/// A change of one key.
package struct EtcdEvent: Hashable, Sendable {
    package enum Kind: Hashable, Sendable { case put, delete }

    package var kind: Kind
    /// Of a deletion, key and revision alone.
    package var pair: EtcdKeyValue

    package init(_ kind: Kind, _ pair: EtcdKeyValue) { (self.kind, self.pair) = (kind, pair) }
}

/// What an open watch says.
package enum EtcdWatchMessage: Hashable, Sendable {
    /// The watch stands.
    case created(EtcdHeader)
    /// Whole revisions, in their order: the events of one revision are never spread over two messages. Without events it
    /// is a sign of progress up to the header's revision; with events, that may be newer than they are, and than others
    /// that are still to come.
    case events(EtcdHeader, [EtcdEvent])
}

/// Why etcd did not do what was asked.
package enum EtcdError: Error, Hashable, Sendable {
    /// No endpoint answered; with what was said of the last. What was asked may be done all the same, and so after
    /// `.unavailable`: a transaction with comparisons is not sent again by itself.
    case unreachable(String)
    /// It answered that it cannot now: no leader, too many requests, a timeout. Worth another attempt.
    case unavailable(String)
    /// Who asks must authenticate (again).
    case unauthenticated(String)
    /// Who asks may not.
    case forbidden(String)
    /// The store has reached its quota (`mvcc: database space exceeded`).
    case noSpace(String)
    /// The revision was compacted away; what is left begins here. 0: that is not said, as to a range.
    case compacted(Int64)
    /// The revision is in the future of this store.
    case futureRevision(String)
    /// No such lease.
    case leaseNotFound
    /// More than etcd, or this client, takes.
    case tooLarge(String)
    /// What was asked is wrong.
    case refused(String)
    /// The answer is not one of etcd's.
    case garbled(String)
    /// The task that asked was cancelled.
    case cancelled
}
