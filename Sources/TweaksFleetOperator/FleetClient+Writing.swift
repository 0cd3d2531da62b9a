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
        let reach = try await reach(of: plan)
        if !arguments.has(.dryRun) {
            let isYes = try reading { () throws(Failure) in
                try console.output.confirm("Begin?", isYes: arguments.has(.yes))
            }
            guard isYes else { return .refused }
        }
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
        return await RolloutSession(self, claim, revertsOnExit: plan.lease != nil).drive()
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
        try await fleet.claim(id, host: OperatorSettings.host, pid: Int64(ThisProcess.id), seconds: limits.claim)
    }

    /// Resumes driving a rollout from its current share.
    func resume() async throws(FleetRefusal) -> ExitCode {
        let record = try await fleet.readState().rollout(id)
        if record.value.state == .done {
            throw FleetRefusal(.refused, "rollout \(id) is a standing rule; abort \(id) ends it")
        }
        let isLeased = record.lease != 0
        if record.value.state == .paused, let driver = try await fleet.drivers()[id] {
            receipt("resumed rollout \(id) at \(record.value.share.text)", try await fleet.resume(id))
            let end = "when its lease of \(DriverClaim.seconds) s is over"
            let fate = isLeased ? "the rollout is reverted \(end)" : "resume \(id) again \(end)"
            console.output.printRemark(
                "\(driver.by) drives it on: process \(driver.pid) on \(driver.host); if that is gone, \(fate)")
            return .ok
        }
        let claim = try await claim(id)
        do throws(FleetRefusal) {
            receipt(
                "resumed rollout \(id) at \(record.value.share.text)",
                try await fleet.fenced(by: claim.fence).resume(id, under: claim.lease))
        } catch {
            await fleet.release(claim)
            throw error
        }
        return await RolloutSession(self, claim, revertsOnExit: isLeased, isResumed: true).drive()
    }
}
