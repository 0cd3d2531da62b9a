// Simulates a fleet in memory, with operators, processes and faults, and compares it with a reference.

import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

/// A process of the simulation, and the reference for its values.
final class WorldProcess {
    let instance: FleetInstance
    let directory: TemporaryDirectory?
    let partition = Partition()
    var running: FollowingProcess?
    /// The tweak that it registers after its start.
    var late: Tweak<Int>?
    var overrides: [String: TweakValue] = [:]
    var reference: FleetReference
    /// It ended during a change, so that its file may contain the state before or after it.
    var hasUncertainFile = false

    init(_ instance: FleetInstance, _ directory: TemporaryDirectory?, _ keys: FleetKeys) {
        (self.instance, self.directory) = (instance, directory)
        reference = FleetReference(instance, keys)
    }

    func end() { (running, late, overrides) = (nil, nil, [:]) }

    var values: [String: TweakValue] {
        guard let running else { return [:] }
        var values: [String: TweakValue] = [
            "A/B/Size": .number(running.size.value), "A/B/Count": .int(Int64(running.count.value)),
        ]
        if let late { values["A/B/Late"] = .int(Int64(late.value)) }
        return values
    }

    /// Returns the values that its tweaks must have.
    func expected(_ reference: FleetReference) -> [String: TweakValue] {
        let fleetValues = reference.fleetValues(hasLate: late != nil)
        var values: [String: TweakValue] = ["A/B/Size": .number(50), "A/B/Count": .int(1)]
        if late != nil { values["A/B/Late"] = .int(1) }
        for path in values.keys { values[path] = overrides[path] ?? fleetValues[path] ?? values[path] }
        return values
    }
}

