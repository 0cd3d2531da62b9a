// Describes a fleet for its page, as JSON: problems, rollouts with their progress, processes, and who has which value.

import Tweaks
import TweaksFleet

extension FleetBoard {
    /// What was read, once etcd has answered.
    func known() throws(FleetRefusal) -> Reading {
        if let reading { return reading }
        throw FleetRefusal(.unreachable, outage ?? "etcd has not answered yet; try again")
    }

    /// The state that all parts of the page share.
    func state(_ driver: PanelDriver) -> [(String, JSON)] {
        let reports = driver.reports
        var fields: [(String, JSON)] = [
            ("number", .unsigned(number)), ("fleet", .string(fleet.keys.name)), ("prefix", .string(fleet.keys.prefix)),
            ("by", .string(fleet.by)), ("now", .int(fleet.now())),
            ("problems", .array((outage.map { [$0] } ?? []).map { .string($0) } + (reading.map(problems) ?? []))),
        ]
        guard let reading else { return fields + [("live", .int(0)), ("rollouts", .array([])), ("ended", .array([]))] }
        fields += [
            ("live", .count(reading.statuses.live.count)),
            ("rollouts", .array(reading.rollouts(reports, by: driver))),
            ("ended", .array(Self.ended(reports))),
            ("drafts", .array(drafts.drafts.map { .string($0.joined) })),
            ("differing", .array(drafts.differing.map { .string($0.joined) })),
            ("undefaulted", .array(drafts.undefaulted.map { .string($0.joined) })),
        ]
        return fields
    }

    private func problems(_ reading: Reading) -> [JSON] {
        let name = fleet.keys.name
        var texts = reading.alarms.map(\.text)
        texts += reading.freezes.map { freeze in
            let until = freeze.freeze?.until.map { ", until about \(TimeText.seconds($0))" } ?? ""
            let who = freeze.freeze.map { " by \($0.by)\(until): \($0.reason)" } ?? ""
            return "\(name) is frozen: \(freeze.name)\(who)"
        }
        let live = reading.statuses.live
        let apart = live.count { reading.view.isApart($0.status) }
        if apart > 0 {
            texts.append(
                "\(apart.processes) with writes that this etcd does not have: it was restored or replaced; "
                    + "tweakctl fleet \(name) adopt makes it the one to follow")
        }
        let unreadable =
            reading.view.unreadable.count + reading.statuses.unreadable.count + reading.catalog.unreadable.count
        if unreadable > 0 {
            texts.append(
                "\(unreadable) \(unreadable == 1 ? "key" : "keys") cannot be read; tweakctl fleet \(name) status lists them"
            )
        }
        let refusals = FleetSummary(reading.view, reading.statuses, builds: []).refusals.filter { $0.rollout == nil }
        texts += refusals.prefix(5).map { "\($0.count) refuse \($0.path): \($0.reason); such as \($0.example)" }
        return texts.map { .string(Quoting.sanitized($0)) }
    }

    private static func ended(_ reports: [String: PanelDriver.Report]) -> [JSON] {
        reports.filter(\.value.hasEnded).sorted { $0.value.at > $1.value.at }.map { id, report in
            .object([
                ("id", .string(id)), ("text", .string(report.text)), ("bad", .bool(report.isBad)),
                ("at", .int(report.at)),
            ])
        }
    }

    /// The figures of a rollout's conditions over time; none of one that has ended, which a page may ask for as it ends.
    func charts(of id: String) throws(FleetRefusal) -> [(String, JSON)] {
        let conditions = try known().view.rollouts[id]?.value.abortIf ?? []
        let charts = conditions.map { condition in
            JSON.object([
                ("text", .string(condition.text)), ("path", .string(condition.path.joined)),
                ("limit", .number(condition.limit)), ("relative", .bool(condition.isRelative)),
                (
                    "samples",
                    .array(
                        self.charts.samples(id, condition.path).map {
                            .array([
                                .int($0.at), $0.members.map { .number($0) } ?? .null,
                                $0.others.map { .number($0) } ?? .null,
                            ])
                        })
                ),
            ])
        }
        return [("charts", .array(charts)), ("now", .int(fleet.now()))]
    }
}

extension FleetBoard.Reading {
    fileprivate func rollouts(_ reports: [String: PanelDriver.Report], by driver: PanelDriver) -> [JSON] {
        let live = statuses.live
        return view.ordered.map { record in
            let id = record.value.id
            let report = reports[id].flatMap { $0.hasEnded ? nil : $0 }
            return .object(
                plan(record) + Self.progress(record, live, report) + [
                    ("own", .bool(driver.drives(id))), ("driver", drivers[id].map(Self.json) ?? .null),
                    ("note", .text(report.flatMap { $0.text.isEmpty ? nil : $0.text })),
                    ("bad", .bool(report?.isBad ?? false)),
                ])
        }
    }

