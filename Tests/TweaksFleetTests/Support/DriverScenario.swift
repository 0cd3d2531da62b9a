// Provides a rollout, its processes and a driver's clocks, for tests of what a driver decides.

import Testing
import Tweaks

@testable import TweaksFleet

/// A rollout, its members in the zone eu, and other processes in the zone us.
struct DriverScenario {
    var record: VersionedRecord<Rollout>
    var driver = RolloutDriver()
    var live: [String: LiveInstance] = [:]
    /// Farewells.
    var left: [LiveInstance] = []
    var isTimerRunning = false
    /// The driver's monotonic clock, in milliseconds.
    var now: Int64 = 1_000_000
    /// How far its wall clock is ahead of that.
    var wallError: Int64 = 0
    private let origin = Moment.now
    /// The revision of the last change of a status.
    private var revision: Int64 = 49

    static let metric = "Service/Errors/Rate"

    init(
        members: Int = 10, others: Int = 10, share: Share = .all, steps: [Share] = [.all], abortIf: Double? = nil,
        confirmWithin: Int64? = nil, isUnstable: Bool = false
    ) throws {
        let path = try TweakPath("Service/Pool/Size")
        var rollout = Rollout(
            id: "r1", changes: [.init(path: path, value: .int(80), found: .int(64))], share: share, by: "alice", at: 0)
        (rollout.selector, rollout.steps, rollout.every) = (["zone": "eu"], steps, 300)
        (rollout.next, rollout.confirmWithin) = (now + 300_000, confirmWithin)
        let metric = try TweakPath(Self.metric)
        rollout.abortIf = abortIf.map { [MetricCondition(path: metric, comparison: .above, limit: $0)] } ?? []
        record = VersionedRecord(rollout, EtcdKeyValue(key: [], createRevision: 40, modRevision: 50))
        for number in 0..<members { add("eu\(number)", "eu", isUnstable) }
        for number in 0..<others { add("us\(number)", "us", isUnstable) }
    }

    mutating func add(_ id: String, _ zone: String = "eu", _ isUnstable: Bool = false) {
        var status = FleetStatus(build: "b")
        (status.labels, status.revision, status.isUnstable) = (["zone": zone], 49, isUnstable)
        put(LiveInstance(id: id, start: 1, status: status))
    }

    /// A process writes its first status.
    private mutating func put(_ instance: LiveInstance) {
        revision += 1
        live[instance.id] = instance
        live[instance.id]?.createRevision = revision
        live[instance.id]?.modRevision = revision
    }

    /// The statuses of processes end without a farewell.
    mutating func remove(_ ids: String...) { remove(ids) }
    mutating func remove(_ ids: [String]) { for id in ids { live[id] = nil } }

    /// Processes end with a farewell.
    mutating func leave(_ ids: String...) {
        for id in ids {
            guard var instance = live.removeValue(forKey: id) else { continue }
            revision += 1
            (instance.modRevision, instance.status.left) = (revision, now)
            left.append(instance)
        }
    }

    /// A process that is not live starts again, and reports what it has applied.
    mutating func start(_ instance: LiveInstance?, _ start: Int64) throws {
        var instance = try #require(instance)
        (instance.start, instance.status.left, instance.status.revision) = (start, nil, record.modRevision)
        put(instance)
    }

    /// The rollout is rewritten.
    mutating func rewrite(_ change: (inout Rollout) -> Void = { _ in }) {
        revision += 10
        record.pair.modRevision = revision
        change(&record.value)
    }

    /// A member leaves and starts again, without anything between that the driver sees.
    mutating func restart(_ id: String, _ start: Int64) throws {
        let instance = live[id]
        leave(id)
        try self.start(instance, start)
    }

    /// All or some processes report that they have applied the rollout.
    mutating func report(_ ids: [String]? = nil) {
        for id in ids ?? Array(live.keys) { live[id]?.status.revision = record.modRevision }
    }

    /// All or some members send a new sample.
    mutating func sample(_ value: Double?, _ ids: [String]? = nil) {
        for id in ids ?? live.keys.filter({ $0.hasPrefix("eu") }) {
            live[id]?.status.at = now
            live[id]?.status.metrics = value.map { [Self.metric: $0] } ?? [:]
        }
    }

    /// The last samples have a time of their own.
    mutating func stampSamples() {
        for id in live.keys where live[id]?.status.metrics.isEmpty == false { live[id]?.status.sampledAt = now }
    }

    mutating func refuse(_ id: String, rollout: String? = "r1") {
        live[id]?.status.refused = [.init(rollout: rollout, path: "Service/Pool/Size", reason: "too large")]
    }

    mutating func decide(after seconds: Int64 = 0) -> DriverDecision {
        now += seconds * 1_000
        var observation = DriverObservation(record, live: live.values.sorted { $0.id < $1.id })
        (observation.left, observation.isTimerRunning, observation.wall) = (left, isTimerRunning, now + wallError)
        return driver.decide(observation, now: moment)
    }

    mutating func noteOutage() { driver.noteOutage(until: moment) }

    private var moment: Moment { origin + .milliseconds(now) }
}

extension DriverDecision {
    /// The reason for an abort or a pause.
    var reason: String? {
        switch self {
        case .abort(let reason), .pause(let reason): reason
        default: nil
        }
    }

    var isAbort: Bool { if case .abort = self { true } else { false } }
    var isPause: Bool { if case .pause = self { true } else { false } }
    var isWait: Bool { self == .wait }
}
