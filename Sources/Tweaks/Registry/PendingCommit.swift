// Carries a commit through the registry's lock: who makes it, what it has changed, and what is to be done afterwards.

/// A commit that is being made.
struct PendingCommit {
    /// Nil: no commit, but values that tweaks take over from files, or paths whose overrides the disk has to look at.
    let kind: CommitKind?
    let origin: TweakOrigin
    let moment: Moment
    var time: ContinuousClock.Instant { moment.instant }
    /// Whether the disk is to have it at once.
    var isUrgent = true
    /// Whether it changes one tweak: then its observers learn of it at once.
    var isWhole = false

    // MARK: Under the lock

    /// Whether an entry of the history has taken it in.
    var isRemembered = false
    /// What it changes, as history and stream keep it.
    var parts: [CommitPart] = []
    /// Whether a layer was written or removed.
    var didStore = false
    /// New values of tweaks that are observed, for when all of them are current.
    var shown: [PendingChange] = []

    // MARK: After the lock

    var subscribers: [Subscriber] = []
    /// The followers that sleep.
    var sleepers: [CommitStream.Wake] = []
    /// Temporary overrides have come or gone.
    var didReschedule = false

    init(_ kind: CommitKind?, _ origin: TweakOrigin, _ time: ContinuousClock.Instant) {
        self.init(kind, origin, Moment(time))
    }

    init(_ kind: CommitKind?, _ origin: TweakOrigin, _ moment: Moment) {
        (self.kind, self.origin, self.moment) = (kind, origin, moment)
    }
}

extension RegistryState {
    /// Makes a value the current one. Its observers learn of it at once, or by `finish` with all of the commit: each may
    /// look at the other tweaks at once, on another thread, so all new values are current by then.
    mutating func show(_ node: TweakNode, old: Prepared, new: Prepared, _ commit: inout PendingCommit) {
        let isObserved = !observers[node.slot].all.isEmpty
        if isObserved { for subscriber in observers[node.slot].all { subscriber.count() } }
        store(new, in: node)
        if !isObserved { return }
        let change = PendingChange(
            node: node, old: old, new: new, origin: commit.origin, revision: revision + commit.rise)
        if commit.isWhole { notify(change, &commit) } else { commit.shown.append(change) }
    }

    /// Ends a commit: it is remembered, raises the revision, and is told to those who observe and follow.
    mutating func finish(_ commit: inout PendingCommit) {
        let didMark = history.mark(commit.kind)
        if commit.didStore {
            revision += commit.rise
            if !commit.isRemembered { history.append(commit, revision: revision) }
        }
        if !commit.shown.isEmpty {
            for change in commit.shown { notify(change, &commit) }
            commit.shown = []
        }
        // Taking back what was no change is told to the disk by that alone.
        if commit.didStore || didMark { record(&commit) }
    }

    /// Adds a record to the stream.
    private mutating func record(_ commit: inout PendingCommit) {
        sequence += 1
        guard stream.isFollowed else { return }
        let record = CommitRecord(
            sequence: sequence, revision: revision, moment: commit.moment, origin: commit.origin, kind: commit.kind,
            about: history.revision(about: commit.kind), isUrgent: commit.isUrgent, parts: commit.parts)
        commit.sleepers += stream.append(record, &released)
    }

    private mutating func notify(_ change: PendingChange, _ commit: inout PendingCommit) {
        let following = observers[change.node.slot].all
        let holdsObjects = change.node.holdsObjects
        for subscriber in following {
            let replaced = subscriber.enqueue(change)
            if let replaced, holdsObjects { released.append(replaced) }
        }
        // The first list is shared, not copied: most commits change one tweak.
        if commit.subscribers.isEmpty { commit.subscribers = following } else { commit.subscribers += following }
    }
}

extension PendingCommit {
    /// Has the disk look at an override, by its path.
    mutating func touch(_ key: OverrideKey) {
        parts.append(CommitPart(.path(key.path), layer: key.isTemporary ? .temporaryOverride : .override))
        didStore = true
    }

    /// By how much it raises the revision.
    fileprivate var rise: UInt64 { kind == nil ? 0 : 1 }
}