    private static func json(_ driver: FleetDriver) -> JSON {
        .object([("by", .string(driver.by)), ("host", .string(driver.host)), ("pid", .int(driver.pid))])
    }

    private func plan(_ record: VersionedRecord<Rollout>) -> [(String, JSON)] {
        let rollout = record.value
        return [
            ("id", .string(rollout.id)), ("state", .string(rollout.state.rawValue)),
            ("share", .string(rollout.share.number)), ("steps", .array(rollout.steps.map { .string($0.number) })),
            ("where", .string(rollout.selector.text)), ("every", .int(rollout.every)),
            ("next", rollout.next.map { .int($0) } ?? .null),
            ("confirmBy", rollout.confirmBy.map { .int($0) } ?? .null), ("by", .string(rollout.by)),
            ("at", .int(rollout.at)), ("leased", .bool(record.lease != 0)),
            ("temporary", .bool(rollout.isTemporary)),
            (
                "changes",
                .array(
                    rollout.changes.map {
                        .object([
                            ("path", .string($0.path.joined)), ("old", .text($0.found?.text)),
                            ("now", .text(view.value($0.path)?.text)),
                            ("new", .string($0.value.text)),
                        ])
                    })
            ),
        ]
    }

    private static func progress(
        _ record: VersionedRecord<Rollout>, _ live: [LiveInstance], _ report: PanelDriver.Report?
    ) -> [(String, JSON)] {
        let rollout = record.value
        let members = live.filter { rollout.includes($0.instance) }
        let refused = members.count { member in member.status.refused.contains { $0.rollout == rollout.id } }
        let violators = report?.progress.metrics ?? []
        return [
            ("eligible", .count(live.count { rollout.selects($0.instance) })), ("members", .count(members.count)),
            ("reported", .count(members.count { $0.status.revision >= record.modRevision })),
            ("refused", .count(refused)),
            (
                "conditions",
                .array(
                    rollout.abortIf.map { condition in
                        let state = violators.first { $0.condition == condition.text }
                        return .object([
                            ("text", .string(condition.text)),
                            ("violators", state.map { .count($0.violators) } ?? .null),
                        ])
                    })
            ),
        ]
    }

    /// The processes whose ID, labels or build have a text; the first 200.
    fileprivate static let maxProcesses = 200

    func processes(matching text: String) -> [(String, JSON)] {
        let words = text.lowercased().split(separator: " ").map { Array($0.utf8) }
        let builds = Set(catalog.hashes)
        let found = statuses.live.filter { instance in
            let status = instance.status
            let subject = Array("\(instance.id) \(status.labels.text) \(status.build)".lowercased().utf8)
            return words.allSatisfy { subject.hasPart($0) }
        }
        let live = statuses.live
        let strata = view.rollouts.mapValues { $0.value.strata(live) }
        let reports = found.prefix(Self.maxProcesses).map {
            InstanceReport($0, view, builds: builds, strata: strata).json
        }
        return [("processes", .array(reports)), ("found", .count(found.count)), ("live", .count(statuses.live.count))]
    }

    /// How many processes have which value of a path.
    func holders(of path: TweakPath, _ keys: FleetKeys) -> [(String, JSON)] {
        [("tweaks", .array([distribution([path], keys).json(path, view.value(path))]))]
    }

    func distribution(_ paths: Set<TweakPath>, _ keys: FleetKeys) -> ValueDistribution {
        ValueDistribution(view, statuses.live, catalog, keys: keys) { paths.contains($0) }
    }

    /// The figures that conditions can name, and the labels of processes.
    var figures: [(String, JSON)] {
        var paths: Set<String> = []
        for entry in catalog.entries {
            for (path, definition) in entry.build.definitions
            where definition.flags.contains(.readOnly) && [.int, .number].contains(definition.kind) {
                paths.insert(path.joined)
            }
        }
        let labels = Set(statuses.live.flatMap { $0.status.labels.map { "\($0.key)=\($0.value)" } })
        return [
            ("figures", .array(paths.sorted().map { .string($0) })),
            ("labels", .array(labels.sorted().prefix(200).map { .string($0) })),
        ]
    }
}

extension [UInt8] {
    fileprivate func hasPart(_ part: [UInt8]) -> Bool {
        if part.count > count { return false }
        return (0...(count - part.count)).contains { self[$0...].starts(with: part) }
    }
}
