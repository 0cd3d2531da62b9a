// Runs a fleet of processes through changes and crashes: TweaksBenchmarks fleet-soak --minutes N [--processes N]
// [--seed S]

import Foundation
import Tweaks
import TweaksFleet

/// Hundreds of processes follow one etcd while values change, rollouts begin and end, and processes are killed. At the
/// end each must have the values of the keys, and no more memory or threads than after the first minute.
struct FleetSoak {
    private var minutes = 10.0
    private var processes = 300
    private var seed: UInt64 = 1

    /// The bytes by which the allocated memory of a process may grow: the history of its last thousand commits fills
    /// up.
    private static let allowance = 1_048_576

    /// Nil when the arguments are invalid.
    init?(_ arguments: [String]) {
        for (name, value) in zip(arguments, arguments.dropFirst()) where name.hasPrefix("--") {
            switch name {
            case "--minutes": minutes = Double(value) ?? 0
            case "--processes": processes = Int(value) ?? 0
            case "--seed": seed = UInt64(value) ?? 0
            default: return nil
            }
        }
        if minutes <= 0 || processes <= 0 || seed == 0 || !arguments.count.isMultiple(of: 2) { return nil }
    }

    /// Runs the soak and prints the results.
    /// - Returns: Whether all values were right at the end, and memory and threads did not grow.
    func run() throws -> Bool {
        guard let harness = try FleetHarness() else {
            log("etcd is not installed: apt-get install etcd-server")
            return false
        }
        try harness.set([(FleetHarness.paths[0], 1)])
        for number in 0..<processes { try start(number, harness) }
        var agreement = try agree(harness, mark: 1).isRight
        log("\(processes) processes follow, seed \(seed)")
        var fleetOperator = FleetSoakOperator(harness, seed: seed)
        try fleetOperator.run(seconds: min(60, minutes * 15)) { try start($0, harness) }
        let first = try agree(harness, mark: fleetOperator.nextMark())
        let before = metrics(harness, first.bytes)
        log("after the warm-up: \(before.text)")
        try fleetOperator.run(seconds: minutes * 60 - min(60, minutes * 15)) { try start($0, harness) }
        let last = try agree(harness, mark: fleetOperator.nextMark())
        agreement = agreement && first.isRight && last.isRight
        let after = metrics(harness, last.bytes)
        log("at the end:        \(after.text)")
        log(fleetOperator.account)
        log("\(agreement ? "good" : "BAD") – every process has what the keys say")
        let hasGrown = after.allocated > before.allocated + Self.allowance || after.threads > before.threads + 2
        log("\(hasGrown ? "BAD" : "good") – memory and threads of a process")
        return agreement && !hasGrown
    }

    private func start(_ number: Int, _ harness: FleetHarness) throws {
        try harness.start("i\(number)", ["serve-fleet", "i\(number)"])
    }

    /// Sets a mark that each process reports with all its values, and compares these with the keys.
    /// - Returns: Whether they are equal, and the mean of the allocated bytes of a process.
    private func agree(_ harness: FleetHarness, mark: Int) throws -> (isRight: Bool, bytes: Int) {
        try harness.set([(FleetHarness.paths[0], Double(mark))])
        let fleet = harness.fleet
        let view = try harness.wait { try await fleet.readState() }
        let expected = FleetHarness.paths.map { path in
            guard case .number(let value)? = view.value(path) else { return "0" }
            return "\(Int(value))"
        }.joined(separator: " ")
        var (reported, isRight, bytes) = (Set<String>(), true, 0)
        while reported.count < processes {
            let line = try harness.nextLine()
            guard line.mark == "\(mark)", reported.insert(line.id).inserted else { continue }
            let parts = line.text.split(separator: "|")
            bytes += parts.last.flatMap { Int($0) } ?? 0
            if parts.first == expected[...] { continue }
            isRight = false
            log("\(line.id) has \(line.text), and the keys say \(expected)")
        }
        return (isRight, bytes / processes)
    }

    private struct Metrics {
        var resident = 0
        var allocated = 0
        var threads = 0
        var store: Int64 = 0
        var etcd = 0

        var text: String {
            "\(resident / 1_024) KiB resident, \(allocated / 1_024) KiB allocated and \(threads) threads "
                + "a process in the mean, etcd \(etcd / 1_048_576) MiB with a store of \(store / 1_024) KiB"
        }
    }

    private func metrics(_ harness: FleetHarness, _ allocated: Int) -> Metrics {
        let ids = harness.processes.map(\.processIdentifier)
        let count = max(1, ids.count)
        return Metrics(
            resident: ids.reduce(0) { $0 + ProcessMetrics.residentBytes(of: "\($1)") } / count, allocated: allocated,
            threads: ids.reduce(0) { $0 + ProcessMetrics.threadCount(of: $1) } / count,
            store: (try? harness.size()) ?? 0, etcd: harness.etcd.residentBytes)
    }

    private func log(_ text: String) { writeLine("fleet-soak: \(text)") }
}

/// Generates the events of the fleet from a seed: values, rollouts and crashes.
private struct FleetSoakOperator {
    private let harness: FleetHarness
    private var generator: SeededGenerator
    private var mark = 1
    private var (sets, resets, rollouts, kills) = (0, 0, 0, 0)

    init(_ harness: FleetHarness, seed: UInt64) { (self.harness, generator) = (harness, SeededGenerator(seed: seed)) }

    var account: String { "\(sets) sets, \(resets) resets, \(rollouts) rollouts, \(kills) processes killed" }

    mutating func nextMark() -> Int {
        mark += 1
        return mark
    }

    /// Generates four events per second. The first path is reserved for the marks.
    /// - Parameter restart: Restarts the process with this number.
    mutating func run(seconds: Double, restart: (Int) throws -> Void) throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            usleep(250_000)
            let path = FleetHarness.paths[Int.random(in: 1..<FleetHarness.paths.count, using: &generator)]
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<12: try set(path)
            case 12..<15: try reset(path)
            case 15..<18: try rollout(path)
            default: try kill(restart)
            }
        }
    }

    private mutating func set(_ path: TweakPath) throws {
        sets += 1
        try harness.set([(path, Double(Int.random(in: 0..<1_000_000, using: &generator)))])
    }

    private mutating func reset(_ path: TweakPath) throws {
        resets += 1
        let fleet = harness.fleet
        try harness.wait { _ = try await fleet.reset([path]) }
    }

    /// Begins a rollout to a share of the fleet, and then completes or aborts it.
    private mutating func rollout(_ path: TweakPath) throws {
        rollouts += 1
        let value = Double(Int.random(in: 0..<1_000_000, using: &generator))
        var plan = RolloutPlan(id: "r\(rollouts)", assignments: [FleetAssignment(path, .number(value))])
        plan.steps = [3_000, 10_000].compactMap { Share(hundredths: $0) }
        let (fleet, begun, isGood) = (harness.fleet, plan, Bool.random(using: &generator))
        try harness.wait {
            _ = try await fleet.begin(begun)
            try await Task.sleep(for: .milliseconds(200))
            if isGood {
                _ = try await fleet.step(begun.id, from: begun.steps[0], to: .all)
                _ = try await fleet.finish(begun.id)
            } else {
                _ = try await fleet.abort(begun.id)
            }
        }
    }

    private mutating func kill(_ restart: (Int) throws -> Void) throws {
        guard let process = harness.processes.randomElement(using: &generator),
            let id = process.arguments?.last, let number = Int(id.dropFirst())
        else { return }
        kills += 1
        harness.end([process])
        try restart(number)
    }
}
