// Commits changes, the only write path: plans, judges, applies, records, and delivers, in this order.

import Synchronization

/// The thread on which the observers of a commit run.
package enum TweakDelivery: Sendable {
    /// On the thread that commits, before `commit` returns.
    case caller
    /// On the observer executor; without one, as `caller`.
    case executor
}

extension TweakRegistry {
    /// Makes several changes as one: all are checked, then all take effect, then each observer runs once.
    ///
    /// ```swift
    /// try registry.commit { batch in
    ///     batch.set(Look.size, 72)
    ///     batch.set("Content/Text/String", .string("Hello"), for: .seconds(600))
    ///     batch.reset(matching: "Content/Motion")
    /// }
    /// ```
    /// - Parameters:
    ///   - origin: Who makes the change, for `explain`, events and logs.
    ///   - expected: A revision; the commit is refused with `conflict` if one of its tweaks changed since.
    ///   - changes: Fills the batch; runs at once, on the caller's thread.
    /// - Throws: The first ``TweakError``; then nothing has changed.
    @discardableResult
    public func commit(
        origin: TweakOrigin = .code, ifUnchangedSince expected: UInt64? = nil, _ changes: (inout TweakBatch) -> Void
    ) throws(TweakError) -> TweakCommitResult {
        var batch = TweakBatch()
        changes(&batch)
        return try commit(filled: batch, origin, expected)
    }

    /// Makes several changes as one, with a closure that may throw.
    /// - Throws: The first ``TweakError``, or what `changes` throws; then nothing has changed.
    @discardableResult
    public func commit(
        origin: TweakOrigin = .code, ifUnchangedSince expected: UInt64? = nil,
        _ changes: (inout TweakBatch) throws -> Void
    ) throws -> TweakCommitResult {
        var batch = TweakBatch()
        try changes(&batch)
        return try commit(filled: batch, origin, expected)
    }

    private func commit(
        filled batch: TweakBatch, _ origin: TweakOrigin, _ expected: UInt64?
    ) throws(TweakError) -> TweakCommitResult {
        if FrozenTrait.isOn, !batch.entries.isEmpty { throw TweakError(.readOnly, FrozenTrait.reason) }
        return try commit(batch, origin: origin, ifUnchangedSince: expected, delivery: .caller)
    }

    /// Removes the overrides of all tweaks that a pattern matches, in one commit: the next layer applies.
    ///
    /// ```swift
    /// try registry.reset(matching: "Content/Text")    // a collection; "Content" is the category, "*" everything
    /// ```
    /// Skips actions and figures.
    /// - Throws: ``TweakError`` with `unknown-tweak` if nothing matches, unless the pattern is `*`; `read-only` in a
    ///   frozen process. Then nothing has changed.
    @discardableResult
    public func reset(matching pattern: String) throws(TweakError) -> TweakCommitResult {
        try commit { $0.reset(matching: pattern) }
    }

    // No warning before the language mode 7: the spelling is older than the label.
    /// The same as ``reset(matching:)``, which has the label of ``tweaks(matching:)``.
    /// - Throws: ``TweakError`` as ``reset(matching:)``.
    @available(swift, deprecated: 7, renamed: "reset(matching:)")
    @discardableResult
    public func reset(_ pattern: String) throws(TweakError) -> TweakCommitResult { try reset(matching: pattern) }

    /// Removes the overrides of several tweaks of this registry, in one commit: `registry.reset(Look.all)`.
    /// - Throws: ``TweakError``; then nothing has changed.
    @discardableResult
    public func reset(_ tweaks: some TweakHandle) throws(TweakError) -> TweakCommitResult {
        try commit { $0.reset(tweaks) }
    }

    /// Commits a batch.
    /// - Parameters:
    ///   - rights: The access rights that limit which history entries undo and redo go through.
    ///   - prepared: The same batch, validated in advance.
    ///   - isUrgent: False if no client waits for the disk and more commits follow soon: then they share a write.
    @discardableResult
    package func commit(
        _ batch: TweakBatch, origin: TweakOrigin, ifUnchangedSince expected: UInt64? = nil,
        kind: CommitKind = .change(session: 0), rights: Rights = .all, policy: TweakPolicy? = nil,
        prepared: PreparedBatch? = nil, isUrgent: Bool = true, delivery: TweakDelivery
    ) throws(TweakError) -> TweakCommitResult {
        var prepared = prepared
        while true {
            let steps = if let prepared = prepared.take() { prepared.steps } else { try plan(batch, policy: policy) }
            var commit = PendingCommit(kind, origin, currentTime)
            commit.isUrgent = isUrgent
            let result = try state.withLock { state throws(TweakError) -> TweakCommitResult? in
                guard try state.mayApply(steps, rights, expected, commit) else { return nil }
                return state.apply(steps, &commit)
            }
            // Plans again if a `+=` or toggle was computed from a value that is no longer current.
            guard let result else { continue }
            deliver(commit, delivery)
            return result
        }
    }

