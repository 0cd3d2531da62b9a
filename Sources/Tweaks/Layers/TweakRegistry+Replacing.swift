// Replaces the values of a source's layer in one commit: the one way for config file, fleet and a program's sources.

import Synchronization

/// How a source replaces its layer.
package struct LayerPolicy: Sendable {
    /// The entries are all values of the layer; otherwise only the tweaks that they name change.
    package var isWhole = true
    /// Each entry is judged by itself, and what a tweak has stays where its entry is refused; otherwise one bad entry
    /// refuses all.
    package var isEach = false
    /// Entries for unregistered tweaks are errors; otherwise their values stay pending until the tweaks register.
    package var unknownIsError = false
    /// A changed value drops the tweak's override if no other source lies between them; otherwise the override stays.
    package var dropsOverrides = false
    /// The number of problems to list; further ones are only counted.
    package var listedProblems = Int.max
    /// The bytes of memory that the values of unregistered tweaks can use.
    package var pendingBytes = 33_554_432

    package init(
        isWhole: Bool = true, isEach: Bool = false, unknownIsError: Bool = false, dropsOverrides: Bool = false,
        listedProblems: Int = .max
    ) {
        self.isWhole = isWhole
        self.isEach = isEach
        self.unknownIsError = unknownIsError
        self.dropsOverrides = dropsOverrides
        self.listedProblems = listedProblems
    }

    /// Each value is judged by itself, and those of other tweaks stay: for a source that limits its size by itself.
    package static let differences: LayerPolicy = {
        var policy = LayerPolicy(isWhole: false, isEach: true, listedProblems: 0)
        policy.pendingBytes = .max
        return policy
    }()

    fileprivate func assignmentRules(_ layer: LayerRules) -> AssignmentRules {
        AssignmentRules(
            keepsUnknown: !unknownIsError, isEach: isEach, listedProblems: listedProblems, pendingBytes: pendingBytes,
            layer: layer)
    }
}

/// What a source has changed, or would change.
package struct LayerDifference: Sendable {
    /// The change of one tweak.
    package struct Change: Sendable {
        package let path: TweakPath
        package let isSecret: Bool
        /// The previous value of this layer, or of the layers below it.
        package let old: TweakValue
        /// The new value of this layer, or of the layers below it.
        package let new: TweakValue
        /// The layer no longer has a value for the tweak; those below it apply.
        package let isRemoved: Bool
        /// The override that still hides it.
        package let override: TweakValue?
        /// The override that was dropped in favor of it.
        package let dropped: TweakValue?
    }

    /// All problems; unless each entry is judged by itself, nothing has changed if there are any.
    package var problems = ConfigProblems()
    /// The tweaks whose values are invalid, if each entry is judged by itself.
    package var refused: [(path: TweakPath, reason: TweakError)] = []
    /// In listing order.
    package var changes: [Change] = []
    /// The first unregistered tweaks; their values are pending, unless there are problems.
    package var unknown: [ConfigProblem] = []
    /// The number of unregistered tweaks.
    package var unknownCount = 0
    /// The number of tweaks with a valid value.
    package var count = 0
    /// The registry's revision afterwards.
    package var revision: UInt64 = 0
    /// Whether there was anything to commit.
    package var didCommit = false
    /// Whether the program starts, and its values begin with those of the source.
    package var isStart = false
    /// Whether nothing was done, because the source is stopped or the process is frozen.
    package var isIgnored = false
    /// The refused values that were not refused before for the same reason.
    var quarantined: [(TweakPath, QuarantinedEntry)] = []
}

