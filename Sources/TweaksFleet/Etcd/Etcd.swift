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
    /// Whether etcd has authenticated the user of the last call.
    var isSignedIn: Bool { get }
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
        self.keys = keys
        self.revision = revision
        self.limit = limit
        self.keysOnly = keysOnly
    }
}

/// The store's state, which every reply carries.
package struct EtcdHeader: Hashable, Sendable {
    package var clusterID: UInt64 = 0
    package var revision: Int64 = 0

    package init(clusterID: UInt64 = 0, revision: Int64 = 0) {
        self.clusterID = clusterID
        self.revision = revision
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
        self.key = key
        self.value = value
        self.version = version
        self.lease = lease
        self.createRevision = createRevision
        self.modRevision = modRevision
    }
}

package struct EtcdRangeResult: Hashable, Sendable {
    /// Its revision is the one at which the whole range was read.
    package var header: EtcdHeader
    package var keys: [EtcdKeyValue] = []
    /// The number of keys in the range, including those beyond the limit.
    package var count: Int64 = 0

    package init(header: EtcdHeader, keys: [EtcdKeyValue] = [], count: Int64 = 0) {
        self.header = header
        self.keys = keys
        self.count = count
    }
}

/// Operations that are applied together or not at all.
package struct EtcdTransaction: Sendable {
    package enum Compare: Hashable, Sendable {
        /// The key was last changed at this revision; 0 means that it does not exist.
        case modRevision([UInt8], equals: Int64)
        /// The key was created at this revision; 0 means that it does not exist.
        case createRevision([UInt8], equals: Int64)
        /// No key begins with this prefix.
        case absent(prefix: [UInt8])
        /// No key that begins with this prefix was created after this revision.
        case noneCreated(prefix: [UInt8], after: Int64)
    }

    package enum Operation: Hashable, Sendable {
        /// A put without a lease detaches the key from its current lease.
        case put(key: [UInt8], value: [UInt8], lease: Int64 = 0)
        case delete(EtcdKeys)
        /// - Parameter keysOnly: Leaves out the values.
        case range(EtcdKeys, limit: Int = 0, keysOnly: Bool = false)
    }

    package var compares: [Compare]
    package var success: [Operation]
    package var failure: [Operation]

    package init(
        if compares: [Compare] = [], then success: [Operation], otherwise failure: [Operation] = []
    ) {
        self.compares = compares
        self.success = success
        self.failure = failure
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
}

package struct EtcdLease: Hashable, Sendable {
    package var id: Int64
    /// The granted lifetime in seconds: at least the requested one.
    package var seconds: Int64
}

package struct EtcdStatus: Hashable, Sendable {
    package var header: EtcdHeader
    package var version: String
    /// 0 means that there is no leader.
    package var leader: UInt64
    /// The size of the store in bytes.
    package var size: Int64
    /// The alarms that are raised, which persist until an administrator disarms them.
    package var alarms: [EtcdAlarm] = []
}

/// An alarm of etcd.
package enum EtcdAlarm: String, Hashable, Sendable, CaseIterable {
    /// The store has reached its quota: it accepts nothing but deletions.
    case noSpace = "NOSPACE"
    /// Members have different data: etcd serves nothing but reads that may be wrong.
    case corrupt = "CORRUPT"
}

/// A change of one key.
package struct EtcdEvent: Hashable, Sendable {
    package enum Kind: Hashable, Sendable { case put, delete }

    package var kind: Kind
    /// A deletion carries only the key and the revision.
    package var pair: EtcdKeyValue

    package init(_ kind: Kind, _ pair: EtcdKeyValue) {
        self.kind = kind
        self.pair = pair
    }
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