    /// Commits one change. Same as a batch with one entry, without allocating its lists.
    @discardableResult
    package func commit(
        _ node: TweakNode, _ change: TweakBatch.Change, for lifetime: Duration? = nil, origin: TweakOrigin,
        kind: CommitKind = .change(session: 0), policy: TweakPolicy? = nil, at time: Moment? = nil,
        delivery: TweakDelivery
    ) throws(TweakError) -> TweakOutcome {
        while true {
            let step = try step(node, change, for: lifetime, after: nil, policy)
            var commit = PendingCommit(kind, origin, time ?? currentTime)
            let outcome = try state.withLock { state throws(TweakError) -> TweakOutcome? in
                guard try state.mayApply(step) else { return nil }
                if state.preview != nil { state.endPreview(of: CollectionOfOne(node), &commit) }
                commit.changesOneTweak = true
                let outcome = state.apply(step, &commit)
                state.finish(&commit)
                return outcome
            }
            guard let outcome else { continue }
            deliver(commit, delivery)
            return outcome
        }
    }
}

/// A commit in progress.
struct PendingCommit {
    /// Nil if it is not a commit: values that tweaks get from sources and storage, or override paths to be rechecked.
    let kind: CommitKind?
    let origin: TweakOrigin
    let time: Moment
    /// Whether a client waits until followers have recorded it.
    var isUrgent = true
    /// Whether it changes one tweak only; then observers are notified without waiting for `finish`.
    var changesOneTweak = false

    // MARK: Under the lock

    /// Whether it was merged into an existing history entry.
    var isRemembered = false
    /// The changes, as history and stream keep them.
    var parts: [CommitPart] = []
    /// Whether a layer was written or removed.
    var didStore = false
    /// Changes of observed tweaks; observers are notified once all new values are current.
    var observedChanges: [PendingChange] = []

    // MARK: After the lock

    var subscribers: [Subscriber] = []
    /// Those of a preview that it has ended, to be notified on the executor.
    var otherSubscribers: [Subscriber] = []
    /// Callbacks of the followers that wait for a record.
    var followersToWake: [CommitStream.Wake] = []
    /// Whether a temporary override was added or removed.
    var didReschedule = false

    init(_ kind: CommitKind?, _ origin: TweakOrigin, _ time: Moment) {
        self.kind = kind
        self.origin = origin
        self.time = time
    }

    /// Makes followers recheck an override, by its path.
    mutating func touch(_ key: OverrideKey) {
        parts.append(CommitPart(redacted: .path(key.path), layer: key.layer))
        didStore = true
    }

    /// The amount by which it raises the revision.
    var revisionIncrement: UInt64 { kind == nil ? 0 : 1 }
}

// MARK: - Judging, under the lock

extension RegistryState {
    /// Returns false if a step was computed from a value that is no longer current.
    func mayApply(
        _ steps: [CommitStep], _ rights: Rights, _ expected: UInt64?, _ commit: PendingCommit
    ) throws(TweakError) -> Bool {
        for step in steps {
            guard try mayApply(step) else { return false }
        }
        if let expected { try check(steps, against: expected) }
        if let kind = commit.kind, !isStillNext(kind, at: commit.time, rights, commit.origin) {
            throw TweakError(.conflict, "someone else already undid or redid that; see history")
        }
        return true
    }

    /// Returns false if the step was computed from a value that is no longer current.
    func mayApply(_ step: CommitStep) throws(TweakError) -> Bool {
        guard holds(step.node) else { throw step.node.notRegistered }
        if isFrozen { throw step.node.frozen }
        if case .keep = step.change, overlays[step.node.slot][.temporaryOverride] == nil {
            throw step.node.notTemporary
        }
        guard case .value(let basis)? = step.basis else { return true }
        return current(step.node)?.value == basis
    }

    /// Throws if a tweak changed after the expected revision, or if that revision does not exist.
    private func check(_ steps: [CommitStep], against expected: UInt64) throws(TweakError) {
        guard expected <= revision else {
            throw TweakError(.conflict, "revision \(expected) is unknown; the current one is \(revision)")
        }
        for step in steps where overlays[step.node.slot].changedAt > expected {
            let changedAt = overlays[step.node.slot].changedAt
            let origin = overlays[step.node.slot].entries.last?.origin.description ?? "a reset"
            throw TweakError(
                .conflict, "\(step.node.path.token) changed in revision \(changedAt), by \(origin); read it again",
                path: step.node.path)
        }
    }
}

