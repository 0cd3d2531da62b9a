// Implements the commands that write values and drive rollouts: set, reset, rollout, resume and others.

import Tweaks
import TweaksFleet
import TweaksSystem

extension FleetClient {
    // MARK: set, check

    /// The assignments, parsed and validated by the builds' declarations.
    func parse(_ texts: [TextAssignment]) async throws(FleetRefusal) -> ParsedAssignments {
        let parsed = try await fleet.parse(texts, allowsNew: arguments.has(.new))
        for note in parsed.notes { console.output.printRemark(note) }
        return parsed
    }

    func check() async throws(FleetRefusal) -> ExitCode {
        let texts = try reading { () throws(Failure) in try TextAssignment.all(arguments.words) }
        let parsed = try await parse(texts)
        if console.isJSON {
            console.print(.array(parsed.refusals.map(Self.json)))
        } else if parsed.refusals.isEmpty {
            let builds = parsed.builds == 1 ? "the one build takes it" : "all \(parsed.builds) builds take it"
            console.print(["\(builds); \(parsed.live.processes) live"])
        } else {
            console.print(parsed.refusals.map(\.text))
        }
        return parsed.refusals.isEmpty ? .ok : .refused
    }

    private static func json(_ refusal: BuildRefusal) -> JSON {
        .object([
            ("build", .string(refusal.build)), ("live", .count(refusal.live)), ("path", .string(refusal.path.joined)),
            ("reason", .string(refusal.reason)),
        ])
    }

    func set() async throws(FleetRefusal) {
        let seconds = try reading { () throws(Failure) in try arguments.seconds(.for, atLeast: 1) }
        let texts = try reading { () throws(Failure) in try TextAssignment.all(arguments.words) }
        let parsed = try await parse(texts)
        if !arguments.has(.force) { try parsed.check() }
        guard let seconds else { return receipt("set", try await fleet.set(parsed.assignments)) }
        let done = try await fleet.set(parsed.assignments, seconds: seconds)
        receipt("set for \(seconds) s as rollout \(done.rollout ?? "")", done)
    }

    // MARK: reset, undo

    func reset() async throws(FleetRefusal) {
        let paths = try reading { () throws(Failure) in
            var paths: [TweakPath] = []
            for word in arguments.words { paths.append(try TextAssignment.path(word)) }
            return paths
        }
        receipt("reset", try await fleet.reset(paths))
    }

    func undo() async throws(FleetRefusal) {
        let number = try reading { () throws(Failure) -> UInt64? in
            guard let word = arguments.words.first else { return nil }
            guard let number = UInt64(word), !word.hasPrefix("+") else {
                throw Failure(.usage, "undo: \(Quoting.excerpt(word)) is not an entry number; see history")
            }
            return number
        }
        receipt("undo", try await fleet.undo(number))
    }

    // MARK: finish, adopt

    func finish() async throws(FleetRefusal) {
        receipt("finished rollout \(id)", try await fleet.finish(id, force: arguments.has(.force)))
    }

    func adopt() async throws(FleetRefusal) -> ExitCode {
        let atLeast = try reading { () throws(Failure) -> UInt64 in
            guard let text = arguments.value(.atLeast) else { return 0 }
            guard let number = UInt64(text), number <= FleetOperator.highestAdopted else {
                throw Failure(
                    .usage,
                    "--at-least: \(Quoting.excerpt(text)) is not a number up to \(FleetOperator.highestAdopted)")
            }
            return number
        }
        let view = try await fleet.readState()
        if view.values.isEmpty {
            console.output.printRemark("there are no values here; to keep those of the processes, import them first")
        }
        show(try await fleet.adoption())
        let question =
            "\(FleetConsole.location(view.header, keys)) with \(view.values.count) values: "
            + "shall every process of the fleet follow it, and drop values that are missing here?"
        let isYes = try reading { () throws(Failure) in
            try console.output.confirm(question, isYes: arguments.has(.yes) || arguments.has(.dryRun))
        }
        guard isYes else { return .refused }
        receipt("adopt", try await fleet.adopt(atLeast: atLeast))
        if arguments.has(.dryRun) { return .ok }
        console.output.printRemark(
            "processes that kept their last good state, because this etcd is another one or older, now "
                + "apply the values here; values that are missing here are removed")
        return .ok
    }

    /// Prints what adopting changes in the processes that wait for it.
    private func show(_ adoption: FleetAdoption) {
        if console.isJSON { return }
        if adoption.apart == 0 { return console.print(["no live process has another past; nothing changes for those"]) }
        let keep = adoption.apart == 1 ? "keeps" : "keep"
        console.print(["\(adoption.apart.processes) \(keep) values of another past; these would change:"])
        console.print(
            rows: adoption.changes.map {
                .init(
                    path: "  " + $0.path.token, value: $0.new.shown,
                    note: "was \($0.old.shown) in \($0.count.processes)")
            })
        if adoption.changes.isEmpty { console.print(["  nothing that is known"]) }
        if adoption.unknown > 0 {
            console.output.printRemark("\(adoption.unknown.processes) have not told all their values")
        }
    }
}

