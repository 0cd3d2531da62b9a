// Declares the etcd operations that a fleet needs: reads at a revision, transactions, leases and watches.

/// A key-value store with revisions, such as etcd. ``EtcdClient`` talks to a real one; tests use one in memory.
package protocol Etcd: Sendable {
    /// Reads all keys of a range at one revision, in as many pages as needed.
    func range(_ range: EtcdRange) async throws(EtcdError) -> EtcdRangeResult
    /// Evaluates the comparisons, then runs one of the two lists of operations, at one revision.
    func commit(_ transaction: EtcdTransaction) async throws(EtcdError) -> EtcdTransactionResult
    /// Creates a lease that expires after this many seconds unless it is kept alive.
    func grantLease(seconds: Int64) async throws(EtcdError) -> EtcdLease
    /// Renews a lease; returns nil if it no longer exists.
    func keepAlive(_ lease: Int64) async throws(EtcdError) -> EtcdLease?
    /// Revokes a lease and deletes the keys attached to it.
    func revokeLease(_ lease: Int64) async throws(EtcdError)
    /// Streams the changes of a range from a revision on. The stream ends by throwing; canceling the task that reads it
    /// closes the watch. After `.compacted`, or `.tooLarge` for more than 8 MiB of past changes in one message, the
    /// range must be read again.
    func watch(_ range: EtcdKeys, from revision: Int64) -> AsyncThrowingStream<EtcdWatchMessage, any Error>
    /// Returns the status of one etcd member.
    func status() async throws(EtcdError) -> EtcdStatus
}

/// A range of keys: a single key, or all keys with a prefix. Keys are bytes and need not be text.
package enum EtcdKeys: Hashable, Sendable {
    case key([UInt8])
    case prefix([UInt8])
}

/// A read request.
package struct EtcdRange: Sendable {
    package var keys: EtcdKeys
    /// 0 means the newest revision.
    package var revision: Int64 = 0
    /// The maximum number of keys; 0 means all.
    package var limit = 0
    /// Leaves out the values.
    package var keysOnly = false

    package init(_ keys: EtcdKeys, revision: Int64 = 0, limit: Int = 0, keysOnly: Bool = false) {
        (self.keys, self.revision, self.limit, self.keysOnly) = (keys, revision, limit, keysOnly)
    }
}

/// The store's state, which every reply carries.
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
    /// 0 means no lease.
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
    /// Its revision is the one at which the whole range was read.
    package var header: EtcdHeader
    package var keys: [EtcdKeyValue] = []
    /// The number of keys in the range, including those beyond the limit.
    package var count: Int64 = 0

    package init(header: EtcdHeader, keys: [EtcdKeyValue] = [], count: Int64 = 0) {
        (self.header, self.keys, self.count) = (header, keys, count)
    }
}

/// Operations that are applied together or not at all.
package struct EtcdTransaction: Sendable {
    package enum Compare: Hashable, Sendable {
        /// The key was last changed at this revision; 0 means that it does not exist.
        case modRevision([UInt8], equals: Int64)
        /// The key was created at this revision; 0 means that it does not exist.
        case createRevision([UInt8], equals: Int64)
    }

    package enum Operation: Hashable, Sendable {
        /// A put without a lease detaches the key from its current lease.
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
    /// The granted lifetime in seconds: at least the requested one.
    package var seconds: Int64

    package init(id: Int64, seconds: Int64) { (self.id, self.seconds) = (id, seconds) }
}

package struct EtcdStatus: Hashable, Sendable {
    package var header: EtcdHeader
    package var version: String
    /// 0 means that there is no leader.
    package var leader: UInt64
    /// The size of the store in bytes.
    package var size: Int64

    package init(header: EtcdHeader, version: String, leader: UInt64, size: Int64) {
        (self.header, self.version, self.leader, self.size) = (header, version, leader, size)
    }
}

/// A change of one key.
package struct EtcdEvent: Hashable, Sendable {
    package enum Kind: Hashable, Sendable { case put, delete }

    package var kind: Kind
    /// A deletion carries only the key and the revision.
    package var pair: EtcdKeyValue

    package init(_ kind: Kind, _ pair: EtcdKeyValue) { (self.kind, self.pair) = (kind, pair) }
}

/// A message from an open watch.
package enum EtcdWatchMessage: Hashable, Sendable {
    /// The watch is open.
    case created(EtcdHeader)
    /// Complete revisions in ascending order: the events of one revision are never split over two messages. Without
    /// events this is a progress notification up to the header's revision. With events the header's revision may be
    /// newer than these events, and newer than events still to come.
    case events(EtcdHeader, [EtcdEvent])
}

/// An error from etcd, or from the connection to it.
package enum EtcdError: Error, Hashable, Sendable {
    /// No endpoint replied; the text describes the last failure. The request may have been applied anyway, also after
    /// `.unavailable`, so a transaction with comparisons is not retried automatically.
    case unreachable(String)
    /// etcd cannot serve the request now: no leader, too many requests, a timeout. Worth a retry.
    case unavailable(String)
    /// The client must authenticate (again).
    case unauthenticated(String)
    /// The user has no permission.
    case forbidden(String)
    /// The store has reached its quota (`mvcc: database space exceeded`).
    case noSpace(String)
    /// The revision was compacted away; the oldest available one is given. 0 means that etcd did not report it, as for
    /// ranges.
    case compacted(Int64)
    /// The store has not reached this revision yet.
    case futureRevision(String)
    /// The lease does not exist.
    case leaseNotFound
    /// The request or reply exceeds a limit of etcd or of this client.
    case tooLarge(String)
    /// The request is invalid.
    case refused(String)
    /// The reply is not a valid etcd reply.
    case garbled(String)
    /// The requesting task was canceled.
    case cancelled
}
