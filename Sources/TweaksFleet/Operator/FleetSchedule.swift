// Schedules rollouts: the drive service begins one when a key under a lease, which etcd's clock ends, is gone.

import Tweaks

/// A rollout that is to begin later.
package struct ScheduledRollout: Hashable, Sendable {
    /// The rollout at its first step. Its `next` is about when it begins, in milliseconds since 1970.
    package let rollout: Rollout
    package let modRevision: Int64
    /// Whether the time has come.
    package let isDue: Bool
}

extension FleetOperator {
    /// The longest time until a rollout begins, in seconds: a year.
    package static let longestSchedule: Int64 = 31_536_000

    /// Writes a rollout down, for the drive service to begin. Whether it may begin is decided then.
    /// - Parameters:
    ///   - at: Milliseconds since 1970, by this machine's clock.
    ///   - reverts: It ends if no drive service drives it for ``DriveService/patience``.
    package func schedule(_ plan: RolloutPlan, at: Int64, reverts: Bool) async throws(FleetRefusal) -> FleetReceipt {
        try FleetAssignment.check(plan.assignments, plan.verb)
        let seconds = (at &- now()) / 1_000 + 1
        guard (1...Self.longestSchedule).contains(seconds) else {
            throw FleetRefusal(
                .usage, "rollout \(plan.id): it can begin within a year from now, and not before; see --at")
        }
        return try await write("schedule") { view async throws(FleetRefusal) in
            var rollout = plan.rollout(by: by, at: now(), found: view.value)
            (rollout.next, rollout.isHanded) = (at, true)
            rollout.lifetime = reverts ? DriveService.patience : nil
            let what = FleetEdit.summary("schedule", plan.assignments.map(\.path))
            var edit = FleetEdit("schedule", what, rollout: plan.id)
            edit.changes = rollout.changes.map { .init(path: $0.path, old: $0.found, new: $0.value) }
            edit.why = "to begin at \(TimeText.seconds(at))"
            edit.operations = [.put(key: keys.scheduled(plan.id), value: rollout.bytes)]
            edit.revisions[keys.scheduled(plan.id)] = 0
            edit.timer = try await timer(plan.id, seconds: seconds)
            return edit
        }
    }

    /// The scheduled rollouts by ID; also the unreadable keys, and the reason for each.
    package func scheduled() async throws(FleetRefusal) -> (
        rollouts: [ScheduledRollout], unreadable: [[UInt8]: String]
    ) {
        var rollouts: [ScheduledRollout] = []
        var unreadable: [[UInt8]: String] = [:]
        let pairs = try await range(.prefix(keys.schedule)).keys
        // Read afterwards, so that a timer that is missing here has ended. It is written together with the rollout.
        let timers = pairs.isEmpty ? [] : try await range(.prefix(keys.timers), keysOnly: true).keys.map(\.key)
        for pair in pairs {
            do throws(FleetProblem) {
                let rollout = try Rollout(pair.value)
                guard keys.scheduled(rollout.id) == pair.key else { throw FleetProblem("“id” is not that of its key") }
                rollouts.append(
                    ScheduledRollout(
                        rollout: rollout, modRevision: pair.modRevision,
                        isDue: !timers.contains(keys.timer(rollout.id))))
            } catch {
                unreadable[pair.key] = error.description
            }
        }
        return (rollouts, unreadable)
    }

    /// Writes under a lease for a rollout that the drive service drives, and keeps alive. A write that is refused does not
    /// keep it.
    package func underPatience<Result>(
        _ write: (EtcdLease) async throws(FleetRefusal) -> Result
    ) async throws(FleetRefusal) -> Result {
        let lease = try await grant(seconds: DriveService.patience)
        do throws(FleetRefusal) {
            return try await write(lease)
        } catch {
            // One in doubt may have been applied.
            if error.kind != .unreachable { try? await etcd.revokeLease(lease.id) }
            throw error
        }
    }

    /// Begins a scheduled rollout.
    package func begin(_ scheduled: ScheduledRollout) async throws(FleetRefusal) -> FleetReceipt {
        var plan = RolloutPlan(scheduled.rollout)
        let key = keys.scheduled(plan.id)
        plan.scheduled = (key, scheduled.modRevision)
        if scheduled.rollout.lifetime == nil { return try await begin(plan) }
        return try await underPatience { lease throws(FleetRefusal) in
            plan.lease = lease
            return try await begin(plan)
        }
    }

    /// Throws if the scheduled rollout of a plan has been canceled, or another service has begun it.
    func checkScheduled(_ plan: RolloutPlan) async throws(FleetRefusal) {
        guard let (key, revision) = plan.scheduled else { return }
        if try await range(.key(key), keysOnly: true).keys.first?.modRevision == revision { return }
        throw FleetRefusal("rollout \(plan.id) is no longer scheduled; see history")
    }

    /// Removes a scheduled rollout that cannot begin, and says why in the history. A rollout that has begun stays.
    func cancel(_ scheduled: ScheduledRollout, because reason: String) async throws(FleetRefusal) {
        let id = scheduled.rollout.id
        do throws(FleetRefusal) {
            _ = try await write("abort") { _ async throws(FleetRefusal) in
                guard var edit = try await cancellation(of: id), edit.revisions.values.contains(scheduled.modRevision)
                else { return nil }
                edit.why = reason
                return edit
            }
        } catch {
            guard case .noSpace? = error.etcd else { throw error }
            let key = keys.scheduled(id)
            do throws(EtcdError) {
                _ = try await etcd.commit(
                    EtcdTransaction(
                        if: [.modRevision(key, equals: scheduled.modRevision)], then: [.delete(.key(key))]))
            } catch {
                throw FleetRefusal(error, wasWriting: true)
            }
        }
    }

    /// The edit that removes a scheduled rollout; nil if there is none.
    func cancellation(of id: String) async throws(FleetRefusal) -> FleetEdit? {
        let key = keys.scheduled(id)
        guard let pair = try await range(.key(key), keysOnly: true).keys.first else { return nil }
        var edit = FleetEdit("abort", "abort \(id), which was scheduled", rollout: id)
        edit.operations = [.delete(.key(key))]
        edit.revisions[key] = pair.modRevision
        edit.timer = [.delete(.key(keys.timer(id)))]
        return edit
    }
}
