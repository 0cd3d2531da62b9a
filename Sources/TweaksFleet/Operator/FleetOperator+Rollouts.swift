// Begins, advances, pauses, finishes and aborts rollouts; a rewrite keeps the lease, which a plain put would detach.

package import Tweaks

/// The parameters of a new rollout.
package struct RolloutPlan: Sendable {
    package var id: String
    package var assignments: [FleetAssignment]
    package var selector: Labels = [:]
    /// Replaces the ID in the hash.
    package var seed: String?
    package var canary: Labels = [:]
    /// The label whose values are the strata.
    package var per: String?
    package var steps: [Share] = [.all]
    /// In seconds.
    package var every: Int64 = 300
    package var abortIf: [MetricCondition] = []
    package var abortIfPrometheus: [PrometheusCondition] = []
    /// In seconds.
    package var confirmWithin: Int64?
    /// Whether the drive service drives it.
    package var isHanded = false
    /// The key of the scheduled rollout that begins, and its revision.
    var scheduled: (key: [UInt8], revision: Int64)?
    /// The lease that limits the rollout's lifetime.
    package var lease: EtcdLease?
    /// The claim of the driver, which must still exist.
    package var driver: EtcdTransaction.Compare?
    /// `rollout`, or `set` for temporary values.
    package var verb = "rollout"

    package init(id: String, assignments: [FleetAssignment]) {
        self.id = id
        self.assignments = assignments
    }

    /// The plan of a scheduled rollout.
    init(_ rollout: Rollout) {
        self.init(
            id: rollout.id, assignments: rollout.changes.map { FleetAssignment($0.path, $0.value) })
        (selector, steps, every) = (rollout.selector, rollout.steps, rollout.every)
        (seed, canary, per) = (rollout.seed, rollout.canary, rollout.per)
        (abortIf, abortIfPrometheus) = (rollout.abortIf, rollout.abortIfPrometheus)
        (confirmWithin, isHanded) = (rollout.confirmWithin, true)
    }

    /// Creates the record, including the values that it replaces.
    package func rollout(by: String, at: Int64, found: (TweakPath) -> TweakValue?) -> Rollout {
        let changes = assignments.map { Rollout.Change(path: $0.path, value: $0.value, found: found($0.path)) }
        var rollout = Rollout(id: id, changes: changes, share: steps.first ?? .all, by: by, at: at)
        rollout.selector = selector
        (rollout.seed, rollout.canary, rollout.per) = (seed, canary, per)
        rollout.steps = steps
        rollout.every = every
        (rollout.abortIf, rollout.abortIfPrometheus, rollout.isHanded) = (abortIf, abortIfPrometheus, isHanded)
        rollout.confirmWithin = confirmWithin
        rollout.lifetime = lease?.seconds
        // A temporary change has no steps and no driver.
        if verb == "rollout" { rollout.next = at.adding(seconds: every) } else { rollout.every = 0 }
        return rollout
    }
}

extension Int64 {
    /// Adds seconds to a time in milliseconds; saturates at the maximum.
    func adding(seconds: Int64) -> Int64 {
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        let (sum, beyond) = addingReportingOverflow(milliseconds)
        return overflow || beyond ? .max : sum
    }
}

extension FleetOperator {
    /// Begins a rollout at its first step.
    package func begin(_ plan: RolloutPlan) async throws(FleetRefusal) -> FleetReceipt {
        try FleetAssignment.check(plan.assignments, plan.verb)
        var census = RolloutCensus()
        return try await write(plan.verb) { view async throws(FleetRefusal) in
            try view.checkFree(plan.assignments.map(\.path))
            if view.revision(of: keys.rollout(plan.id)) != 0 {
                throw FleetRefusal("there is already a rollout \(plan.id); use another ID")
            }
            try await checkScheduled(plan)
            var rollout = plan.rollout(by: by, at: now(), found: view.value)
            let isDriven = plan.verb == "rollout"
            let timer = isDriven ? try await startTimer(&rollout, seconds: plan.every) : []
            // Last, so that little time is left for processes to appear.
            let counted = isDriven ? try await census.count(&rollout, self) : nil
            if let counted { rollout.count(counted.statuses) }
            if let counted, plan.scheduled != nil {
                try RolloutReach(rollout, counted.statuses.live).check(rollout, force: true)
            }
            var edit = FleetEdit(
                plan.verb, FleetEdit.summary(plan.verb, plan.assignments.map(\.path)), rollout: plan.id)
            edit.changes = rollout.changes.map { .init(path: $0.path, old: $0.found, new: $0.value) }
            edit.operations = [put(rollout, lease: plan.lease?.id ?? 0)]
            if let (key, revision) = plan.scheduled {
                edit.operations.append(.delete(.key(key)))
                edit.revisions[key] = revision
            }
            edit.timer = timer
            edit.fence = plan.driver
            edit.take(counted)
            edit.lifetime = rollout.lifetime
            return edit
        }
    }

