// What a commit does to the state of a registry, under the lock.

extension RegistryState {
    /// False when the step was computed from a value that is no longer current.
    func mayApply(_ step: CommitStep) throws(TweakError) -> Bool {
        guard holds(step.node) else { throw step.node.gone }
        if isFrozen { throw step.node.frozen }
        if case .keep = step.change, overlays[step.node.slot][.temporaryOverride] == nil {
            throw step.node.notTemporary
        }
        guard let basis = step.basis else { return true }
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
    mutating func apply(
        _ steps: [CommitStep], _ kind: CommitKind, origin: TweakOrigin, time: ContinuousClock.Instant,
        _ effects: inout CommitEffects
    ) -> TweakCommitResult {
        let next = revision + 1
        effects.isWhole = steps.count == 1
        let outcomes = steps.map { apply($0, origin: origin, time: time, revision: next, &effects) }
        history.mark(kind)
        // Taking back what was no change is told by that alone.
        if history.hasUnsaved { effects.historyJournal = historyJournal }
        if outcomes.contains(where: \.didStore) { finish(next, kind, origin: origin, time: time, &effects) }
        return TweakCommitResult(revision: revision, outcomes: outcomes)
    }

    /// Ends a commit that has changed something: it is remembered, announced, and raises the revision.
    mutating func finish(
        _ next: UInt64, _ kind: CommitKind, origin: TweakOrigin, time: ContinuousClock.Instant,
        _ effects: inout CommitEffects
    ) {
        if !commitLogs.isEmpty { note(next, kind, origin: origin, time: time, &effects) }
        history.append(
            &effects.parts, kind, revision: next, time: time, origin: origin, isNew: effects.single != nil)
        if history.hasUnsaved { effects.historyJournal = historyJournal }
        announce(&effects)
        raise(to: next, &effects)
    }

    private func note(
        _ next: UInt64, _ kind: CommitKind, origin: TweakOrigin, time: ContinuousClock.Instant,
        _ effects: inout CommitEffects
    ) {
        if effects.parts.isEmpty { return }
        let note = CommitNote(
            revision: next, time: time, origin: origin, kind: kind, about: history.revision(about: kind),
            parts: effects.parts.list)
        for log in commitLogs { log.note(note) }
        effects.commitLogs = commitLogs
    }

    /// Applies one checked step; the revision is that of the commit, if it turns out to change something.
    mutating func apply(
        _ step: CommitStep, origin: TweakOrigin, time: ContinuousClock.Instant, revision next: UInt64,
        _ effects: inout CommitEffects
    ) -> TweakOutcome {
        // Actions have no value; planning refuses them.
        guard let old = current(step.node) else { return .nothing(step.node.path, revision) }
        let before = overlays[step.node.slot].setValues
        let stored = write(step, before, origin: origin, time: time, revision: next, &effects)
        // What was set is on top now; a reset shows what lies beneath.
        let now = stored ? step.change.prepared ?? current(step.node) : old
        if stored { remember(step, before, old: old, new: now, origin: origin, time: time, revision: next, &effects) }
        // A change of a secret is told whether or not it is one: silence would confirm a guess.
        guard stored, let new = now, step.node.isSecret || new.value != old.value else {
            return TweakOutcome(
                path: step.node.path, old: old.value, new: old.value, adjustment: step.adjustment, didStore: stored,
                revision: stored ? next : revision, lifetime: step.change.lifetime, isSecret: step.node.isSecret)
        }
        publish(step.node, old: old, new: new, origin: origin, revision: next, &effects)
        return TweakOutcome(
            path: step.node.path, old: old.value, new: new.value, adjustment: step.adjustment, didStore: true,
            revision: next, lifetime: step.change.lifetime, isSecret: step.node.isSecret)
    }

    /// Writes or removes the layers; false when they were so already.
    private mutating func write(
        _ step: CommitStep, _ before: SetValues, origin: TweakOrigin, time: ContinuousClock.Instant, revision: UInt64,
        _ effects: inout CommitEffects
    ) -> Bool {
        let slot = step.node.slot
        let hadNotes = overlays[slot].notes != nil
        let hadTemporary =
            before.temporary != nil || hadNotes && overlays[slot].hasAside(.temporaryOverride)
        // Only texts take more than their place.
        let isText = step.node.definition.kind == .string
        if isText { textBytes -= heldText(step.node) }
        spareLayers(of: step.node)
        // The same value is set anew: a right guess at a secret is noted like any other set.
        if step.node.isSecret, case .override = step.change { overlays[slot].remove(.override) }
        var didChange = overlays[slot].apply(step.change, origin: origin, time: time)
        if isText { textBytes += heldText(step.node) }
        if didChange { reschedule(step.node, before, &effects) }
        if hadNotes, forgetNotes(slot, step.change) || didChange { didChange = true }
        if didChange {
            overlays[slot].changedAt = revision
            note(step.node, hadTemporary: hadTemporary)
        }
        return didChange
    }

    /// Notes for the storage what is set now.
    private func note(_ node: TweakNode, hadTemporary: Bool) {
        guard let journal else { return }
        journal.note(OverrideKey(node.path), storedOverride(node, .override))
        if hadTemporary || overlays[node.slot].expires != nil {
            journal.note(OverrideKey(node.path, isTemporary: true), storedOverride(node, .temporaryOverride))
        }
    }

    /// Keeps the schedule; the alarm looks at it after the lock.
    private mutating func reschedule(_ node: TweakNode, _ before: SetValues, _ effects: inout CommitEffects) {
        // Nearly always there is nothing temporary about it.
        let now = overlays[node.slot].expires
        if now == nil, before.temporary == nil { return }
        expiries.move(node, from: before.temporary?.expires, to: now)
        effects.didReschedule = true
    }

    /// Notes a tweak's part for the history.
    private mutating func remember(
        _ step: CommitStep, _ before: SetValues, old: Prepared, new: Prepared?, origin: TweakOrigin,
        time: ContinuousClock.Instant, revision: UInt64, _ effects: inout CommitEffects
    ) {
        if history.limit == 0, commitLogs.isEmpty { return }
        let after =
            if case .override(let prepared) = step.change {
                SetValues(override: prepared.value)
            } else {
                overlays[step.node.slot].setValues
            }
        if let kind = effects.single,
            history.goesOn(
                step.node, after: after, new: new?.value, kind, revision: revision, time: time, origin: origin)
        {
            return
        }
        let subject = History.Subject.node(step.node)
        if step.node.isSecret {
            return effects.parts.append(
                .init(subject: subject, before: SetValues(), after: SetValues(), old: nil, new: nil))
        }
        effects.parts.append(
            .init(subject: subject, before: before, after: after, old: old.value, new: new?.value))
    }

    /// A new word about an override ends what was kept aside for it. False when there was only a remark.
    private mutating func forgetNotes(_ slot: Int, _ change: LayerChange) -> Bool {
        guard let notes = overlays[slot].notes else { return false }
        let aside = notes.aside.filter { !change.isAbout($0.layer) }
        overlays[slot].notes = OverlayNotes(aside: aside, beneath: change.isAbout(.override) ? nil : notes.beneath)
        return aside.count < notes.aside.count
    }

    /// Raises the revision at the end of a commit.
    mutating func raise(to next: UInt64, _ effects: inout CommitEffects) {
        revision = next
        guard let journal else { return }
        journal.note(next, isUrgent: effects.isUrgent)
        effects.journal = journal
    }
}

extension TweakOutcome {
    fileprivate static func nothing(_ path: TweakPath, _ revision: UInt64) -> TweakOutcome {
        TweakOutcome(
            path: path, old: .bool(false), new: .bool(false), adjustment: .none, didStore: false, revision: revision,
            isSecret: false)
    }
}
