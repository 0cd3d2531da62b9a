// Writes what users of a fleet's page have confirmed: drafts for all processes, rollouts, and what steers them.

import Tweaks
import TweaksFleet
import TweaksSystem

/// A change that a user has seen: what the fleet had, and the draft, or nothing for a removal.
private struct SeenChange {
    let path: TweakPath
    /// Texts as ``FleetPanelRoutes/check(_:)`` has shown them; nil in a request to show them.
    let old: String?
    let new: String?
    let isRemoval: Bool

    init(_ body: FleetBody) throws(FleetRefusal) {
        try body.allow(["path", "old", "new", "reset"])
        path = try TweakPath(reading: try body.required("path"))
        (old, new, isRemoval) = (try body.text("old"), try body.text("new"), try body.flag("reset"))
    }
}

extension FleetPanelRoutes {
    /// The fields of bodies that name changes.
    private static let changeFields = ["changes", "force"]

    private func changes(_ body: FleetBody, _ known: [String]) throws(FleetRefusal) -> [SeenChange] {
        try body.allow(known)
        let objects = try body.objects("changes", called: "change")
        try FleetEdit.checkCount(objects.count, "the body")
        var changes: [SeenChange] = []
        for object in objects { changes.append(try SeenChange(object)) }
        guard Set(changes.map(\.path)).count == changes.count, Set(changes.map(\.isRemoval)).count == 1 else {
            throw FleetRefusal(.usage, "the body: name each path once, and either drafts or resets")
        }
        return changes
    }

    /// The drafts of the changes.
    private func assignments(_ changes: [SeenChange]) async throws(FleetRefusal) -> [FleetAssignment] {
        var assignments: [FleetAssignment] = []
        for change in changes {
            guard let value = await board.drafts.draft(of: change.path) else {
                throw FleetRefusal(.refused, "\(change.path.token) has no draft any more; look again")
            }
            if await board.drafts.isTemporary(change.path) {
                throw FleetRefusal(
                    .refused,
                    "the draft of \(change.path.token) is for a while, and the fleet's value would stay; set it without a time"
                )
            }
            if await board.drafts.registry[change.path.joined]?.flags.contains(.secret) == true {
                throw FleetRefusal(
                    .refused,
                    "\(change.path.token) is secret and takes no value from a fleet; discard the draft, and set it in each "
                        + "process")
            }
            assignments.append(FleetAssignment(change.path, value))
        }
        return assignments
    }

    // MARK: Showing what would be written

    /// What writing drafts, or removing values, would do.
    func check(_ body: FleetBody) async throws(FleetRefusal) -> Fields {
        let changes = try changes(body, ["changes"])
        try await board.read()
        let known = try await board.known()
        let isRemoval = changes[0].isRemoval
        let assignments = isRemoval ? [] : try await assignments(changes)
        let distribution = known.distribution(Set(changes.map(\.path)), fleet.keys)
        let rows = zip(changes, isRemoval ? changes.map { _ in nil } : assignments.map { $0.value as TweakValue? })
            .map { change, new in
                let path = change.path
                return JSON.object([
                    ("path", .string(path.joined)), ("old", .text(known.view.value(path)?.text)),
                    ("new", .text(new?.text)), ("held", distribution.json(path, nil)["held"] ?? .array([])),
                ])
            }
        let (problem, notes) = await rehearse(changes, assignments)
        let refusals = assignments.flatMap(known.catalog.refusals)
        return [
            ("changes", .array(rows)), ("refusals", .array(refusals.map { .string($0.text) })),
            ("problem", .text(problem)), ("notes", .array(notes.map { .string($0) })),
            ("live", .count(known.statuses.live.count)), ("builds", .count(known.catalog.entries.count)),
        ]
    }

    /// Why a write would be refused, and its notes.
    private func rehearse(
        _ changes: [SeenChange], _ assignments: [FleetAssignment]
    ) async -> (problem: String?, notes: [String]) {
        var dry = fleet
        dry.isDryRun = true
        do throws(FleetRefusal) {
            let receipt =
                assignments.isEmpty ? try await dry.reset(changes.map(\.path)) : try await dry.set(assignments)
            return (nil, Array(receipt.notes.filter { !$0.hasPrefix("a dry run") }))
        } catch {
            return (error.description, [])
        }
    }