    func put(_ rollout: Rollout, lease: Int64) -> EtcdTransaction.Operation {
        .put(key: keys.rollout(rollout.id), value: rollout.bytes, lease: lease)
    }

    /// Starts a rollout's timer: a key under a lease, which etcd's own clock ends; a change of its leader only makes it
    /// longer. Each attempt to write grants a lease, so that it begins with the write. A lease of a failed attempt is not
    /// revoked: the write may have been applied, and the next step would be due at once.
    private func startTimer(
        _ rollout: inout Rollout, seconds: Int64
    ) async throws(FleetRefusal) -> [EtcdTransaction.Operation] {
        rollout.isTimed = seconds > 0
        return rollout.isTimed ? try await timer(rollout.id, seconds: seconds) : []
    }

    func timer(_ id: String, seconds: Int64) async throws(FleetRefusal) -> [EtcdTransaction.Operation] {
        if isDryRun { return [] }
        let value = [("seconds", JSON.int(seconds)), ("by", .text(by)), ("at", .time(now()))].line
        return [.put(key: keys.timer(id), value: value, lease: try await grant(seconds: seconds).id)]
    }

    /// What a write does to a rollout's timer.
    private enum TimerChange {
        case keep
        case start(seconds: Int64)
    }

    /// Rewrites a rollout and keeps its lease.
    /// - Parameters:
    ///   - lease: Replaces its lease, if it has one.
    ///   - counts: Whether the processes that live are counted, before its members change.
    ///   - change: Edits the rollout; returns nil if nothing changes.
    private func rewrite(
        _ id: String, _ verb: String, because reason: String? = nil, under lease: EtcdLease? = nil,
        counts: Bool = false, _ change: (inout Rollout) throws(FleetRefusal) -> TimerChange?
    ) async throws(FleetRefusal) -> FleetReceipt {
        var census = RolloutCensus()
        return try await write(verb) { view async throws(FleetRefusal) in
            let record = try view.rollout(id)
            var rollout = record.value
            guard let timer = try change(&rollout) else { return nil }
            var edit = FleetEdit(verb, "\(verb) \(id)", rollout: id)
            edit.why = reason
            if case .start(let seconds) = timer { edit.timer = try await startTimer(&rollout, seconds: seconds) }
            if counts {
                let counted = try await census.count(&rollout, self)
                // A new driver of the same step waits for that step's members.
                if verb == "step" || record.value.state == .paused { rollout.count(counted.statuses) }
                edit.take(counted)
            }
            let newLease = record.lease == 0 ? nil : lease
            if let newLease { rollout.lifetime = newLease.seconds }
            edit.operations = [put(rollout, lease: newLease?.id ?? record.lease)]
            return edit
        }
    }

    /// Changes the share of an open rollout.
    /// - Parameter from: The expected current share.
    package func step(_ id: String, from: Share, to share: Share) async throws(FleetRefusal) -> FleetReceipt {
        try await rewrite(id, "step", because: "to \(share.text)", counts: true) { rollout throws(FleetRefusal) in
            guard rollout.state == .open, rollout.share == from else {
                throw FleetRefusal(
                    "rollout \(id) is \(rollout.state.rawValue) at \(rollout.share.text) now; look again")
            }
            rollout.share = share
            rollout.next = now().adding(seconds: rollout.every)
            return .start(seconds: rollout.every)
        }
    }

    /// Sets the deadline for the operator to finish it.
    package func awaitConfirmation(_ id: String, within seconds: Int64) async throws(FleetRefusal) -> FleetReceipt {
        let until = now().adding(seconds: seconds)
        let deadline = "to be finished until \(TimeText.seconds(until))"
        return try await rewrite(id, "step", because: deadline) { rollout in
            if rollout.state != .open || rollout.confirmBy != nil { return nil }
            rollout.confirmBy = until
            return .start(seconds: seconds)
        }
    }