extension TweakRegistry {
    /// Replaces the values of a source's layer, in one commit; observers run once. No other layer changes.
    ///
    /// Equal values commit nothing. Unregistered tweaks get their values when they register.
    /// - Parameters:
    ///   - layer: A built-in layer, or one that an open source has claimed; another one is ignored.
    ///   - entries: The values; one without content removes the value of its path. Asked again if a tweak has
    ///     registered meanwhile.
    ///   - claim: The claim of the layer, if the call comes from a source: nothing changes once it has ended.
    ///   - since: A count of ``RegistryState/pendingGeneration``; nothing changes if there is another one.
    ///   - origin: The origin of the commit; each value has its own. Nil for the name of the layer.
    ///   - isStart: The program starts: its values begin with those of the source, which is no change.
    ///   - isDry: Reports what would change.
    ///   - delivery: The thread where observers run.
    ///   - isCancelled: Polled every 256 entries; once true, nothing is changed.
    package func replace(
        _ layer: TweakLayer, with entries: @autoclosure () -> some Sequence<ConfigEntry>,
        _ policy: LayerPolicy = LayerPolicy(), by claim: LayerClaim? = nil, since: UInt64? = nil,
        origin: TweakOrigin? = nil, isStart: Bool = false, isDry: Bool = false, delivery: TweakDelivery = .caller,
        isCancelled: () -> Bool = { false }
    ) -> LayerDifference {
        while true {
            let (index, rules, generation) = state.withLock { state in
                let index = state.isOpen(claim) ? state.layers.index(of: layer) : nil
                return (index, index.map { state.layers.rules($0) }, state.generation)
            }
            guard let index, let rules else { return LayerDifference(revision: revision, isIgnored: true) }
            let plan = AssignmentPlan(
                entries(), policy.assignmentRules(rules), TweakView(self), isCancelled: isCancelled)
            if isCancelled() || !policy.isEach && !plan.problems.isEmpty {
                return LayerDifference(problems: plan.problems, unknown: plan.unknown, revision: revision)
            }
            var commit = PendingCommit(isStart ? nil : .reload, origin ?? TweakOrigin(layer.name), currentTime)
            let difference = state.withLock { state -> LayerDifference? in
                let isCurrent = since == nil || since == state.pendingGeneration
                guard isCurrent, state.isOpen(claim), isDry || !state.isFrozen else {
                    return LayerDifference(revision: state.revision, isIgnored: true)
                }
                guard state.generation == generation else { return nil }
                return state.replace(index, plan, policy, isDry: isDry, &commit)
            }
            guard var difference else { continue }
            difference.isStart = isStart
            deliver(commit, delivery)
            reportQuarantined(difference.quarantined)
            return difference
        }
    }

    /// Changes the values of a source's layer that differ, in one commit.
    /// - Parameters:
    ///   - values: All values of the source. If it has several names of one tweak, the present name has precedence.
    ///   - changed: The paths that differ from the previous call. The refused ones are reported as they are written here.
    package func update(
        _ layer: TweakLayer, to values: [TweakPath: StoredEntry], changed: Set<TweakPath>,
        _ policy: LayerPolicy = .differences,
        by claim: LayerClaim? = nil, since: UInt64? = nil, origin: TweakOrigin? = nil, isStart: Bool = false,
        isDry: Bool = false, delivery: TweakDelivery = .caller
    ) -> LayerDifference {
        // By the present name of each tweak.
        var names: [TweakPath: [(given: TweakPath, all: [TweakPath])]] = [:]
        func entries() -> [ConfigEntry] {
            names = Dictionary(grouping: changed.map { (given: $0, all: self.names(of: $0)) }, by: { $0.all[0] })
            return names.map { path, names in
                let value = names.flatMap(\.all).lazy.compactMap { values[$0] }.first
                return ConfigEntry(
                    path: path.joined, value?.content, origin: value?.origin ?? .code, time: value?.time)
            }
        }
        var difference = replace(
            layer, with: entries(), policy, by: claim, since: since, origin: origin, isStart: isStart, isDry: isDry,
            delivery: delivery)
        difference.refused = difference.refused.flatMap { refused in
            (names[refused.path] ?? []).map { ($0.given, refused.reason) }
        }
        return difference
    }

    /// The layers of this registry.
    package var layers: LayerTable { state.withLock { $0.layers } }

