// Implements the commands status and watch: what processes report, and each change of the fleet.

import Synchronization
import Tweaks
import TweaksFleet
import TweaksSystem

extension FleetClient {
    func status() async throws(FleetRefusal) -> ExitCode {
        let store = try await etcdStatus()
        let view = try await fleet.readState()
        let statuses = try await fleet.instanceStatuses()
        let live = statuses.live
        let builds = try await fleet.builds()
        let summary = FleetSummary(view, statuses, builds: Set(builds.hashes))
        let (drivers, unreadableDrivers) = try await fleet.readDrivers()
        let (leader, scheduled) = (try await fleet.leader(), try await fleet.scheduled())
        let unreadable = [statuses.unreadable, builds.unreadable, unreadableDrivers, scheduled.unreadable]
            .reduce(view.unreadable) { $0.merging($1) { first, _ in first } }
        let importer = try await fleet.importer()
        let author = try await fleet.authors().verdict(at: summary.revision)
        if console.isJSON {
            let more = try await [("user", FleetConsole.json(author))] + freezesAndProposals()
            let last = [("import", importer.map { .string($0.by) } ?? .null), ("garbage", json(unreadable))]
            let driving = Self.fields(leader, scheduled.rollouts)
            console.print(.object(fields(store, view, summary, drivers, live) + more + last + driving))
            return .ok
        }
        console.print(lines(store, view, summary, author))
        try await showFreezesAndProposals()
        if let importer {
            console.print(["an import by \(importer.by) is being written: process \(importer.pid) on \(importer.host)"])
        }
        show(leader, scheduled.rollouts)
        for record in view.ordered {
            show(record.value)
            let strata = record.value.strata(live)
            if !strata.isEmpty { console.print(["  \(strata.text)"]) }
            let (id, isDriven) = (record.value.id, record.value.state != .done && !record.value.isTemporary)
            guard isDriven else { continue }
            let driver = drivers[id].map { "driven by \($0.by), process \($0.pid) on \($0.host)" }
            console.print(["  \(driver ?? "no driver; resume \(id) goes on")"])
        }
        printProblems(of: unreadable)
        return .ok
    }

    /// Shows the status again whenever it differs, until it is interrupted.
    func watchStatus() async throws(FleetRefusal) -> ExitCode {
        System.succeedOnInterrupt()
        var shown: [String] = []
        while !Output.hasNoReader {
            let lines = Mutex<[String]>([])
            let quiet = FleetConsole(isJSON: console.isJSON) { line in lines.withLock { $0.append(line) } }
            do throws(FleetRefusal) {
                _ = try await FleetClient(arguments, quiet, fleet, limits).status()
            } catch {
                if error.kind != .unreachable { throw error }
                lines.withLock { $0 = [error.description] }
            }
            let now = lines.withLock { $0 }
            if now != shown { draw(now) }
            shown = now
            try? await Task.sleep(for: Self.statusPause)
        }
        return .ok
    }

    /// A status reads everything, from thousands of processes.
    private static let statusPause = Duration.seconds(5)

    /// Prints a status over the last one on a terminal, elsewhere below it.
    private func draw(_ lines: [String]) {
        // ECMA-48: the cursor to the first column of the first row, then erase all.
        if console.style.isHumanReadable, !console.isJSON { System.write(Array("\u{1B}[H\u{1B}[2J".utf8), to: 1) }
        console.printStyled(lines)
    }

    private func etcdStatus() async throws(FleetRefusal) -> EtcdStatus {
        do throws(EtcdError) {
            return try await fleet.etcd.status()
        } catch {
            throw FleetRefusal(error)
        }
    }

