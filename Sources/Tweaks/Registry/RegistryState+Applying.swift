// Applies a validated commit to the state of a registry, under the lock.

extension RegistryState {
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
    func check(_ steps: [CommitStep], against expected: UInt64) throws(TweakError) {
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

    /// Applies checked steps as one commit.
    mutating func apply(_ steps: [CommitStep], _ commit: inout PendingCommit) -> TweakCommitResult {
        commit.changesOneTweak = steps.count == 1
        let outcomes = steps.map { apply($0, &commit) }
        finish(&commit)
        return TweakCommitResult(revision: revision, outcomes: outcomes)
    }

    /// Applies one checked step. If it changes something, the outcome has the revision of the commit.
    mutating func apply(_ step: CommitStep, _ commit: inout PendingCommit) -> TweakOutcome {
        let node = step.node
        // Actions have no value; planning refuses them.
        guard let old = current(node) else { return .nothing(node.path, revision) }
        let before = layers(of: node, before: step.change)
        guard let isTemporary = write(step, before, &commit) else {
            return TweakOutcome(
                path: node.path, old: old.value, new: old.value, adjustment: step.adjustment, didStore: false,
                revision: revision, lifetime: step.change.lifetime, isSecret: node.isSecret)
        }
        let new = current(node) ?? old
        let isNew = new.value != old.value
        commit.didStore = true
        // A set of a secret is always reported, even to the same value: silence would confirm a guess.
        note(step, before, old, new, isReported: isNew || node.isSecret, isTemporary, &commit)
        if isNew { makeCurrent(node, old: old, new: new, &commit) }
        return TweakOutcome(
            path: node.path, old: old.value, new: new.value, adjustment: step.adjustment, didStore: true,
            revision: revision + commit.revisionIncrement, lifetime: step.change.lifetime, isSecret: node.isSecret)
    }

    private func layers(of node: TweakNode, before change: LayerChange) -> LayersBefore {
        let (isSet, end) = (overlays[node.slot].isSet, overlays[node.slot].end)
        if case .override = change, end == nil {
            return LayersBefore(isSet: isSet, end: nil, values: nil)
        }
        return LayersBefore(isSet: isSet, end: end, values: overlays[node.slot].overrideValues)
    }

    /// Writes or removes the layers.
    /// - Returns: Whether there was or is a temporary override; nil if no layer changed.
    private mutating func write(_ step: CommitStep, _ before: LayersBefore, _ commit: inout PendingCommit) -> Bool? {
        let slot = step.node.slot
        let hadNotes = overlays[slot].notes != nil
        let hadTemporary = before.end != nil || hadNotes && overlays[slot].hasQuarantined(.temporaryOverride)
        // Only texts and lists have a variable size.
        let isText = step.node.definition.kind.mayBeLong
        if isText { textBytes -= overrideTextBytes(step.node) }
        deferLayerRelease(of: step.node)
        // Removing the override first makes a set to the same value a change: a correct guess of a secret must look
        // like any other set.
        if step.node.isSecret, case .override = step.change { overlays[slot].remove(.override) }
        var didChange = overlays[slot].apply(step.change, origin: commit.origin, at: commit.moment)
        if isText { textBytes += overrideTextBytes(step.node) }
        if didChange { reschedule(step.node, before, &commit) }
        if hadNotes, forgetNotes(slot, step.change) || didChange { didChange = true }
        if !didChange { return nil }
        overlays[slot].changedAt = revision + commit.revisionIncrement
        return hadTemporary || overlays[slot].end != nil
    }

    /// Updates the expiry schedule; the alarm reads it after the lock is released.
    private mutating func reschedule(_ node: TweakNode, _ before: LayersBefore, _ commit: inout PendingCommit) {
        // Fast path: no temporary override before or after.
        let now = overlays[node.slot].end
        if now == nil, before.end == nil { return }
        expiries.move(node, from: before.end, to: now)
        commit.didReschedule = true
    }

    /// Records a tweak's part for history and followers.
    private mutating func note(
        _ step: CommitStep, _ before: LayersBefore, _ old: Prepared, _ new: Prepared, isReported: Bool,
        _ isTemporary: Bool,
        _ commit: inout PendingCommit
    ) {
        if history.limit == 0, !stream.isFollowed { return }
        if before.values == nil, commit.changesOneTweak, !stream.isFollowed,
            history.extendLast(step.node, to: new.value, commit, revision: revision + 1)
        {
            commit.isRemembered = true
            return
        }
        // Creates the part in place: it is large, and most commits have one.
        if commit.parts.isEmpty {
            commit.parts = [part(step, before, old, new, isReported: isReported, isTemporary)]
        } else {
            commit.parts.append(part(step, before, old, new, isReported: isReported, isTemporary))
        }
    }

    @inline(__always)
    private func part(
        _ step: CommitStep, _ before: LayersBefore, _ old: Prepared, _ new: Prepared, isReported: Bool,
        _ isTemporary: Bool
    ) -> CommitPart {
        let node = step.node
        guard let values = before.values else {
            return CommitPart(
                overridden: node, wasSet: before.isSet, old: old.value, new: new.value, isReported: isReported,
                isTemporary: isTemporary)
        }
        let layer = overlays[node.slot].topLayer ?? .default
        // The overrides stay as they are unless the file wins; both are recorded as a change of the value.
        if case .source = step.change {
            return CommitPart(
                .node(node), old: old.value, new: new.value, layer: layer, isReported: isReported,
                isTemporary: isTemporary)
        }
        return CommitPart(
            .node(node), before: values, after: overlays[node.slot].overrideValues, old: old.value,
            new: new.value, layer: layer, isReported: isReported, isTemporary: isTemporary)
    }

    /// Drops the quarantined values of the layers that a change affects. Returns false if there were none.
    private mutating func forgetNotes(_ slot: Int, _ change: LayerChange) -> Bool {
        guard let notes = overlays[slot].notes else { return false }
        let quarantined = notes.quarantined.filter { !change.affects($0.layer) }
        overlays[slot].notes = OverlayNotes(
            quarantined: quarantined,
            underlyingChange: change.affects(.override) ? nil : notes.underlyingChange)
        return quarantined.count < notes.quarantined.count
    }
}

/// The overrides of a tweak before a change, as far as the change needs them.
private struct LayersBefore {
    let isSet: Bool
    /// When the temporary override ends.
    let end: Moment?
    /// The overrides. Nil if an override is set and there was no temporary one: then the current values before and
    /// after suffice.
    let values: OverrideValues?
}

extension TweakOutcome {
    fileprivate static func nothing(_ path: TweakPath, _ revision: UInt64) -> TweakOutcome {
        TweakOutcome(
            path: path, old: .bool(false), new: .bool(false), adjustment: .none, didStore: false, revision: revision,
            isSecret: false)
    }
}
