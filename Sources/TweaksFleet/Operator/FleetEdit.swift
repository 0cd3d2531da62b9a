// Builds the transaction of an operator's command: its keys, the head, the log.

import Tweaks

/// The changes of one write.
package struct FleetEdit: Sendable {
    /// The command, for the log.
    package var verb: String
    /// The command and its subject in a few words, for the head.
    package var what: String
    package var rollout: String?
    /// The old and new values, for the log.
    package var changes: [FleetLogEntry.Change] = []
    /// Operations on keys below `desired/`, except for the head.
    package var operations: [EtcdTransaction.Operation] = []
    /// Comparisons in addition to those of the head and the written keys.
    package var compares: [EtcdTransaction.Compare] = []
    /// The head's counter, if it is not the next number.
    package var counter: UInt64?
    /// Why a driver did it automatically, for the log.
    package var why: String?
    /// Hints for the operator.
    package var notes: [String] = []

    package init(_ verb: String, _ what: String, rollout: String? = nil) {
        (self.verb, self.what, self.rollout) = (verb, what, rollout)
    }

    /// The maximum number of changes in one write: etcd's limit is 128 operations.
    package static let maxChanges = 100
    /// The size limit of desired keys in bytes.
    static let maxBytes = 262_144
    /// The size limit in bytes, including the log's old values; etcd's limit is 1.5 MiB.
    static let maxRequestBytes = 1_048_576
    static let maxOperations = 128

    /// Rejects more changes than one write may contain.
    static func checkCount(_ count: Int, _ subject: String) throws(FleetRefusal) {
        if count <= maxChanges { return }
        throw FleetRefusal(
            .refused,
            "\(subject): \(count) changes are too many for one write, which has at most \(maxChanges); "
                + "do it in several parts")
    }

    /// A short description of a change for the head.
    static func summary(_ verb: String, _ paths: [TweakPath]) -> String {
        guard let first = paths.first else { return verb }
        return paths.count == 1 ? "\(verb) \(first.joined)" : "\(verb) \(first.joined) and \(paths.count - 1) more"
    }

    /// Returns the transaction and its log entry; throws if a limit is exceeded.
    func transaction(
        _ view: OperatorView, _ keys: FleetKeys, by: String, at: Int64
    ) throws(FleetRefusal) -> (transaction: EtcdTransaction, entry: FleetLogEntry) {
        let counter = if let counter = self.counter { counter } else { try view.nextCounter() }
        try Self.checkCount(changes.count, verb)
        try Self.checkBytes(operations, max: Self.maxBytes, verb)
        var head = FleetHead(counter: counter, by: by, what: what, at: at)
        head.adopted = verb == "adopt" ? counter : view.head?.value.adopted ?? 0
        var entry = FleetLogEntry(
            sequence: counter, verb: verb, rollout: rollout, changes: changes, by: by, at: at)
        entry.why = why
        var all = operations
        all.append(.put(key: keys.head, value: head.bytes))
        all.append(.put(key: keys.log(counter), value: entry.bytes))
        all += view.outdated.prefix(Self.maxOperations - all.count).map { .delete(.key($0)) }
        try Self.checkBytes(all, max: Self.maxRequestBytes, verb)
        var compares: [EtcdTransaction.Compare] = [.modRevision(keys.head, equals: view.revision(of: keys.head))]
        compares += operations.compactMap(\.touched).map { .modRevision($0, equals: view.revision(of: $0)) }
        let transaction = EtcdTransaction(
            if: compares + self.compares, then: all, otherwise: self.compares.map { .range(.key($0.key)) })
        return (transaction, entry)
    }

    /// Throws if an additional comparison failed: a retry would not help.
    func checkFences(_ responses: [EtcdTransactionResult.Response]) throws(FleetRefusal) {
        for (compare, response) in zip(compares, responses) {
            guard case .range(let range) = response, !compare.holds(for: range.keys.first) else { continue }
            throw FleetRefusal(.refused, "\(what): this driver has lost its claim; another one may have it, see status")
        }
    }

    private static func checkBytes(
        _ operations: [EtcdTransaction.Operation], max: Int, _ verb: String
    ) throws(FleetRefusal) {
        let count = operations.reduce(0) { sum, operation in
            if case .put(let key, let value, _) = operation { sum + key.count + value.count } else { sum }
        }
        if count <= max { return }
        throw FleetRefusal(
            .refused,
            "\(verb): \(count) bytes are too many for one write, which has at most \(max); "
                + "do it in several parts")
    }
}

extension EtcdTransaction.Operation {
    /// The key that the operation writes.
    fileprivate var touched: [UInt8]? {
        switch self {
        case .put(let key, _, _), .delete(.key(let key)): key
        case .delete(.prefix), .range: nil
        }
    }
}

extension EtcdTransaction.Compare {
    var key: [UInt8] {
        switch self {
        case .modRevision(let key, _), .createRevision(let key, _): key
        }
    }

    /// Whether the comparison holds for a key's current state.
    func holds(for pair: EtcdKeyValue?) -> Bool {
        switch self {
        case .modRevision(_, let revision): (pair?.modRevision ?? 0) == revision
        case .createRevision(_, let revision): (pair?.createRevision ?? 0) == revision
        }
    }
}

/// The result of a write.
package struct FleetReceipt: Hashable, Sendable {
    package var header: EtcdHeader
    /// The log entry's number; nil if nothing changed or the log was not written.
    package var sequence: UInt64?
    package var rollout: String?
    package var changes: [FleetLogEntry.Change] = []
    package var notes: [String] = []
    /// The write was only validated, not sent.
    package var isDryRun = false
}