    private func lines(
        _ store: EtcdStatus, _ view: OperatorView, _ summary: FleetSummary, _ author: FleetAuthors.Verdict?
    ) -> [String] {
        // Rounded up, so that only an empty store has size 0.
        let size = String(store.size / 1_048_576 + (store.size % 1_048_576 > 0 ? 1 : 0))
        var lines = store.alarms.map(\.text)
        lines += [
            "\(FleetConsole.location(store.header, keys)): etcd \(store.version), \(size) MiB, revision "
                + "\(store.header.revision)" + (store.leader == 0 ? ", without a leader" : "")
        ]
        if let head = view.head?.value {
            let chain =
                head.chain == nil ? "; without a chain: an older operator wrote it, the next write begins one" : ""
            let who = FleetConsole.provenance(head.by, head.at, now: now, author: author)
            lines.append("last write: \(head.what), \(who)\(chain)")
        }
        lines.append("\(summary.live.processes) live")
        lines += summary.builds.map { "  build \($0.hash): \($0.live)" + ($0.isKnown ? "" : ", without declarations") }
        if !summary.lagging.isEmpty {
            let names = summary.lagging.prefix(5).map { "\($0.id) is at \($0.status.revision)" }.joined(separator: ", ")
            let more = summary.lagging.count > 5 ? ", …" : ""
            lines.append("\(summary.lagging.count) have not reported revision \(summary.revision) yet: \(names)\(more)")
        }
        lines += summary.refusals.map { refusal in
            let rollout = refusal.rollout.map { " (rollout \($0))" } ?? ""
            return "\(refusal.count) refuse \(refusal.path)\(rollout): \(refusal.reason); such as \(refusal.example)"
        }
        if summary.moreRefused > 0 { lines.append("\(summary.moreRefused) more refusals are not listed") }
        lines += summary.covered.map { "\($0.count) have a local override above \($0.path)" }
        if summary.moreCovered > 0 { lines.append("\(summary.moreCovered) more local overrides are not listed") }
        lines += summary.trouble.map { "\($0.count) in trouble: \($0.text); such as \($0.example)" }
        if summary.unstable > 0 { lines.append("\(summary.unstable) have another ID after each restart") }
        return lines
    }

    private func fields(
        _ store: EtcdStatus, _ view: OperatorView, _ summary: FleetSummary, _ drivers: [String: FleetDriver],
        _ live: [LiveInstance]
    ) -> [(String, JSON)] {
        [
            ("fleet", .string(keys.name)), ("prefix", .string(keys.prefix)),
            ("cluster", .string(String(store.header.clusterID, radix: 16))),
            (
                "etcd",
                .object([
                    ("version", .string(store.version)), ("size", .int(store.size)),
                    ("revision", .int(store.header.revision)), ("hasLeader", .bool(store.leader != 0)),
                    ("alarms", .array(store.alarms.map { .string($0.rawValue) })),
                ])
            ),
            ("head", view.head.map { Self.json($0.value) } ?? .null), ("revision", .int(summary.revision)),
            ("live", .count(summary.live)), ("unstable", .count(summary.unstable)),
            (
                "lagging",
                .array(
                    summary.lagging.map {
                        .object([("id", .string($0.id)), ("revision", .int($0.status.revision))])
                    })
            ),
            ("builds", .array(summary.builds.map(Self.json))), ("refusals", .array(summary.refusals.map(Self.json))),
            ("moreRefused", .count(summary.moreRefused)),
            (
                "covered",
                .array(
                    summary.covered.map { .object([("path", .string($0.path)), ("count", .count($0.count))]) })
            ),
            ("moreCovered", .count(summary.moreCovered)),
            (
                "trouble",
                .array(
                    summary.trouble.map {
                        .object([
                            ("text", .string($0.text)), ("count", .count($0.count)), ("example", .string($0.example)),
                        ])
                    })
            ),
            ("rollouts", .array(view.ordered.map { Self.json($0, strata: $0.value.strata(live)) })),
            ("drivers", .object(drivers.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value.by)) })),
        ]
    }

    private static func json(_ head: FleetHead) -> JSON {
        .object([
            ("counter", .unsigned(head.counter)), ("what", .string(head.what)), ("by", .string(head.by)),
            ("at", .int(head.at)), ("chain", head.chain.map { .string($0) } ?? .null),
        ])
    }

    private static func json(_ build: FleetSummary.Build) -> JSON {
        .object([
            ("build", .string(build.hash)), ("live", .count(build.live)), ("known", .bool(build.isKnown)),
        ])
    }

    private static func json(_ refusal: FleetSummary.Refusal) -> JSON {
        .object([
            ("rollout", .text(refusal.rollout)), ("path", .string(refusal.path)),
            ("reason", .string(refusal.reason)), ("count", .count(refusal.count)),
            ("example", .string(refusal.example)),
        ])
    }
}

