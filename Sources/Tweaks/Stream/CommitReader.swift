// Reads the stream commit by commit, as programs see them.

/// A follower, and what it has taken and not given out.
package struct CommitReader: Sendable {
    private let follower: CommitFollower
    private var folded = FoldingQueue(threshold: 0)
    private var records: ArraySlice<CommitRecord> = []
    /// No more commits will come.
    package private(set) var hasEnded = false

    package init(_ follower: CommitFollower) { self.follower = follower }

    /// The oldest commit that waits and has changed a value; nil: there is none yet.
    /// - Parameter staysAwake: It comes back by itself when there is none; else the next commit wakes it.
    package mutating func next(staysAwake: Bool = false) -> TweakCommit? {
        while true {
            if let commit = nextFolded() ?? nextRecord() { return commit }
            let batch = follower.take(staysAwake: staysAwake)
            if batch.isEmpty {
                hasEnded = batch.isLast
                return nil
            }
            folded = batch.folded ?? folded
            records = batch.records[...]
        }
    }

    private mutating func nextRecord() -> TweakCommit? {
        while let record = records.popFirst() {
            var changes: [TweakCommit.Change] = []
            record.forEachChange { if $0.old != $0.new { changes.append($0.asChange) } }
            if changes.isEmpty { continue }
            return TweakCommit(revision: record.revision, origin: record.origin, changes: changes)
        }
        return nil
    }

    /// What was folded of one commit is one again.
    private mutating func nextFolded() -> TweakCommit? {
        while let first = folded.popFirst() {
            var all = [first]
            while let next = folded.first, next.sequence == first.sequence, let change = folded.popFirst() {
                all.append(change)
            }
            let changes = all.filter { $0.old != $0.new || $0.folded > 0 }.map(\.asChange)
            if !changes.isEmpty { return TweakCommit(revision: first.revision, origin: first.origin, changes: changes) }
        }
        return nil
    }
}

extension WatchedChange {
    fileprivate var asChange: TweakCommit.Change {
        TweakCommit.Change(path: node.path, old: old, new: new, isSecret: node.isSecret, isSet: node.isSet(new))
    }
}