    /// Pauses a rollout at its share.
    /// - Parameter reason: Why a driver does it automatically; nil for an operator's command.
    package func pause(_ id: String, because reason: String? = nil) async throws(FleetRefusal) -> FleetReceipt {
        try await rewrite(id, "pause", because: reason) { rollout throws(FleetRefusal) in
            try Self.checkDriven(rollout)
            if rollout.state == .paused { return nil }
            rollout.state = .paused
            rollout.next = nil
            return .keep
        }
    }

    /// Resumes a rollout at its share. The new driver waits as long as after a step, and for the step's number of
    /// members; after a pause the current number counts, since the operator has seen it. A deadline to finish it stays.
    /// - Parameters:
    ///   - lease: The lease of a new driver, which a rollout under a lease gets.
    ///   - isHanded: Whether the drive service drives it; nil if its driver stays.
    package func resume(
        _ id: String, under lease: EtcdLease? = nil, isHanded: Bool? = nil
    ) async throws(FleetRefusal) -> FleetReceipt {
        try await rewrite(id, "resume", under: lease, counts: true) { rollout throws(FleetRefusal) in
            try Self.checkDriven(rollout)
            if rollout.state == .open, rollout.next != nil, fence == nil, isHanded == nil { return nil }
            rollout.isHanded = isHanded ?? rollout.isHanded
            rollout.state = .open
            rollout.next = now().adding(seconds: rollout.every)
            return rollout.confirmBy == nil ? .start(seconds: rollout.every) : .keep
        }
    }

    private static func checkDriven(_ rollout: Rollout) throws(FleetRefusal) {
        if rollout.state == .done {
            throw FleetRefusal("rollout \(rollout.id) is a standing rule; abort \(rollout.id) ends it")
        }
        if rollout.isTemporary {
            throw FleetRefusal(
                "rollout \(rollout.id) is for a while and has no steps; finish \(rollout.id) makes it "
                    + "permanent, abort \(rollout.id) ends it")
        }
    }
}

extension Rollout {
    /// Whether it is a temporary change without a driver.
    package var isTemporary: Bool { lifetime != nil && every == 0 }

    /// Records the number of members with stable IDs, once the cutoffs are moved: if there are fewer later, the driver
    /// pauses.
    fileprivate mutating func count(_ statuses: InstanceStatuses) {
        reached = Int64(statuses.live.count { !$0.status.isUnstable && includes($0.instance) })
        reachedAt = statuses.revision
    }
}

extension FleetOperator {
    /// Makes a rollout permanent. Without a selector it becomes values for all processes; with one it becomes a
    /// standing rule.
    /// - Parameter force: Also before it has reached all processes, and if the replaced values have changed.
    package func finish(_ id: String, force: Bool = false) async throws(FleetRefusal) -> FleetReceipt {
        try await write("finish") { view throws(FleetRefusal) in
            let record = try view.rollout(id)
            let rollout = record.value
            if rollout.state == .done {
                throw FleetRefusal("rollout \(id) is a standing rule already; abort \(id) ends it")
            }
            if !force { try checkFinishable(rollout, view) }
            return rollout.selector.isEmpty ? foldedIntoValues(rollout, view) : standingRule(rollout)
        }
    }

    private func checkFinishable(_ rollout: Rollout, _ view: OperatorView) throws(FleetRefusal) {
        if rollout.share < .all {
            throw FleetRefusal(
                "rollout \(rollout.id) is at \(rollout.share.text); resume \(rollout.id) goes on, "
                    + "and finish \(rollout.id) --force applies it to all processes at once")
        }
        for change in rollout.changes where view.value(change.path) != change.found {
            let (found, present) = (change.found.shown, view.value(change.path).shown)
            throw FleetRefusal(
                "\(change.path.token) is \(present) now, and rollout \(rollout.id) found \(found); "
                    + "abort \(rollout.id), or finish \(rollout.id) --force writes over it")
        }
    }