// MARK: - Applying

extension RegistryState {
    /// Applies checked steps as one commit.
    mutating func apply(_ steps: [CommitStep], _ commit: inout PendingCommit) -> TweakCommitResult {
        if preview != nil { endPreview(of: steps.lazy.map(\.node), &commit) }
        commit.changesOneTweak = steps.count == 1
        let outcomes = steps.map { apply($0, &commit) }
        finish(&commit)
        return TweakCommitResult(revision: revision, outcomes: outcomes)
    }

    /// Applies one checked step. If it changes something, the outcome has the revision of the commit.
    mutating func apply(_ step: CommitStep, _ commit: inout PendingCommit) -> TweakOutcome {
        let node = step.node
        // Actions have no value; planning refuses them.
        guard let old = current(node) else { return TweakOutcome(step, old: nil, new: nil, revision: revision) }
        let before = overridesBefore(step)
        guard let isTemporary = write(step, before, &commit) else {
            return TweakOutcome(step, old: old.value, new: old.value, revision: revision)
        }
        let new = current(node) ?? old
        let isNew = new.value != old.value
        commit.didStore = true
        record(step, before, old: old.value, new: new.value, isNew: isNew, isTemporary: isTemporary, &commit)
        if isNew { makeCurrent(node, old: old, new: new, &commit) }
        return TweakOutcome(
            step, old: old.value, new: new.value, didStore: true, revision: revision + commit.revisionIncrement)
    }

    private func overridesBefore(_ step: CommitStep) -> OverridesBefore {
        // Read property by property: copying the overlays would cost more.
        let slot = step.node.slot
        let end = overlays[slot].end
        let isPlain = if case .override = step.change { end == nil } else { false }
        return OverridesBefore(
            isSet: overlays[slot].isSet, end: end, values: isPlain ? nil : overlays[slot].overrideValues)
    }

    /// Writes or removes the layers.
    /// - Returns: Whether there was or is a temporary override; nil if no layer changed.
    private mutating func write(_ step: CommitStep, _ before: OverridesBefore, _ commit: inout PendingCommit) -> Bool? {
        let slot = step.node.slot
        let hadNotes = overlays[slot].notes != nil
        let hadTemporary = before.end != nil || hadNotes && overlays[slot].hasQuarantinedTemporary
        // Only texts and lists have a variable size.
        let isText = step.node.definition.kind.mayBeLong
        if isText { textBytes -= overrideTextBytes(step.node) }
        deferLayerRelease(of: step.node)
        // Removing the override first makes a set to the same value a change: a correct guess of a secret must look
        // like any other set.
        if step.node.isSecret, case .override = step.change { overlays[slot].remove(.override) }
        var didChange: Bool
        // The most frequent change does not need the table, which would be retained.
        if case .override(let prepared) = step.change {
            didChange = overlays[slot].override(prepared, origin: commit.origin, at: commit.time)
        } else {
            didChange = overlays[slot].apply(step.change, origin: commit.origin, at: commit.time, in: layers)
        }
        if isText { textBytes += overrideTextBytes(step.node) }
        if didChange { reschedule(step.node, before, &commit) }
        if hadNotes, overlays[slot].forgetNotes(affectedBy: step.change) || didChange { didChange = true }
        if !didChange { return nil }
        overlays[slot].changedAt = revision + commit.revisionIncrement
        return hadTemporary || overlays[slot].end != nil
    }

    /// Updates the expiry schedule; the alarm reads it after the lock is released.
    private mutating func reschedule(_ node: TweakNode, _ before: OverridesBefore, _ commit: inout PendingCommit) {
        // Fast path: no temporary override before or after.
        let now = overlays[node.slot].end
        if now == nil, before.end == nil { return }
        expiries.move(node, from: before.end, to: now)
        commit.didReschedule = true
    }

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

/// The overrides of a tweak before a change, as far as the change needs them.
private struct OverridesBefore {
    /// Whether there was an override, permanent or temporary.
    let isSet: Bool
    /// When the temporary override ends.
    let end: Moment?
    /// The overrides. Nil if an override is set and there was no temporary one: then the current values before and
    /// after suffice.
    let values: OverrideValues?
}

extension Overlays {
    /// Whether there is an invalid temporary override.
    fileprivate var hasQuarantinedTemporary: Bool {
        notes?.quarantined.contains { $0.index == .temporaryOverride } ?? false
    }

