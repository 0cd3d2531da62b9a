// Plans a commit: validates each change before the registry's lock is taken, since validators of the program may run.

import Synchronization

/// A validated batch, whose commit takes little more than the time under the lock.
package struct PreparedBatch: Sendable {
    let steps: [CommitStep]
}

/// One tweak's part of a commit, ready to be applied.
struct CommitStep: Sendable {
    let node: TweakNode
    var change: LayerChange = .reset
    var adjustment: TweakAdjustment = .none
    /// The current value that a computed change (`+=`, toggle) started from; nil for other changes.
    var basis: Basis?

    /// Boxed, since few steps have one.
    indirect enum Basis: Sendable {
        case value(TweakValue)
    }
}

extension TweakRegistry {
    /// The value of one tweak before and after a commit that is only simulated.
    package struct Forecast: Sendable {
        package let old: TweakValue
        package let new: TweakValue
        package let adjustment: TweakAdjustment
    }

    /// Simulates a batch of sets without applying it.
    /// - Throws: The errors of `commit`.
    package func forecast(_ batch: TweakBatch) throws(TweakError) -> [Forecast] {
        let steps = try plan(batch, policy: nil)
        if let node = steps.first?.node, isFrozen { throw node.frozen }
        return steps.compactMap { step in
            guard let old = settled(step.node) else { return nil }
            return Forecast(old: old, new: step.change.prepared?.value ?? old, adjustment: step.adjustment)
        }
    }

    /// Validates a batch in advance. A change that is computed from another value by then is validated again.
    /// - Throws: The errors of `commit`.
    package func prepare(_ batch: TweakBatch) throws(TweakError) -> PreparedBatch {
        PreparedBatch(steps: try plan(batch, policy: nil))
    }

    func plan(_ batch: TweakBatch, policy: TweakPolicy?) throws(TweakError) -> [CommitStep] {
        var steps: [CommitStep] = []
        var positions: [ObjectIdentifier: Int] = [:]
        let entries = try expanded(batch.entries)
        for (target, change, lifetime) in entries {
            let node = try resolve(target)
            guard entries.count > 1 else { return [try step(node, change, for: lifetime, after: nil, policy)] }
            let position = positions[ObjectIdentifier(node)]
            let step = try step(node, change, for: lifetime, after: position.map { steps[$0] }, policy)
            if let position {
                steps[position] = step
            } else {
                positions[ObjectIdentifier(node)] = steps.count
                steps.append(step)
            }
        }
        return steps
    }

    func step(
        _ node: TweakNode, _ change: TweakBatch.Change, for lifetime: Duration? = nil, after earlier: CommitStep?,
        _ policy: TweakPolicy?
    ) throws(TweakError) -> CommitStep {
        if !node.isSettable { throw node.notSettable }
        // Fast path: most changes are a plain set.
        if case .set(let value) = change, lifetime == nil {
            let (prepared, adjustment) = try node.prepare(value, policy: policy)
            return CommitStep(node: node, change: .override(prepared), adjustment: adjustment)
        }
        var step = CommitStep(node: node)
        let wanted: TweakValue
        switch change {
        case .validated(let prepared, let adjustment):
            (step.change, step.adjustment) = (.override(prepared), adjustment)
            return step
        case .reset: return step
        case .keep:
            step.change = earlier.map(\.change.kept) ?? .keep
            return step
        case .restore(let values):
            step.change = .restore(try node.validate(values, at: currentTime, policy))
            return step
        case .set(let value): wanted = value
        case .add, .subtract, .toggle:
            let kind = node.definition.component?.kind ?? node.definition.kind
            if node.isSecret, [.int, .number, .duration].contains(kind) { throw node.notComputable }
            // Within a batch the change starts from an earlier change of the same tweak: its value, or after a reset
            // the value of the next layer. A kept value is the current one.
            let earlier = earlier.flatMap { $0.change.isKeep ? nil : $0 }
            guard let start = earlier.map({ $0.change.prepared?.value ?? valueAfterReset(node) }) ?? settled(node)
            else { return step }
            step.basis = earlier.map(\.basis) ?? .value(start)
            wanted = try node.definition.apply(change, to: start, path: node.path)
        }
        let (prepared, adjustment) = try node.prepare(wanted, policy: policy)
        step.adjustment = adjustment
        if let lifetime {
            step.change = .temporary(prepared, try node.validate(lifetime))
        } else {
            step.change = .override(prepared)
        }
        return step
    }

