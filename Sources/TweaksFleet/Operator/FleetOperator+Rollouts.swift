// Begins, steps, holds, finishes and aborts rollouts. Every rewrite names the rollout's lease: a plain put takes it off.

package import Tweaks

/// A rollout to be.
package struct RolloutPlan: Sendable {
    package var id: String
    package var assignments: [FleetAssignment]
    package var selector: Labels = [:]
    package var steps: [Share] = [.all]
    /// Seconds.
    package var every: Int64 = 300
    package var abortIf: [FigureCondition] = []
    /// Seconds.
    package var confirmWithin: Int64?
    /// It lives as long as this.
    package var lease: EtcdLease?
    /// Who drives it: the key must still be there.
    package var driver: EtcdTransaction.Compare?
    /// `rollout`, or `set` for a while.
    package var verb = "rollout"

    package init(id: String, assignments: [FleetAssignment]) { (self.id, self.assignments) = (id, assignments) }

    /// The record, with the values that it finds.
    package func rollout(by: String, at: Int64, found: (TweakPath) -> TweakValue?) -> Rollout {
        let changes = assignments.map { Rollout.Change(path: $0.path, value: $0.value, found: found($0.path)) }
        var rollout = Rollout(id: id, changes: changes, share: steps.first ?? .all, by: by, at: at)
        (rollout.selector, rollout.steps, rollout.every) = (selector, steps, every)
        (rollout.abortIf, rollout.confirmWithin, rollout.lifetime) = (abortIf, confirmWithin, lease?.seconds)
        // A change for a while has no steps, and nobody drives it.
        if verb == "rollout" { rollout.next = at.adding(seconds: every) } else { rollout.every = 0 }
        return rollout
    }
}

extension Int64 {
    /// A time of day so many seconds later; at most the last one there is.
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
        let live = try await population().live
        return try await write { view throws(FleetRefusal) in
            try view.checkFree(plan.assignments.map(\.path))
            if view.revision(of: keys.rollout(plan.id)) != 0 {
                throw FleetRefusal(.refused, "there is a rollout \(plan.id) already; take another ID")
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

    /// Rewrites a rollout under the lease that it has.
    /// - Parameters:
    ///   - fence: What must hold beside, such as the key of who drives it.
    ///   - change: False: there is nothing to change.
    private func rewrite(
        _ id: String, _ verb: String, because reason: String? = nil, fence: EtcdTransaction.Compare? = nil,
        _ change: (inout Rollout) throws(FleetRefusal) -> Bool
    ) async throws(FleetRefusal) -> FleetReceipt {
        try await write { view throws(FleetRefusal) in
            let held = try view.rollout(id)
            var rollout = held.value
            guard try change(&rollout) else { return nil }
            var edit = FleetEdit(verb, "\(verb) \(id)", rollout: id)
            edit.why = reason
            edit.operations = [put(rollout, lease: held.lease)]
            edit.compares = fence.map { [$0] } ?? []
            return edit
        }
    }

    /// Makes the share of an open rollout another one.
    /// - Parameter from: It must have this one still.
    package func step(
        _ id: String, from: Share, to share: Share, fence: EtcdTransaction.Compare? = nil
    ) async throws(FleetRefusal) -> FleetReceipt {
        let live = try await population().live
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

    /// Says until when a person has to finish it.
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

    /// Holds a rollout at its share.
    /// - Parameter reason: What made a driver do it; nil: a person wants it.
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

    /// Lets a rollout go on from where it is. Who drives it anew waits as long as after a step, and for as many members
    /// as that had; where it was paused, a person has seen how many there are.
    package func resume(
        _ id: String, fence: EtcdTransaction.Compare? = nil
    ) async throws(FleetRefusal) -> FleetReceipt {
        let live = try await population().live
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
        if rollout.isForAWhile {
            throw FleetRefusal(
                .refused,
                "rollout \(rollout.id) is for a while and has no steps; finish \(rollout.id) makes it "
                    + "permanent, abort \(rollout.id) ends it")
        }
    }
}

extension Rollout {
    /// Whether it was set for a while, and is nobody's to drive.
    package var isForAWhile: Bool { lifetime != nil && every == 0 }

    /// Notes how many processes are in it that keep their IDs: fewer later are a sign.
    fileprivate mutating func count(_ live: [LiveInstance]) {
        reached = Int64(live.count { !$0.status.isUnstable && includes($0.instance) })
    }
}
