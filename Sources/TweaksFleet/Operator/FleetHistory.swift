// Reads the log of a fleet, and derives from it the ends of rollouts that no operator has logged.

package import Tweaks

/// The end of a rollout without a log entry: its key is gone, since its lease ended or it was deleted.
package struct DerivedEnd: Hashable, Sendable {
    package enum Cause: Hashable, Sendable {
        /// The lifetime of `set … --for` was over.
        case time
        /// The lease of the rollout's driver ended.
        case driver
        /// A deletion that is not logged.
        case deletion
    }

    package var rollout: String
    package var cause: Cause
    /// The changes of the rollout; empty if the log no longer has its begin.
    package var changes: [FleetLogEntry.Change]
    /// The times between which it ended, by the operators' clocks, in milliseconds since 1970. Without a later write
    /// that needed its end, it is only known to be over now.
    package var after: Int64
    package var before: Int64?
}

/// The log of a fleet.
package struct FleetHistory: Sendable {
    /// A line of the history.
    package enum Line: Hashable, Sendable {
        case entry(FleetLogEntry)
        case end(DerivedEnd)
    }

    /// The oldest entry comes first.
    package private(set) var entries: [FleetLogEntry] = []
    /// The entries, and the derived ends between them.
    package fileprivate(set) var lines: [Line] = []
    /// The revisions at which the log's entries were written.
    private var revisions: [FleetLogEntry: Int64] = [:]
    /// Unreadable keys, with the reason for each.
    package private(set) var unreadable: [(key: [UInt8], reason: String)] = []

    /// - Parameters:
    ///   - rollouts: The IDs of the rollouts at the revision of the log.
    ///   - now: The wall clock, in milliseconds since 1970.
    package init(_ result: EtcdRangeResult, rollouts: Set<String>, now: Int64) {
        for pair in result.keys {
            do throws(FleetProblem) {
                let entry = try FleetLogEntry(pair.value)
                entries.append(entry)
                revisions[entry] = pair.modRevision
            } catch {
                unreadable.append((pair.key, error.description))
            }
        }
        entries.sort { $0.sequence < $1.sequence }
        lines = Self.lines(entries, EndSearch(entries, rollouts, now: now).ends)
    }

    /// The entries of an export, with those of the log that it lacks.
    /// - Returns: The history, and the numbers between which the export says that entries are missing.
    package static func all(
        _ export: [UInt8], _ log: EtcdRangeResult, rollouts: Set<String>, now: Int64
    ) -> (history: FleetHistory, missing: [(after: UInt64, before: UInt64)]) {
        var history = FleetHistory(log, rollouts: rollouts, now: now)
        let old = export.split(separator: 0x0A)
        var audit = FleetAudit(old)
        let all = old + audit.append(log.keys).map { $0[...] }
        // In the order of the export: after a restore, numbers repeat.
        history.entries = all.compactMap { try? FleetLogEntry(Array($0)) }
        history.lines = Self.lines(history.entries, EndSearch(history.entries, rollouts, now: now).ends)
        return (history, all.compactMap(FleetAudit.missing))
    }

    /// Puts each end before the first entry that is later.
    private static func lines(_ entries: [FleetLogEntry], _ ends: [(place: Int, end: DerivedEnd)]) -> [Line] {
        let ends = Dictionary(grouping: ends, by: \.place)
        return (0...entries.count).flatMap { index in
            (ends[index] ?? []).map { .end($0.end) } + entries[index...].prefix(1).map { .entry($0) }
        }
    }

    /// The revision at which an entry was written; 0 for one that only an export has.
    package func revision(of entry: FleetLogEntry) -> Int64 { revisions[entry] ?? 0 }

    /// The lines that changed a path matching the pattern.
    package func lines(matching pattern: TweakPattern) -> [Line] {
        lines.filter { line in
            switch line {
            case .entry(let entry): entry.changes.contains { pattern.matches($0.path) }
            case .end(let end): end.changes.contains { pattern.matches($0.path) }
            }
        }
    }
}

/// Finds the rollouts that the log begins and does not end, and that are gone.
private struct EndSearch {
    /// A rollout that the log has not ended so far.
    private struct Life {
        var begin: FleetLogEntry?
        /// The index of its last entry.
        var last: Int
    }

    private let entries: [FleetLogEntry]
    private let now: Int64
    private(set) var ends: [(place: Int, end: DerivedEnd)] = []

