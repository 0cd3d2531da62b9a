// Shows other values in the process for a while, above all layers: nothing is set, remembered or stored.

/// The values that a program reads for a while in place of its own, until they are taken back or one of their tweaks
/// changes. They are in no layer: history, presets, exports, storage and every later change know only what is set.
package final class TweakPreview: Sendable {
    /// The most tweaks of a preview.
    package static let limit = 200

    struct Entry: Sendable {
        let node: TweakNode
        let prepared: Prepared
    }

    /// `preview of uid 1000 (Ada)`.
    package let origin: TweakOrigin
    package let time: Moment
    /// By slot.
    fileprivate let entries: [Entry]

    fileprivate init(_ entries: [Entry], _ origin: TweakOrigin, _ time: Moment) {
        self.entries = entries.sorted { $0.node.slot < $1.node.slot }
        self.origin = origin
        self.time = time
    }

    /// Its approximate size in memory, in bytes.
    var memorySize: Int {
        entries.reduce(256) { $0 + MemoryLayout<Entry>.stride + ($1.prepared.value.textBytes ?? 0) }
    }

    /// The value that it shows for a tweak; nil if it leaves that one alone.
    subscript(node: TweakNode) -> Prepared? {
        let index = entries.endOfFirstPart { $0.node.slot < node.slot }
        return index < entries.count && entries[index].node === node ? entries[index].prepared : nil
    }

    /// The layer that `explain` shows above the others; nil for a tweak that it leaves alone.
    func layer(of node: TweakNode) -> TweakLayerValue? {
        self[node].map {
            TweakLayerValue(
                layer: .preview, value: $0.value, origin: origin, isSecret: node.isSecret, moment: time, end: nil)
        }
    }
}

/// What a preview shows.
package struct StartedPreview: Sendable {
    /// Nil if nothing differs: then none is on.
    package let preview: TweakPreview?
    package let revision: UInt64
    /// Whether the program reads other values than before.
    package let didChange: Bool
    /// The tweaks that differ, in the order of the batch, each with its own value and the one that is shown.
    package let changes: [(node: TweakNode, value: TweakValue, shown: TweakValue)]
}

extension TweakNode {
    /// Whether a preview may show another value of it. A restart, which a change of it needs, is no preview, and a secret
    /// would be compared with a guess.
    package var mayBePreviewed: Bool { isSettable && !isSecret && !definition.flags.contains(.needsRestart) }
}

extension TweakRegistry {
    /// The preview that is on; nil without one.
    package var preview: TweakPreview? { state.withLock { $0.preview } }

    /// Shows in the process what a batch would set, in one commit. Tweaks that must not be previewed are left out.
    /// - Parameters:
    ///   - origin: Who wants to see it.
    ///   - earlier: The preview that this one replaces, if it is still on.
    ///   - isDry: Only reports what differs.
    /// - Throws: The errors of `commit`; `busy` while another preview is on, `too-many` for more than 200 tweaks.
    package func preview(
        _ batch: TweakBatch, origin: TweakOrigin, replacing earlier: TweakPreview? = nil, isDry: Bool = false
    ) throws(TweakError) -> StartedPreview {
        let batch = batch.previewed
        // Before the program's checks run: a server has one thread for all its clients.
        try TweakPreview.check(batch.count)
        while true {
            let steps = try plan(batch, policy: nil).filter(\.node.mayBePreviewed)
            try TweakPreview.check(steps.count)
            let named = TweakOrigin("preview of \(origin.description)").through(origin.connection)
            var commit = PendingCommit(.preview, named, currentTime)
            // No reply waits for the disk, which gets nothing but the revision.
            commit.isUrgent = false
            let started = try state.withLock { state throws(TweakError) -> StartedPreview? in
                for step in steps { guard try state.mayApply(step) else { return nil } }
                if !isDry, let other = state.preview, other !== earlier { throw other.isInTheWay }
                return state.preview(steps, isDry: isDry, &commit)
            }
            // Plans again if a `+=` or toggle was computed from a value that is no longer current.
            guard let started else { continue }
            deliver(commit, .executor)
            return started
        }
    }