/// A fleet in virtual time.
final class FleetWorld {
    let etcd = MemoryEtcd()
    let time = ManualClock(wall: 1_700_000_000_000)
    let keys = FleetKeys(name: "api")
    var random: SeededGenerator
    let processes: [WorldProcess]
    private(set) var steps: [String] = []
    var snapshot: [EtcdKeyValue] = []
    var number = 0
    /// Nothing was done since all processes converged.
    private(set) var isQuiet = true
    /// A change was made whose result depends on the previous state.
    var isStateDependent = false

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        let zones = ["eu", "us"]
        processes = try (0..<4).map { [keys] number in
            let instance = FleetInstance(id: "i\(number)", labels: ["zone": zones[number % 2]])
            return WorldProcess(instance, number < 2 ? try TemporaryDirectory() : nil, keys)
        }
    }

    var fleet: FleetOperator {
        let (time, number) = (time, number)
        return FleetOperator(etcd, keys, by: "ana", now: { time.wall }, makeID: { "timed\(number)" })
    }

    /// Notes a step, for the message of a test that fails.
    func note(_ step: String) {
        steps.append("\(steps.count). \(step)")
        isQuiet = false
    }

    // MARK: Time

    /// Advances the clock and the leases.
    func pass(_ seconds: Int, by stride: Int = 1) async throws {
        for _ in 0..<max(1, seconds / stride) {
            time.advance(by: .seconds(stride))
            etcd.advance(seconds: Int64(stride))
            try await Task.sleep(for: .microseconds(300))
        }
    }

    // MARK: Processes

    func start(_ process: WorldProcess) throws {
        if process.hasUncertainFile, let directory = process.directory {
            process.reference.restart(from: try LastGoodFile(directory: directory.path, keys: keys).load())
        }
        process.hasUncertainFile = false
        let running = try FollowingProcess(
            InterposedEtcd.behind(process.partition, etcd), keys, id: process.instance.id,
            labels: process.instance.labels, directory: process.directory?.path,
            time: time)
        running.start()
        process.running = running
    }

    func end(_ process: WorldProcess, inOrder: Bool) async {
        if inOrder { await process.running?.stop() } else { await process.running?.kill() }
        process.reference.restart(keepsFiles: process.directory != nil, hadLate: process.late != nil)
        process.hasUncertainFile = !isQuiet && process.directory != nil
        process.end()
    }

    // MARK: Convergence

    /// Clears all faults, waits until each process has converged, and updates the references.
    func settle() async throws {
        if isQuiet { return }
        etcd.setFaults { $0 = MemoryEtcd.Faults() }
        for process in processes { process.partition.isCut = false }
        try await markHead()
        var matches = 0
        for second in 1...3_000 {
            try await pass(1)
            // An operator adopts the store when processes wait for that.
            if second % 45 == 0, await hasStoreProblem() { _ = try await fleet.adopt() }
            matches = await mismatch() == nil ? matches + 1 : 0
            if matches == 3 { return didSettle() }
        }
        let lines = etcd.all(keys.desired).map { pair in
            let (key, value) = (pair.key, pair.value.prefix(200))
            return "\(String(decoding: key, as: UTF8.self)) \(String(decoding: value, as: UTF8.self))"
        }
        let text = await mismatch() ?? "it does not converge"
        throw WorldProblem(text: text + "\n" + lines.joined(separator: "\n"))
    }

    private func didSettle() {
        let pairs = etcd.all(keys.desired)
        for process in processes where process.running != nil {
            process.reference.read(pairs, hasLate: process.late != nil)
        }
        (isQuiet, isStateDependent) = (true, false)
        steps.append("quiet at etcd revision \(etcd.revision)")
    }

    /// Writes the head, so that an applied state differs from an equal older one. What processes would not follow is
    /// adopted, as by an operator who is told so.
    private func markHead() async throws {
        let mark = FleetAssignment(try TweakPath("A/B/Mark"), .int(Int64(steps.count)))
        do {
            _ = try await fleet.set([mark])
        } catch {
            _ = try await fleet.adopt()
        }
    }

    private func hasStoreProblem() async -> Bool {
        for process in processes {
            if let follower = process.running?.follower, await follower.core.storeProblem != nil { return true }
        }
        return false
    }

    /// Returns the first difference from the references; nil if there is none.
    func mismatch() async -> String? {
        let pairs = etcd.all(keys.desired)
        let head = etcd.value(keys.head).flatMap { try? FleetHead($0.value) }
        for process in processes {
            guard let running = process.running else { continue }
            var reference = process.reference
            reference.read(pairs, hasLate: process.late != nil)
            let (expected, values) = (process.expected(reference), process.values)
            if expected != values { return "\(process.instance.id) has \(values), and not \(expected)" }
            let core = await running.follower.core
            if core.position?.head != head || core.storeProblem != nil {
                return "\(process.instance.id) is at \(String(describing: core.position)), and not at "
                    + "\(String(describing: head)): \(core.storeProblem?.description ?? "")"
            }
            guard let directory = process.directory else { continue }
            let file = try? LastGoodFile(directory: directory.path, keys: keys).load()
            if file?.position.head != head { return "\(process.instance.id) has saved \(String(describing: file))" }
        }
        return nil
    }

    /// Waits until the statuses match the references.
    func checkStatuses() async throws {
        let wrong = { () -> String? in
            for process in self.processes where process.running != nil {
                let prefix = self.keys.instances + Array("\(process.instance.id)/".utf8)
                let statuses = self.etcd.all(prefix).compactMap { try? FleetStatus($0.value) }
                let refused = process.reference.refused(hasLate: process.late != nil)
                guard let status = statuses.max(by: { $0.started < $1.started }) else {
                    return "\(process.instance.id) has no status"
                }
                if Set(status.refused.map { $0.rollout ?? $0.path }) != refused || status.trouble != nil {
                    return "\(process.instance.id) has \(status), and refuses \(refused)"
                }
            }
            return nil
        }
        for _ in 0..<200 {
            try await pass(1)
            if wrong() == nil { return }
        }
        throw WorldProblem(text: wrong() ?? "the statuses are late")
    }
}

struct WorldProblem: Error { let text: String }
