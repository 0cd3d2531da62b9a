// Sets and resets the values of all processes, permanently or temporarily.

package import Tweaks

/// A path and its new value.
package struct FleetAssignment: Hashable, Sendable {
    package var path: TweakPath
    package var value: TweakValue

    package init(_ path: TweakPath, _ value: TweakValue) { (self.path, self.value) = (path, value) }

    /// Rejects duplicate paths and oversized values.
    static func check(_ assignments: [FleetAssignment], _ verb: String) throws(FleetRefusal) {
        if assignments.isEmpty { throw FleetRefusal(.usage, "\(verb): write PATH = VALUE") }
        try FleetEdit.checkCount(assignments.count, verb)
        for assignment in assignments {
            let value = DesiredValue(value: assignment.value, by: String(repeating: "x", count: 200), at: 0)
            if value.bytes.count <= DesiredValue.maxBytes { continue }
            throw FleetRefusal(
                .refused,
                "\(assignment.path.token): the value is too long; a fleet's values have at most "
                    + "\(DesiredValue.maxBytes / 1_024) KiB")
        }
        var paths = Set<TweakPath>()
        for assignment in assignments where !paths.insert(assignment.path).inserted {
            throw FleetRefusal(.usage, "\(assignment.path.token) is there twice; leave one out")
        }
    }
}

extension FleetOperator {
    /// Sets values for every process.
    /// - Parameter verb: `set` or `import`.
    package func set(
        _ assignments: [FleetAssignment], verb: String = "set"
    ) async throws(FleetRefusal) -> FleetReceipt {
        try FleetAssignment.check(assignments, verb)
        return try await write { view throws(FleetRefusal) in
            try view.checkFree(assignments.map(\.path))
            let changes = assignments.compactMap { assignment -> FleetLogEntry.Change? in
                let old = view.value(assignment.path)
                // A value under a lease would expire, so it is written again.
                let isLasting = (view.values[assignment.path]?.lease ?? 0) == 0
                return old == assignment.value && isLasting
                    ? nil : FleetLogEntry.Change(path: assignment.path, old: old, new: assignment.value)
            }
            return edit(verb, changes, view)
        }
    }

    /// Removes the fleet's values of some paths.
    package func reset(_ paths: [TweakPath]) async throws(FleetRefusal) -> FleetReceipt {
        if paths.isEmpty { throw FleetRefusal(.usage, "reset: write PATH…") }
        try FleetEdit.checkCount(paths.count, "reset")
        return try await write { view throws(FleetRefusal) in
            try view.checkFree(paths)
            var seen = Set<TweakPath>()
            // An unreadable value can be reset, too.
            let changes = paths.filter { view.revision(of: keys.value($0)) != 0 && seen.insert($0).inserted }
                .map { FleetLogEntry.Change(path: $0, old: view.value($0), new: nil) }
            return edit("reset", changes, view)
        }
    }

    /// Creates the write of some values; returns nil if nothing changes.
    func edit(_ verb: String, _ changes: [FleetLogEntry.Change], _ view: OperatorView) -> FleetEdit? {
        if changes.isEmpty { return nil }
        var edit = FleetEdit(verb, FleetEdit.summary(verb, changes.map(\.path)))
        edit.changes = changes
        edit.operations = changes.map(operation)
        for change in changes {
            let rules = view.ordered.filter { $0.value.changes.contains { $0.path == change.path } }
            if let rule = rules.last?.value {
                edit.notes.append(
                    "\(change.path.token): the standing rule \(rule.id) still covers it where it applies")
            }
        }
        return edit
    }

    private func operation(_ change: FleetLogEntry.Change) -> EtcdTransaction.Operation {
        let key = keys.value(change.path)
        guard let value = change.new else { return .delete(.key(key)) }
        return .put(key: key, value: DesiredValue(value: value, by: by, at: now()).bytes)
    }

    /// Sets values for every process for at least this many seconds: a rollout of 100 % under a lease.
    package func set(
        _ assignments: [FleetAssignment], seconds: Int64
    ) async throws(FleetRefusal) -> FleetReceipt {
        try FleetAssignment.check(assignments, "set")
        let lease = isDryRun ? EtcdLease(id: 0, seconds: seconds) : try await grant(seconds: seconds)
        var plan = RolloutPlan(id: makeID(), assignments: assignments)
        plan.lease = lease
        plan.verb = "set"
        do throws(FleetRefusal) {
            return try await begin(plan)
        } catch {
            // The lease would expire anyway, but only after its lifetime.
            if !isDryRun { try? await etcd.revokeLease(lease.id) }
            throw error
        }
    }

    func grant(seconds: Int64) async throws(FleetRefusal) -> EtcdLease {
        do throws(EtcdError) {
            return try await etcd.grantLease(seconds: seconds)
        } catch {
            throw FleetRefusal(error)
        }
    }
}