    /// The value after a reset.
    private func valueAfterReset(_ node: TweakNode) -> TweakValue? {
        state.withLock { state in
            (state.holds(node) ? state.overlays[node.slot].underlying?.prepared : nil) ?? node.defaultPrepared
        }?.value
    }

    private func resolve(_ target: TweakBatch.Target) throws(TweakError) -> TweakNode {
        switch target {
        case .node(let node): return node
        case .path(let text), .pattern(let text):
            guard let tweak = self[text] else { throw unknown(text) }
            return tweak.node
        }
    }

    /// The same changes, with each pattern replaced by the tweaks that it matches.
    private func expanded(_ entries: [TweakBatch.Entry]) throws(TweakError) -> [TweakBatch.Entry] {
        if !entries.contains(where: { if case .pattern = $0.target { true } else { false } }) { return entries }
        var expanded: [TweakBatch.Entry] = []
        for entry in entries {
            guard case .pattern(let text) = entry.target, self[text] == nil else {
                expanded.append(entry)
                continue
            }
            for node in try TweakView(self).resolve(text) where allows(entry.change, node) {
                expanded.append((.node(node), entry.change, entry.lifetime))
            }
        }
        return expanded
    }

    /// Whether a change applies to one of the tweaks that a pattern matches.
    private func allows(_ change: TweakBatch.Change, _ node: TweakNode) -> Bool {
        if case .keep = change { timeLeft(node) != nil } else { node.isSettable }
    }
}

extension TweakNode {
    /// The error for `+=` and `-=` on a secret: an out-of-range sum would reveal its value.
    fileprivate var notComputable: TweakError {
        TweakError(.badValue, "\(path.token) is secret and cannot be changed by += or -=; set a new value", path: path)
    }

    /// Whether its values must not be shown.
    package var isSecret: Bool { definition.flags.contains(.secret) }

    /// Whether it has a value that can be set: it is neither an action nor read-only.
    package var isSettable: Bool { definition.kind != .action && !definition.flags.contains(.readOnly) }
}

extension TweakDefinition {
    /// The result of `+=`, `-=` or `toggle`.
    fileprivate func apply(
        _ change: TweakBatch.Change, to value: TweakValue, path: TweakPath
    ) throws(TweakError) -> TweakValue {
        if kind == .optional, value != .notSet, let component {
            return try component.apply(change, to: value, path: path)
        }
        let (amount, exact, sign): (TweakValue, ExactDecimal?, Int128)
        switch change {
        case .add(let value, let decimal): (amount, exact, sign) = (value, decimal, 1)
        case .subtract(let value, let decimal): (amount, exact, sign) = (value, decimal?.negative, -1)
        default: return try toggled(value, path)
        }
        if case (.number(let amount), .number(let value)) = (amount, value) {
            if let exact, let value = ExactDecimal(value) { return .number(value.plus(exact).nearest) }
            return .number(Decimals.sum(value, sign < 0 ? -amount : amount))
        }
        if amount.kind == value.kind, let amount = amount.whole, let value = value.whole {
            // Three numbers of 64 bits.
            let sum = value + sign * amount
            // Values above `Int64.max` need an upper bound that allows them.
            if sum <= Int64.max || bounds?.upper != nil, let sum = whole(sum) { return sum }
            throw TweakError(.outOfRange, "\(path.token): the result is beyond 64 bits", path: path)
        }
        throw TweakError(
            .badValue,
            "\(path.token) is \(kind.phrase); += and -= are for int, number and duration, within 64 bits",
            path: path)
    }

    private func toggled(_ value: TweakValue, _ path: TweakPath) throws(TweakError) -> TweakValue {
        if case .bool(let flag) = value { return .bool(!flag) }
        throw TweakError(.badValue, "\(path.token) is \(kind.phrase); only a bool can be toggled", path: path)
    }
}

