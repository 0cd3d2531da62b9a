// Collects the effects of a commit under the registry's lock, and the observers and followers to notify afterwards.

/// A commit in progress.
struct PendingCommit {
    /// Nil if it is not a commit: values that tweaks get from files, or override paths that the storage rechecks.
    let kind: CommitKind?
    let origin: TweakOrigin
    let moment: Moment
    var time: ContinuousClock.Instant { moment.instant }
    /// Whether the storage writes it at once.
    var isUrgent = true
    /// Whether it changes one tweak only; then observers are notified without waiting for `finish`.
    var changesOneTweak = false

    // MARK: Under the lock

    /// Whether it was merged into an existing history entry.
    var isRemembered = false
    /// The changes, as history and stream store them.
    var parts: [CommitPart] = []
    /// Whether a layer was written or removed.
    var didStore = false
    /// Changes of observed tweaks; observers are notified once all new values are current.
    var observedChanges: [PendingChange] = []

    // MARK: After the lock

    var subscribers: [Subscriber] = []
    /// Callbacks of the followers that wait for a record.
    var followersToWake: [CommitStream.Wake] = []
    /// Whether a temporary override was added or removed.
    var didReschedule = false

    init(_ kind: CommitKind?, _ origin: TweakOrigin, _ time: ContinuousClock.Instant) {
        self.init(kind, origin, Moment(time))
    }

    init(_ kind: CommitKind?, _ origin: TweakOrigin, _ moment: Moment) {
        (self.kind, self.origin, self.moment) = (kind, origin, moment)
    }
}

extension RegistryState {
    /// Makes a value the current one and notifies its observers, at once or in `finish`.
    ///
    /// An observer may read other tweaks on another thread, so all new values of a commit are current before any
    /// observer is notified.
    mutating func makeCurrent(_ node: TweakNode, old: Prepared, new: Prepared, _ commit: inout PendingCommit) {
        let isObserved = !observers[node.slot].all.isEmpty
        if isObserved { for subscriber in observers[node.slot].all { subscriber.count() } }
        store(new, in: node)
        if !isObserved { return }
        let change = PendingChange(
            node: node, old: old, new: new, origin: commit.origin, revision: revision + commit.revisionIncrement)
        if commit.changesOneTweak { notify(change, &commit) } else { commit.observedChanges.append(change) }
    }

    /// Completes a commit: adds it to the history, raises the revision, and notifies observers and followers.
    mutating func finish(_ commit: inout PendingCommit) {
        let didMark = history.mark(commit.kind)
        if commit.didStore {
            revision += commit.revisionIncrement
            if !commit.isRemembered { history.append(commit, revision: revision) }
        }
        if !commit.observedChanges.isEmpty {
            for change in commit.observedChanges { notify(change, &commit) }
            commit.observedChanges = []
        }
        // Undoing a commit without effect changes no value, but the storage must still record it.
        if commit.didStore || didMark { record(&commit) }
    }

    /// Adds a record to the stream.
    private mutating func record(_ commit: inout PendingCommit) {
        sequence += 1
        guard stream.isFollowed else { return }
        let record = CommitRecord(
            sequence: sequence, revision: revision, moment: commit.moment, origin: commit.origin, kind: commit.kind,
            targetRevision: history.targetRevision(of: commit.kind), isUrgent: commit.isUrgent, parts: commit.parts)
        commit.followersToWake += stream.append(record, &released)
    }

    private mutating func notify(_ change: PendingChange, _ commit: inout PendingCommit) {
        let following = observers[change.node.slot].all
        let holdsObjects = change.node.holdsObjects
        for subscriber in following {
            let replaced = subscriber.enqueue(change)
            if let replaced, holdsObjects { released.append(replaced) }
        }
        // Shares the first list instead of copying it: most commits change one tweak.
        if commit.subscribers.isEmpty { commit.subscribers = following } else { commit.subscribers += following }
    }
}

extension PendingCommit {
    /// Makes the storage recheck an override, by its path.
    mutating func touch(_ key: OverrideKey) {
        parts.append(CommitPart(.path(key.path), layer: key.isTemporary ? .temporaryOverride : .override))
        didStore = true
    }

    /// The amount by which it raises the revision.
    var revisionIncrement: UInt64 { kind == nil ? 0 : 1 }
}