extension FleetClient {
    /// Begins a rollout and drives it, unless `--detach` is given.
    func rollout() async throws(FleetRefusal) -> ExitCode {
        let texts = try reading { () throws(Failure) in try TextAssignment.all(arguments.words) }
        let parsed = try await parse(texts)
        if !arguments.has(.force) { try parsed.check() }
        var plan = try reading { () throws(Failure) in
            try RolloutPlan(arguments, parsed.assignments, id: fleet.makeID(), leastEvery: limits.leastEvery)
        }
        if !arguments.has(.new) { try await fleet.builds().check(plan.abortIf) }
        let leader = try await fleet.leader()
        if arguments.has(.at), leader == nil {
            throw FleetRefusal(
                .refused, "--at: no drive service would begin it; start one: tweakctl fleet \(keys.name) drive")
        }
        let moment = try reading { () throws(Failure) in
            try arguments.value(.at).map { text throws(Failure) in try RolloutPlan.moment(text, now: now) }
        }
        let isDrivenHere = leader == nil || arguments.has(.driveHere)
        try await check(plan.abortIfPrometheus, leader, isDrivenHere: isDrivenHere && !arguments.has(.detach))
        let reach = try await reach(of: plan)
        if !arguments.has(.dryRun) {
            let isYes = try reading { () throws(Failure) in
                try console.output.confirm("Begin?", isYes: arguments.has(.yes))
            }
            guard isYes else { return .refused }
        }
        if let moment, let leader { return try await schedule(plan, moment, leader) }
        if let leader, !isDrivenHere { return try await handOver(plan, reach, to: leader) }
        if arguments.has(.detach) || arguments.has(.dryRun) {
            let done = try await fleet.begin(plan)
            begun(plan, reach, done)
            if arguments.has(.detach) {
                console.output.printRemark(
                    "it stays at \(plan.steps[0].text) without a driver, and nothing aborts it: resume \(plan.id) drives "
                        + "it on, abort \(plan.id) reverts it")
            }
            return .ok
        }
        let claim = try await claim(plan.id)
        plan.driver = claim.fence
        if !arguments.has(.keepIfDriverDies) { plan.lease = claim.lease }
        do throws(FleetRefusal) {
            let done = try await fleet.begin(plan)
            begun(plan, reach, done)
        } catch {
            await fleet.release(claim)
            throw error
        }
        return await RolloutSession(
            self, claim, revertsOnExit: plan.lease != nil, conditions: plan.abortIfPrometheus
        ).run()
    }

    /// Throws if the driver cannot ask the queries, or Prometheus does not know them.
    private func check(
        _ conditions: [PrometheusCondition], _ leader: FleetDriver?, isDrivenHere: Bool
    ) async throws(FleetRefusal) {
        if conditions.isEmpty { return }
        if isDrivenHere, prometheus.server == nil {
            throw FleetRefusal(
                .usage, "--abort-if-prometheus: name the server with --prometheus URL, or TWEAKS_FLEET_PROMETHEUS")
        }
        if let leader, !isDrivenHere, !leader.hasPrometheus {
            throw FleetRefusal(
                .refused,
                "--abort-if-prometheus: the drive service on \(leader.host) knows no Prometheus; start it with "
                    + "--prometheus URL, or use --drive-here")
        }
        guard let server = prometheus.server else { return }
        for condition in conditions {
            guard case .problem(let text) = await server.answer(to: condition.query) else { continue }
            throw FleetRefusal(
                .refused, "--abort-if-prometheus: \(Quoting.excerpt(condition.query)): Prometheus: \(text)")
        }
    }

    /// Begins a rollout for the drive service, and follows it.
    private func handOver(
        _ plan: RolloutPlan, _ reach: RolloutReach, to leader: FleetDriver
    ) async throws(FleetRefusal) -> ExitCode {
        var plan = plan
        plan.isHanded = true
        if arguments.has(.keepIfDriverDies) || arguments.has(.dryRun) {
            begun(plan, reach, try await fleet.begin(plan))
        } else {
            let done = try await fleet.underPatience { lease throws(FleetRefusal) in
                plan.lease = lease
                return try await fleet.begin(plan)
            }
            begun(plan, reach, done)
        }
        if arguments.has(.dryRun) { return .ok }
        return await follow(plan.id, drivenBy: leader)
    }

    private func schedule(
        _ plan: RolloutPlan, _ moment: Int64, _ leader: FleetDriver
    ) async throws(FleetRefusal) -> ExitCode {
        let done = try await fleet.schedule(plan, at: moment, reverts: !arguments.has(.keepIfDriverDies))
        receipt("rollout \(plan.id) is to begin at \(TimeText.seconds(moment))", done)
        console.output.printRemark("\(leader.host) begins and drives it; abort \(plan.id) cancels it")
        return .ok
    }

