// Turns what a verb wants into one transaction: its keys, the head, the log.

import Tweaks

/// What a write does to the keys.
package struct FleetEdit: Sendable {
    /// For the log.
    package var verb: String
    /// For the head: verb and subject in a few words.
    package var what: String
    package var rollout: String?
    /// For the log, old and new.
    package var changes: [FleetLogEntry.Change] = []
    /// Of keys below `desired/`, without the head.
    package var operations: [EtcdTransaction.Operation] = []
    /// What must hold beyond the head and the keys that are touched.
    package var compares: [EtcdTransaction.Compare] = []
    /// The head's counter where it is not the next one.
    package var counter: UInt64?
    /// For the log: what made a driver do it.
    package var why: String?
    /// What the operator should know.
    package var notes: [String] = []

    package init(_ verb: String, _ what: String, rollout: String? = nil) {
        (self.verb, self.what, self.rollout) = (verb, what, rollout)
    }

    /// So many changes a write has at most: etcd takes 128 operations.
    package static let mostChanges = 100
    /// So many bytes of desired keys.
    static let mostBytes = 262_144
    /// So many bytes in all, with the log's old values; etcd takes 1.5 MiB.
    static let mostRequestBytes = 1_048_576
    static let mostOperations = 128

    /// Refuses more than a write may hold.
    static func checkCount(_ count: Int, _ subject: String) throws(FleetRefusal) {
        if count <= mostChanges { return }
        throw FleetRefusal(
            .refused,
            "\(subject): \(count) changes are too many for one write, which has at most \(mostChanges); "
                + "do it in several parts")
    }

    /// Says a change for the head.
    static func summary(_ verb: String, _ paths: [TweakPath]) -> String {
        guard let first = paths.first else { return verb }
        return paths.count == 1 ? "\(verb) \(first.joined)" : "\(verb) \(first.joined) and \(paths.count - 1) more"
    }

    /// The transaction, or why it is none.
    func transaction(
        _ view: OperatorView, _ keys: FleetKeys, by: String, at: Int64
    ) throws(FleetRefusal) -> (transaction: EtcdTransaction, entry: FleetLogEntry) {
        let counter = if let counter = self.counter { counter } else { try view.nextCounter() }
        try Self.checkCount(changes.count, verb)
        try Self.checkBytes(operations, most: Self.mostBytes, verb)
        var head = FleetHead(counter: counter, by: by, what: what, at: at)
        head.adopted = verb == "adopt" ? counter : view.head?.value.adopted ?? 0
        var entry = FleetLogEntry(
            sequence: counter, verb: verb, rollout: rollout, changes: changes, by: by, at: at)
        entry.why = why
        var all = operations
        all.append(.put(key: keys.head, value: head.bytes))
        all.append(.put(key: keys.log(counter), value: entry.bytes))
        all += view.outdated.prefix(Self.mostOperations - all.count).map { .delete(.key($0)) }
        try Self.checkBytes(all, most: Self.mostRequestBytes, verb)
        var compares: [EtcdTransaction.Compare] = [.modRevision(keys.head, equals: view.revision(of: keys.head))]
        compares += operations.compactMap(\.touched).map { .modRevision($0, equals: view.revision(of: $0)) }
        let transaction = EtcdTransaction(
            if: compares + self.compares, then: all, otherwise: self.compares.map { .range(.key($0.key)) })
        return (transaction, entry)
    }

    /// Refuses to go on where what must hold beside the keys does not: no further attempt helps.
    func checkFences(_ responses: [EtcdTransactionResult.Response]) throws(FleetRefusal) {
        for (compare, response) in zip(compares, responses) {
            guard case .range(let range) = response, !compare.holds(for: range.keys.first) else { continue }
            throw FleetRefusal(.refused, "\(what): this driver's claim is gone; another one may have it, see status")
        }
    }

    private static func checkBytes(
        _ operations: [EtcdTransaction.Operation], most: Int, _ verb: String
    ) throws(FleetRefusal) {
        let count = operations.reduce(0) { sum, operation in
            if case .put(let key, let value, _) = operation { sum + key.count + value.count } else { sum }
        }
        if count <= most { return }
        throw FleetRefusal(
            .refused,
            "\(verb): \(count) bytes are too many for one write, which has at most \(most); "
                + "do it in several parts")
    }
}

extension EtcdTransaction.Operation {
    /// The key that it writes.
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

    /// Whether it holds for what a key is now.
    func holds(for pair: EtcdKeyValue?) -> Bool {
        switch self {
        case .modRevision(_, let revision): (pair?.modRevision ?? 0) == revision
        case .createRevision(_, let revision): (pair?.createRevision ?? 0) == revision
        }
    }
}

/// What came of a write.
package struct FleetReceipt: Hashable, Sendable {
    package var header: EtcdHeader
    /// The log's number; nil: there was nothing to change, or it is not in the log.
    package var sequence: UInt64?
    package var rollout: String?
    package var changes: [FleetLogEntry.Change] = []
    package var notes: [String] = []
    /// It was only judged, and not written.
    package var isDryRun = false
}
