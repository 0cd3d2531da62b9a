// Measures a fleet on etcd: delays compared with etcd's own watch, a thousand followers, and starts without etcd.

import Foundation
import Synchronization
import Tweaks
import TweaksDaemon
import TweaksFleet

enum FleetBenchmarks {
    static func run() throws {
        DescriptorLimit.raise()
        try starts()
        guard let harness = try FleetHarness() else { return Table.skipped("a fleet", "install etcd-server") }
        try delays(harness, values: 10)
        try atRest(harness)
        try thousand(harness)
        // A thousand processes that apply 9,900 values at once would be measured, too.
        harness.end(harness.processes)
        try delays(harness, values: 9_900)
    }

    // MARK: A start without etcd

    /// Measures the start of a daemon with a thousand values from the last good state, and without a fleet.
    private static func starts() throws {
        let directory = try WorkDirectory("fleet-start")
        defer { directory.remove() }
        let names = (0..<1_000).map { "Number\($0)" }
        let paths = try names.map { try TweakPath("Bench/Start/\($0)") }
        let head = FleetHead(counter: 1, by: "bench", what: "import", at: 0)
        let values = paths.map { path in
            EtcdKeyValue(
                key: FleetHarness.keys.value(path), value: DesiredValue(value: .number(7), by: "bench", at: 0).bytes,
                modRevision: 2)
        }
        try LastGoodFile(directory: directory.url.path, keys: FleetHarness.keys).save(
            LastGood(
                position: FleetPosition(clusterID: 1, revision: 2, head: head),
                keys: [EtcdKeyValue(key: FleetHarness.keys.head, value: head.bytes, modRevision: 2)] + values))
        var (with, without): ([Double], [Double]) = ([], [])
        for _ in 0..<15 {
            with.append(try start(names, directory.url.path, sources: [.etcd("http://127.0.0.1:1")], 7))
            without.append(try start(names, directory.url.path, sources: [], 0))
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

    /// Measures from sending a put, in turn, to an observer in this process and to a watch of etcd's JSON gateway.
    /// - Parameter values: How many values the fleet has, each of a tweak of this process.
    private static func delays(_ harness: FleetHarness, values: Int) throws {
        let registry = TweakRegistry()
        let paths = try (1..<values).map { try TweakPath("Bench/Many/Number\($0)") }
        let others = paths.map { Tweak("Bench", "Many", $0.name, 0.0, registry: registry) }
        try harness.put(paths)
        let number = Tweak("Bench", "Fleet", "Number0", 0.0, registry: registry)
        let (seen, time) = (DispatchSemaphore(value: 0), LastCallTime())
        let observation = number.observe { _ in
            time.record()
            seen.signal()
        }
        let daemon = try TweakDaemon.start(
            "bench", tcp: .open(port: 0), sources: [.etcd(harness.endpoint)], storage: .off, registry: registry)
        defer { daemon.stop() }
        precondition(others.count == values - 1)
        let gateway = try Gateway(port: harness.etcd.port)
        let watch = GatewayWatch(port: harness.etcd.port, prefix: "/peer/")
        let key = FleetHarness.keys.value(FleetHarness.paths[0])
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
                "put → observer, \(values) values, \(name) / etcd's put → watch by the gateway", ours: ours,
                theirs: theirs, fraction,
                goal: fraction == 0.5 ? "≤ 1.3" : "")
        }
    }

    /// The time of an observer's last call, by the monotonic clock.
    private final class LastCallTime: Sendable {
        private let time = Mutex<UInt64>(0)

        var last: UInt64 { time.withLock { $0 } }
        func record() { time.withLock { $0 = DispatchTime.now().uptimeNanoseconds } }
    }

    // MARK: An idle process