    /// The operator whose writes are refused once a value is not what the user has seen.
    /// - Throws: If a draft is not.
    private func fleet(
        showing changes: [SeenChange], _ assignments: [FleetAssignment]
    ) throws(FleetRefusal) -> FleetOperator {
        for (change, assignment) in zip(changes, assignments) where assignment.value.text != change.new {
            throw FleetRefusal(
                .refused,
                "the draft of \(change.path.token) is \(assignment.value.text) now, and not \(change.new ?? "(none)"); "
                    + "look again")
        }
        var fleet = fleet
        fleet.seen = Dictionary(changes.map { ($0.path, $0.old) }) { first, _ in first }
        return fleet
    }

    private func checkRefusals(_ assignments: [FleetAssignment], force: Bool) async throws(FleetRefusal) {
        if force { return }
        let refusals = assignments.flatMap(try await fleet.builds().refusals)
        if let first = refusals.first { throw FleetRefusal(.refused, first.text) }
    }

    // MARK: Writing

    /// Sets drafts for all processes, or removes the fleet's values.
    func write(_ body: FleetBody) async throws(FleetRefusal) -> Fields {
        let changes = try changes(body, Self.changeFields)
        let force = try body.flag("force")
        if changes[0].isRemoval {
            let receipt = try await fleet(showing: changes, []).reset(changes.map(\.path))
            await board.note(written: [])
            return Self.fields(receipt)
        }
        let assignments = try await assignments(changes)
        let careful = try fleet(showing: changes, assignments)
        try await checkRefusals(assignments, force: force)
        let receipt = try await careful.set(assignments)
        await board.note(written: assignments)
        return Self.fields(receipt)
    }

    static func fields(_ receipt: FleetReceipt) -> Fields {
        [
            ("entry", receipt.sequence.map { .unsigned($0) } ?? .null), ("rollout", .text(receipt.rollout)),
            ("changed", .count(receipt.changes.count)), ("notes", .array(receipt.notes.map { .string($0) })),
        ]
    }

    /// Undoes an entry of the log.
    func undo(_ body: FleetBody) async throws(FleetRefusal) -> Fields {
        try body.allow(["entry"])
        guard let number = UInt64(try body.required("entry")) else {
            throw FleetRefusal(.usage, "the body: entry must be the number of an entry in quotes, such as \"7\"")
        }
        let receipt = try await fleet.undo(number)
        await board.note(written: [])
        return Self.fields(receipt)
    }

    // MARK: Rollouts

    /// Begins a rollout of drafts, or only says which processes its steps reach.
    func rollOut(_ body: FleetBody) async throws(FleetRefusal) -> Fields {
        let plans = ["steps", "every", "where", "abortIf", "confirmWithin", "keep", "dry"]
        let changes = try changes(body, Self.changeFields + plans)
        if changes[0].isRemoval { throw FleetRefusal(.usage, "the body: a rollout sets values, and resets none") }
        let assignments = try await assignments(changes)
        let (force, keeps, dry) = (try body.flag("force"), try body.flag("keep"), try body.flag("dry"))
        let plan = try plan(body, assignments)
        try await fleet.builds().check(plan.abortIf)
        let reach = try await reach(of: plan)
        if dry {
            var rehearsing = fleet
            rehearsing.isDryRun = true
            _ = try await rehearsing.begin(plan)
            return Self.fields(reach)
        }
        let careful = try fleet(showing: changes, assignments)
        try await checkRefusals(assignments, force: force)
        let receipt = try await begin(plan, as: careful, keeps: keeps)
        await board.note(written: assignments)
        return Self.fields(receipt) + Self.fields(reach)
    }

    /// The plan, by the rules of the command line.
    private func plan(_ body: FleetBody, _ assignments: [FleetAssignment]) throws(FleetRefusal) -> RolloutPlan {
        var words: [String] = []
        for (name, option) in [("steps", FleetOption.steps), ("every", .every), ("confirmWithin", .confirmWithin)] {
            if let text = try body.text(name) { words.append("\(option.name)=\(text)") }
        }
        words += try body.texts("where").map { "\(FleetOption.where.name)=\($0)" }
        words += try body.texts("abortIf").map { "\(FleetOption.abortIf.name)=\($0)" }
        return try reading { () throws(Failure) in
            let arguments = try FleetArguments([fleet.keys.name, FleetVerb.rollout.rawValue, "drafts"] + words)
            return try RolloutPlan(arguments, assignments, id: fleet.makeID(), leastEvery: limits.leastEvery)
        }
    }

