// Builds the transaction of an operator's command from the state that it was validated against.

package import Tweaks

/// A parsed record with the etcd metadata of its key.
package typealias VersionedRecord = DesiredState.Entry

/// The desired keys of a fleet at one revision.
package struct OperatorView: Sendable {
    package let header: EtcdHeader
    package let desired: DesiredState
    /// Log entries to delete with the next write.
    package var outdated: [[UInt8]] = []
    private let revisions: [[UInt8]: Int64]
    private let keys: FleetKeys

    package init(_ result: EtcdRangeResult, _ keys: FleetKeys) {
        header = result.header
        self.keys = keys
        var desired = DesiredState(keys: keys)
        desired.replace(with: result.keys)
        self.desired = desired
        revisions = Dictionary(result.keys.map { ($0.key, $0.modRevision) }) { first, _ in first }
    }

    package var head: VersionedRecord<FleetHead>? { desired.head }
    package var values: [TweakPath: VersionedRecord<DesiredValue>] { desired.values }
    package var rollouts: [String: VersionedRecord<Rollout>] { desired.rollouts }
    /// Unreadable or unreliable keys, with the reason for each; they do not affect other keys.
    package var unreadable: [[UInt8]: String] { desired.problems }

    /// The revision at which a key was last changed; 0 if it does not exist.
    package func revision(of key: [UInt8]) -> Int64 { revisions[key] ?? 0 }

    /// The revision at which the fleet's value of a path was last changed, also of an unreadable one; 0 without one.
    func revision(of path: TweakPath) -> Int64 { revision(of: keys.value(path)) }

    /// The paths of values that cannot be read.
    package var unreadableValues: [TweakPath] {
        unreadable.keys.compactMap { key in
            if case .value(let path) = keys.desired(key), values[path] == nil { path } else { nil }
        }
    }

    /// The fleet's value of a path.
    package func value(_ path: TweakPath) -> TweakValue? { values[path]?.value.value }

    /// Rollouts in the order in which they apply: by create revision, then ID.
    package var ordered: [VersionedRecord<Rollout>] {
        rollouts.values.sorted { ($0.createRevision, $0.value.id) < ($1.createRevision, $1.value.id) }
    }

    /// The open or paused rollout that reserves a path. Standing rules reserve nothing.
    package func openRollout(for path: TweakPath) -> VersionedRecord<Rollout>? {
        ordered.first { $0.value.state != .done && $0.value.changes.contains { $0.path == path } }
    }

    /// Throws unless the values are those that a user has seen.
    func check(_ seen: [TweakPath: String?]) throws(FleetRefusal) {
        for (path, text) in seen where value(path)?.text != text {
            throw FleetRefusal("\(path.token) is \(value(path).shown) now, and not \(text ?? "(none)"); look again")
        }
    }

    /// Throws if an open rollout reserves one of the paths.
    /// - Parameter except: The ID of a rollout to ignore.
    package func checkFree(_ paths: some Sequence<TweakPath>, except: String? = nil) throws(FleetRefusal) {
        for path in paths {
            guard let owner = openRollout(for: path)?.value, owner.id != except else { continue }
            throw FleetRefusal(
                "\(path.token): rollout \(owner.id) by \(owner.by) holds it at \(owner.share.text); "
                    + "finish \(owner.id) or abort \(owner.id) first")
        }
    }

    /// The rollout with an ID.
    package func rollout(_ id: String) throws(FleetRefusal) -> VersionedRecord<Rollout> {
        if let record = rollouts[id] { return record }
        if let why = unreadable[keys.rollout(id)] {
            throw FleetRefusal("rollout \(id) cannot be read: \(why); abort \(id) deletes it")
        }
        let known = ordered.map(\.value.id)
        let remedy = known.isEmpty ? "none is open" : "there are \(known.joined(separator: ", "))"
        throw FleetRefusal("there is no rollout \(Quoting.excerpt(id)); \(remedy)")
    }

    /// The counter of the next write.
    package func nextCounter() throws(FleetRefusal) -> UInt64 {
        if head == nil, let why = unreadable[keys.head] {
            throw FleetRefusal("\(keys.name): its head cannot be read: \(why); adopt writes a new one")
        }
        return try Self.after(head?.value.counter ?? 0)
    }

    static func after(_ counter: UInt64) throws(FleetRefusal) -> UInt64 {
        if counter < FleetHead.maxCounter { return counter + 1 }
        throw FleetRefusal(
            "the head's counter is at its end, \(FleetHead.maxCounter), so nothing can be written here; export the values, "
                + "and import them under another --prefix")
    }
}