// MARK: - Forecasting

/// The stored overrides that a batch would produce.
package struct OverrideForecast: Sendable {
    /// The changed overrides; nil for a removed one.
    package let changes: [OverrideKey: StoredEntry?]
    /// The same overrides before the batch.
    private let before: [OverrideKey: StoredEntry]

    fileprivate init(changes: [OverrideKey: StoredEntry?], before: [OverrideKey: StoredEntry]) {
        self.changes = changes
        self.before = before
    }

    /// Whether none of these overrides changed between two forecasts.
    package func hasSameStart(as other: OverrideForecast) -> Bool { before == other.before }

    /// Whether two forecasts of one batch give the same values.
    package func agrees(with other: OverrideForecast) -> Bool {
        changes.count == other.changes.count
            && changes.allSatisfy { key, entry in
                guard let counterpart = other.changes[key] else { return false }
                return counterpart?.content == entry?.content
            }
    }
}

extension TweakRegistry {
    /// The stored overrides that a batch would produce, without committing it.
    /// - Throws: The error that `commit` would throw.
    package func overrides(after batch: TweakBatch, origin: TweakOrigin) throws(TweakError) -> OverrideForecast {
        let steps = try plan(batch, policy: nil)
        if let node = steps.first?.node, isFrozen { throw node.frozen }
        let time = currentTime
        var changes: [OverrideKey: StoredEntry?] = [:]
        var before: [OverrideKey: StoredEntry] = [:]
        try state.withLock { state throws(TweakError) in
            for step in steps where state.holds(step.node) {
                _ = try state.mayApply(step)
                for layer in [LayerIndex.override, .temporaryOverride] {
                    let now = state.storedOverride(step.node, layer)
                    let wanted = state.storedOverride(step, layer, origin, time)
                    let isSame = now?.content == wanted?.content && now?.expires == wanted?.expires
                    // A guessed secret is written even if it is right: a faster reply would confirm the guess.
                    if isSame, !step.node.isSecret || wanted == nil { continue }
                    let key = OverrideKey(step.node.path, isTemporary: layer == .temporaryOverride)
                    changes[key] = .some(wanted)
                    before[key] = now
                }
            }
        }
        return OverrideForecast(changes: changes, before: before)
    }
}

extension RegistryState {
    /// The override of a tweak after a step.
    fileprivate func storedOverride(
        _ step: CommitStep, _ layer: LayerIndex, _ origin: TweakOrigin, _ time: Moment
    ) -> StoredEntry? {
        if !step.change.affects(layer) { return storedOverride(step.node, layer) }
        var overlay = overlays[step.node.slot]
        _ = overlay.apply(step.change, origin: origin, at: time, in: layers)
        // A new set or reset also discards a quarantined value.
        return overlay[layer].map { StoredEntry($0, of: step.node, covering: underlyingValue(of: step.node)?.value) }
    }
}

// MARK: - Refusing

extension TweakNode {
    /// The tweak was removed.
    // Has no suggestion of similar paths: it is thrown under the lock, which the listing needs, too.
    var notRegistered: TweakError {
        TweakError(.unknownTweak, "\(path.token) is no longer registered here; see ls or find", path: path)
    }

    var frozen: TweakError {
        TweakError(
            .readOnly, "\(path.token): this process is frozen (TWEAKS_FROZEN); nothing can be set", path: path)
    }

    /// There is no temporary override to keep.
    var notTemporary: TweakError {
        TweakError(
            .conflict, "\(path.token) has no temporary override to keep; explain \(path.token) shows what it has",
            path: path)
    }

    /// An action or figure cannot be set or reset.
    package var notSettable: TweakError {
        definition.kind == .action
            ? TweakError(.badValue, "\(path.token) is an action and has no value; use: run \(path.token)", path: path)
            : TweakError(
                .readOnly, "\(path.token) is a figure that the program publishes; it cannot be set", path: path)
    }
}

extension TweakRegistry {
    /// The error for a path or pattern that matches nothing.
    package func unknown(_ text: String) -> TweakError { TweakView(self).unknown(text) }
}