extension EtcdAlarm {
    /// What it means, and the remedy.
    var text: String {
        switch self {
        case .noSpace:
            "etcd is out of space (alarm NOSPACE): values and statuses cannot be written. Compact and defragment it, then "
                + "etcdctl alarm disarm; abort works meanwhile"
        case .corrupt:
            "etcd's members have different data (alarm CORRUPT): do not trust what is below, and write nothing. Restore "
                + "the member that differs, then etcdctl alarm disarm"
        }
    }
}

extension FleetClient {
    /// Runs until it is interrupted or etcd stays unreachable.
    func watch() async throws(FleetRefusal) -> ExitCode {
        let pattern = try pattern()
        System.succeedOnInterrupt()
        var revision = try await fleet.readState().header.revision
        var failures = 0
        while !Output.hasNoReader {
            do {
                for try await message in fleet.etcd.watch(.prefix(keys.all), from: revision + 1) {
                    guard case .events(let header, let events) = message else {
                        if failures == 0, !console.isJSON { console.print(["watching \(keys.prefix)/\(keys.name)"]) }
                        failures = 0
                        continue
                    }
                    // The header may be newer than events that are still to come.
                    revision = max(revision, events.last?.pair.modRevision ?? header.revision)
                    for event in events { show(event, pattern) }
                    if Output.hasNoReader { return .ok }
                }
                throw EtcdError.unavailable("the watch has ended")
            } catch {
                failures += 1
                revision = try await afterFailure(error, failures, revision)
            }
        }
        return .ok
    }

    /// Returns the revision to continue from: the current one if etcd has compacted the changes.
    private func afterFailure(
        _ error: any Error, _ failures: Int, _ revision: Int64
    ) async throws(FleetRefusal) -> Int64 {
        let error = error as? EtcdError ?? .unavailable("\(error)")
        if case .compacted = error {
            console.output.printRemark("etcd has compacted the missed changes; see history")
            return try await fleet.readState().header.revision
        }
        let refusal = FleetRefusal(error)
        if refusal.kind != .unreachable || failures > 10 { throw refusal }
        if failures == 1 { console.output.printRemark("\(refusal.description); trying again") }
        try? await Task.sleep(for: .seconds(1))
        return revision
    }

    private func show(_ event: EtcdEvent, _ pattern: TweakPattern?) {
        guard let line = FleetChange(event, keys), pattern.map(line.matches) ?? true else { return }
        if console.isJSON { return console.print(line.json) }
        console.print([line.text])
    }
}

/// A change of a key, as text and JSON.
struct FleetChange: Equatable {
    var revision: Int64
    /// The kind of the key: `value`, `rollout`, `log`.
    var kind: String
    var text: String
    private var paths: [TweakPath] = []

    func matches(_ pattern: TweakPattern) -> Bool { paths.contains(where: pattern.matches) }

    var json: JSON {
        .object([
            ("revision", .int(revision)), ("kind", .string(kind)), ("text", .string(text)),
            ("paths", .array(paths.map { .string($0.joined) })),
        ])
    }

    /// Returns nil for keys that are not shown: statuses, builds, drivers, and the head, which the log describes.
    init?(_ event: EtcdEvent, _ keys: FleetKeys) {
        let (key, bytes) = (event.pair.key, event.pair.value)
        revision = event.pair.modRevision
        let isDeleted = event.kind == .delete
        if key.starts(with: keys.log) {
            guard !isDeleted, let entry = try? FleetLogEntry(bytes) else { return nil }
            (kind, paths) = ("log", entry.changes.map(\.path))
            text = "entry \(entry.sequence): \(entry.actionText) by \(entry.by)"
            return
        }
        guard key.starts(with: keys.desired) else { return nil }
        switch keys.desired(key) {
        case .head: return nil
        case .value(let path):
            (kind, paths) = ("value", [path])
            let desired = isDeleted ? nil : try? DesiredValue(bytes)
            let value = desired.map { "= \($0.value.text)" } ?? "cannot be read"
            text = isDeleted ? "\(path.token) is reset" : "\(path.token) \(value)"
        case .rollout(let id):
            kind = "rollout"
            let rollout = isDeleted ? nil : try? Rollout(bytes)
            paths = rollout?.changes.map(\.path) ?? []
            let state = rollout.map { "is \($0.state.rawValue) at \($0.share.text)" } ?? "cannot be read"
            text = "rollout \(id) \(isDeleted ? "is gone" : state)"
        case .foreign:
            (kind, text) = ("foreign", "\(String(decoding: key, as: UTF8.self)) is not a key of a fleet")
        }
    }
}