    /// The error for a value of a layer in this process; nil if it is valid. `unknownTweak` if no tweak has the path.
    package func refusal(of path: TweakPath, _ value: TweakValue, in layer: TweakLayer) -> TweakError? {
        guard let node = TweakView(self).node(orFormerly: path.joined) else {
            return TweakError(.unknownTweak, "there is no tweak \(path.token) in this build", path: path)
        }
        let table = layers
        guard let index = table.index(of: layer) else { return nil }
        do throws(TweakError) {
            _ = try node.prepare(.value(value), table.rules(index))
            return nil
        } catch {
            return error
        }
    }

    /// The present path of a tweak, by a path that it has or once had; the path itself if no tweak has it. The other
    /// names under which a source may have a value for it follow, the nearest first.
    private func names(of path: TweakPath) -> [TweakPath] {
        guard let node = TweakView(self).node(orFormerly: path.joined) else { return [path] }
        // The received path is last: it differs from all others only if its Unicode normalization does.
        return [node.path] + node.formerly + [path]
    }

    /// The tweaks whose value of a layer is hidden by an override, in listing order.
    package func coveredPaths(of layer: TweakLayer) -> [TweakPath] {
        state.withLock { state -> [TweakNode] in
            guard let index = state.layers.index(of: layer) else { return [] }
            return state.nodes.compactMap { $0 }
                .filter { state.overlays[$0.slot][index] != nil && state.overlays[$0.slot].isSet }
        }
        .sorted(by: TweakListing.precedes).map(\.path)
    }
}

extension AssignmentPlan.Refusal {
    fileprivate func quarantined(_ layer: TweakLayer, _ index: LayerIndex) -> QuarantinedEntry {
        QuarantinedEntry(layer: layer, index: index, entry: entry, reason: reason)
    }
}

extension QuarantinedEntry {
    /// Whether it is the same value, refused for the same reason.
    fileprivate func isSame(as other: QuarantinedEntry) -> Bool {
        index == other.index && entry.content == other.entry.content && reason == other.reason
    }
}

// MARK: - Under the lock

extension RegistryState {
    fileprivate mutating func replace(
        _ layer: LayerIndex, _ plan: AssignmentPlan, _ policy: LayerPolicy, isDry: Bool, _ commit: inout PendingCommit
    ) -> LayerDifference {
        let changes = changes(layer, plan, policy, commit.time)
        var difference = LayerDifference(
            problems: plan.problems, refused: plan.refusals.map { ($0.node.path, $0.reason) },
            changes: changes.map(\.change), unknown: plan.unknown,
            unknownCount: plan.pending.count { $0.value != nil }, count: plan.steps.count, revision: revision,
            didCommit: !changes.isEmpty && !isFrozen)
        if isDry { return difference }
        layers.setDropsOverrides(policy.dropsOverrides, layer)
        replacePending(layer, plan.pending, isWhole: policy.isWhole)
        difference.quarantined = replaceQuarantined(layer, plan, isWhole: policy.isWhole)
        // What a source was asked for meanwhile may be older.
        pendingGeneration += 1
        for step in plan.steps {
            // The time of an equal value stays if all values were given again.
            overlays[step.node.slot].refresh(
                layer, step.prepared.value, step.origin, policy.isWhole ? nil : step.time)
        }
        difference.revision = apply(changes.map(\.step), &commit).revision
        return difference
    }

    private mutating func replacePending(
        _ layer: LayerIndex, _ values: [(path: TweakPath, value: PendingValue?)], isWhole: Bool
    ) {
        if isWhole {
            for (path, others) in pending where others[layer] != nil { removePending(path, layer) }
        }
        for (path, value) in values {
            if let value { addPending(value, layer, path) } else { removePending(path, layer) }
        }
    }

    /// Whether a source may change its layer; one that is no source's may always be changed.
    fileprivate func isOpen(_ claim: LayerClaim?) -> Bool { claim == nil || claims.contains { $0 === claim } }

