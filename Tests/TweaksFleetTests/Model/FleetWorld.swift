// Holds a fleet in memory, with operators, processes and failures, and checks it where everything is quiet.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

/// A process of the world: it runs or not, and is thought to hold what its reference says.
final class WorldProcess {
    let instance: FleetInstance
    let directory: TemporaryDirectory?
    var running: FollowingProcess?
    /// The tweak that it registers after it has started.
    var late: Tweak<Int>?
    var overrides: [String: TweakValue] = [:]
    var reference: FleetReference
    /// It ended while something was on its way: what its file says is known by the file alone.
    var hasDoubtfulFile = false

    init(_ instance: FleetInstance, _ directory: TemporaryDirectory?, _ keys: FleetKeys) {
        (self.instance, self.directory) = (instance, directory)
        reference = FleetReference(instance, keys)
    }

    func end() { (running, late, overrides) = (nil, nil, [:]) }

    /// The value of each of its tweaks.
    var values: [String: TweakValue] {
        guard let running else { return [:] }
        var values: [String: TweakValue] = [
            "A/B/Size": .number(running.size.value), "A/B/Count": .int(Int64(running.count.value)),
        ]
        if let late { values["A/B/Late"] = .int(Int64(late.value)) }
        return values
    }

    /// What each of its tweaks has to be.
    func expected(_ reference: FleetReference) -> [String: TweakValue] {
        let held = reference.held(hasLate: late != nil)
        var values: [String: TweakValue] = ["A/B/Size": .number(50), "A/B/Count": .int(1)]
        if late != nil { values["A/B/Late"] = .int(1) }
        for path in values.keys { values[path] = overrides[path] ?? held[path] ?? values[path] }
        return values
    }
}

/// A fleet in virtual time.
final class FleetWorld {
    let etcd = MemoryEtcd()
    let time = ManualFleetTime()
    let keys = FleetKeys(name: "api")
    var random: SeededGenerator
    let processes: [WorldProcess]
    private(set) var steps: [String] = []
    var snapshot: [EtcdKeyValue] = []
    var number = 0
    /// Nothing was done since everything was quiet.
    private(set) var isQuiet = true
    /// Something was done whose result depends on what was there before.
    var isDelicate = false
    /// The longest that it took to become quiet, in seconds.
    private(set) var longest = 0

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

    /// Lets seconds pass: tasks, leases.
    func pass(_ seconds: Int, by stride: Int = 1) async throws {
        for _ in 0..<max(1, seconds / stride) {
            time.advance(by: .seconds(stride))
            etcd.advance(seconds: Int64(stride))
            try await Task.sleep(for: .microseconds(300))
        }
    }

    // MARK: Processes

    func start(_ process: WorldProcess) throws {
        if process.hasDoubtfulFile, let directory = process.directory {
            process.reference.restart(from: try LastGoodFile(directory: directory.path, keys: keys).load())
        }
        process.hasDoubtfulFile = false
        let running = try FollowingProcess(
            etcd, keys, id: process.instance.id, labels: process.instance.labels, directory: process.directory?.path,
            time: time)
        running.start()
        process.running = running
    }

    func end(_ process: WorldProcess, inOrder: Bool) async {
        if inOrder { await process.running?.stop() } else { await process.running?.kill() }
        process.reference.restart(keepsFiles: process.directory != nil, hadLate: process.late != nil)
        process.hasDoubtfulFile = !isQuiet && process.directory != nil
        process.end()
    }

    // MARK: Quiet

    /// Makes the weather good, waits until each process holds what it has to, and takes that down as known.
    func settle() async throws {
        if isQuiet { return }
        etcd.weather { $0 = MemoryEtcd.Weather() }
        try await markHead()
        var calm = 0
        for second in 1...3_000 {
            try await pass(1)
            // As an operator would who sees that processes wait for it.
            if second % 45 == 0, await isAnyoneWaiting() { _ = try await fleet.adopt() }
            calm = await mismatch() == nil ? calm + 1 : 0
            if calm == 3 {
                longest = max(longest, second)
                return didSettle()
            }
        }
        let lines = etcd.all(keys.desired).map { pair in
            let (key, value) = (pair.key, pair.value.prefix(200))
            return "\(String(decoding: key, as: UTF8.self)) \(String(decoding: value, as: UTF8.self))"
        }
        let text = await mismatch() ?? "it does not become quiet"
        throw WorldProblem(text: text + "\n" + lines.joined(separator: "\n"))
    }

    private func didSettle() {
        let pairs = etcd.all(keys.desired)
        for process in processes where process.running != nil {
            process.reference.see(pairs, hasLate: process.late != nil)
        }
        (isQuiet, isDelicate) = (true, false)
        steps.append("quiet at etcd revision \(etcd.revision)")
    }

    /// Writes the head, so that what was applied can be told from what only looks like it.
    private func markHead() async throws {
        let pair = etcd.value(keys.head)
        guard let pair else { return put(FleetHead(counter: 1, by: "ana", what: "mark", at: time.wall)) }
        guard let head = try? FleetHead(pair.value) else {
            _ = try await fleet.adopt()
            return
        }
        put(FleetHead(counter: head.counter + 1, by: "ana", what: "mark", at: time.wall))
    }

    private func put(_ head: FleetHead) { etcd.put(keys.head, head.bytes) }

    private func isAnyoneWaiting() async -> Bool {
        for process in processes {
            if let follower = process.running?.follower, await follower.core.objection != nil { return true }
        }
        return false
    }

    /// What is not as it has to be; nil where all is.
    func mismatch() async -> String? {
        let pairs = etcd.all(keys.desired)
        let head = etcd.value(keys.head).flatMap { try? FleetHead($0.value) }
        for process in processes {
            guard let running = process.running else { continue }
            var reference = process.reference
            reference.see(pairs, hasLate: process.late != nil)
            let (expected, values) = (process.expected(reference), process.values)
            if expected != values { return "\(process.instance.id) holds \(values), and not \(expected)" }
            let core = await running.follower.core
            if core.position?.head != head || core.objection != nil {
                return "\(process.instance.id) is at \(String(describing: core.position)), and not at "
                    + "\(String(describing: head)): \(core.objection ?? "")"
            }
            guard let directory = process.directory else { continue }
            let kept = try? LastGoodFile(directory: directory.path, keys: keys).load()
            if kept?.position.head != head { return "\(process.instance.id) has kept \(String(describing: kept))" }
        }
        return nil
    }

    /// Checks what the processes say of themselves.
    func checkStatuses() async throws {
        let wrong = { () -> String? in
            for process in self.processes where process.running != nil {
                let prefix = self.keys.instances + Array("\(process.instance.id)/".utf8)
                let statuses = self.etcd.all(prefix).compactMap { try? FleetStatus($0.value) }
                let refused = process.reference.refused(hasLate: process.late != nil)
                guard let status = statuses.max(by: { $0.started < $1.started }) else {
                    return "\(process.instance.id) says nothing"
                }
                if Set(status.refused.map { $0.rollout ?? $0.path }) != refused || status.trouble != nil {
                    return "\(process.instance.id) says \(status), and refuses \(refused)"
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