    /// Turns the changes into values for all processes and deletes the rollout.
    private func foldedIntoValues(_ rollout: Rollout, _ view: OperatorView) -> FleetEdit {
        var edit = FleetEdit("finish", "finish \(rollout.id)", rollout: rollout.id)
        edit.changes = rollout.changes.map { .init(path: $0.path, old: view.value($0.path), new: $0.value) }
        edit.operations = rollout.changes.map {
            .put(key: keys.value($0.path), value: DesiredValue(value: $0.value, by: by, at: now()).bytes)
        }
        edit.operations.append(.delete(.key(keys.rollout(rollout.id))))
        // All processes have the values already.
        edit.isHarmless = rollout.share == .all
        edit.timer = [.delete(.key(keys.timer(rollout.id)))]
        return edit
    }

    /// Turns the rollout into a rule for the selected processes, without a lease or a driver.
    private func standingRule(_ rollout: Rollout) -> FleetEdit {
        var rule = rollout
        rule.state = .done
        rule.share = .all
        rule.steps = [.all]
        rule.next = nil
        rule.isTimed = false
        rule.confirmBy = nil
        rule.confirmWithin = nil
        rule.lifetime = nil
        (rule.abortIf, rule.abortIfPrometheus, rule.isHanded) = ([], [], false)
        (rule.seed, rule.canary, rule.per, rule.cutoffs) = (nil, [:], nil, [])
        var edit = FleetEdit("finish", "finish \(rollout.id)", rollout: rollout.id)
        edit.operations = [put(rule, lease: 0)]
        edit.timer = [.delete(.key(keys.timer(rollout.id)))]
        return edit
    }

    /// Reverts a rollout by deleting it. If etcd is out of space, the deletion still works, but is not logged.
    /// - Parameter reason: Why a driver does it automatically; nil for an operator's command.
    package func abort(_ id: String, because reason: String? = nil) async throws(FleetRefusal) -> FleetReceipt {
        do throws(FleetRefusal) {
            return try await write("abort") { view async throws(FleetRefusal) in
                let isThere = view.revision(of: keys.rollout(id)) != 0
                if !isThere, var edit = try await cancellation(of: id) {
                    edit.why = reason
                    return edit
                }
                var edit = FleetEdit("abort", "abort \(id)", rollout: id)
                edit.why = reason
                let key = keys.rollout(id)
                // An unreadable rollout can still be deleted.
                if !isThere, try await !range(.key(key), keysOnly: true).keys.isEmpty {
                    // It has begun since it was read. The write is refused for that, and starts again.
                } else if view.unreadable[key] == nil {
                    edit.changes = try view.rollout(id).value.changes.map {
                        .init(path: $0.path, old: $0.value, new: view.value($0.path))
                    }
                }
                edit.operations = [.delete(.key(key))]
                edit.timer = [.delete(.key(keys.timer(id)))]
                return edit
            }
        } catch {
            guard case .noSpace? = error.etcd else { throw error }
            return try await deleteWithoutLog(id)
        }
    }

    private func deleteWithoutLog(_ id: String) async throws(FleetRefusal) -> FleetReceipt {
        do throws(EtcdError) {
            if let header = try await deletion(of: keys.rollout(id)) {
                // A rollout that begins meanwhile deletes the second key.
                if fence == nil {
                    _ = try await etcd.commit(EtcdTransaction(then: [.delete(.key(keys.scheduled(id)))]))
                }
                return FleetReceipt(header: header, rollout: id, notes: [Self.withoutLog])
            }
        } catch {
            throw FleetRefusal(error, wasWriting: true)
        }
        throw FleetEdit.lostClaim("abort \(id)")
    }

    /// Deletes a key; returns nil if the fence does not hold.
    private func deletion(of key: [UInt8]) async throws(EtcdError) -> EtcdHeader? {
        let deletion = [EtcdTransaction.Operation.delete(.key(key))]
        if let fence {
            do throws(EtcdError) {
                let result = try await etcd.commit(EtcdTransaction(if: [fence], then: deletion))
                return result.succeeded ? result.header : nil
            } catch .noSpace {
                // Over its quota, an older etcd refuses even this transaction: compare with a separate read instead.
                let pair = try await etcd.range(EtcdRange(.key(fence.key))).keys.first
                if !fence.holds(for: pair) { return nil }
            }
        }
        return try await etcd.commit(EtcdTransaction(then: deletion)).header
    }

    private static let withoutLog = "etcd is out of space: the rollout is deleted, and that is not in the log"
}

extension TweakValue? {
    /// The value's text, or a placeholder if there is none.
    package var shown: String { map(\.text) ?? "(none)" }
}