    /// Drops the quarantined values of the layers that a change affects. Returns false if there were none.
    fileprivate mutating func forgetNotes(affectedBy change: LayerChange) -> Bool {
        guard let known = notes else { return false }
        let quarantined = known.quarantined.filter { !change.affects($0.index) }
        notes = OverlayNotes(
            quarantined: quarantined, underlyingChange: change.affects(.override) ? nil : known.underlyingChange)
        return quarantined.count < known.quarantined.count
    }
}

extension TweakOutcome {
    /// - Parameter old: Nil for an action.
    fileprivate init(
        _ step: CommitStep, old: TweakValue?, new: TweakValue?, didStore: Bool = false, revision: UInt64
    ) {
        self.init(
            path: step.node.path, old: old ?? .bool(false), new: new ?? .bool(false), adjustment: step.adjustment,
            didStore: didStore, revision: revision, lifetime: step.change.lifetime, isSecret: step.node.isSecret)
    }
}

// MARK: - Recording

extension RegistryState {
    /// Records a tweak's part for history and followers.
    private mutating func record(
        _ step: CommitStep, _ before: OverridesBefore, old: TweakValue, new: TweakValue, isNew: Bool, isTemporary: Bool,
        _ commit: inout PendingCommit
    ) {
        if history.limit == 0, !stream.isFollowed { return }
        if before.values == nil, commit.changesOneTweak, !stream.isFollowed,
            history.extendLast(step.node, to: new, commit, revision: revision + 1)
        {
            commit.isRemembered = true
            return
        }
        // A set of a secret is always reported, even to the same value: silence would confirm a guess.
        let isReported = isNew || step.node.isSecret
        let layer = before.values == nil ? .override : overlays[step.node.slot].topLayer ?? .default
        let overrides = overrides(before, step)
        // Creates the part in place: it is large, and most commits have one.
        if commit.parts.isEmpty {
            commit.parts = [
                CommitPart(
                    .node(step.node), overrides, old: old, new: new, layer: layer, isReported: isReported,
                    isTemporary: isTemporary)
            ]
        } else {
            commit.parts.append(
                CommitPart(
                    .node(step.node), overrides, old: old, new: new, layer: layer, isReported: isReported,
                    isTemporary: isTemporary))
        }
    }

    /// What a step that was applied has changed in the overrides of its tweak.
    private func overrides(_ before: OverridesBefore, _ step: CommitStep) -> CommitPart.Overrides {
        guard let values = before.values else { return .set(wasSet: before.isSet) }
        // They stay as they are unless the source wins; both are recorded as a change of the value.
        if case .source = step.change { return .unchanged }
        return .changed(before: values, after: overlays[step.node.slot].overrideValues)
    }

    /// Completes a commit: adds it to the history, raises the revision, notifies observers, and adds it to the stream.
    mutating func finish(_ commit: inout PendingCommit) {
        let didMark = history.mark(commit.kind)
        if commit.didStore {
            revision += commit.revisionIncrement
            if !commit.isRemembered, commit.kind != .preview { history.append(commit, revision: revision) }
        }
        if !commit.observedChanges.isEmpty {
            for change in commit.observedChanges { notify(change, &commit) }
            commit.observedChanges = []
        }
        // Undoing a commit without effect changes no value, but followers must still record it.
        if commit.didStore || didMark { append(&commit) }
    }

    private mutating func append(_ commit: inout PendingCommit) {
        sequence += 1
        guard stream.isFollowed else { return }
        let record = CommitRecord(
            sequence: sequence, revision: revision, time: commit.time, origin: commit.origin, kind: commit.kind,
            targetRevision: history.targetRevision(of: commit.kind), isUrgent: commit.isUrgent, parts: commit.parts)
        commit.followersToWake += stream.append(record, &released)
    }
}

// MARK: - Delivering, after the lock

extension TweakRegistry {
    func deliver(_ commit: PendingCommit, _ delivery: TweakDelivery) {
        for wake in commit.followersToWake { wake() }
        if commit.didReschedule { setAlarm() }
        if !commit.otherSubscribers.isEmpty { deliver(commit.otherSubscribers, .executor) }
        if !commit.subscribers.isEmpty { deliver(commit.subscribers, delivery) }
    }

    private func deliver(_ subscribers: [Subscriber], _ delivery: TweakDelivery) {
        guard delivery == .executor, let executor = observerExecutor else { return Delivery.deliver(subscribers) }
        for subscriber in subscribers { subscriber.schedule(on: executor) }
    }
}
