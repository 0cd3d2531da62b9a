// The one write path: judge, then apply everything under the lock, then tell observers.

import Synchronization

/// Where the observers of a commit run.
package enum TweakDelivery: Sendable {
    /// On the thread that commits, before `commit` returns.
    case caller
    /// By the observer executor, where there is one.
    case carrier
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
            var commit = PendingCommit(kind, origin, currentTime)
            commit.isUrgent = isUrgent
            // Overtaken: a `+=` or toggle was computed from a value that is no longer current.
            guard let result = try apply(steps, rights, expected, &commit) else { continue }
            deliver(commit, delivery)
            return result
        }
    }

    /// Commits one change: the same as a batch of one, without its lists.
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

    /// Nil when a step was overtaken.
    private func apply(
        _ steps: [CommitStep], _ rights: Rights, _ expected: UInt64?, _ commit: inout PendingCommit
    ) throws(TweakError) -> TweakCommitResult? {
        try state.withLock { state throws(TweakError) -> TweakCommitResult? in
            for step in steps {
                guard try state.mayApply(step) else { return nil }
            }
            if let expected { try state.check(steps, against: expected) }
            if let kind = commit.kind, !state.isDue(kind, at: commit.time, rights, commit.origin) {
                throw TweakError(.conflict, "someone else already undid or redid that; see history")
            }
            return state.apply(steps, &commit)
        }
    }

    /// Nil when the step was overtaken.
    private func apply(_ step: CommitStep, _ commit: inout PendingCommit) throws(TweakError) -> TweakOutcome? {
        try state.withLock { state throws(TweakError) -> TweakOutcome? in
            guard try state.mayApply(step) else { return nil }
            commit.isWhole = true
            let outcome = state.apply(step, &commit)
            state.finish(&commit)
            return outcome
        }
    }

    // MARK: After the lock

    func deliver(_ commit: PendingCommit, _ delivery: TweakDelivery) {
        for wake in commit.sleepers { wake() }
        if commit.didReschedule { setAlarm() }
        if commit.subscribers.isEmpty { return }
        guard delivery == .carrier, let executor = observerExecutor else {
            return Delivery.deliver(commit.subscribers)
        }
        for subscriber in commit.subscribers { subscriber.schedule(on: executor) }
    }
}

// MARK: - Freezing

extension TweakRegistry {
    /// Refuses all further sets with `read-only`; what was set before is reset. Figures go on.
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