    /// Discards the layer's quarantined values that are replaced, and adds the refused ones.
    /// - Returns: Those that were not quarantined before for the same reason.
    private mutating func replaceQuarantined(
        _ layer: LayerIndex, _ plan: AssignmentPlan, isWhole: Bool
    ) -> [(TweakPath, QuarantinedEntry)] {
        let refused = plan.refusals.filter { holds($0.node) }.map { ($0.node, $0.quarantined(layers[layer], layer)) }
        let new = refused.filter { node, entry in
            !(overlays[node.slot].notes?.quarantined.contains { $0.isSame(as: entry) } ?? false)
        }
        let named = isWhole ? nodes.compactMap(\.self) : plan.steps.map(\.node) + plan.removed
        for node in named { setQuarantined(nil, layer, of: node) }
        for (node, entry) in refused { setQuarantined(entry, layer, of: node) }
        return new.map { ($0.path, $1) }
    }

    private mutating func setQuarantined(_ entry: QuarantinedEntry?, _ layer: LayerIndex, of node: TweakNode) {
        let notes = overlays[node.slot].notes
        if notes == nil, entry == nil { return }
        let others = notes?.quarantined.filter { $0.index != layer } ?? []
        overlays[node.slot].notes = OverlayNotes(
            quarantined: others + [entry].compactMap(\.self), underlyingChange: notes?.underlyingChange)
    }

    // MARK: Comparing

    /// Compares by typed value: `60`, `60.0` and `6e1` are the same.
    private func changes(
        _ layer: LayerIndex, _ plan: AssignmentPlan, _ policy: LayerPolicy, _ time: Moment
    ) -> [LayerStep] {
        var steps = plan.steps.compactMap { LayerStep(layer, $0.node, $0, policy, in: self) }
        var removed = plan.removed
        if policy.isWhole {
            let named = Set(
                plan.steps.map { ObjectIdentifier($0.node) } + plan.refusals.map { ObjectIdentifier($0.node) })
            removed += nodes.compactMap(\.self).filter {
                overlays[$0.slot][layer] != nil && !named.contains(ObjectIdentifier($0))
            }
        }
        steps += removed.compactMap { LayerStep(layer, $0, nil, policy, in: self) }
        return steps.sorted { TweakListing.precedes($0.step.node, $1.step.node) }
    }
}

/// The change that a source makes to one tweak.
private struct LayerStep {
    let step: CommitStep
    let change: LayerDifference.Change

    /// Nil when nothing changes.
    init?(
        _ layer: LayerIndex, _ node: TweakNode, _ wanted: AssignmentPlan.Step?, _ policy: LayerPolicy,
        in state: RegistryState
    ) {
        let overlay = state.overlays[node.slot]
        let entry = wanted.map {
            Overlays.Entry(layer: layer, prepared: $0.prepared, origin: $0.origin, time: $0.time)
        }
        guard overlay[layer]?.prepared.value != entry?.prepared.value,
            let below = overlay.top(below: layer, in: state.layers) ?? node.defaultPrepared
        else { return nil }
        let old = (overlay[layer]?.prepared ?? below).value
        let new = (entry?.prepared ?? below).value
        // A value of a higher source hides this one.
        let hiding = overlay.underlying.flatMap { state.layers.precedes(layer, $0.layer) ? $0 : nil }
        let underlying = hiding?.prepared.value ?? new
        let covered = overlay.notes?.underlyingChange?.old ?? hiding?.prepared.value ?? old
        let underlyingChange = covered == underlying ? nil : (covered, underlying)
        let override = overlay[.override]?.prepared.value
        let isDropped =
            policy.dropsOverrides && hiding == nil && override != nil && wanted != nil && underlyingChange != nil
        step = CommitStep(
            node: node,
            change: .source(
                SourceChange(
                    layer: layer, entry: entry, dropsOverride: isDropped, underlyingChange: underlyingChange)))
        change = LayerDifference.Change(
            path: node.path, isSecret: node.isSecret, old: old, new: new, isRemoved: wanted == nil,
            override: isDropped ? nil : override, dropped: isDropped ? override : nil)
    }
}

extension Overlays {
    /// The highest value below a layer of a source; nil if that is the default.
    fileprivate func top(below layer: LayerIndex, in layers: LayerTable) -> Prepared? {
        entries.last { layers.precedes($0.layer, layer) }?.prepared
    }
}

// MARK: - Between two runs

