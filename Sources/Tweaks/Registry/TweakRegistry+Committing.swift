// The one write path: resolve, judge, then apply everything under the lock, then tell observers.

import Synchronization

/// Where the observers of a commit run.
package enum TweakDelivery: Sendable {
    /// On the thread that commits, before `commit` returns.
    case caller
    /// On the delivery thread, where there is one.
    case carrier
}

extension TweakRegistry {
    /// Makes several changes as one: all are checked, then all take effect, then each observer runs once.
    ///
    /// ```swift
    /// try registry.commit(origin: .code) { batch in
    ///     batch.set("Content/Text/Size", .number(72))
    ///     batch.reset("Content/Text/Color")
    /// }
    /// ```
    /// - Parameters:
    ///   - origin: Who makes the change, for `explain`, events and logs.
    ///   - expected: A revision; the commit is refused with `conflict` if one of its tweaks changed since.
    ///   - changes: Fills the batch; runs at once, on the caller's thread.
    /// - Throws: The first ``TweakError``, or what `changes` throws; then nothing has changed.
    @discardableResult
    public func commit(
        origin: TweakOrigin, ifUnchangedSince expected: UInt64? = nil, _ changes: (inout TweakBatch) throws -> Void
    ) throws -> TweakCommitResult {
        var batch = TweakBatch()
        try changes(&batch)
        return try commit(batch, origin: origin, ifUnchangedSince: expected, delivery: .caller)
    }

    /// Commits a batch.
    @discardableResult
    package func commit(
        _ batch: TweakBatch, origin: TweakOrigin, ifUnchangedSince expected: UInt64? = nil,
        policy: TweakPolicy? = nil, delivery: TweakDelivery
    ) throws(TweakError) -> TweakCommitResult {
        while true {
            let plan = try plan(batch, policy: policy)
            switch try apply(plan, origin: origin, expected: expected) {
            case .done(let applied):
                deliver(applied, delivery)
                return TweakCommitResult(revision: applied.revision, outcomes: applied.outcomes)
            case .overtaken:
                continue  // A `+=` or toggle was computed from a value that is no longer current.
            }
        }
    }

    /// What a commit would make of each tweak.
    package struct Forecast: Sendable {
        package let old: TweakValue
        package let new: TweakValue
        package let adjustment: TweakAdjustment
    }

    /// What a batch of sets would do, without doing it.
    /// - Throws: What `commit` would.
    package func forecast(_ batch: TweakBatch) throws(TweakError) -> [Forecast] {
        let steps = try plan(batch, policy: nil)
        if let node = steps.first?.node, isFrozen { throw frozen(node) }
        return steps.compactMap { step in
            guard let old = current(step.node) else { return nil }
            return Forecast(old: old, new: step.prepared?.value ?? old, adjustment: step.adjustment)
        }
    }

    // MARK: Before the lock

    /// One tweak's part of a commit, ready to be applied.
    struct Step {
        let node: TweakNode
        /// Nil: reset.
        var prepared: Prepared?
        var adjustment: TweakAdjustment = .none
        /// For changes that were computed from the current value: what that was.
        var basis: TweakValue?
    }

    private func plan(_ batch: TweakBatch, policy: TweakPolicy?) throws(TweakError) -> [Step] {
        var steps: [Step] = []
        var positions: [ObjectIdentifier: Int] = [:]
        for (target, change) in batch.entries {
            let node = try resolve(target)
            if node.definition.kind == .action { throw notAValue(node) }
            if node.definition.flags.contains(.readOnly) { throw readOnly(node) }
            guard batch.entries.count > 1 else { return [try step(node, change, after: nil, policy)] }
            let position = positions[ObjectIdentifier(node)]
            let step = try step(node, change, after: position.map { steps[$0] }, policy)
            if let position {
                steps[position] = step
            } else {
                positions[ObjectIdentifier(node)] = steps.count
                steps.append(step)
            }
        }
        return steps
    }

    private func step(
        _ node: TweakNode, _ change: TweakBatch.Change, after earlier: Step?, _ policy: TweakPolicy?
    ) throws(TweakError) -> Step {
        var step = Step(node: node)
        let wanted: TweakValue
        switch change {
        case .reset: return step
        case .set(let value): wanted = value
        case .add, .toggle:
            step.basis = earlier == nil ? current(node) : earlier?.basis
            // Within a batch it builds on what comes before: a value, or a reset that uncovers what lies beneath.
            guard let start = earlier.map({ $0.prepared?.value ?? beneath(node) }) ?? step.basis else { return step }
            wanted = try node.definition.apply(change, to: start, path: node.path)
        }
        (step.prepared, step.adjustment) = try node.prepare(wanted, policy: policy)
        return step
    }

    /// The value that a reset would uncover.
    private func beneath(_ node: TweakNode) -> TweakValue? {
        state.withLock { state in
            (state.holds(node) ? state.overlays[node.slot][.configFile]?.prepared : nil) ?? node.defaultPrepared
        }?.value
    }