    private func reach(of plan: RolloutPlan) async throws(FleetRefusal) -> RolloutReach {
        let view = try await fleet.readState()
        try view.checkFree(plan.assignments.map(\.path))
        let rollout = plan.rollout(by: fleet.by, at: fleet.now(), found: view.value)
        let reach = RolloutReach(rollout, try await fleet.instanceStatuses().live)
        try reach.check(rollout)
        return reach
    }

    private static func fields(_ reach: RolloutReach) -> Fields {
        let steps = reach.members.map {
            JSON.object([("share", .string($0.share.number)), ("count", .count($0.count))])
        }
        return [("eligible", .count(reach.eligible)), ("live", .count(reach.live)), ("reach", .array(steps))]
    }

    /// Begins a rollout, and drives it, unless a drive service does.
    private func begin(
        _ plan: RolloutPlan, as fleet: FleetOperator, keeps: Bool
    ) async throws(FleetRefusal) -> FleetReceipt {
        var plan = plan
        if try await fleet.leader() != nil {
            plan.isHanded = true
            if keeps { return try await fleet.begin(plan) }
            return try await fleet.underPatience { lease throws(FleetRefusal) in
                plan.lease = lease
                return try await fleet.begin(plan)
            }
        }
        let claim = try await claim(plan.id)
        plan.driver = claim.fence
        if !keeps { plan.lease = claim.lease }
        do throws(FleetRefusal) {
            let receipt = try await fleet.begin(plan)
            try driver.drive(claim)
            return receipt
        } catch {
            await fleet.release(claim)
            throw error
        }
    }

    private func claim(_ id: String) async throws(FleetRefusal) -> DriverClaim {
        try await fleet.claim(id, host: FleetIdentity.host, pid: Int64(ThisProcess.id), seconds: limits.claim)
    }

    /// Pauses, resumes, aborts or finishes a rollout. Its driver sees that as it sees what other operators do.
    func steer(_ id: String, _ verb: String, _ body: FleetBody) async throws(FleetRefusal) -> Fields {
        try body.allow(verb == "finish" ? ["force"] : [])
        let receipt: FleetReceipt
        switch verb {
        case "pause": receipt = try await fleet.pause(id)
        case "resume": receipt = try await resume(id)
        case "abort": receipt = try await fleet.abort(id)
        case "finish":
            receipt = try await fleet.finish(id, force: try body.flag("force"))
        default:
            throw FleetRefusal(
                .usage, "\(Quoting.excerpt(verb)) is not what a rollout can do; use pause, resume, abort or finish")
        }
        await board.note(written: [])
        return Self.fields(receipt)
    }

    private func resume(_ id: String) async throws(FleetRefusal) -> FleetReceipt {
        let record = try await fleet.readState().rollout(id)
        let isDriven = try await fleet.drivers()[id] != nil
        if record.value.state == .paused, isDriven { return try await fleet.resume(id) }
        let leader = try await fleet.leader()
        if !record.value.abortIfPrometheus.isEmpty, !isDriven, !(leader?.hasPrometheus ?? driver.hasPrometheus) {
            throw FleetRefusal(
                .refused,
                "rollout \(id) has conditions on Prometheus, which its driver does not know; start that with "
                    + "--prometheus URL")
        }
        if !isDriven, leader != nil {
            let free = fleet.fenced(by: .modRevision(fleet.keys.driver(id), equals: 0))
            if record.lease == 0 { return try await free.resume(id, isHanded: true) }
            return try await fleet.underPatience { lease throws(FleetRefusal) in
                try await free.resume(id, under: lease, isHanded: true)
            }
        }
        let claim = try await claim(id)
        do throws(FleetRefusal) {
            let receipt = try await fleet.fenced(by: claim.fence).resume(id, under: claim.lease, isHanded: false)
            try driver.drive(claim, isResumed: true, conditions: record.value.abortIfPrometheus)
            return receipt
        } catch {
            await fleet.release(claim)
            throw error
        }
    }
}
