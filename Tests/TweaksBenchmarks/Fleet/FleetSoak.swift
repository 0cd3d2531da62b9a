// TweaksBenchmarks fleet-soak --minutes N [--processes N] [--seed S]: a fleet of processes lives through changes and crashes.

import Foundation
import Tweaks
import TweaksFleet

/// Hundreds of processes follow one etcd while values change, rollouts come and go, and processes are killed. At the end each
/// must have what the keys say, and no more memory or threads than after the first minute.
struct FleetSoak {
    private var minutes = 10.0
    private var processes = 300
    private var seed: UInt64 = 1

    /// A process may have allocated so many bytes more: the history of its last thousand commits fills up.
    private static let allowance = 1_048_576

    /// Nil when it makes no sense.
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

    /// Runs, and prints what it found.
    /// - Returns: Whether all was right at the end, and nothing has grown.
    func run() throws -> Bool {
        guard let bench = try FleetBench() else {
            say("etcd is not installed: apt-get install etcd-server")
            return false
        }
        try bench.set([(FleetBench.paths[0], 1)])
        for number in 0..<processes { try start(number, bench) }
        var agreement = try agree(bench, mark: 1).isRight
        say("\(processes) processes follow, seed \(seed)")
        var hand = FleetSoakHand(bench, seed: seed)
        try hand.live(seconds: min(60, minutes * 15)) { try start($0, bench) }
        let first = try agree(bench, mark: hand.nextMark())
        let before = figures(bench, first.bytes)
        say("after the warm-up: \(before.text)")
        try hand.live(seconds: minutes * 60 - min(60, minutes * 15)) { try start($0, bench) }
        let last = try agree(bench, mark: hand.nextMark())
        agreement = agreement && first.isRight && last.isRight
        let after = figures(bench, last.bytes)
        say("at the end:        \(after.text)")
        say(hand.account)
        say("\(agreement ? "good" : "BAD") – every process has what the keys say")
        let hasGrown = after.allocated > before.allocated + Self.allowance || after.threads > before.threads + 2
        say("\(hasGrown ? "BAD" : "good") – memory and threads of a process")
        return agreement && !hasGrown
    }

    private func start(_ number: Int, _ bench: FleetBench) throws {
        try bench.start("i\(number)", ["serve-fleet", "i\(number)"])
    }

    /// Sets a mark that each process tells with all its values, and compares those with the keys.
    /// - Returns: Whether they are the same, and what a process has allocated in the mean.
    private func agree(_ bench: FleetBench, mark: Int) throws -> (isRight: Bool, bytes: Int) {
        try bench.set([(FleetBench.paths[0], Double(mark))])
        let fleet = bench.fleet
        let view = try bench.wait { try await fleet.look() }
        let expected = FleetBench.paths.map { path in
            guard case .number(let value)? = view.value(path) else { return "0" }
            return "\(Int(value))"
        }.joined(separator: " ")
        var (told, isRight, bytes) = (Set<String>(), true, 0)
        while told.count < processes {
            let line = try bench.nextLine()
            guard line.mark == "\(mark)", told.insert(line.id).inserted else { continue }
            let parts = line.text.split(separator: "|")
            bytes += parts.last.flatMap { Int($0) } ?? 0
            if parts.first == expected[...] { continue }
            isRight = false
            say("\(line.id) has \(line.text), and the keys say \(expected)")
        }
        return (isRight, bytes / processes)
    }

    private struct Figures {
        var resident = 0
        var allocated = 0
        var threads = 0
        var store: Int64 = 0
        var etcd = 0

        var text: String {
            "\(resident / 1_024) KiB resident, \(allocated / 1_024) KiB allocated and \(threads) threads a process in the mean, "
                + "etcd \(etcd / 1_048_576) MiB with a store of \(store / 1_024) KiB"
        }
    }

    private func figures(_ bench: FleetBench, _ allocated: Int) -> Figures {
        let ids = bench.processes.map { "\($0.processIdentifier)" }
        let count = max(1, ids.count)
        let threads = ids.reduce(0) {
            $0 + ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/\($1)/task"))?.count ?? 0)
        }
        return Figures(
            resident: ids.reduce(0) { $0 + ProcessFigures.residentBytes(of: $1) } / count, allocated: allocated,
            threads: threads / count,
            store: (try? bench.size()) ?? 0, etcd: ProcessFigures.residentBytes(of: "\(bench.etcd.processID)"))
    }

    private func say(_ text: String) { FileHandle.standardOutput.write(Data("fleet-soak: \(text)\n".utf8)) }
}

/// What happens to the fleet: values, rollouts and crashes, drawn by a seed.
private struct FleetSoakHand {
    private let bench: FleetBench
    private var generator: SeededGenerator
    private var mark = 1
    private var (sets, resets, rollouts, kills) = (0, 0, 0, 0)

    init(_ bench: FleetBench, seed: UInt64) { (self.bench, generator) = (bench, SeededGenerator(seed: seed)) }

    var account: String { "\(sets) sets, \(resets) resets, \(rollouts) rollouts, \(kills) processes killed" }

    mutating func nextMark() -> Int {
        mark += 1
        return mark
    }

    /// Does something four times a second. The first path is left to the marks.
    /// - Parameter restart: Starts a process of this number again.
    mutating func live(seconds: Double, restart: (Int) throws -> Void) throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            usleep(250_000)
            let path = FleetBench.paths[Int.random(in: 1..<FleetBench.paths.count, using: &generator)]
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
        try bench.set([(path, Double(Int.random(in: 0..<1_000_000, using: &generator)))])
    }

    private mutating func reset(_ path: TweakPath) throws {
        resets += 1
        let fleet = bench.fleet
        try bench.wait { _ = try await fleet.reset([path]) }
    }

    /// A rollout to a share that grows to all or is taken back.
    private mutating func rollout(_ path: TweakPath) throws {
        rollouts += 1
        let value = Double(Int.random(in: 0..<1_000_000, using: &generator))
        var plan = RolloutPlan(id: "r\(rollouts)", assignments: [FleetAssignment(path, .number(value))])
        plan.steps = [3_000, 10_000].compactMap { Share(hundredths: $0) }
        let (fleet, begun, isGood) = (bench.fleet, plan, Bool.random(using: &generator))
        try bench.wait {
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
        guard let process = bench.processes.randomElement(using: &generator),
            let id = process.arguments?.last, let number = Int(id.dropFirst())
        else { return }
        kills += 1
        bench.end([process])
        try restart(number)
    }
}
