// Fuzzes the keys of a fleet, which an operator may have written by hand: records survive a round trip, an invalid key
// affects only that key, and the state kept on disk is restored.

import Tweaks
import TweaksFleet

/// Keys below `desired/` and their values, each followed by a zero byte.
enum FleetTarget {
    private static let keys = FleetKeys(name: "sample")

    static func run(_ bytes: [UInt8]) throws(Finding) {
        let parts = bytes.split(separator: 0, omittingEmptySubsequences: false).prefix(40).map { Array($0) }
        for part in parts { try checkRecords(part) }
        try checkStore(parts)
    }

    // MARK: Records

    private static func checkRecords(_ bytes: [UInt8]) throws(Finding) {
        try check(bytes, \DesiredValue.bytes) { bytes throws(FleetProblem) in try DesiredValue(bytes) }
        try check(bytes, \FleetHead.bytes) { bytes throws(FleetProblem) in try FleetHead(bytes) }
        try check(bytes, \FleetLogEntry.bytes) { bytes throws(FleetProblem) in try FleetLogEntry(bytes) }
        try check(bytes, \FleetDriver.bytes) { bytes throws(FleetProblem) in try FleetDriver(bytes) }
        try check(bytes, \FleetStatus.bytes) { bytes throws(FleetProblem) in try FleetStatus(bytes) }
        try check(bytes, \HeldValues.bytes) { bytes throws(FleetProblem) in try HeldValues(bytes) }
        try check(bytes, \FleetUser.bytes) { bytes throws(FleetProblem) in try FleetUser(bytes) }
        try check(bytes, \Rollout.bytes) { bytes throws(FleetProblem) in try Rollout(bytes) }
        try checkBuild(bytes)
        _ = try? LastGood(bytes, keys)
        try checkChanges(bytes)
        if let text = String(validating: bytes, as: UTF8.self), let condition = MetricCondition(parsing: text) {
            let again = MetricCondition(parsing: condition.text)
            try expect(again == condition, "the condition \(condition.text) is read as \(String(describing: again))")
        }
    }

    /// A record that was read is written the same way twice; input that is rejected has a reason that can be printed.
    private static func check<Record: Equatable>(
        _ bytes: [UInt8], _ written: (Record) -> [UInt8], _ read: ([UInt8]) throws(FleetProblem) -> Record
    ) throws(Finding) {
        do throws(FleetProblem) {
            let record = try read(bytes)
            let (text, once) = (written(record), try read(written(record)))
            try require(written(once) == text, "\(Record.self) is written in two ways")
        } catch {
            try expect(error.text.utf8.count < 2_000, "a long reason: \(error.text)")
            try expect(!error.text.hasPrefix(mark), error.text)
        }
    }

    /// A line of changes is read as it was written, with any JSON under a valid checksum.
    private static func checkChanges(_ bytes: [UInt8]) throws(Finding) {
        let sum = Array("\(String(FleetHash.fnv(bytes), radix: 16)) ".utf8)
        guard let update = try? LastGood.changes((sum + bytes)[...]) else { return }
        let again = try? LastGood.changes(update.line.dropLast())
        try expect(again?.line == update.line, "changes are read as others")
    }

    private static let mark = "finding: "

    private static func require(_ isTrue: Bool, _ text: String) throws(FleetProblem) {
        if !isTrue { throw FleetProblem(mark + text) }
    }

    private static let paths = ["bool", "int", "number", "string", "choice"].compactMap {
        try? TweakPath("Sample/Bound/\($0)")
    }

    private static func checkBuild(_ bytes: [UInt8]) throws(Finding) {
        guard let build = try? FleetBuild(bytes) else { return }
        for path in paths {
            for value in [TweakValue.bool(true), .int(7), .number(0.5), .string("left"), .list([.int(1)])] {
                _ = build.validate(value, for: path)
            }
        }
    }

    // MARK: A store

    private static func checkStore(_ parts: [[UInt8]]) throws(Finding) {
        let pairs = zip(parts, parts.dropFirst()).enumerated().filter { $0.offset % 2 == 0 }.map { offset, pair in
            EtcdKeyValue(
                key: keys.desired + pair.0, value: pair.1, createRevision: Int64(offset + 1),
                modRevision: Int64(offset + 1))
        }
        let range = EtcdRangeResult(header: EtcdHeader(clusterID: 1, revision: 1_000), keys: pairs)
        let (all, one) = (Samples(), Samples())
        var core = core(all)
        guard core.apply(range) else { return }
        // The same keys one by one, as a watch delivers them, give the same values.
        var following = self.core(one)
        guard following.apply(EtcdRangeResult(header: EtcdHeader(clusterID: 1, revision: 0))) else { return }
        for pair in pairs {
            let header = EtcdHeader(clusterID: 1, revision: pair.modRevision)
            guard (try? following.apply([EtcdEvent(.put, pair)], of: header)) ?? false else { return }
        }
        try checkKept(core)
        guard core.desired.problems.isEmpty, core.composition.refused.isEmpty else { return }
        for (left, right) in zip(all.nodes, one.nodes) {
            let (whole, parts) = (all.registry.current(left), one.registry.current(right))
            try expect(
                whole == parts, "\(left.path) is \(String(describing: whole)), by events \(String(describing: parts))")
        }
    }

    private static func core(_ samples: Samples) -> FleetCore {
        FleetCore(
            keys: keys, instance: FleetInstance(id: "i1"), sink: TweakSourceSink(.fleet, samples.registry))
    }

    private static func checkKept(_ core: FleetCore) throws(Finding) {
        guard let kept = core.lastGood else { throw Finding("the applied state is not kept") }
        guard let again = try? LastGood(kept.bytes, keys) else { throw Finding("the kept state is not readable") }
        try expect(again == kept, "the kept state is read as another one")
        let samples = Samples()
        var restarted = self.core(samples)
        restarted.restore(again)
        try expect(restarted.desired.problems.isEmpty, "the kept state has \(restarted.desired.problems)")
    }
}