    private func resolve(_ target: TweakBatch.Target) throws(TweakError) -> TweakNode {
        switch target {
        case .node(let node): return node
        case .path(let text):
            guard let tweak = self[text] else { throw unknown(text) }
            return tweak.node
        }
    }

    // MARK: Under the lock

    private enum Attempt {
        case done(Applied)
        case overtaken
    }

    /// What has to be told after the lock.
    struct Applied {
        var revision: UInt64 = 0
        var outcomes: [TweakOutcome] = []
        var subscribers: [Subscriber] = []
        var feeds: [ChangeFeed] = []
        var carrier: (any TweakCarrier)?
    }

    private func apply(
        _ steps: [Step], origin: TweakOrigin, expected: UInt64?
    ) throws(TweakError) -> Attempt {
        let time = currentTime
        return try state.withLock { state throws(TweakError) -> Attempt in
            for step in steps {
                guard state.holds(step.node) else { throw gone(step.node) }
                if state.isFrozen { throw frozen(step.node) }
                if let basis = step.basis, state.current(step.node)?.value != basis { return .overtaken }
            }
            if let expected { try state.check(steps, against: expected) }
            return .done(state.apply(steps, origin: origin, time: time))
        }
    }

    // MARK: After the lock

    func deliver(_ applied: Applied, _ delivery: TweakDelivery) {
        for feed in applied.feeds { feed.wake() }
        if applied.subscribers.isEmpty { return }
        guard delivery == .carrier, let carrier = applied.carrier else { return Delivery.deliver(applied.subscribers) }
        for subscriber in applied.subscribers where subscriber.queued() {
            carrier.carry {
                subscriber.unqueued()
                Delivery.deliver([subscriber])
            }
        }
    }
}

extension RegistryState {
    /// Refuses when one of the tweaks changed after the revision, or the revision is none of ours.
    fileprivate func check(_ steps: [TweakRegistry.Step], against expected: UInt64) throws(TweakError) {
        guard expected <= revision else {
            throw TweakError(.conflict, "revision \(expected) is unknown; the current one is \(revision)")
        }
        for step in steps where overlays[step.node.slot].changedAt > expected {
            let changedAt = overlays[step.node.slot].changedAt
            let origin = overlays[step.node.slot].entries.last?.origin.description ?? "a reset"
            throw TweakError(
                .conflict, "\(step.node.path.token) changed in revision \(changedAt), by \(origin); look again",
                path: step.node.path)
        }
    }

    /// Applies checked steps as one commit.
    fileprivate mutating func apply(
        _ steps: [TweakRegistry.Step], origin: TweakOrigin, time: ContinuousClock.Instant
    ) -> TweakRegistry.Applied {
        var applied = TweakRegistry.Applied()
        applied.carrier = carrier
        let next = revision + 1
        applied.outcomes.reserveCapacity(steps.count)
        var didStore = false
        for step in steps {
            guard let old = current(step.node) else { continue }
            let stored = write(step, origin: origin, time: time, revision: next)
            let new = current(step.node) ?? old
            if old.value != new.value {
                publish(step.node, old: old, new: new, origin: origin, revision: next, into: &applied)
            }
            didStore = didStore || stored
            applied.outcomes.append(
                TweakOutcome(
                    path: step.node.path, old: old.value, new: new.value, adjustment: step.adjustment,
                    didStore: stored, revision: stored ? next : revision))
        }
        if didStore { revision = next }
        applied.revision = revision
        return applied
    }

    /// Writes or removes the layers; false when they were so already.
    private mutating func write(
        _ step: TweakRegistry.Step, origin: TweakOrigin, time: ContinuousClock.Instant, revision: UInt64
    ) -> Bool {
        let slot = step.node.slot
        let override = overlays[slot][.override]
        let isTemporary = overlays[slot][.temporaryOverride] != nil
        if let prepared = step.prepared {
            if override?.prepared.value == prepared.value, !isTemporary { return false }
            overlays[slot].set(.init(layer: .override, prepared: prepared, origin: origin, time: time))
        } else {
            if override == nil, !isTemporary { return false }
            overlays[slot].remove(.override)
        }
        // A plain set, like a reset, ends a temporary override.
        overlays[slot].remove(.temporaryOverride)
        overlays[slot].changedAt = revision
        return true
    }

    /// Makes a value the current one and notes it for everybody who follows the tweak.
    fileprivate mutating func publish(
        _ node: TweakNode, old: Prepared, new: Prepared, origin: TweakOrigin, revision: UInt64,
        into applied: inout TweakRegistry.Applied
    ) {
        node.store(new)
        for subscriber in observers[node.slot] {
            subscriber.enqueue(PendingChange(old: old, new: new, origin: origin, revision: revision))
            applied.subscribers.append(subscriber)
        }
        for feed in feeds where !node.definition.flags.contains(.readOnly) {
            feed.append(
                FeedChange(node: node, old: old.value, new: new.value, origin: origin, revision: revision))
        }
        applied.feeds = feeds
    }
}

// MARK: - Freezing