/// The changes of one write.
package struct FleetEdit: Sendable {
    /// The command, for the log.
    package var verb: String
    /// The command and its subject in a few words, for the head.
    package var what: String
    package var rollout: String?
    /// The old and new values, for the log.
    package var changes: [FleetLogEntry.Change] = []
    /// Operations on keys of the write's subject, except for the head.
    package var operations: [EtcdTransaction.Operation] = []
    /// The revisions of those keys that are not below `desired/`.
    var revisions: [[UInt8]: Int64] = [:]
    /// Operations on the rollout's timer, whose state is not compared.
    package var timer: [EtcdTransaction.Operation] = []
    /// A comparison in addition to those of the head and the written keys: the driver's claim.
    package var fence: EtcdTransaction.Compare?
    /// A comparison that no process has appeared since they were counted.
    var census: EtcdTransaction.Compare?
    /// The head's counter, if it is not the next number.
    package var counter: UInt64?
    /// Why a driver did it automatically, or which part of an import it is, for the log.
    package var why: String?
    /// The lifetime of the lease of a rollout that it begins, in seconds, for the log.
    package var lifetime: Int64?
    /// Hints for the operator.
    package var notes: [String] = []

    /// It changes nothing in processes, such as to finish a rollout that has reached all of them.
    package var isHarmless = false

    /// Whether a command also works while the fleet is frozen, or processes have another past: it stops something, or
    /// changes nothing in processes.
    static func isBrake(_ verb: String) -> Bool {
        ["abort", "pause", "freeze", "unfreeze", "propose", "reject"].contains(verb)
    }

    package init(_ verb: String, _ what: String, rollout: String? = nil) {
        self.verb = verb
        self.what = what
        self.rollout = rollout
    }

    /// Takes what was counted for a rollout.
    mutating func take(_ counted: RolloutCensus.Result?) {
        census = counted?.compare
        guard let note = counted?.note else { return }
        notes.append(note)
        // The operator of a driver reads it in the history.
        why = why.map { "\($0); \(note)" } ?? note
    }

    /// The maximum number of changes in one write: etcd's limit is 128 operations.
    package static let maxChanges = 100
    /// The size limit of desired keys in bytes.
    static let maxBytes = 262_144
    /// The size limit in bytes, including the log's old values; etcd's limit is 1.5 MiB.
    static let maxRequestBytes = 1_048_576

    /// Rejects more changes than one write may contain.
    package static func checkCount(_ count: Int, _ subject: String) throws(FleetRefusal) {
        if count <= maxChanges { return }
        throw FleetRefusal(
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
        _ view: OperatorView, _ keys: FleetKeys, by: String, at: Int64, user: SignedInUser? = nil
    ) throws(FleetRefusal) -> (transaction: EtcdTransaction, entry: FleetLogEntry) {
        let counter = if let counter { counter } else { try view.nextCounter() }
        try Self.checkCount(changes.count, verb)
        try Self.checkBytes(operations, max: Self.maxBytes, verb)
        var head = FleetHead(counter: counter, by: by, what: what, at: at)
        head.adopted = verb == "adopt" ? counter : view.head?.value.adopted ?? 0
        let chain = FleetChain.next(
            view.head?.value.chain, counter, operations.filter { $0.touched?.starts(with: keys.desired) ?? false })
        (head.chain, head.previous) = (chain, view.head?.value.chain)
        var entry = FleetLogEntry(
            sequence: counter, verb: verb, rollout: rollout, changes: changes, by: by, at: at)
        entry.why = why
        entry.lifetime = lifetime
        var all = operations + timer
        all.append(.put(key: keys.head, value: head.bytes))
        all.append(.put(key: keys.log(counter), value: entry.bytes))
        all.append(.put(key: keys.chain(counter), value: Array(chain.utf8)))
        if counter > FleetChain.length { all.append(.delete(.key(keys.chain(counter - FleetChain.length)))) }
        if let user { all.append(.put(key: keys.user(user.name), value: user.nextBytes)) }
        all += view.outdated.prefix(EtcdRequests.maxOperations - all.count).map { .delete(.key($0)) }
        try Self.checkBytes(all, max: Self.maxRequestBytes, verb)
        var compares: [EtcdTransaction.Compare] = [.modRevision(keys.head, equals: view.revision(of: keys.head))]
        compares += operations.compactMap(\.touched).map {
            .modRevision($0, equals: revisions[$0] ?? view.revision(of: $0))
        }
        if isFreezable(view) { compares.append(.absent(prefix: keys.freezes)) }
        if let census { compares.append(census) }
        if let user { compares.append(.modRevision(keys.user(user.name), equals: user.revision)) }
        guard let fence else { return (EtcdTransaction(if: compares, then: all), entry) }
        return (EtcdTransaction(if: compares + [fence], then: all, otherwise: [.range(.key(fence.key))]), entry)
    }

    /// Whether a freeze refuses it. A head that cannot be read refuses the end of a freeze, so that it is adopted first.
    func isFreezable(_ view: OperatorView) -> Bool {
        !Self.isBrake(verb) && !isHarmless && !(verb == "adopt" && view.head == nil)
    }

    /// Throws if the fence does not hold: a retry would not help.
    func checkFence(_ response: EtcdTransactionResult.Response?) throws(FleetRefusal) {
        guard let fence, case .range(let range)? = response, !fence.holds(for: range.keys.first) else { return }
        throw Self.lostClaim(what)
    }

    static func lostClaim(_ what: String) -> FleetRefusal {
        FleetRefusal(.claimLost, "\(what): this driver has lost its claim; another one may have it, see status")
    }

    private static func checkBytes(
        _ operations: [EtcdTransaction.Operation], max: Int, _ verb: String
    ) throws(FleetRefusal) {
        let count = operations.reduce(0) { sum, operation in
            if case .put(let key, let value, _) = operation { sum + key.count + value.count } else { sum }
        }
        if count <= max { return }
        throw FleetRefusal(
            "\(verb): \(count) bytes are too many for one write, which has at most \(max); do it in several parts")
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
        case .modRevision(let key, _), .createRevision(let key, _), .absent(let key), .noneCreated(let key, _): key
        }
    }

    /// Whether the comparison holds for a key's current state.
    func holds(for pair: EtcdKeyValue?) -> Bool {
        switch self {
        case .modRevision(_, let revision): (pair?.modRevision ?? 0) == revision
        case .createRevision(_, let revision): (pair?.createRevision ?? 0) == revision
        case .absent: pair == nil
        case .noneCreated(_, let revision): pair.map { $0.createRevision <= revision } ?? true
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