    /// Follows a rollout that the drive service drives; the rollout goes on when this command ends.
    private func follow(_ id: String, drivenBy leader: FleetDriver) async -> ExitCode {
        let fate = "\(leader.host) drives it: progress \(id) follows it, abort \(id) reverts it"
        if arguments.has(.detach) {
            console.output.printRemark(fate)
            return .ok
        }
        return await RolloutSession(self, observing: id, fate: fate).run()
    }

    private func begun(_ plan: RolloutPlan, _ reach: RolloutReach, _ receipt: FleetReceipt) {
        if console.isJSON {
            return console.print(.object(FleetConsole.fields(receipt, keys) + [("steps", reach.json)]))
        }
        let count = reach.members.first?.count ?? 0
        console.print(
            receipt, keys, "rollout \(plan.id) at \(plan.steps[0].text), \(count.processes)", hasShownChanges: true)
    }

    /// Prints how many processes each step reaches; throws if the first step reaches none.
    private func reach(of plan: RolloutPlan) async throws(FleetRefusal) -> RolloutReach {
        let view = try await fleet.readState()
        try view.checkFree(plan.assignments.map(\.path))
        let rollout = plan.rollout(by: fleet.by, at: now, found: view.value)
        let live = try await fleet.instanceStatuses().live
        try rollout.checkFollowed(by: live)
        let reach = RolloutReach(rollout, live)
        try reach.check(rollout, force: arguments.has(.force))
        if console.isJSON { return reach }
        console.print(
            rows: rollout.changes.map {
                .init(path: $0.path.token, value: $0.value.text, note: "was \($0.found.shown)")
            })
        let selectorText = rollout.selector.isEmpty ? "" : " with \(rollout.selector.text)"
        console.print(["\(reach.eligible) of \(reach.live.processes)\(selectorText):"])
        if reach.canaries > 0 { console.print(["  canaries: \(reach.canaries)"]) }
        console.print(
            reach.members.map { "  \($0.share.text): \($0.count)" + ($0.strata.isEmpty ? "" : "; \($0.strata.text)") })
        return reach
    }

    private func claim(_ id: String) async throws(FleetRefusal) -> DriverClaim {
        try await fleet.claim(id, host: FleetIdentity.host, pid: Int64(ThisProcess.id), seconds: limits.claim)
    }

    /// Resumes driving a rollout from its current share.
    func resume() async throws(FleetRefusal) -> ExitCode {
        let record = try await fleet.readState().rollout(id)
        if record.value.state == .done {
            throw FleetRefusal(.refused, "rollout \(id) is a standing rule; abort \(id) ends it")
        }
        let isLeased = record.lease != 0
        let resumed = "resumed rollout \(id) at \(record.value.share.text)"
        if record.value.state == .paused, let driver = try await fleet.drivers()[id] {
            receipt(resumed, try await fleet.resume(id))
            if record.value.isHanded { return await follow(id, drivenBy: driver) }
            let end = "when its lease of \(DriverClaim.seconds) s is over"
            let fate = isLeased ? "the rollout is reverted \(end)" : "resume \(id) again \(end)"
            console.output.printRemark(
                "\(driver.by) drives it on: process \(driver.pid) on \(driver.host); if that is gone, \(fate)")
            return .ok
        }
        if let leader = try await fleet.leader(), !arguments.has(.driveHere), try await fleet.drivers()[id] == nil {
            try await check(record.value.abortIfPrometheus, leader, isDrivenHere: false)
            // Fails if a driver appears meanwhile.
            let free = fleet.fenced(by: .modRevision(keys.driver(id), equals: 0))
            let done =
                isLeased
                ? try await fleet.underPatience { lease throws(FleetRefusal) in
                    try await free.resume(id, under: lease, isHanded: true)
                } : try await free.resume(id, isHanded: true)
            receipt(resumed, done)
            return await follow(id, drivenBy: leader)
        }
        let conditions = record.value.abortIfPrometheus
        if !conditions.isEmpty { try await check(conditions, nil, isDrivenHere: true) }
        let claim = try await claim(id)
        do throws(FleetRefusal) {
            receipt(
                resumed,
                try await fleet.fenced(by: claim.fence).resume(id, under: claim.lease, isHanded: false))
        } catch {
            await fleet.release(claim)
            throw error
        }
        return await RolloutSession(
            self, claim, revertsOnExit: isLeased, isResumed: true, conditions: conditions
        ).run()
    }

    /// Follows a rollout, without driving it.
    func progress() async throws(FleetRefusal) -> ExitCode {
        if let scheduled = try await fleet.scheduled().rollouts.first(where: { $0.rollout.id == id }) {
            console.print([Self.line(scheduled)])
            return .ok
        }
        let record = try await fleet.readState().rollout(id)
        let driver = try await fleet.drivers()[id]
        let isDriven = record.value.state != .done && !record.value.isTemporary
        let who = driver.map { "process \($0.pid) on \($0.host) drives it" }
        let fate = isDriven ? who ?? "no driver has it; resume \(id) goes on" : "nothing drives it"
        return await RolloutSession(self, observing: id, fate: fate).run()
    }
}
