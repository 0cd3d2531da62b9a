// Begins, advances, pauses and resumes rollouts; each rewrite keeps the lease, which a plain put would detach.

package import Tweaks

/// The parameters of a new rollout.
package struct RolloutPlan: Sendable {
    package var id: String
    package var assignments: [FleetAssignment]
    package var selector: Labels = [:]
    package var steps: [Share] = [.all]
    /// In seconds.
    package var every: Int64 = 300
    package var abortIf: [MetricCondition] = []
    /// In seconds.
    package var confirmWithin: Int64?
    /// The lease that limits the rollout's lifetime.
    package var lease: EtcdLease?
    /// The claim of the driver, which must still exist.
    package var driver: EtcdTransaction.Compare?
    /// `rollout`, or `set` for temporary values.
    package var verb = "rollout"

    package init(id: String, assignments: [FleetAssignment]) { (self.id, self.assignments) = (id, assignments) }

    /// Creates the record, including the values that it replaces.
    package func rollout(by: String, at: Int64, found: (TweakPath) -> TweakValue?) -> Rollout {
        let changes = assignments.map { Rollout.Change(path: $0.path, value: $0.value, found: found($0.path)) }
        var rollout = Rollout(id: id, changes: changes, share: steps.first ?? .all, by: by, at: at)
        (rollout.selector, rollout.steps, rollout.every) = (selector, steps, every)
        (rollout.abortIf, rollout.confirmWithin, rollout.lifetime) = (abortIf, confirmWithin, lease?.seconds)
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
        let live = try await instanceStatuses().live
        return try await write { view throws(FleetRefusal) in
            try view.checkFree(plan.assignments.map(\.path))
            if view.revision(of: keys.rollout(plan.id)) != 0 {
                throw FleetRefusal(.refused, "there is already a rollout \(plan.id); use another ID")
            }
            var rollout = plan.rollout(by: by, at: now(), found: view.value)
            if plan.verb == "rollout" { rollout.count(live) }
            var edit = FleetEdit(
                plan.verb, FleetEdit.summary(plan.verb, plan.assignments.map(\.path)), rollout: plan.id)
            edit.changes = rollout.changes.map { .init(path: $0.path, old: $0.found, new: $0.value) }
            edit.operations = [put(rollout, lease: plan.lease?.id ?? 0)]
            edit.compares = plan.driver.map { [$0] } ?? []
            return edit
        }
    }

    func put(_ rollout: Rollout, lease: Int64) -> EtcdTransaction.Operation {
        .put(key: keys.rollout(rollout.id), value: rollout.bytes, lease: lease)
    }

    /// Rewrites a rollout and keeps its lease.
    /// - Parameters:
    ///   - fence: An additional comparison, such as the driver's claim.
    ///   - change: Edits the rollout; returns false if nothing changes.
    private func rewrite(
        _ id: String, _ verb: String, because reason: String? = nil, fence: EtcdTransaction.Compare? = nil,
        _ change: (inout Rollout) throws(FleetRefusal) -> Bool
    ) async throws(FleetRefusal) -> FleetReceipt {
        try await write { view throws(FleetRefusal) in
            let record = try view.rollout(id)
            var rollout = record.value
            guard try change(&rollout) else { return nil }
            var edit = FleetEdit(verb, "\(verb) \(id)", rollout: id)
            edit.why = reason
            edit.operations = [put(rollout, lease: record.lease)]
            edit.compares = fence.map { [$0] } ?? []
            return edit
        }
    }

    /// Changes the share of an open rollout.
    /// - Parameter from: The expected current share.
    package func step(
        _ id: String, from: Share, to share: Share, fence: EtcdTransaction.Compare? = nil
    ) async throws(FleetRefusal) -> FleetReceipt {
        let live = try await instanceStatuses().live
        return try await rewrite(id, "step", because: "to \(share.text)", fence: fence) {
            rollout throws(FleetRefusal) in
            guard rollout.state == .open, rollout.share == from else {
                throw FleetRefusal(
                    .refused, "rollout \(id) is \(rollout.state.rawValue) at \(rollout.share.text) now; look again")
            }
            rollout.share = share
            rollout.next = now().adding(seconds: rollout.every)
            rollout.count(live)
            return true
        }
    }

    /// Sets the deadline for the operator to finish it.
    package func awaitConfirmation(
        _ id: String, until: Int64, fence: EtcdTransaction.Compare? = nil
    ) async throws(FleetRefusal) -> FleetReceipt {
        let deadline = "to be finished until \(TimeText.seconds(until))"
        return try await rewrite(id, "step", because: deadline, fence: fence) { rollout in
            if rollout.state != .open || rollout.confirmBy != nil { return false }
            rollout.confirmBy = until
            return true
        }
    }

    /// Pauses a rollout at its share.
    /// - Parameter reason: Why a driver does it automatically; nil for an operator's command.
    package func pause(
        _ id: String, because reason: String? = nil, fence: EtcdTransaction.Compare? = nil
    ) async throws(FleetRefusal) -> FleetReceipt {
        try await rewrite(id, "pause", because: reason, fence: fence) { rollout throws(FleetRefusal) in
            try Self.checkDriven(rollout)
            if rollout.state == .paused { return false }
            (rollout.state, rollout.next) = (.paused, nil)
            return true
        }
    }

    /// Resumes a rollout at its share. The new driver waits as long as after a step, and for the step's number of
    /// members; after a pause the current number counts, since the operator has seen it.
    package func resume(
        _ id: String, fence: EtcdTransaction.Compare? = nil
    ) async throws(FleetRefusal) -> FleetReceipt {
        let live = try await instanceStatuses().live
        return try await rewrite(id, "resume", fence: fence) { rollout throws(FleetRefusal) in
            try Self.checkDriven(rollout)
            if rollout.state == .open, rollout.next != nil, fence == nil { return false }
            if rollout.state == .paused { rollout.count(live) }
            (rollout.state, rollout.next) = (.open, now().adding(seconds: rollout.every))
            return true
        }
    }

    private static func checkDriven(_ rollout: Rollout) throws(FleetRefusal) {
        if rollout.state == .done {
            throw FleetRefusal(.refused, "rollout \(rollout.id) is a standing rule; abort \(rollout.id) ends it")
        }
        if rollout.isTemporary {
            throw FleetRefusal(
                .refused,
                "rollout \(rollout.id) is for a while and has no steps; finish \(rollout.id) makes it "
                    + "permanent, abort \(rollout.id) ends it")
        }
    }
}

extension Rollout {
    /// Whether it is a temporary change without a driver.
    package var isTemporary: Bool { lifetime != nil && every == 0 }

    /// Records the number of members with stable IDs: if there are fewer later, the driver pauses.
    fileprivate mutating func count(_ live: [LiveInstance]) {
        reached = Int64(live.count { !$0.status.isUnstable && includes($0.instance) })
    }
}
