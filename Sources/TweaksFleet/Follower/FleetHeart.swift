// Decides when a process tells its fleet how it is, and what.

import Tweaks

/// What a follower has told, and what is due next.
struct FleetHeart {
    let started: Int64
    var lease: Int64?
    /// Whether there is something to tell.
    var isDirty = true
    private(set) var writeAt: ContinuousClock.Instant
    var beatAt: ContinuousClock.Instant
    /// Of a process that samples figures.
    var sampleAt: ContinuousClock.Instant?
    /// A head that was seen before the watch told it, and when it has to have done so.
    var expected: (revision: Int64, by: ContinuousClock.Instant)?
    /// Since when what was applied is not on disk.
    var saveAt: ContinuousClock.Instant?
    /// What the last status said of overrides.
    var covered: [TweakPath] = []
    var figures: [String: Double] = [:]
    var appliedRevision: Int64 = 0
    /// Of the declarations that were written last.
    var build: (hash: String, generation: UInt64)?
    /// How many instances there are, as it was counted last, and until when that is taken for so.
    var population: (count: Int64, until: ContinuousClock.Instant)?
    /// The trouble with the status that was logged.
    var reported: EtcdError?

    init(started: Int64, at now: ContinuousClock.Instant) {
        self.started = started
        (writeAt, beatAt) = (now, now)
    }

    /// - Parameter delay: All processes apply the same at the same moment, and should not all write then.
    mutating func didApply(_ core: FleetCore, at now: ContinuousClock.Instant, telling delay: Duration) {
        if !isDirty { writeAt = max(writeAt, now.advanced(by: delay)) }
        appliedRevision = core.position?.revision ?? 0
        isDirty = true
        saveAt = saveAt ?? now.advanced(by: .seconds(1))
    }

    /// The status is not written before a moment.
    mutating func delay(until moment: ContinuousClock.Instant) { writeAt = moment }

    /// When something is due.
    func next() -> ContinuousClock.Instant {
        // Without a lease there is no status to write.
        let others = [isDirty && lease != nil ? writeAt : nil, sampleAt, expected?.by, saveAt]
        return others.compactMap(\.self).reduce(beatAt, min)
    }
}

extension FleetStatus {
    /// What a process says of itself.
    init(_ core: FleetCore, _ heart: FleetHeart, _ identity: FleetIdentity, build: String, at wall: Int64) {
        self.init(build: build)
        labels = identity.instance.labels
        revision = heart.appliedRevision
        head = core.position?.head?.counter ?? 0
        refused = core.composition.refused
        covered = core.covered.map(\.joined)
        trouble = core.objection
        isUnstable = identity.isUnstable
        (started, at, figures) = (heart.started, wall, heart.figures)
    }
}
