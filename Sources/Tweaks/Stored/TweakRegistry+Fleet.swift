// Applies what a fleet wants of this process: one commit for each of the fleet's revisions, each value judged by itself.

import Synchronization

/// What came of values of a fleet.
package struct FleetOutcome: Sendable {
    /// Values that do not fit, by the paths as they came; their tweaks keep what the fleet wanted before.
    package var refused: [(path: TweakPath, reason: TweakError)] = []
    /// The registry's revision afterwards.
    package var revision: UInt64 = 0
    package var didCommit = false
}

extension TweakRegistry {
    /// Makes a fleet's values the layer between config file and overrides, in one commit; observers run once.
    ///
    /// Tweaks that are not registered get theirs when they register. No other layer is touched.
    /// - Parameters:
    ///   - target: All that the fleet wants of this process.
    ///   - changed: The paths at which that differs from the last time.
    ///   - origin: The commit's; each value has its own.
    package func applyFleet(
        _ target: [TweakPath: StoredEntry], changed: Set<TweakPath>, origin: TweakOrigin,
        delivery: TweakDelivery = .caller
    ) -> FleetOutcome {
        while true {
            let generation = generation
            let plan = FleetPlan(target, changed, TweakView(self))
            var pending = PendingCommit(.reload, origin, currentTime)
            let outcome = state.withLock { state -> FleetOutcome? in
                guard state.generation == generation else { return nil }
                return state.apply(plan, &pending)
            }
            guard let outcome else { continue }
            deliver(pending, delivery)
            report(plan.unfit)
            return outcome
        }
    }

    /// Why a fleet's value is refused here; nil where it fits. `unknownTweak` where no tweak has the path.
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

    /// The tweaks whose value from the fleet is covered by an override, in the order of all listings.
    package var coveredFleetPaths: [TweakPath] {
        state.withLock { state in
            state.nodes.compactMap(\.self)
                .filter { state.overlays[$0.slot][.fleet] != nil && state.overlays[$0.slot].isSet }
        }
        .sorted(by: TweakListing.precedes).map(\.path)
    }
}

/// A fleet's values, judged; the program's own checks run while it is made.
private struct FleetPlan {
    struct Step {
        let node: TweakNode
        /// The paths that lead to it, as they came: today's, and former ones.
        var paths: [TweakPath]
        /// Nil: the fleet has no longer a value for it.
        let wanted: StoredEntry?
        let result: Result<Prepared, TweakError>?
    }

    private(set) var steps: [Step] = []
    /// Paths without a tweak, and what waits there.
    private(set) var held: [(path: TweakPath, entry: StoredEntry?)] = []

    init(_ target: [TweakPath: StoredEntry], _ changed: Set<TweakPath>, _ view: TweakView) {
        var positions: [ObjectIdentifier: Int] = [:]
        for path in changed {
            guard let node = view.node(orFormerly: path.joined) else {
                held.append((path, target[path]))
                continue
            }
            if let position = positions[ObjectIdentifier(node)] {
                steps[position].paths.append(path)
                continue
            }
            positions[ObjectIdentifier(node)] = steps.count
            // The path as it came is last: it is in another Unicode normalization where it is none of the others.
            let wanted = ([node.path] + node.formerly + [path]).lazy.compactMap { target[$0] }.first
            let judged = wanted.map { JudgedEntry(.fleet, $0, for: node) }
            steps.append(Step(node: node, paths: [path], wanted: wanted, result: judged?.result))
        }
        steps.sort { TweakListing.precedes($0.node, $1.node) }
    }

    var unfit: [(TweakPath, AsideEntry)] {
        steps.compactMap { step in step.aside.map { (step.node.path, $0) } }
    }
}

extension FleetPlan.Step {
    var aside: AsideEntry? {
        guard let wanted, case .failure(let reason)? = result else { return nil }
        return AsideEntry(layer: .fleet, entry: wanted, reason: reason)
    }
}

extension RegistryState {
    fileprivate mutating func apply(_ plan: FleetPlan, _ pending: inout PendingCommit) -> FleetOutcome {
        if isFrozen { return FleetOutcome(revision: revision) }
        for (path, entry) in plan.held {
            if let entry { hold(entry, for: .fleet) } else { unhold(path, .fleet) }
        }
        var outcome = FleetOutcome()
        var changes: [CommitStep] = []
        for step in plan.steps {
            if let aside = step.aside {
                outcome.refused += step.paths.map { ($0, aside.reason) }
                keep(aside, of: step.node)
            } else if let change = change(step) {
                changes.append(CommitStep(node: step.node, change: .source(change)))
            }
        }
        outcome.didCommit = !changes.isEmpty
        outcome.revision = apply(changes, &pending).revision
        return outcome
    }

    /// Notes that a value does not fit; the one before stays.
    private mutating func keep(_ aside: AsideEntry, of node: TweakNode) {
        let notes = overlays[node.slot].notes
        let others = notes?.aside.filter { $0.layer != .fleet } ?? []
        overlays[node.slot].notes = OverlayNotes(aside: others + [aside], beneath: notes?.beneath)
    }

    /// What a value does to its tweak's layers; nil when there is nothing to do.
    private mutating func change(_ step: FleetPlan.Step) -> SourceLayer? {
        let overlay = overlays[step.node.slot]
        let entry = wanted(step)
        if overlay[.fleet]?.prepared.value == entry?.prepared.value, !overlay.hasAside(.fleet) {
            // Who wants it, and since when, may be news.
            if let entry { overlays[step.node.slot].set(entry) }
            return nil
        }
        let old = beneath(step.node)?.value
        let new = (entry ?? overlay[.configFile])?.prepared.value ?? step.node.defaultPrepared?.value
        let covered = overlay.notes?.beneath?.old ?? old
        let beneath = covered.flatMap { covered in new.flatMap { $0 == covered ? nil : (covered, $0) } }
        return SourceLayer(layer: .fleet, entry: entry, beneath: beneath)
    }

    private func wanted(_ step: FleetPlan.Step) -> Overlays.Entry? {
        guard let wanted = step.wanted, case .success(let prepared)? = step.result else { return nil }
        return Overlays.Entry(layer: .fleet, prepared: prepared, origin: wanted.origin, time: wanted.time)
    }
}
