// Executes random steps of a simulated fleet: operators, users of etcdctl, processes, faults.

import Tweaks

@testable import TweaksFleet

extension FleetWorld {
    /// The kinds of steps; numbers repeat a kind to make it more frequent.
    private enum Step: CaseIterable {
        case set, set2, set3, setRefused, reset, begin, begin2, beginBad, timed, grow, grow2, shrink, pause, resume
        case finish, finish2, abort, abort2, undo
        case put, putRollout, putGarbage, garbageRollout, garbageHead, deleteKey, foreign, leasedValue
        case start, start2, start3, kill, stop, late, override, override2, uncover
        case unreachable, silent, full, fair, fair2, compact, wait, waitLong
        case cut, cut2, takeSnapshot, restore, restoreUnseen, empty, exchange, settle, settle2
    }

    func step() async throws {
        number += 1
        guard let step = Step.allCases.randomElement(using: &random) else { return }
        switch step {
        case .set, .set2, .set3, .setRefused, .reset, .undo: try await values(step)
        case .begin, .begin2, .beginBad, .timed: try await begin(step)
        case .grow, .grow2, .shrink, .pause, .resume, .finish, .finish2, .abort, .abort2: try await drive(step)
        case .put, .putRollout, .putGarbage, .garbageRollout, .garbageHead, .deleteKey, .foreign, .leasedValue:
            try await byHand(step)
        case .start, .start2, .start3, .kill, .stop, .late, .override, .override2, .uncover: try await process(step)
        case .unreachable, .silent, .full, .fair, .fair2, .compact, .wait, .waitLong: try await injectFault(step)
        case .cut, .cut2: cut([pick(processes)])
        case .takeSnapshot, .restore, .restoreUnseen, .empty, .exchange: try await store(step)
        case .settle, .settle2: try await settle()
        }
    }

    // MARK: Random values

