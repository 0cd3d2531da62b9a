// What a commit does to the state of a registry, under the lock.

extension RegistryState {
    /// False when the step was computed from a value that is no longer current.
    func mayApply(_ step: CommitStep) throws(TweakError) -> Bool {
        guard holds(step.node) else { throw step.node.gone }
        if isFrozen { throw step.node.frozen }
        if case .keep = step.change, overlays[step.node.slot][.temporaryOverride] == nil {
            throw step.node.notTemporary
        }
        guard case .value(let basis)? = step.basis else { return true }
        return current(step.node)?.value == basis
    }

    /// Refuses when one of the tweaks changed after the revision, or the revision is none of ours.
    func check(_ steps: [CommitStep], against expected: UInt64) throws(TweakError) {
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
    mutating func apply(_ steps: [CommitStep], _ commit: inout PendingCommit) -> TweakCommitResult {
        commit.isWhole = steps.count == 1
        let outcomes = steps.map { apply($0, &commit) }
        finish(&commit)
        return TweakCommitResult(revision: revision, outcomes: outcomes)
    }

    /// Applies one checked step; its revision is that of the commit, if it turns out to change something.
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
        // A change of a secret is told whether or not it is one: silence would confirm a guess.
        note(step, before, old, new, isNews: isNew || node.isSecret, isTemporary, &commit)
        if isNew { show(node, old: old, new: new, &commit) }
        return TweakOutcome(
            path: node.path, old: old.value, new: new.value, adjustment: step.adjustment, didStore: true,
            revision: revision + 1, lifetime: step.change.lifetime, isSecret: node.isSecret)
    }

    private func layers(of node: TweakNode, before change: LayerChange) -> LayersBefore {
        let (isSet, end) = (overlays[node.slot].isSet, overlays[node.slot].end)
        if case .override = change, end == nil {
            return LayersBefore(isSet: isSet, end: nil, values: nil)
        }
        return LayersBefore(isSet: isSet, end: end, values: overlays[node.slot].setValues)
    }

    /// Writes or removes the layers.
    /// - Returns: Whether a temporary override was there, or is now; nil when the layers were so already.
    private mutating func write(_ step: CommitStep, _ before: LayersBefore, _ commit: inout PendingCommit) -> Bool? {
        let slot = step.node.slot
        let hadNotes = overlays[slot].notes != nil
        let hadTemporary = before.end != nil || hadNotes && overlays[slot].hasAside(.temporaryOverride)
        // Only texts and lists take more than their place.
        let isText = step.node.definition.kind.mayBeLong
        if isText { textBytes -= heldText(step.node) }
        spareLayers(of: step.node)
        // The same value is set anew: a right guess at a secret is noted like any other set.
        if step.node.isSecret, case .override = step.change { overlays[slot].remove(.override) }
        var didChange = overlays[slot].apply(step.change, origin: commit.origin, at: commit.moment)
        if isText { textBytes += heldText(step.node) }
        if didChange { reschedule(step.node, before, &commit) }
        if hadNotes, forgetNotes(slot, step.change) || didChange { didChange = true }
        if !didChange { return nil }
        overlays[slot].changedAt = revision + 1
        return hadTemporary || overlays[slot].end != nil
    }

    /// Keeps the schedule; the alarm looks at it after the lock.
    private mutating func reschedule(_ node: TweakNode, _ before: LayersBefore, _ commit: inout PendingCommit) {
        // Nearly always there is nothing temporary about it.
        let now = overlays[node.slot].end
        if now == nil, before.end == nil { return }
        expiries.move(node, from: before.end, to: now)
        commit.didReschedule = true
    }

    /// Notes a tweak's part for history and followers.
    private mutating func note(
        _ step: CommitStep, _ before: LayersBefore, _ old: Prepared, _ new: Prepared, isNews: Bool, _ isTemporary: Bool,
        _ commit: inout PendingCommit
    ) {
        if history.limit == 0, !stream.isFollowed { return }
        if before.values == nil, commit.isWhole, !stream.isFollowed,
            history.extendLast(step.node, to: new.value, commit, revision: revision + 1)
        {
            commit.isRemembered = true
            return
        }
        // In place: a part is large, and most commits have one.
        if commit.parts.isEmpty {
            commit.parts = [part(step, before, old, new, isNews: isNews, isTemporary)]
        } else {
            commit.parts.append(part(step, before, old, new, isNews: isNews, isTemporary))
        }
    }

    @inline(__always)
    private func part(
        _ step: CommitStep, _ before: LayersBefore, _ old: Prepared, _ new: Prepared, isNews: Bool, _ isTemporary: Bool
    ) -> CommitPart {
        let node = step.node
        guard let values = before.values else {
            return CommitPart(
                overridden: node, wasSet: before.isSet, old: old.value, new: new.value, isNews: isNews,
                isTemporary: isTemporary)
        }
        let layer = overlays[node.slot].topLayer ?? .default
        // What people set is not touched, but where the file wins: that is told as a change of the value.
        if case .source = step.change {
            return CommitPart(
                .node(node), old: old.value, new: new.value, layer: layer, isNews: isNews, isTemporary: isTemporary)
        }
        return CommitPart(
            .node(node), before: values, after: overlays[node.slot].setValues, old: old.value,
            new: new.value, layer: layer, isNews: isNews, isTemporary: isTemporary)
    }

    /// A new word about an override ends what was kept aside for it. False when there was only a remark.
    private mutating func forgetNotes(_ slot: Int, _ change: LayerChange) -> Bool {
        guard let notes = overlays[slot].notes else { return false }
        let aside = notes.aside.filter { !change.isAbout($0.layer) }
        overlays[slot].notes = OverlayNotes(aside: aside, beneath: change.isAbout(.override) ? nil : notes.beneath)
        return aside.count < notes.aside.count
    }
}

/// What was set of a tweak before a change, as far as the change asks.
private struct LayersBefore {
    let isSet: Bool
    /// When the temporary override ends.
    let end: Moment?
    /// What was set. Nil where an override is set and there was one, or nothing: then the current values before and after
    /// say it all.
    let values: SetValues?
}

extension TweakOutcome {
    fileprivate static func nothing(_ path: TweakPath, _ revision: UInt64) -> TweakOutcome {
        TweakOutcome(
            path: path, old: .bool(false), new: .bool(false), adjustment: .none, didStore: false, revision: revision,
            isSecret: false)
    }
}
