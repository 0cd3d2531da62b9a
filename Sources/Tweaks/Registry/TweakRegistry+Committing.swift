// Commits changes, the only write path: validates, applies everything under the lock, then notifies observers.

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
    /// try registry.reset("Content/Text")      // a collection; "Content" is the category, "*" everything
    /// ```
    /// Skips actions and figures.
    /// - Throws: ``TweakError`` with `unknown-tweak` if nothing matches, unless the pattern is `*`; `read-only` in a
    ///   frozen process. Then nothing has changed.
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
            // Retries if a `+=` or toggle was computed from a value that is no longer current.
            guard let result = try apply(steps, rights, expected, &commit) else { continue }
            deliver(commit, delivery)
            return result
        }
    }

    /// Commits one change. Same as a batch with one entry, without allocating its lists.
    @discardableResult
    package func commit(
        _ node: TweakNode, _ change: TweakBatch.Change, for lifetime: Duration? = nil, origin: TweakOrigin,
        kind: CommitKind = .change(session: 0), policy: TweakPolicy? = nil, at moment: Moment? = nil,
        delivery: TweakDelivery
    ) throws(TweakError) -> TweakOutcome {
        while true {
            let step = try step(node, change, for: lifetime, after: nil, policy)
            var commit = PendingCommit(kind, origin, moment ?? Moment(currentTime))
            guard let outcome = try apply(step, &commit) else { continue }
            deliver(commit, delivery)
            return outcome
        }
    }

    // MARK: Under the lock

    /// Returns nil if a step was computed from a value that is no longer current.
    private func apply(
        _ steps: [CommitStep], _ rights: Rights, _ expected: UInt64?, _ commit: inout PendingCommit
    ) throws(TweakError) -> TweakCommitResult? {
        try state.withLock { state throws(TweakError) -> TweakCommitResult? in
            for step in steps {
                guard try state.mayApply(step) else { return nil }
            }
            if let expected { try state.check(steps, against: expected) }
            if let kind = commit.kind, !state.isStillNext(kind, at: commit.time, rights, commit.origin) {
                throw TweakError(.conflict, "someone else already undid or redid that; see history")
            }
            return state.apply(steps, &commit)
        }
    }

    /// Returns nil if the step was computed from a value that is no longer current.
    private func apply(_ step: CommitStep, _ commit: inout PendingCommit) throws(TweakError) -> TweakOutcome? {
        try state.withLock { state throws(TweakError) -> TweakOutcome? in
            guard try state.mayApply(step) else { return nil }
            commit.changesOneTweak = true
            let outcome = state.apply(step, &commit)
            state.finish(&commit)
            return outcome
        }
    }

    // MARK: After the lock

    func deliver(_ commit: PendingCommit, _ delivery: TweakDelivery) {
        for wake in commit.followersToWake { wake() }
        if commit.didReschedule { setAlarm() }
        if commit.subscribers.isEmpty { return }
        guard delivery == .executor, let executor = observerExecutor else {
            return Delivery.deliver(commit.subscribers)
        }
        for subscriber in commit.subscribers { subscriber.schedule(on: executor) }
    }
}

// MARK: - Freezing

extension TweakRegistry {
    /// Resets all overrides and refuses further sets with `read-only`. Figures are still published.
    package func freeze() {
        var commit = PendingCommit(.change(session: 0), .code, currentTime)
        state.withLock { state in
            state.isFrozen = true
            let settable = state.nodes.compactMap { $0 }.filter { !$0.definition.flags.contains(.readOnly) }
            _ = state.apply(settable.map { CommitStep(node: $0) }, &commit)
        }
        deliver(commit, .caller)
    }
}
