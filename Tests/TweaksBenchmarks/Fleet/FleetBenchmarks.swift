// A fleet on etcd: how soon a put is seen beside etcd's own watch, what a thousand followers cost, and a start without etcd.

import Foundation
import Synchronization
import Tweaks
import TweaksDaemon
import TweaksFleet

enum FleetBenchmarks {
    static func run() throws {
        DescriptorLimit.raise()
        try starts()
        guard let bench = try FleetBench() else { return Table.skipped("a fleet", "install etcd-server") }
        try delays(bench)
        try atRest(bench)
        try thousand(bench)
    }

    // MARK: A start with etcd away

    /// From the start of a daemon to its return, with a thousand values of the fleet from the last good state, and without.
    private static func starts() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("tweaks-fleet-start-\(getpid())")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: directory) }
        let names = (0..<1_000).map { "Number\($0)" }
        let paths = try names.map { try TweakPath("Bench/Start/\($0)") }
        let head = FleetHead(counter: 1, by: "bench", what: "import", at: 0)
        let values = paths.map { path in
            EtcdKeyValue(
                key: FleetBench.keys.value(path), value: DesiredValue(value: .number(7), by: "bench", at: 0).bytes,
                modRevision: 2)
        }
        try LastGoodFile(directory: directory.path, keys: FleetBench.keys).save(
            LastGood(
                position: FleetPosition(clusterID: 1, revision: 2, head: head),
                keys: [EtcdKeyValue(key: FleetBench.keys.head, value: head.bytes, modRevision: 2)] + values))
        var (with, without): ([Double], [Double]) = ([], [])
        for _ in 0..<15 {
            with.append(try start(names, directory.path, sources: [.etcd("http://127.0.0.1:1")], 7))
            without.append(try start(names, directory.path, sources: [], 0))
        }
        Table.row(
            "start with 1,000 values from last good / without a fleet", ours: Measure.median(with) / 1e6,
            theirs: Measure.median(without) / 1e6, unit: "ms", goal: "< 50 ms")
    }

    private static func start(
        _ names: [String], _ directory: String, sources: [TweakDaemon.Source], _ expected: Double
    ) throws -> Double {
        let registry = TweakRegistry()
        let tweaks = names.map { Tweak("Bench", "Start", $0, 0.0, registry: registry) }
        var daemon: TweakDaemon?
        let time = try Measure.nanoseconds {
            daemon = try TweakDaemon.start(
                "bench", tcp: .open(port: 0), sources: sources, storage: .directory(directory), registry: registry)
        }
        precondition(tweaks.allSatisfy { $0.value == expected }, "the values are in effect")
        daemon?.stop()
        return time
    }

    // MARK: From a put to the observer

    private static let rounds = 400

    /// Both from the sending of the put, in turn: an observer of this process, and a plain watch of etcd's gateway.
    private static func delays(_ bench: FleetBench) throws {
        let registry = TweakRegistry()
        let number = Tweak("Bench", "Fleet", "Number0", 0.0, registry: registry)
        let (seen, time) = (DispatchSemaphore(value: 0), TimeTaken())
        let observation = number.observe { _ in
            time.take()
            seen.signal()
        }
        let daemon = try TweakDaemon.start(
            "bench", tcp: .open(port: 0), sources: [.etcd(bench.endpoint)], storage: .off, registry: registry)
        defer { daemon.stop() }
        let gateway = try Gateway(port: bench.etcd.port)
        let watch = GatewayWatch(port: bench.etcd.port, prefix: "/peer/")
        let key = FleetBench.keys.value(FleetBench.paths[0])
        try gateway.put(key, DesiredValue(value: .number(-1), by: "bench", at: 0).bytes)
        seen.wait()
        var (ours, theirs): ([Double], [Double]) = ([], [])
        for round in 0..<rounds {
            let record = DesiredValue(value: .number(Double(round)), by: "bench", at: 0).bytes
            var began = DispatchTime.now().uptimeNanoseconds
            try gateway.put(key, record)
            seen.wait()
            ours.append(Double(time.last - began))
            began = DispatchTime.now().uptimeNanoseconds
            try gateway.put(Array("/peer/number0".utf8), record)
            theirs.append(Double(watch.next() - began))
        }
        withExtendedLifetime(observation) {}
        for (name, fraction) in [("p50", 0.5), ("p99", 0.99)] {
            Table.row(
                "put → observer, \(name) / etcd's put → watch by the gateway",
                ours: Measure.percentile(ours, fraction) / 1_000, theirs: Measure.percentile(theirs, fraction) / 1_000,
                unit: "µs", goal: fraction == 0.5 ? "≤ 1.5" : "")
        }
    }

    /// When an observer was called last, by the monotonic clock.
    private final class TimeTaken: Sendable {
        private let time = Mutex<UInt64>(0)

        var last: UInt64 { time.withLock { $0 } }
        func take() { time.withLock { $0 = DispatchTime.now().uptimeNanoseconds } }
    }

    // MARK: A process at rest

    /// What a process with a fleet has beside one without.
    private static func atRest(_ bench: FleetBench) throws {
        let with = try bench.start("with", ["serve-fleet", "with"])
        let without = try bench.start("without", ["serve-fleet", "without"], ["TWEAKS_FLEET": "off"])
        try bench.set([(FleetBench.paths[0], 1)])
        try bench.lines(1, saying: "1")
        // Two heartbeats, and the status that is written late.
        sleep(10)
        let (before, seconds) = ((switches(with), switches(without)), 60.0)
        sleep(UInt32(seconds))
        let rates = (
            Double(switches(with) - before.0) / seconds, Double(switches(without) - before.1) / seconds
        )
        Table.row(
            "resident, a fleet's process / without a fleet", ours: megabytes(with), theirs: megabytes(without),
            unit: "MB", goal: "")
        Table.row(
            "threads at rest", ours: Double(threads(with)), theirs: Double(threads(without)), unit: "", goal: "")
        Table.row("wake-ups a second at rest", ours: rates.0, theirs: rates.1, unit: "1/s", goal: "")
        bench.end([with, without])
    }

    private static func switches(_ process: Process) -> Int { Peer.switches(of: process.processIdentifier) }

    private static func megabytes(_ process: Process) -> Double {
        Double(ProcessFigures.residentBytes(of: "\(process.processIdentifier)")) / 1_048_576
    }

    private static func threads(_ process: Process) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process.processIdentifier)/task"))?.count ?? 0
    }

    // MARK: A thousand followers

    /// Eight processes with 125 followers each: the last of them after a change, etcd's memory, and its writes a second.
    private static func thousand(_ bench: FleetBench) throws {
        let (processes, each) = (8, 125)
        try bench.set([(FleetBench.paths[0], 1_000)])
        let idle = ProcessFigures.residentBytes(of: "\(bench.etcd.processID)")
        for number in 0..<processes {
            try bench.start("crowd\(number)", ["follow-fleet", "\(each)", bench.endpoint, "crowd\(number)"])
        }
        try bench.lines(processes, saying: "1000")
        var delays: [Double] = []
        for round in 1...30 {
            let began = DispatchTime.now().uptimeNanoseconds
            try bench.set([(FleetBench.paths[0], Double(1_000 + round))])
            delays.append(Double(try bench.lines(processes, saying: "\(1_000 + round)") - began))
        }
        for (name, fraction) in [("p50", 0.5), ("worst", 1.0)] {
            Table.row(
                "an operator's set → last of 1,000 followers, \(name)",
                value: Measure.percentile(delays, fraction) / 1e6, unit: "ms", goal: "")
        }
        // Each tells its status late, so that not all do at once.
        sleep(15)
        let full = ProcessFigures.residentBytes(of: "\(bench.etcd.processID)")
        Table.row("etcd's memory for a follower", value: Double(full - idle) / 1_024 / 1_000, unit: "kB", goal: "")
        try writes(bench)
    }

    /// What etcd writes while nothing happens, and in a rollout of a tenth that looks at a figure.
    private static func writes(_ bench: FleetBench) throws {
        Table.row("writes a second of 1,000 followers at rest", value: try rate(bench).writes, unit: "1/s", goal: "")
        var plan = RolloutPlan(id: "r1", assignments: [FleetAssignment(FleetBench.paths[0], .number(2_000))])
        plan.steps = [1_000, 10_000].compactMap { Share(hundredths: $0) }
        plan.abortIf = [FigureCondition(parsing: "Bench/Fleet/Errors > 5")].compactMap(\.self)
        let (fleet, rollout) = (bench.fleet, plan)
        try bench.wait { _ = try await fleet.begin(rollout) }
        sleep(15)
        let busy = try rate(bench)
        Table.row("writes a second in a rollout of 10 % with a figure", value: busy.writes, unit: "1/s", goal: "")
        Table.row("bytes of a write in etcd's store", value: busy.bytes, unit: "B", goal: "")
        try bench.wait { _ = try await fleet.abort("r1") }
    }

    private static func rate(_ bench: FleetBench) throws -> (writes: Double, bytes: Double) {
        let (revision, size) = (try bench.revision(), try bench.size())
        sleep(60)
        let writes = Double(try bench.revision() - revision)
        return (writes / 60, writes == 0 ? 0 : Double(try bench.size() - size) / writes)
    }
}
