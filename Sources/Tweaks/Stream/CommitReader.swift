// Reads the stream commit by commit, in the public form.

/// A follower with a buffer of records that were read but not yet returned.
package struct CommitReader: Sendable {
    private let follower: CommitFollower
    private var folded = FoldingQueue(threshold: 0)
    private var records: [CommitRecord] = []
    /// The index of the first record that was not returned.
    private var position = 0
    /// Whether the stream has ended.
    package private(set) var hasEnded = false

    package init(_ follower: CommitFollower) { self.follower = follower }

    /// The oldest unread commit that changed a value; nil if there is none yet.
    /// - Parameters:
    ///   - staysAwake: Whether the reader calls again by itself if there is none; otherwise the next commit wakes it.
    ///   - isLeftOut: Whether to skip a commit, given its origin, its time and its number of changed values.
    package mutating func next(
        staysAwake: @autoclosure () -> Bool = false,
        isLeftOut: (TweakOrigin, Moment, Int) -> Bool = { _, _, _ in false }
    ) -> TweakCommit? {
        while true {
            if let commit = nextFolded() ?? nextRecord(isLeftOut) { return commit }
            let batch = follower.drain(staysAwake: staysAwake())
            if batch.isEmpty {
                hasEnded = batch.isLast
                return nil
            }
            folded = batch.folded ?? folded
            records = batch.records
            position = 0
        }
    }

    private mutating func nextRecord(_ isLeftOut: (TweakOrigin, Moment, Int) -> Bool) -> TweakCommit? {
        while position < records.count {
            defer { position += 1 }
            let count = records[position].changeCount
            if count == 0 || isLeftOut(records[position].origin, records[position].time, count) { continue }
            return records[position].asCommit
        }
        records = []
        position = 0
        return nil
    }

    /// Regroups folded changes of the same commit.
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
    /// The number of changed values.
    fileprivate var changeCount: Int { parts.reduce(0) { $1.hasChange ? $0 + 1 : $0 } }

    fileprivate var asCommit: TweakCommit {
        let changes = parts.compactMap { part -> TweakCommit.Change? in
            guard part.hasChange, let node = part.subject.node, let old = part.old, let new = part.new else {
                return nil
            }
            return TweakCommit.Change(node, old: old, new: new)
        }
        return TweakCommit(revision: revision, origin: origin, changes: changes)
    }
}

extension CommitPart {
    /// Whether it is in the public commit: the value of a registered tweak has changed.
    fileprivate var hasChange: Bool { isReported && subject.node != nil && new.map { $0 != old } ?? false }
}

extension WatchedChange {
    fileprivate var asChange: TweakCommit.Change {
        TweakCommit.Change(node, old: old, new: new)
    }
}
