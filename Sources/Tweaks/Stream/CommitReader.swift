// Reads the stream commit by commit, as programs see them.

/// A follower, and what it has taken and not given out.
package struct CommitReader: Sendable {
    private let follower: CommitFollower
    private var folded = FoldingQueue(threshold: 0)
    private var records: [CommitRecord] = []
    /// The first record that was not given out.
    private var position = 0
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
            (records, position) = (batch.records, 0)
        }
    }

    private mutating func nextRecord() -> TweakCommit? {
        while position < records.count {
            defer { position += 1 }
            if let commit = records[position].asCommit { return commit }
        }
        records = []
        position = 0
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

extension CommitRecord {
    /// The values that it has changed; nil where it has changed none.
    fileprivate var asCommit: TweakCommit? {
        let changes = parts.compactMap { part -> TweakCommit.Change? in
            guard part.isNews, let node = part.subject.node, let old = part.old, let new = part.new, old != new else {
                return nil
            }
            return TweakCommit.Change(
                path: node.path, old: old, new: new, isSecret: node.isSecret, isSet: node.isSet(new))
        }
        return changes.isEmpty ? nil : TweakCommit(revision: revision, origin: origin, changes: changes)
    }
}

extension WatchedChange {
    fileprivate var asChange: TweakCommit.Change {
        TweakCommit.Change(path: node.path, old: old, new: new, isSecret: node.isSecret, isSet: node.isSet(new))
    }
}