    /// Compares an idle process that follows a fleet with one that does not.
    private static func atRest(_ harness: FleetHarness) throws {
        let with = try harness.start("with", ["serve-fleet", "with"])
        let without = try harness.start("without", ["serve-fleet", "without"], ["TWEAKS_FLEET": "off"])
        try harness.set([(FleetHarness.paths[0], 1)])
        try harness.lines(1, with: "1")
        // Waits for two heartbeats and the delayed write of the status.
        sleep(10)
        let (before, seconds) = ((switches(with), switches(without)), 60.0)
        sleep(UInt32(seconds))
        let rates = (Double(switches(with) - before.0) / seconds, Double(switches(without) - before.1) / seconds)
        Table.row(
            "resident, a fleet's process / without a fleet", ours: megabytes(with), theirs: megabytes(without),
            unit: "MB", goal: "")
        let threads = [with, without].map { Double(ProcessMetrics.threadCount(of: $0.processIdentifier)) }
        Table.row("threads at rest", ours: threads[0], theirs: threads[1], unit: "", goal: "")
        Table.row("wake-ups a second at rest", ours: rates.0, theirs: rates.1, unit: "1/s", goal: "")
        harness.end([with, without])
    }

    private static func switches(_ process: Process) -> Int { Peer.switches(of: process.processIdentifier) }

    private static func megabytes(_ process: Process) -> Double {
        Double(ProcessMetrics.residentBytes(of: "\(process.processIdentifier)")) / 1_048_576
    }

    // MARK: A thousand followers

    /// Measures eight processes with 125 followers each: delay to the last one, etcd's memory, and its writes per
    /// second.
    private static func thousand(_ harness: FleetHarness) throws {
        let (processes, each) = (8, 125)
        try harness.set([(FleetHarness.paths[0], 1_000)])
        let idle = harness.etcd.residentBytes
        for number in 0..<processes {
            try harness.start("crowd\(number)", ["follow-fleet", "\(each)", harness.endpoint, "crowd\(number)"])
        }
        try harness.lines(processes, with: "1000")
        var delays: [Double] = []
        for round in 1...30 {
            let began = DispatchTime.now().uptimeNanoseconds
            try harness.set([(FleetHarness.paths[0], Double(1_000 + round))])
            delays.append(Double(try harness.lines(processes, with: "\(1_000 + round)") - began))
        }
        for (name, fraction) in [("p50", 0.5), ("worst", 1.0)] {
            Table.row(
                "an operator's set → last of 1,000 followers, \(name)",
                value: Measure.percentile(delays, fraction) / 1e6, unit: "ms", goal: "")
        }
        // Followers delay their status, so that not all write at once.
        sleep(15)
        let full = harness.etcd.residentBytes
        Table.row("etcd's memory for a follower", value: Double(full - idle) / 1_024 / 1_000, unit: "kB", goal: "")
        try writes(harness)
    }

    /// Measures etcd's writes at rest, and in a rollout to a tenth with a metric condition.
    private static func writes(_ harness: FleetHarness) throws {
        Table.row("writes a second of 1,000 followers at rest", value: try rate(harness).writes, unit: "1/s", goal: "")
        var plan = RolloutPlan(id: "r1", assignments: [FleetAssignment(FleetHarness.paths[0], .number(2_000))])
        plan.steps = [1_000, 10_000].compactMap { Share(hundredths: $0) }
        plan.abortIf = [MetricCondition(parsing: "Bench/Fleet/Errors > 5")].compactMap(\.self)
        let (fleet, rollout) = (harness.fleet, plan)
        try harness.wait { _ = try await fleet.begin(rollout) }
        sleep(15)
        let busy = try rate(harness)
        Table.row("writes a second in a rollout of 10 % with a figure", value: busy.writes, unit: "1/s", goal: "")
        Table.row("bytes of a write in etcd's store", value: busy.bytes, unit: "B", goal: "")
        try harness.wait { _ = try await fleet.abort("r1") }
    }

    private static func rate(_ harness: FleetHarness) throws -> (writes: Double, bytes: Double) {
        let (revision, size) = (try harness.revision(), try harness.size())
        sleep(60)
        let writes = Double(try harness.revision() - revision)
        return (writes / 60, writes == 0 ? 0 : Double(try harness.size() - size) / writes)
    }
}
