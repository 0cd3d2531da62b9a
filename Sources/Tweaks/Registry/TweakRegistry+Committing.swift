// The one write path: judge, then apply everything under the lock, then tell observers.

import Synchronization

/// Where the observers of a commit run.
package enum TweakDelivery: Sendable {
    /// On the thread that commits, before `commit` returns.
    case caller
    /// By the observer executor, where there is one.
    case carrier
}

/// Who has to be told of a commit, once the lock is free.
struct CommitEffects {
    var subscribers: [Subscriber] = []
    var feeds: [ChangeFeed] = []
    var observerExecutor: (any ObserverExecutor)?
    var journal: OverrideJournal?
    var historyJournal: HistoryJournal?
    var commitLogs: [CommitLog] = []
    /// Whether the disk is to have it at once.
    var isUrgent = true
    /// What the commit is, where it changes one tweak only and the history is all that remembers it.
    var single: CommitKind?
    /// What the history will remember.
    var parts = History.Parts()
    /// Whether what is published is all that the commit changes.
    var isWhole = false
    /// The new values of a commit that may change several, for everybody who follows them.
    var published: [Publication] = []
    /// Temporary overrides have come or gone.
    var didReschedule = false
}

extension TweakRegistry {
    /// Makes several changes as one: all are checked, then all take effect, then each observer runs once.
    ///
    /// ```swift
    /// try registry.commit { batch in
    ///     batch.set(Look.size, 72)
    ///     batch.set("Content/Text/String", .string("Hello"), for: .seconds(600))
    ///     batch.reset("Content/Motion")
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

    /// The same with a closure that may throw.
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

    /// Removes the overrides of all tweaks that a pattern names, in one commit: the next layer applies.
    ///
    /// ```swift
    /// try registry.reset("Content/Text")      // a collection; "Content" is the category, "*" everything
    /// ```
    /// Actions and figures among them are left out.
    /// - Throws: ``TweakError`` with `unknown-tweak` where it names nothing, unless it is `*`; `read-only` in a frozen
    ///   process. Then nothing has changed.
    @discardableResult
    public func reset(_ pattern: String) throws(TweakError) -> TweakCommitResult { try commit { $0.reset(pattern) } }

    /// Removes the overrides of several tweaks of this registry, in one commit: `registry.reset(Look.all)`.
    /// - Throws: ``TweakError``; then nothing has changed.
    @discardableResult
    public func reset(_ tweaks: some TweakHandle) throws(TweakError) -> TweakCommitResult {
        try commit { $0.reset(tweaks) }
    }

    /// Commits a batch.
    /// - Parameters:
    ///   - rights: Whose history it is in which undo and redo go back and forward.
    ///   - isUrgent: False where nobody waits for the disk and more is about to come: then they share a write.
    @discardableResult
    package func commit(
        _ batch: TweakBatch, origin: TweakOrigin, ifUnchangedSince expected: UInt64? = nil,
        kind: CommitKind = .change(session: 0), rights: Rights = .all, policy: TweakPolicy? = nil,
        isUrgent: Bool = true, delivery: TweakDelivery
    ) throws(TweakError) -> TweakCommitResult {
        while true {
            let steps = try plan(batch, policy: policy)
            var effects = CommitEffects(isUrgent: isUrgent)
            // Overtaken: a `+=` or toggle was computed from a value that is no longer current.
            guard let result = try apply(steps, kind, rights, origin, expected, &effects) else { continue }
            deliver(effects, delivery)
            return result
        }
    }

    /// Commits one change: the same as a batch of one, without its lists.
    @discardableResult
    package func commit(
        _ node: TweakNode, _ change: TweakBatch.Change, for lifetime: Duration? = nil, origin: TweakOrigin,
        kind: CommitKind = .change(session: 0), policy: TweakPolicy? = nil, at time: ContinuousClock.Instant? = nil,
        delivery: TweakDelivery
    ) throws(TweakError) -> TweakOutcome {
        while true {
            let step = try step(node, change, for: lifetime, after: nil, policy)
            var effects = CommitEffects()
            guard let outcome = try apply(step, kind, origin, time ?? currentTime, &effects) else { continue }
            deliver(effects, delivery)
            return outcome
        }
    }

    // MARK: Under the lock

    /// Nil when a step was overtaken.
    private func apply(
        _ steps: [CommitStep], _ kind: CommitKind, _ rights: Rights, _ origin: TweakOrigin, _ expected: UInt64?,
        _ effects: inout CommitEffects
    ) throws(TweakError) -> TweakCommitResult? {
        let time = currentTime
        return try state.withLock { state throws(TweakError) -> TweakCommitResult? in
            for step in steps {
                guard try state.mayApply(step) else { return nil }
            }
            if let expected { try state.check(steps, against: expected) }
            if !state.isDue(kind, at: time, rights, origin) {
                throw TweakError(.conflict, "someone else already undid or redid that; see history")
            }
            return state.apply(steps, kind, origin: origin, time: time, &effects)
        }
    }

    /// Nil when the step was overtaken.
    private func apply(
        _ step: CommitStep, _ kind: CommitKind, _ origin: TweakOrigin, _ time: ContinuousClock.Instant,
        _ effects: inout CommitEffects
    ) throws(TweakError) -> TweakOutcome? {
        try state.withLock { state throws(TweakError) -> TweakOutcome? in
            guard try state.mayApply(step) else { return nil }
            let next = state.revision + 1
            effects.single = state.commitLogs.isEmpty ? kind : nil
            effects.isWhole = true
            let outcome = state.apply(step, origin: origin, time: time, revision: next, &effects)
            if outcome.didStore { state.finish(next, kind, origin: origin, time: time, &effects) }
            return outcome
        }
    }

    // MARK: After the lock

    func deliver(_ effects: CommitEffects, _ delivery: TweakDelivery) {
        effects.journal?.wake()
        effects.historyJournal?.wake()
        for log in effects.commitLogs { log.wake() }
        if effects.didReschedule { setAlarm() }
        for feed in effects.feeds { feed.wake() }
        if effects.subscribers.isEmpty { return }
        guard delivery == .carrier, let executor = effects.observerExecutor else {
            return Delivery.deliver(effects.subscribers)
        }
        for subscriber in effects.subscribers { subscriber.schedule(on: executor) }
    }
}

// MARK: - Freezing

extension TweakRegistry {
    /// Refuses all further sets with `read-only`; what was set before is reset. Figures go on.
    package func freeze() {
        let time = currentTime
        var effects = CommitEffects()
        state.withLock { state in
            state.isFrozen = true
            let settable = state.nodes.compactMap { $0 }.filter { !$0.definition.flags.contains(.readOnly) }
            _ = state.apply(
                settable.map { CommitStep(node: $0) }, .change(session: 0), origin: .code, time: time, &effects)
        }
        deliver(effects, .caller)
    }
}