    init(_ entries: [FleetLogEntry], _ rollouts: Set<String>, now: Int64) {
        self.entries = entries
        self.now = now
        var lives: [String: Life] = [:]
        for (index, entry) in entries.enumerated() {
            guard let id = entry.rollout, !entry.isOfProposal, entry.verb != "schedule" else { continue }
            let begins = entry.verb == "rollout" || entry.verb == "set"
            if begins, let life = lives[id] { add(id, life, before: index) }
            if entry.endsRollout {
                lives[id] = nil
            } else {
                lives[id] = Life(begin: begins ? entry : lives[id]?.begin, last: index)
            }
        }
        for (id, life) in lives.sorted(by: { $0.key < $1.key }) where !rollouts.contains(id) {
            add(id, life, before: successor(of: life))
        }
    }

    /// The index of the first later write of a path that the rollout reserved.
    private func successor(of life: Life) -> Int? {
        // A standing rule reserves nothing.
        if entries[life.last].verb == "finish" { return nil }
        let paths = Set((life.begin?.changes ?? []).map(\.path))
        return entries.indices.dropFirst(life.last + 1).first { index in
            entries[index].needsFreePaths && entries[index].changes.contains { paths.contains($0.path) }
        }
    }

    private mutating func add(_ id: String, _ life: Life, before index: Int?) {
        let last = entries[life.last]
        let isRule = last.verb == "finish"
        let due = life.begin?.lifetime.map { (life.begin?.at ?? last.at).adding(seconds: $0) }
        let latest = index.map { entries[$0].at } ?? now
        var end = DerivedEnd(
            rollout: id, cause: .deletion, changes: life.begin?.changes ?? [], after: last.at,
            before: index.map { entries[$0].at })
        if life.begin?.verb == "set", !isRule, (due ?? last.at) <= latest.adding(seconds: Self.tolerance) {
            end.cause = .time
            end.after = max(last.at, min(due ?? last.at, latest))
        } else if life.begin?.verb == "rollout", due != nil, !isRule {
            end.cause = .driver
        }
        let limit = index ?? entries.count
        let place = (life.last + 1..<max(limit, life.last + 1)).first { entries[$0].at > end.after } ?? limit
        ends.append((place, end))
    }

    /// The seconds by which the clocks of two operators may differ.
    private static let tolerance: Int64 = 60
}

extension FleetLogEntry {
    /// Whether the rollout of the entry no longer exists after it.
    fileprivate var endsRollout: Bool {
        // With labels, finish leaves a standing rule and changes no values.
        verb == "abort" || verb == "finish" && !changes.isEmpty
    }

    /// Whether it is about a proposal, whose ID it has, and not about a rollout.
    package var isOfProposal: Bool { ["propose", "approve", "reject"].contains(verb) }

    /// Whether it was refused while an open rollout had one of its paths.
    fileprivate var needsFreePaths: Bool { ["set", "reset", "import", "undo", "rollout", "approve"].contains(verb) }
}

extension FleetOperator {
    package func history() async throws(FleetRefusal) -> FleetHistory {
        let (log, rollouts) = try await logAndRollouts()
        return FleetHistory(log, rollouts: rollouts, now: now())
    }

    /// The history with the entries of an export before those of the log.
    package func history(
        after export: [UInt8]
    ) async throws(FleetRefusal) -> (history: FleetHistory, missing: [(after: UInt64, before: UInt64)]) {
        let (log, rollouts) = try await logAndRollouts()
        return FleetHistory.all(export, log, rollouts: rollouts, now: now())
    }

    /// Reads the log and the IDs of the rollouts at one revision, so that no rollout can begin or end in between.
    private func logAndRollouts() async throws(FleetRefusal) -> (log: EtcdRangeResult, rollouts: Set<String>) {
        let log = try await readLog()
        do throws(EtcdError) {
            let rollouts = try await etcd.range(
                EtcdRange(.prefix(keys.rollouts), revision: log.header.revision, keysOnly: true))
            let ids = rollouts.keys.map { String(decoding: $0.key.dropFirst(keys.rollouts.count), as: UTF8.self) }
            return (log, Set(ids))
        } catch {
            throw FleetRefusal(error)
        }
    }

    /// Reads the keys of the log.
    package func readLog() async throws(FleetRefusal) -> EtcdRangeResult { try await range(.prefix(keys.log)) }
}
