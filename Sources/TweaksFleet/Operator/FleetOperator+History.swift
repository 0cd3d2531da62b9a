// Reads the log and undoes the value changes of an entry.

package import Tweaks

/// The log of a fleet.
package struct FleetHistory: Sendable {
    /// The oldest entry comes first.
    package private(set) var entries: [FleetLogEntry] = []
    /// Unreadable keys, with the reason for each.
    package private(set) var unreadable: [(key: String, reason: String)] = []

    package init(_ result: EtcdRangeResult) {
        for pair in result.keys {
            do throws(FleetProblem) {
                entries.append(try FleetLogEntry(pair.value))
            } catch {
                unreadable.append((String(decoding: pair.key, as: UTF8.self), error.description))
            }
        }
        entries.sort { $0.sequence < $1.sequence }
    }

    /// The entries that changed a path matching the pattern.
    package func entries(matching pattern: TweakPattern) -> [FleetLogEntry] {
        entries.filter { $0.changes.contains { pattern.matches($0.path) } }
    }
}

extension FleetLogEntry {
    /// Whether it changed values, which can be undone. Rollouts are reverted with abort.
    package var changedValues: Bool {
        switch verb {
        case "set", "reset", "import", "undo": rollout == nil && !changes.isEmpty
        case "finish": !changes.isEmpty
        default: false
        }
    }
}

extension FleetOperator {
    package func history() async throws(FleetRefusal) -> FleetHistory {
        FleetHistory(try await range(.prefix(keys.log)))
    }

    /// Undoes the newest or a given log entry, if the values have not changed since.
    package func undo(_ sequence: UInt64? = nil) async throws(FleetRefusal) -> FleetReceipt {
        let entry = try Self.entry(sequence, in: try await history())
        guard entry.changedValues else { throw Self.notUndoable(entry) }
        return try await write { view throws(FleetRefusal) in
            for change in entry.changes where view.value(change.path) != change.new {
                throw FleetRefusal(
                    .refused,
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
            throw FleetRefusal(.refused, "there is nothing to undo: the log is empty")
        }
        if let entry = history.entries.first(where: { $0.sequence == sequence }) { return entry }
        throw FleetRefusal(
            .refused, "the log has no entry \(sequence), or no longer: it keeps the last \(logLength); see history")
    }

    private static func notUndoable(_ entry: FleetLogEntry) -> FleetRefusal {
        let remedy =
            switch (entry.verb, entry.rollout) {
            case ("abort", let id?): "start rollout \(id) again instead"
            case ("adopt", _): "adopt cannot be undone"
            case (_, let id?): "abort \(id) reverts the rollout"
            default: "name another one; see history"
            }
        return FleetRefusal(
            .refused,
            "entry \(entry.sequence), \(entry.verb), changed no values, so there is nothing to undo; \(remedy)")
    }

    /// The largest number with as many digits as the log's keys have; larger ones would not sort by number.
    package static let highestAdopted: UInt64 = 999_999_999_999

    /// Declares this etcd the one to follow, by writing a head newer than any process has applied.
    /// - Parameter atLeast: The minimum of the head's counter.
    package func adopt(atLeast: UInt64 = 0) async throws(FleetRefusal) -> FleetReceipt {
        let applied = try await instanceStatuses().live.map(\.status.head).max() ?? 0
        return try await write { view throws(FleetRefusal) in
            var edit = FleetEdit("adopt", "adopt")
            let known = max(view.head?.value.counter ?? 0, applied)
            edit.counter = max(try OperatorView.after(known), atLeast)
            return edit
        }
    }
}
