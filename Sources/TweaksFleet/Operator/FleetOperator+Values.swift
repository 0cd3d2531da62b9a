// Sets, resets and undoes the values of all processes; reads the log.

package import Tweaks

/// A path and its new value.
package struct FleetAssignment: Hashable, Sendable {
    package var path: TweakPath
    package var value: TweakValue

    package init(_ path: TweakPath, _ value: TweakValue) {
        self.path = path
        self.value = value
    }

    /// Why no fleet can hold the value: it is too long.
    package var problem: String? {
        let record = DesiredValue(value: value, by: String(repeating: "x", count: 200), at: 0)
        return record.bytes.count <= DesiredValue.maxBytes
            ? nil
            : "\(path.token): the value is too long; a fleet's values have at most \(DesiredValue.maxBytes / 1_024) KiB"
    }

    /// Rejects duplicate paths and oversized values.
    static func check(_ assignments: [FleetAssignment], _ verb: String) throws(FleetRefusal) {
        if assignments.isEmpty { throw FleetRefusal(.usage, "\(verb): write PATH = VALUE") }
        try FleetEdit.checkCount(assignments.count, verb)
        for assignment in assignments { if let problem = assignment.problem { throw FleetRefusal(problem) } }
        var paths = Set<TweakPath>()
        for assignment in assignments where !paths.insert(assignment.path).inserted {
            throw FleetRefusal(.usage, "\(assignment.path.token) is there twice; leave one out")
        }
    }
}

extension FleetOperator {
    /// Sets values for every process.
    package func set(_ assignments: [FleetAssignment]) async throws(FleetRefusal) -> FleetReceipt {
        try FleetAssignment.check(assignments, "set")
        return try await write("set") { view throws(FleetRefusal) in
            try view.checkFree(assignments.map(\.path))
            let changes = assignments.compactMap { view.change($0) }
            try view.checkRoom(for: changes)
            return edit("set", changes, view)
        }
    }

    /// Removes the fleet's values of some paths.
    package func reset(_ paths: [TweakPath]) async throws(FleetRefusal) -> FleetReceipt {
        if paths.isEmpty { throw FleetRefusal(.usage, "reset: write PATH…") }
        try FleetEdit.checkCount(paths.count, "reset")
        return try await write("reset") { view throws(FleetRefusal) in
            try view.checkFree(paths)
            var seen = Set<TweakPath>()
            // An unreadable value can be reset, too.
            let changes = paths.filter { seen.insert($0).inserted }.compactMap { view.removal(of: $0) }
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

extension FleetLogEntry {
    /// Whether it changed values, which can be undone. Rollouts are reverted with abort.
    package var changedValues: Bool {
        switch verb {
        case "set", "reset", "import", "undo": rollout == nil && !changes.isEmpty
        case "finish", "approve": !changes.isEmpty
        default: false
        }
    }
}

extension FleetOperator {
    /// Undoes the newest or a given log entry, if the values have not changed since.
    package func undo(_ sequence: UInt64? = nil) async throws(FleetRefusal) -> FleetReceipt {
        let entry = try Self.entry(sequence, in: try await history())
        guard entry.changedValues else { throw Self.notUndoable(entry) }
        return try await write("undo") { view throws(FleetRefusal) in
            for change in entry.changes where view.value(change.path) != change.new {
                throw FleetRefusal(
                    "\(change.path.token) is \(view.value(change.path).shown) now, and entry "
                        + "\(entry.sequence) left \(change.new.shown); set it by hand")
            }
            try view.checkFree(entry.changes.map(\.path))
            let changes = entry.changes.map { FleetLogEntry.Change(path: $0.path, old: $0.new, new: $0.old) }
                .filter { $0.old != $0.new }
            var edit = edit("undo", changes, view)
            edit?.what = "undo \(entry.sequence)"
            return edit
        }
    }

    private static func entry(_ sequence: UInt64?, in history: FleetHistory) throws(FleetRefusal) -> FleetLogEntry {
        guard let sequence else {
            if let last = history.entries.last { return last }
            throw FleetRefusal("there is nothing to undo: the log is empty")
        }
        if let entry = history.entries.first(where: { $0.sequence == sequence }) { return entry }
        throw FleetRefusal(
            "the log has no entry \(sequence), or no longer: it keeps the last \(logLength); see history")
    }

    private static func notUndoable(_ entry: FleetLogEntry) -> FleetRefusal {
        let remedy =
            switch (entry.verb, entry.rollout) {
            case ("abort", let id?): "start rollout \(id) again instead"
            case ("adopt", _): "adopt cannot be undone"
            case ("propose", let id?): "reject \(id) removes the proposal"
            case (_, let id?) where !entry.isOfProposal: "abort \(id) reverts the rollout"
            default: "name another one; see history"
            }
        return FleetRefusal(
            "entry \(entry.sequence), \(entry.verb), changed no values, so there is nothing to undo; \(remedy)")
    }

    /// Finds out what `adopt` would change.
    package func adoption() async throws(FleetRefusal) -> FleetAdoption {
        let live = try await instanceStatuses().live
        return FleetAdoption(try await readState(), live)
    }

    /// The largest counter that `adopt` goes by, which leaves room for many writes after it.
    package static let highestAdopted: UInt64 = 900_000_000_000

    /// Declares this etcd the one to follow, by writing a head newer than any process has applied.
    /// - Parameter atLeast: The minimum of the head's counter.
    package func adopt(atLeast: UInt64 = 0) async throws(FleetRefusal) -> FleetReceipt {
        // Statuses are not proven: one must not be able to use up the counter.
        let live = try await instanceStatuses().live.filter { $0.status.head > 0 }
        let credible = live.filter { $0.status.head <= Self.highestAdopted }
        let applied = max(credible.map(\.status.head).max() ?? 0, try await newestEntry())
        return try await write("adopt") { view throws(FleetRefusal) in
            var edit = FleetEdit("adopt", "adopt")
            let known = max(view.head?.value.counter ?? 0, applied)
            edit.counter = max(try OperatorView.after(known), atLeast)
            edit.notes = live.filter { $0.status.head > max(Self.highestAdopted, known) }.map {
                "\($0.id) reports write \($0.status.head), which is not credible, and is not gone by"
            }
            return edit
        }
    }

    /// The number of the newest log entry: an unreadable head had at least this counter.
    private func newestEntry() async throws(FleetRefusal) -> UInt64 {
        let entries = try await range(.prefix(keys.log), keysOnly: true).keys
        return entries.compactMap { UInt64(String(decoding: $0.key.dropFirst(keys.log.count), as: UTF8.self)) }
            .filter { $0 <= Self.highestAdopted }.max() ?? 0
    }
}
