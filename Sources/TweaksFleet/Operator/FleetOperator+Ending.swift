// Ends rollouts: finish turns them into values or a standing rule, abort reverts them.

import Tweaks

extension FleetOperator {
    /// Makes a rollout permanent. Without a selector it becomes values for all processes; with one it becomes a
    /// standing rule.
    /// - Parameter force: Also before it has reached all processes, and if the replaced values have changed.
    package func finish(
        _ id: String, force: Bool = false, fence: EtcdTransaction.Compare? = nil
    ) async throws(FleetRefusal) -> FleetReceipt {
        try await write { view throws(FleetRefusal) in
            let record = try view.rollout(id)
            let rollout = record.value
            if rollout.state == .done {
                throw FleetRefusal(.refused, "rollout \(id) is a standing rule already; abort \(id) ends it")
            }
            if !force { try checkFinishable(rollout, view) }
            var edit = rollout.selector.isEmpty ? foldedIntoValues(rollout, view) : standingRule(rollout)
            edit.compares = fence.map { [$0] } ?? []
            return edit
        }
    }

    private func checkFinishable(_ rollout: Rollout, _ view: OperatorView) throws(FleetRefusal) {
        if rollout.share < .all {
            throw FleetRefusal(
                .refused,
                "rollout \(rollout.id) is at \(rollout.share.text); resume \(rollout.id) goes on, "
                    + "and finish \(rollout.id) --force applies it to all processes at once")
        }
        for change in rollout.changes where view.value(change.path) != change.found {
            let (found, present) = (change.found.shown, view.value(change.path).shown)
            throw FleetRefusal(
                .refused,
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
        return edit
    }

    /// Turns the rollout into a rule for the selected processes, without a lease or a driver.
    private func standingRule(_ rollout: Rollout) -> FleetEdit {
        var rule = rollout
        (rule.state, rule.share, rule.steps) = (.done, .all, [.all])
        (rule.next, rule.confirmBy, rule.confirmWithin, rule.lifetime) = (nil, nil, nil, nil)
        rule.abortIf = []
        var edit = FleetEdit("finish", "finish \(rollout.id)", rollout: rollout.id)
        edit.operations = [put(rule, lease: 0)]
        return edit
    }

    /// Reverts a rollout by deleting it. If etcd is out of space, the deletion still works, but is not logged.
    /// - Parameter reason: Why a driver does it automatically; nil for an operator's command.
    package func abort(
        _ id: String, because reason: String? = nil, fence: EtcdTransaction.Compare? = nil
    ) async throws(FleetRefusal) -> FleetReceipt {
        do throws(FleetRefusal) {
            return try await write { view throws(FleetRefusal) in
                var edit = FleetEdit("abort", "abort \(id)", rollout: id)
                edit.why = reason
                let key = keys.rollout(id)
                // An unreadable rollout can still be deleted.
                if view.unreadable[key] == nil {
                    edit.changes = try view.rollout(id).value.changes.map {
                        .init(path: $0.path, old: $0.value, new: view.value($0.path))
                    }
                }
                edit.operations = [.delete(.key(key))]
                edit.compares = fence.map { [$0] } ?? []
                return edit
            }
        } catch {
            guard case .noSpace? = error.etcd else { throw error }
            return try await deleteWithoutLog(id, fence: fence)
        }
    }

    private func deleteWithoutLog(
        _ id: String, fence: EtcdTransaction.Compare?
    ) async throws(FleetRefusal) -> FleetReceipt {
        do throws(EtcdError) {
            if let header = try await deletion(of: keys.rollout(id), while: fence) {
                return FleetReceipt(header: header, rollout: id, notes: [Self.withoutLog])
            }
        } catch {
            throw FleetRefusal(error, wasWriting: true)
        }
        throw FleetRefusal(.refused, "abort \(id): this driver has lost its claim; another one may have it, see status")
    }

    /// Deletes a key; returns nil if the fence does not hold.
    private func deletion(
        of key: [UInt8], while fence: EtcdTransaction.Compare?
    ) async throws(EtcdError) -> EtcdHeader? {
        if let fence {
            do throws(EtcdError) {
                let result = try await etcd.commit(EtcdTransaction(if: [fence], then: [.delete(.key(key))]))
                return result.succeeded ? result.header : nil
            } catch .noSpace {
                // Over its quota, an older etcd refuses even this transaction: compare with a separate read instead.
                let pair = try await etcd.range(EtcdRange(.key(fence.key))).keys.first
                if !fence.holds(for: pair) { return nil }
            }
        }
        return try await etcd.commit(EtcdTransaction(then: [.delete(.key(key))])).header
    }

    private static let withoutLog = "etcd is out of space: the rollout is deleted, and that is not in the log"
}

extension TweakValue? {
    /// The value's text, or a placeholder if there is none.
    package var shown: String { map(\.text) ?? "(none)" }
}