extension TweakRegistry {
    /// Records the changes of current values since a layer had these entries, as a reload. Reading a file at the start
    /// of a run is no change by itself; a file that was edited between two runs is.
    ///
    /// Called once the overrides are loaded: a value that an override hides has not changed. Changes of secrets are not
    /// recorded, since their values are not kept from run to run.
    /// - Parameter entries: The layer as the previous run has last applied it.
    /// - Returns: The values of the layer that cannot be compared: today's definitions refuse the earlier ones.
    package func recordChanges(
        of layer: TweakLayer, since entries: some Sequence<ConfigEntry>
    ) -> [TweakHistoryEntry.Change] {
        guard let index = layers.index(of: layer) else { return [] }
        let rules = LayerPolicy(listedProblems: 1).assignmentRules(LayerRules())
        while true {
            let generation = generation
            let plan = AssignmentPlan(entries, rules, TweakView(self))
            var commit = PendingCommit(.reload, TweakOrigin(layer.name), currentTime)
            let unknown = state.withLock { state -> [TweakHistoryEntry.Change]? in
                guard state.generation == generation else { return nil }
                return state.recordChanges(of: index, since: plan, &commit)
            }
            guard let unknown else { continue }
            deliver(commit, .executor)
            return unknown
        }
    }

    /// The values of a layer that are in effect and differ from the defaults, for a start without a previous run to
    /// compare with. Those of secrets are left out, and of a secret is not said whether it differs.
    package func takeValues(of layer: TweakLayer) -> [TweakHistoryEntry.Change] {
        state.withLock { state in
            let dropped = state.takeDroppedOverrides()
            guard !state.isFrozen, let index = state.layers.index(of: layer) else { return [] }
            return state.nodes.compactMap { $0.flatMap { state.value(of: $0, by: index, dropped) } }
        }
    }
}

extension RegistryState {
    /// Returns the values that cannot be compared.
    fileprivate mutating func recordChanges(
        of layer: LayerIndex, since plan: AssignmentPlan, _ commit: inout PendingCommit
    ) -> [TweakHistoryEntry.Change] {
        let dropped = takeDroppedOverrides()
        if isFrozen { return [] }
        var unknown: [TweakHistoryEntry.Change] = []
        let earlier = Dictionary(
            plan.steps.map { (ObjectIdentifier($0.node), $0.prepared.value) }, uniquingKeysWith: { first, _ in first })
        for case let node? in nodes where !node.isSecret {
            let key = ObjectIdentifier(node)
            if earlier[key] == nil, plan.names(node.path) {
                if let value = value(of: node, by: layer, dropped) { unknown.append(value) }
                continue
            }
            let top = overlays[node.slot].topLayer ?? .default
            guard !layers.precedes(layer, top), let new = current(node)?.value,
                let old = dropped[key] ?? earlier[key]
                    ?? (overlays[node.slot].top(below: layer, in: layers) ?? node.defaultPrepared)?.value, old != new
            else { continue }
            overlays[node.slot].changedAt = revision + commit.revisionIncrement
            commit.parts.append(
                CommitPart(.node(node), .unchanged, old: old, new: new, layer: top, isReported: true))
        }
        commit.didStore = !commit.parts.isEmpty
        finish(&commit)
        return unknown
    }

    /// The value that a tweak has by a layer instead of its default, or of the override that the layer has dropped; nil
    /// if there is none. A secret has no values, and is named even if the layer repeats its default: silence would
    /// confirm a guess.
    fileprivate func value(
        of node: TweakNode, by layer: LayerIndex, _ dropped: [ObjectIdentifier: TweakValue]
    ) -> TweakHistoryEntry.Change? {
        guard overlays[node.slot].topLayer == layer, let new = current(node)?.value,
            let old = dropped[ObjectIdentifier(node)] ?? node.defaultPrepared?.value
        else { return nil }
        if node.isSecret { return .init(path: node.path, old: nil, new: nil, lifetime: nil) }
        return old == new ? nil : .init(path: node.path, old: old, new: new, lifetime: nil)
    }

    fileprivate mutating func takeDroppedOverrides() -> [ObjectIdentifier: TweakValue] {
        defer { droppedOverrides = [:] }
        return droppedOverrides
    }
}
