// Applies the values that a fleet desires for this process: one commit per fleet revision, each value validated alone.

import Synchronization

/// The result of applying fleet values.
package struct FleetOutcome: Sendable {
    /// Invalid values, by the paths as received; their tweaks keep the previous fleet value.
    package var refused: [(path: TweakPath, reason: TweakError)] = []
    /// The registry's revision afterwards.
    package var revision: UInt64 = 0
    package var didCommit = false
}

extension TweakRegistry {
    /// Sets the fleet layer, between config file and overrides, in one commit; observers run once.
    ///
    /// Unregistered tweaks get their values when they register. No other layer changes.
    /// - Parameters:
    ///   - isStart: The program starts: its values begin with the saved ones, which is no change.
    ///   - target: All values that the fleet desires for this process.
    ///   - changed: The paths that differ from the previous call.
    ///   - origin: The origin of the commit; each value has its own.
    package func applyFleet(
        _ target: [TweakPath: StoredEntry], changed: Set<TweakPath>, origin: TweakOrigin, isStart: Bool = false,
        delivery: TweakDelivery = .caller
    ) -> FleetOutcome {
        while true {
            let generation = generation
            let plan = FleetPlan(target, changed, TweakView(self))
            var pending = PendingCommit(isStart ? nil : .reload, origin, currentTime)
            let outcome = state.withLock { state -> FleetOutcome? in
                guard state.generation == generation else { return nil }
                return state.apply(plan, &pending)
            }
            guard let outcome else { continue }
            deliver(pending, delivery)
            reportQuarantined(plan.quarantined)
            return outcome
        }
    }

    /// The error for a fleet value in this process; nil if it is valid. `unknownTweak` if no tweak has the path.
    package func fleetRefusal(_ path: TweakPath, _ value: TweakValue) -> TweakError? {
        guard let node = TweakView(self).node(orFormerly: path.joined) else {
            return TweakError(.unknownTweak, "there is no tweak \(path.token) in this build", path: path)
        }
        let entry = StoredEntry(path: path, content: .value(value), origin: .code, time: currentTime)
        do throws(TweakError) {
            _ = try node.prepare(entry, for: .fleet)
            return nil
        } catch {
            return error
        }
    }

    /// The tweaks whose fleet value is hidden by an override, in listing order.
    package var coveredFleetPaths: [TweakPath] {
        state.withLock { state in
            state.nodes.compactMap(\.self)
                .filter { state.overlays[$0.slot][.fleet] != nil && state.overlays[$0.slot].isSet }
        }
        .sorted(by: TweakListing.precedes).map(\.path)
    }
}

/// Validated fleet values. Its initializer may run the program's own checks.
private struct FleetPlan {
    struct Step {
        let node: TweakNode
        /// The received paths that lead to it: the current and former ones.
        var paths: [TweakPath]
        /// Nil: the fleet no longer has a value for it.
        let wanted: StoredEntry?
        let result: Result<Prepared, TweakError>?
    }

    private(set) var steps: [Step] = []
    /// Paths without a registered tweak, and their values.
    private(set) var pending: [(path: TweakPath, entry: StoredEntry?)] = []

    init(_ target: [TweakPath: StoredEntry], _ changed: Set<TweakPath>, _ view: TweakView) {
        var positions: [ObjectIdentifier: Int] = [:]
        for path in changed {
            guard let node = view.node(orFormerly: path.joined) else {
                pending.append((path, target[path]))
                continue
            }
            if let position = positions[ObjectIdentifier(node)] {
                steps[position].paths.append(path)
                continue
            }
            positions[ObjectIdentifier(node)] = steps.count
            // The received path is last: it differs from all others only if its Unicode normalization does.
            let wanted = ([node.path] + node.formerly + [path]).lazy.compactMap { target[$0] }.first
            let validated = wanted.map { ValidatedEntry(.fleet, $0, for: node) }
            steps.append(Step(node: node, paths: [path], wanted: wanted, result: validated?.result))
        }
        steps.sort { TweakListing.precedes($0.node, $1.node) }
    }

    var quarantined: [(TweakPath, QuarantinedEntry)] {
        steps.compactMap { step in step.quarantined.map { (step.node.path, $0) } }
    }
}

extension FleetPlan.Step {
    var quarantined: QuarantinedEntry? {
        guard let wanted, case .failure(let reason)? = result else { return nil }
        return QuarantinedEntry(layer: .fleet, entry: wanted, reason: reason)
    }
}

extension RegistryState {
    fileprivate mutating func apply(_ plan: FleetPlan, _ pending: inout PendingCommit) -> FleetOutcome {
        if isFrozen { return FleetOutcome(revision: revision) }
        for (path, entry) in plan.pending {
            if let entry { addPending(entry, for: .fleet) } else { removePending(path, .fleet) }
        }
        var outcome = FleetOutcome()
        var changes: [CommitStep] = []
        for step in plan.steps {
            if let quarantined = step.quarantined {
                outcome.refused += step.paths.map { ($0, quarantined.reason) }
                quarantine(quarantined, of: step.node)
            } else if let change = change(step) {
                changes.append(CommitStep(node: step.node, change: .source(change)))
            }
        }
        outcome.didCommit = !changes.isEmpty
        outcome.revision = apply(changes, &pending).revision
        return outcome
    }

    /// Records an invalid value; the previous one stays in effect.
    private mutating func quarantine(_ entry: QuarantinedEntry, of node: TweakNode) {
        let notes = overlays[node.slot].notes
        let others = notes?.quarantined.filter { $0.layer != .fleet } ?? []
        overlays[node.slot].notes = OverlayNotes(
            quarantined: others + [entry], underlyingChange: notes?.underlyingChange)
    }

    /// The change that a value makes to its tweak's layers; nil when nothing changes.
    private mutating func change(_ step: FleetPlan.Step) -> SourceLayer? {
        let overlay = overlays[step.node.slot]
        let entry = wanted(step)
        if overlay[.fleet]?.prepared.value == entry?.prepared.value, !overlay.hasQuarantined(.fleet) {
            // Origin and time may have changed.
            if let entry { overlays[step.node.slot].set(entry) }
            return nil
        }
        let old = underlyingValue(of: step.node)?.value
        let new = (entry ?? overlay[.configFile])?.prepared.value ?? step.node.defaultPrepared?.value
        let covered = overlay.notes?.underlyingChange?.old ?? old
        let underlyingChange = covered.flatMap { covered in new.flatMap { $0 == covered ? nil : (covered, $0) } }
        return SourceLayer(layer: .fleet, entry: entry, underlyingChange: underlyingChange)
    }

    private func wanted(_ step: FleetPlan.Step) -> Overlays.Entry? {
        guard let wanted = step.wanted, case .success(let prepared)? = step.result else { return nil }
        return Overlays.Entry(layer: .fleet, prepared: prepared, origin: wanted.origin, time: wanted.time)
    }
}
