// Keys of a fleet that any operator's hand may have written: a record that is read is written as it is read, what is wrong
// with a key harms that key alone, and what is kept on disk comes back.

import Tweaks
import TweaksFleet

/// Pairs of a key and a value, with a zero byte behind each part; the keys below `desired/`.
enum FleetTarget {
    private static let keys = FleetKeys(name: "sample")

    static func run(_ bytes: [UInt8]) throws(Finding) {
        let parts = bytes.split(separator: 0, omittingEmptySubsequences: false).prefix(40).map { Array($0) }
        for part in parts { try judgeRecords(part) }
        try judgeStore(parts)
    }

    // MARK: Records

    private static func judgeRecords(_ bytes: [UInt8]) throws(Finding) {
        try judge(bytes, \DesiredValue.bytes) { bytes throws(FleetProblem) in try DesiredValue(bytes) }
        try judge(bytes, \FleetHead.bytes) { bytes throws(FleetProblem) in try FleetHead(bytes) }
        try judge(bytes, \FleetLogEntry.bytes) { bytes throws(FleetProblem) in try FleetLogEntry(bytes) }
        try judge(bytes, \FleetDriver.bytes) { bytes throws(FleetProblem) in try FleetDriver(bytes) }
        try judge(bytes, \FleetStatus.bytes) { bytes throws(FleetProblem) in try FleetStatus(bytes) }
        try judge(bytes, \Rollout.bytes) { bytes throws(FleetProblem) in try Rollout(bytes) }
        try judgeBuild(bytes)
        _ = try? LastGood(bytes, keys)
        if let text = String(validating: bytes, as: UTF8.self), let condition = FigureCondition(parsing: text) {
            let again = FigureCondition(parsing: condition.text)
            try expect(again == condition, "the condition \(condition.text) is read as \(String(describing: again))")
        }
    }

    /// What is read is written so that it is read as the same, unless it was longer than what is written; what is not read
    /// has a reason that can be shown.
    private static func judge<Record: Equatable>(
        _ bytes: [UInt8], _ written: (Record) -> [UInt8], _ read: ([UInt8]) throws(FleetProblem) -> Record
    ) throws(Finding) {
        do throws(FleetProblem) {
            let record = try read(bytes)
            let (text, once) = (written(record), try read(written(record)))
            try check(written(once) == text, "\(Record.self) is written in two ways")
        } catch {
            try expect(error.text.utf8.count < 2_000, "a long reason: \(error.text)")
            try expect(!error.text.hasPrefix(mark), error.text)
        }
    }

    private static let mark = "finding: "

    private static func check(_ isTrue: Bool, _ text: String) throws(FleetProblem) {
        if !isTrue { throw FleetProblem(mark + text) }
    }

    private static let paths = ["bool", "int", "number", "string", "choice"].compactMap {
        try? TweakPath("Sample/Bound/\($0)")
    }

    private static func judgeBuild(_ bytes: [UInt8]) throws(Finding) {
        guard let build = try? FleetBuild(bytes) else { return }
        for path in paths {
            for value in [TweakValue.bool(true), .int(7), .number(0.5), .string("left"), .list([.int(1)])] {
                _ = build.judge(value, for: path)
            }
        }
    }

    // MARK: A store

    private static func judgeStore(_ parts: [[UInt8]]) throws(Finding) {
        let pairs = zip(parts, parts.dropFirst()).enumerated().filter { $0.offset % 2 == 0 }.map { offset, pair in
            EtcdKeyValue(
                key: keys.desired + pair.0, value: pair.1, createRevision: Int64(offset + 1),
                modRevision: Int64(offset + 1))
        }
        let range = EtcdRangeResult(header: EtcdHeader(clusterID: 1, revision: 1_000), keys: pairs)
        let (all, one) = (Samples(), Samples())
        var core = core(all)
        guard core.take(range) else { return }
        // The same keys one after the other, as a watch brings them, end in the same.
        var following = self.core(one)
        guard following.take(EtcdRangeResult(header: EtcdHeader(clusterID: 1, revision: 0))) else { return }
        for pair in pairs {
            let header = EtcdHeader(clusterID: 1, revision: pair.modRevision)
            guard following.take([EtcdEvent(.put, pair)], of: header) else { return }
        }
        try judgeKept(core)
        guard core.desired.problems.isEmpty, core.composition.refused.isEmpty else { return }
        for (left, right) in zip(all.nodes, one.nodes) {
            let (whole, parts) = (all.registry.current(left), one.registry.current(right))
            try expect(
                whole == parts, "\(left.path) is \(String(describing: whole)), by events \(String(describing: parts))")
        }
    }

    private static func core(_ samples: Samples) -> FleetCore {
        FleetCore(
            keys: keys, instance: FleetInstance(id: "i1"), registry: samples.registry, time: FleetSystemTime())
    }

    private static func judgeKept(_ core: FleetCore) throws(Finding) {
        guard let kept = core.lastGood else { throw Finding("nothing is kept of what was taken") }
        guard let again = try? LastGood(kept.bytes, keys) else { throw Finding("what was kept is not read") }
        try expect(again == kept, "what was kept is read as something else")
        let samples = Samples()
        var restarted = self.core(samples)
        restarted.take(again)
        try expect(restarted.desired.problems.isEmpty, "what was kept has \(restarted.desired.problems)")
    }
}