    /// Ends a preview: the program reads what is set.
    /// - Returns: The revision; nil if it had ended already.
    @discardableResult
    package func end(_ preview: TweakPreview) -> UInt64? {
        var commit = PendingCommit(.preview, preview.origin, currentTime)
        commit.isUrgent = false
        let revision = state.withLock { state -> UInt64? in
            guard state.preview === preview else { return nil }
            state.show(nil, &commit)
            return state.revision
        }
        deliver(commit, .executor)
        return revision
    }
}

extension TweakPreview {
    fileprivate static func check(_ count: Int) throws(TweakError) {
        if count <= limit { return }
        throw TweakError(.tooMany, "a preview shows at most \(limit) tweaks, and these are \(count); name fewer")
    }

    fileprivate var isInTheWay: TweakError {
        TweakError(.busy, "a \(origin.description) is on; try again when it has ended")
    }
}

extension TweakBatch {
    /// The changes that a preview may show; those of patterns are judged tweak by tweak.
    fileprivate var previewed: TweakBatch {
        var batch = self
        batch.entries.removeAll { if case .node(let node) = $0.target { !node.mayBePreviewed } else { false } }
        return batch
    }
}

// MARK: - Under the lock

extension RegistryState {
    /// The value that the program reads; nil for an action.
    func shown(_ node: TweakNode) -> Prepared? { preview?[node] ?? current(node) }

    fileprivate mutating func preview(
        _ steps: [CommitStep], isDry: Bool, _ commit: inout PendingCommit
    ) -> StartedPreview {
        var entries: [TweakPreview.Entry] = []
        var changes: [(TweakNode, TweakValue, TweakValue)] = []
        for step in steps {
            var overlay = overlays[step.node.slot]
            _ = overlay.apply(step.change, origin: commit.origin, at: commit.time, in: layers)
            guard let own = current(step.node), let wanted = overlay.top ?? step.node.defaultPrepared,
                own.value != wanted.value
            else { continue }
            entries.append(TweakPreview.Entry(node: step.node, prepared: wanted))
            changes.append((step.node, own.value, wanted.value))
        }
        if isDry { return StartedPreview(preview: nil, revision: revision, didChange: false, changes: changes) }
        let next = entries.isEmpty ? nil : TweakPreview(entries, commit.origin, commit.time)
        show(next, &commit)
        return StartedPreview(preview: next, revision: revision, didChange: commit.didStore, changes: changes)
    }

    /// Begins, replaces or ends the preview.
    fileprivate mutating func show(_ next: TweakPreview?, _ commit: inout PendingCommit) {
        let before = preview
        preview = next
        let nodes = (next?.entries ?? []).map(\.node) + (before?.entries ?? []).map(\.node).filter { next?[$0] == nil }
        for node in nodes where holds(node) {
            guard let own = current(node) else { continue }
            let (old, new) = (before?[node] ?? own, next?[node] ?? own)
            if old.value == new.value { continue }
            // A client that resumes from an earlier revision gets it again.
            overlays[node.slot].shownAt = revision + commit.revisionIncrement
            let layer = next?[node] == nil ? overlays[node.slot].topLayer ?? .default : .preview
            commit.parts.append(
                CommitPart(.node(node), .unchanged, old: old.value, new: new.value, layer: layer, isReported: true))
            makeCurrent(node, old: old, new: new, &commit)
        }
        commit.didStore = !commit.parts.isEmpty
        finish(&commit)
        if let before { released.append(before) }
    }

    /// Ends the preview of tweaks that are about to change, as a commit before that change: what a client sets is in
    /// effect at once.
    mutating func endPreview(of nodes: some Sequence<TweakNode>, _ commit: inout PendingCommit) {
        guard let preview, nodes.contains(where: { preview[$0] != nil }) else { return }
        var end = PendingCommit(.preview, preview.origin, commit.time)
        // A reply to the change may wait for its revision.
        end.isUrgent = commit.isUrgent
        show(nil, &end)
        commit.otherSubscribers += end.subscribers
        commit.followersToWake += end.followersToWake
    }
}