    private func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &random)]
    }

    private func goodValue(_ path: String) -> TweakValue {
        path == "A/B/Size"
            ? .number(Double(Int.random(in: 10...100, using: &random))) : .int(.random(in: 0...9, using: &random))
    }

    private func badValue(_ path: String) -> TweakValue {
        if path == "A/B/Size" { return pick([.number(1_000), .number(-1), .string("much"), .list([.int(1)])]) }
        return pick([.int(400), .int(-1), .string("many"), .unsigned(.max), .notSet])
    }

    private func anyPath() -> String {
        pick(["A/B/Size", "A/B/Size", "A/B/Count", "A/B/Count", "A/B/Late", "A/B/Gone"])
    }

    /// Begins a step whose result depends on the state of the processes, which must be known.
    private func beginStateDependent(_ text: String) async throws {
        try await settle()
        note(text)
        isStateDependent = true
    }

    /// Executes a verb of an operator, and notes the result.
    private func operate(_ text: String, _ body: () async throws -> FleetReceipt) async {
        do {
            let receipt = try await body()
            note("\(text) → etcd revision \(receipt.header.revision)")
        } catch {
            note("\(text) ✗ \(error)")
        }
    }

    // MARK: Operators

    private func values(_ step: Step) async throws {
        var path = anyPath()
        switch step {
        case .setRefused:
            path = pick(["A/B/Size", "A/B/Count", "A/B/Late"])
            let value = badValue(path)
            try await beginStateDependent("a refused value is next")
            let assignment = FleetAssignment(try TweakPath(path), value)
            await operate("set \(path) = \(value)") { try await fleet.set([assignment]) }
        case .reset:
            let path = try TweakPath(path)
            await operate("reset \(path)") { try await fleet.reset([path]) }
        case .undo:
            try await beginStateDependent("undo is next")
            await operate("undo") { try await fleet.undo() }
        default:
            var assignments = [FleetAssignment(try TweakPath(path), goodValue(path))]
            let other = anyPath()
            if other != path { assignments.append(FleetAssignment(try TweakPath(other), goodValue(other))) }
            await operate("set \(assignments.map { "\($0.path) = \($0.value)" })") { try await fleet.set(assignments) }
        }
    }

    private func begin(_ step: Step) async throws {
        var assignments = try Set((0..<2).map { _ in anyPath() }).sorted().map { path in
            FleetAssignment(try TweakPath(path), goodValue(path))
        }
        if step == .beginBad {
            let path = pick(["A/B/Size", "A/B/Count", "A/B/Late"])
            assignments.removeAll { $0.path.joined == path }
            assignments.append(FleetAssignment(try TweakPath(path), badValue(path)))
        }
        if step == .timed {
            let seconds = pick([20, 60, 600] as [Int64])
            await operate("set \(assignments.map { "\($0.path) = \($0.value)" }) for \(seconds) s") {
                try await fleet.set(assignments, seconds: seconds)
            }
            return
        }
        var plan = RolloutPlan(id: "r\(number)", assignments: assignments)
        plan.selector = pick([[:], [:], ["zone": "eu"], ["zone": "us"], ["zone": "eu", "more": "x"]])
        (plan.per, plan.seed) = (pick([nil, nil, "zone", "none"]), pick([nil, nil, "kept"]))
        plan.canary = pick([[:], [:], ["zone": "us"]])
        plan.steps = [Share(hundredths: pick([0, 100, 2_500, 5_000, 9_999, 10_000])) ?? .all]
        if Bool.random(using: &random) { plan.lease = try? await etcd.grantLease(seconds: 120) }
        await operate("begin \(plan)") { try await fleet.begin(plan) }
    }

    private var rollouts: [Rollout] { etcd.all(keys.rollouts).compactMap { try? Rollout($0.value) } }

    private func drive(_ step: Step) async throws {
        guard !rollouts.isEmpty else { return }
        let rollout = pick(rollouts)
        let share = Share(hundredths: .random(in: 0...10_000, using: &random)) ?? .all
        let id = rollout.id
        switch step {
        case .grow, .grow2:
            await operate("grow \(id) to \(max(share, rollout.share).text)") {
                try await fleet.step(id, from: rollout.share, to: max(share, rollout.share))
            }
        case .shrink:
            await operate("shrink \(id) to \(min(share, rollout.share).text)") {
                try await fleet.step(id, from: rollout.share, to: min(share, rollout.share))
            }
        case .pause: await operate("pause \(id)") { try await fleet.pause(id) }
        case .resume: await operate("resume \(id)") { try await fleet.resume(id) }
        case .finish, .finish2:
            try await beginStateDependent("finish is next")
            let isForced = Bool.random(using: &random)
            await operate("finish \(id), forced: \(isForced)") { try await fleet.finish(id, force: isForced) }
        default: await operate("abort \(id)") { try await fleet.abort(id) }
        }
    }

    // MARK: etcdctl

    private static let garbage: [[UInt8]] = [
        [], [0xFF, 0], Array("garbage".utf8), Array("{}".utf8),
        Array(#"{"kind":"matrix","value":[[1]],"by":"x","at":"2026-11-21T09:30:00Z"}"#.utf8),
        Array(#"{"kind":"int","value":1e999,"by":"x","at":"2026-11-21T09:30:00Z"}"#.utf8),
        Array(#"{"kind":"number","value":60,"by":"x"}"#.utf8), Array(repeating: 0x5B, count: 100_000),
    ]

    private func byHand(_ step: Step) async throws {
        let name = anyPath()
        let path = try TweakPath(name)
        switch step {
        case .put, .leasedValue:
            let value = goodValue(name)
            let lease = step == .put ? 0 : (try? await etcd.grantLease(seconds: 30))?.id ?? 0
            note("put \(name) = \(value) under lease \(lease)")
            etcd.put(keys.value(path), DesiredValue(value: value, by: "etcdctl", at: 1).bytes, lease: lease)
        case .putRollout:
            var rollout = try Rollout("hand\(number % 5)", [name: goodValue(name)])
            rollout.state = pick([.open, .paused, .done])
            rollout.lifetime = pick([nil, 30])
            rollout.share = pick([.all, Share(hundredths: 5_000) ?? .all])
            note("put rollout \(rollout)")
            etcd.put(keys.rollout(rollout.id), rollout.bytes)
        case .putGarbage:
            try await beginStateDependent("garbage in \(name)")
            etcd.put(keys.value(path), pick(Self.garbage))
        case .garbageRollout:
            let id = (rollouts.isEmpty ? nil : pick(rollouts).id) ?? "r0"
            try await beginStateDependent("garbage in rollout \(id)")
            let other = try Rollout("another", ["A/B/Size": .number(11)]).bytes
            etcd.put(keys.rollout(id), pick(Self.garbage + [other]))
        case .garbageHead:
            note("garbage in the head")
            etcd.put(keys.head, pick(Self.garbage))
        case .deleteKey:
            let all = etcd.all(keys.desired)
            if all.isEmpty { return }
            let key = pick(all).key
            note("delete \(String(decoding: key, as: UTF8.self))")
            etcd.delete(.key(key))
        default:
            note("foreign keys")
            etcd.put(keys.desired + Array("values/a//\(number % 3)".utf8), [1, 2, 3])
            etcd.put(keys.desired + [0xFF, 0xFE], [])
            etcd.put(keys.instances + Array("stranger/1".utf8), pick(Self.garbage))
            etcd.put(keys.log + Array("zzz".utf8), pick(Self.garbage))
        }
    }

    // MARK: Processes

    private func process(_ step: Step) async throws {
        let process = pick(processes)
        let id = process.instance.id
        guard let running = process.running else {
            // A process without a file may read before or after the last change.
            if isStateDependent, process.directory == nil { try await settle() }
            note("start \(id)")
            return try start(process)
        }
        switch step {
        case .kill, .stop:
            note("\(step) \(id)")
            await end(process, inOrder: step == .stop)
        case .late where process.late == nil:
            if isStateDependent { try await settle() }
            note("\(id) registers late")
            process.late = try running.registry.register("A", "B", "Late", 1, in: 0...9)
        case .override:
            let value = Double(Int.random(in: 10...100, using: &random))
            note("\(id) overrides Size = \(value)")
            try running.size.set(value)
            process.overrides["A/B/Size"] = .number(value)
        case .override2:
            let value = Int.random(in: 0...9, using: &random)
            note("\(id) overrides Count = \(value)")
            try running.count.set(value)
            process.overrides["A/B/Count"] = .int(Int64(value))
        case .uncover:
            note("\(id) resets its overrides")
            running.size.reset()
            running.count.reset()
            process.overrides = [:]
        default: break
        }
    }

    // MARK: Faults

    private func injectFault(_ step: Step) async throws {
        let seconds =
            step == .waitLong ? Int.random(in: 100...900, using: &random) : .random(in: 1...30, using: &random)
        note("\(step)" + (step == .wait || step == .waitLong ? " \(seconds) s" : ""))
        switch step {
        case .unreachable: etcd.setFaults { $0.isUnreachable = true }
        case .silent: etcd.setFaults { $0.isSilent = true }
        case .full: etcd.setFaults { $0.isFull = true }
        case .compact: etcd.compact()
        case .wait: try await pass(seconds)
        case .waitLong: try await pass(seconds, by: 10)
        default: etcd.setFaults { $0 = MemoryEtcd.Faults() }
        }
    }

    private func cut(_ some: [WorldProcess]) {
        for process in some { process.partition.isCut = true }
        note("cut off: \(some.map(\.instance.id))")
    }

    // MARK: Stores

    private func store(_ step: Step) async throws {
        try await settle()
        switch step {
        case .takeSnapshot:
            note("take a snapshot")
            snapshot = etcd.snapshot
            return
        case .restore:
            note("restore a snapshot")
            etcd.restore(snapshot)
        case .restoreUnseen:
            // As many writes as the processes have applied, or more, that none of them sees.
            cut(processes)
            note("restore a snapshot")
            etcd.restore(snapshot)
            for _ in 0..<Int.random(in: 0...6, using: &random) { try await values(.set) }
        case .empty:
            note("empty the store")
            etcd.delete(.prefix(keys.desired))
        default:
            note("another cluster")
            etcd.restore(etcd.snapshot, clusterID: .random(in: 1...1_000, using: &random))
        }
        let seconds = Int.random(in: 0...90, using: &random)
        note("\(seconds) s")
        try await pass(seconds)
        if Bool.random(using: &random) { await operate("adopt") { try await fleet.adopt() } }
        if Bool.random(using: &random) {
            let assignment = FleetAssignment(try TweakPath("A/B/Size"), goodValue("A/B/Size"))
            await operate("set \(assignment)") { try await fleet.set([assignment]) }
        }
        try await settle()
    }
}