extension TweakRegistry {
    /// Refuses all further sets with `read-only`; what was set before is reset. Figures go on.
    package func freeze() {
        let time = currentTime
        let applied = state.withLock { state in
            state.isFrozen = true
            let settable = state.nodes.compactMap { $0 }.filter { !$0.definition.flags.contains(.readOnly) }
            return state.apply(settable.map { Step(node: $0) }, origin: .code, time: time)
        }
        deliver(applied, .caller)
    }
}

// MARK: - Figures

extension TweakRegistry {
    /// Publishes a figure: no revision, no history, observers and readers see it at once.
    func publish(_ node: TweakNode, _ value: TweakValue) throws(TweakError) -> TweakOutcome {
        let (prepared, adjustment) = try node.prepare(value, policy: .clamp)
        let time = currentTime
        let (applied, outcome) = try state.withLock { state throws(TweakError) -> (Applied, TweakOutcome) in
            guard state.holds(node), let old = state.current(node) else { throw gone(node) }
            var applied = Applied()
            if old.value != prepared.value {
                state.overlays[node.slot].set(
                    .init(layer: .override, prepared: prepared, origin: .code, time: time))
                state.publish(
                    node, old: old, new: prepared, origin: .code, revision: state.revision, into: &applied)
                applied.feeds = []
            }
            let outcome = TweakOutcome(
                path: node.path, old: old.value, new: prepared.value, adjustment: adjustment, didStore: false,
                revision: state.revision)
            return (applied, outcome)
        }
        deliver(applied, .caller)
        return outcome
    }
}

// MARK: - Relative changes and refusals

extension TweakDefinition {
    /// The value that `+=`, `-=` or `toggle` asks for.
    fileprivate func apply(
        _ change: TweakBatch.Change, to value: TweakValue, path: TweakPath
    ) throws(TweakError) -> TweakValue {
        switch (change, value) {
        case (.toggle, .bool(let flag)): return .bool(!flag)
        case (.toggle, _):
            throw TweakError(
                .badValue, "\(path.token) is a \(kind.rawValue); only a bool can be toggled", path: path)
        case (.add(.int(let amount)), .int(let value)):
            let (sum, overflow) = value.addingReportingOverflow(amount)
            if !overflow { return .int(sum) }
        case (.add(.number(let amount)), .number(let value)): return .number(Decimals.sum(value, amount))
        case (.add(.duration(let amount)), .duration(let value)): return .duration(value + amount)
        default: break
        }
        throw TweakError(
            .badValue, "\(path.token) is a \(kind.rawValue); += and -= are for int, number and duration, within 64 bits",
            path: path)
    }
}

extension TweakRegistry {
    package func unknown(_ text: String) -> TweakError {
        let guess = suggestion(for: text).map { "; did you mean \($0.token)?" } ?? "; see ls or find"
        return TweakError(.unknownTweak, "there is no tweak \(Quoting.excerpt(text))\(guess)")
    }

    // Without a suggestion: it is thrown under the lock, which the listing needs too.
    private func gone(_ node: TweakNode) -> TweakError {
        TweakError(.unknownTweak, "\(node.path.token) is no longer registered here; see ls or find", path: node.path)
    }

    package func readOnly(_ node: TweakNode) -> TweakError {
        TweakError(.readOnly, "\(node.path.token) is a figure that the program publishes; it cannot be set", path: node.path)
    }

    /// Why a tweak or action cannot be reset.
    package func notSettable(_ node: TweakNode) -> TweakError {
        node.definition.kind == .action ? notAValue(node) : readOnly(node)
    }

    private func notAValue(_ node: TweakNode) -> TweakError {
        TweakError(.badValue, "\(node.path.token) is an action and has no value; use: run \(node.path.token)", path: node.path)
    }

    private func frozen(_ node: TweakNode) -> TweakError {
        TweakError(
            .readOnly, "\(node.path.token): this process is frozen (TWEAKS_FROZEN); nothing can be set",
            path: node.path)
    }

    /// The path that somebody may have meant: the nearest category, then collection, then name.
    package func suggestion(for text: String) -> TweakPath? {
        let groups = listing().groups
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
        if parts.count == 3 {
            var seen = Set<String>()
            let categories = groups.map(\.category).filter { seen.insert($0).inserted }
            if let category = Spelling.nearest(to: parts[0], among: categories) {
                let within = groups.filter { $0.category == category }
                if let collection = Spelling.nearest(to: parts[1], among: within.map(\.collection)),
                    let group = within.first(where: { $0.collection == collection }),
                    let name = Spelling.nearest(to: parts[2], among: group.nodes.lazy.map(\.path.name))
                {
                    return group.nodes.first { $0.path.name == name }?.path
                }
            }
        }
        // A bare name, or parts in the wrong place: compare what was typed with names, then with whole paths.
        let nodes = groups.lazy.flatMap(\.nodes).prefix(2_000)
        if let name = Spelling.nearest(to: parts.last ?? text, among: nodes.lazy.map(\.path.name)) {
            return nodes.first { $0.path.name == name }?.path
        }
        let joined = Spelling.nearest(to: text, among: nodes.lazy.map(\.path.joined))
        return joined.flatMap { joined in nodes.first { $0.path.joined == joined }?.path }
    }
}
