// Tracks when a follower's status, samples and heartbeats are due, and what it last reported.

import Tweaks

/// The schedule of a follower, and the state that it last reported.
struct FollowerHeartbeat {
    let started: Int64
    var lease: Int64?
    /// Whether the status has unreported changes.
    var isDirty = true
    private(set) var writeAt: ContinuousClock.Instant
    var heartbeatAt: ContinuousClock.Instant
    /// When the next sample is due; nil if no rollout has conditions.
    var sampleAt: ContinuousClock.Instant?
    /// A head read directly but not yet delivered by the watch, and the deadline for that.
    var expected: (revision: Int64, by: ContinuousClock.Instant)?
    /// When the applied state must be saved to disk; nil if it is saved.
    var saveAt: ContinuousClock.Instant?
    /// The covered paths in the last status.
    var covered: [TweakPath] = []
    var metrics: [String: Double] = [:]
    var appliedRevision: Int64 = 0
    /// The build that was written last, and the registry's generation at that time.
    var build: (hash: String, generation: UInt64)?
    /// The last count of instances, and how long it is used.
    var instanceCount: (count: Int64, until: ContinuousClock.Instant)?
    /// The logged error of writing the status.
    var reported: EtcdError?

    init(started: Int64, at now: ContinuousClock.Instant) {
        self.started = started
        (writeAt, heartbeatAt) = (now, now)
    }

    /// - Parameter delay: Spreads the writes of processes that apply a change at the same moment.
    mutating func didApply(_ core: FleetCore, at now: ContinuousClock.Instant, delayedBy delay: Duration) {
        if !isDirty { writeAt = max(writeAt, now.advanced(by: delay)) }
        appliedRevision = core.position?.revision ?? 0
        isDirty = true
        saveAt = saveAt ?? now.advanced(by: .seconds(1))
    }

    /// Sets the earliest time of the next status.
    mutating func delay(until moment: ContinuousClock.Instant) { writeAt = moment }

    func isStatusDue(_ now: ContinuousClock.Instant) -> Bool { writeAt <= now }

    /// When the next work is due.
    func next() -> ContinuousClock.Instant {
        // A status is written under a lease only.
        let others = [isDirty && lease != nil ? writeAt : nil, sampleAt, expected?.by, saveAt]
        return others.compactMap(\.self).reduce(heartbeatAt, min)
    }
}

extension FleetStatus {
    /// The status that a follower reports.
    init(_ core: FleetCore, _ heartbeat: FollowerHeartbeat, _ identity: FleetIdentity, build: String, at wall: Int64) {
        self.init(build: build)
        labels = identity.instance.labels
        revision = heartbeat.appliedRevision
        head = core.position?.head?.counter ?? 0
        refused = core.composition.refused
        covered = core.covered.map(\.joined)
        trouble = core.storeProblem
        isUnstable = identity.isUnstable
        (started, at, metrics) = (heartbeat.started, wall, heartbeat.metrics)
    }
}
