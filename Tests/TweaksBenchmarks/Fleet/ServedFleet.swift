// Runs the follower processes of the fleet measurements: one with a daemon, and one with many followers.

import Foundation
import Synchronization
import Tweaks
import TweaksDaemon
import TweaksFleet

enum ServedFleet {
    /// Follows with a daemon, and prints each value of the first path together with all other values.
    static func serve(_ id: String) throws -> Never {
        let tweaks = FleetHarness.paths.indices.map { Tweak("Bench", "Fleet", "Number\($0)", 0.0, in: 0...1e9) }
        let errors = Tweak("Bench", "Fleet", "Errors", 0.0, flags: .readOnly)
        let observation = tweaks[0].observe { change in
            let values = tweaks.map { "\(Int($0.value))" }.joined(separator: " ")
            // The allocated memory, which is not visible from outside.
            FleetLine.write(id, "\(Int(change.new))", "\(values)|\(ProcessMetrics.now().allocatedBytes ?? 0)")
        }
        let daemon = try TweakDaemon.start("bench", sources: [.etcd()], tweaks: tweaks)
        Peer.keepRunning(daemon, observation, errors)
    }

    /// Runs many followers, each with its own registry, and prints a value when all of them have it.
    static func follow(_ count: Int, _ endpoint: String, _ id: String) throws -> Never {
        DescriptorLimit.raise()
        let configuration = try EtcdConfiguration(endpoints: endpoint)
        let tally = Mutex<[Int: Int]>([:])
        let followers = (0..<count).map { number in
            Follower("\(id)-\(number)", configuration) { value in
                let isLast = tally.withLock {
                    $0[value, default: 0] += 1
                    return $0[value] == count
                }
                if isLast { FleetLine.write(id, "\(value)") }
            }
        }
        Peer.keepRunning(followers)
    }

    private struct Follower {
        let tweaks: [Any]
        let observation: TweakObservation
        let running: Task<Void, Never>

        init(_ id: String, _ configuration: EtcdConfiguration, _ body: @escaping @Sendable (Int) -> Void) {
            let registry = TweakRegistry()
            let number = Tweak("Bench", "Fleet", "Number0", 0.0, in: 0...1e9, registry: registry)
            let errors = Tweak("Bench", "Fleet", "Errors", 0.0, flags: .readOnly, registry: registry)
            let identity = FleetIdentity(id, labels: [:], directory: nil)
            let core = FleetCore(
                keys: FleetHarness.keys, instance: identity.instance, sink: TweakSourceSink(.fleet, registry))
            let follower = FleetFollower(
                core, etcd: EtcdClient(configuration), keys: FleetHarness.keys, identity: identity, registry: registry,
                file: nil, log: { _ in })
            tweaks = [number, errors]
            observation = number.observe { body(Int($0.new)) }
            running = Task { await follower.run() }
        }
    }

    /// Applies changes of one value each in a process that has 9,900 of them, with what is written to its disk.
    static func change(_ count: Int) throws {
        let (keys, registry) = (FleetHarness.keys, TweakRegistry())
        let paths = try (0..<9_900).map { try TweakPath("Bench/Fleet/Number\($0)") }
        let tweaks = paths.map { Tweak("Bench", "Fleet", $0.name, 0.0, in: 0...1e9, registry: registry) }
        var core = FleetCore(
            keys: keys, instance: FleetInstance(id: "i1"), sink: TweakSourceSink(.fleet, registry))
        func pair(_ number: Int, _ revision: Int64) -> EtcdKeyValue {
            let value = DesiredValue(value: .number(Double(revision)), by: "bench", at: 0)
            return EtcdKeyValue(
                key: keys.value(paths[number % paths.count]), value: value.bytes, createRevision: 1,
                modRevision: revision)
        }
        let header = EtcdHeader(clusterID: 1, revision: 1)
        _ = core.apply(EtcdRangeResult(header: header, keys: paths.indices.map { pair($0, 1) }))
        _ = core.takeUnsaved(whole: true)
        func change(_ step: Int) {
            let revision = Int64(step + 2)
            let head = FleetHead(counter: UInt64(revision), by: "bench", what: "set", at: 0)
            let events = [
                EtcdEvent(.put, EtcdKeyValue(key: keys.head, value: head.bytes, modRevision: revision)),
                EtcdEvent(.put, pair(step, revision)),
            ]
            _ = try? core.apply(events, of: EtcdHeader(clusterID: 1, revision: revision))
            Measure.keep(core.takeUnsaved(whole: false)?.line.count ?? 0)
        }
        for step in 0..<100 { change(step) }
        CountedProcess.mark()
        for step in 100..<(100 + count) { change(step) }
        CountedProcess.mark()
        precondition(tweaks[100 + count - 1].value == Double(100 + count + 1), "the changes are in effect")
    }
}
