// Sends a follower's heartbeats: renews its lease, writes status and figures, compares the head with the applied one.

import Tweaks
import TweaksSystem

/// The schedule of a follower, and the state that it last reported.
struct FollowerHeartbeat {
    let started: Int64
    var lease: Int64?
    /// Whether the status has unreported changes.
    var isDirty = true
    /// The earliest time of the next status.
    var writeAt: Moment
    var heartbeatAt: Moment
    /// When the next sample is due; nil if no rollout has conditions.
    var sampleAt: Moment?
    /// A head read directly but not yet delivered by the watch, and the deadline for that.
    var expected: (revision: Int64, by: Moment)?
    /// The covered paths and the overrides in the last status.
    var covered: [TweakPath] = []
    var overrides = LocalOverrides()
    var metrics: [String: Double] = [:]
    /// When the figures were sampled.
    var sampledAt: Int64?
    /// What was applied last and is on disk, if there is a state directory.
    var applied: FleetPosition?
    /// The build that was written last, and the registry's generation at that time.
    var build: (hash: String, generation: UInt64)?
    /// The last count of instances, and how long it is used.
    var instanceCount: (count: Int64, until: Moment)?
    /// The logged error of writing the status.
    var reported: EtcdError?

    init(started: Int64, at now: Moment) {
        self.started = started
        writeAt = now
        heartbeatAt = now
    }

    /// - Parameter delay: Spreads the writes of processes that apply a change at the same moment.
    mutating func didApply(_ position: FleetPosition, at now: Moment, delayedBy delay: Duration) {
        if !isDirty { writeAt = max(writeAt, now.advanced(by: delay)) }
        applied = position
        isDirty = true
    }

    /// When the next work is due.
    func next() -> Moment {
        // A status is written under a lease only.
        let others = [isDirty && lease != nil ? writeAt : nil, sampleAt, expected?.by]
        return others.compactMap(\.self).reduce(heartbeatAt, min)
    }
}

extension FleetStatus {
    /// The status that a follower reports.
    init(_ core: FleetCore, _ heartbeat: FollowerHeartbeat, _ identity: FleetIdentity, build: String, at wall: Int64) {
        self.init(build: build)
        labels = identity.instance.labels
        isApart = core.storeProblem?.needsAdoption ?? false
        // What must be adopted is what is in effect, whether it is on disk or not.
        let position = isApart ? core.position : heartbeat.applied
        revision = position?.revision ?? 0
        head = position?.head?.counter ?? 0
        chain = position?.head?.chain.map { String($0.prefix(FleetChain.shortLength)) }
        refused = core.composition.refused
        covered = heartbeat.covered.map(\.joined)
        host = FleetIdentity.host
        (overrides, moreOverrides) = (heartbeat.overrides.listed, heartbeat.overrides.more)
        trouble = core.storeProblem?.description
        isUnstable = identity.isUnstable
        started = heartbeat.started
        at = wall
        metrics = heartbeat.metrics
        sampledAt = heartbeat.sampledAt
    }
}

extension FleetFollower {
    /// Runs due work until the task is canceled.
    func sendHeartbeats() async {
        while !Task.isCancelled {
            do throws(EtcdError) {
                try await beatIfDue()
            } catch {
                note(error)
                heartbeat.heartbeatAt = time.now.advanced(by: timings.heartbeat * (0.2 + 0.1 * time.randomFraction()))
            }
            do throws(EtcdError) {
                try await writeIfDue()
            } catch {
                note(error)
                // A lost lease is replaced soon, or the process would count as silent; an etcd without space refuses for hours.
                if heartbeat.lease == nil {
                    heartbeat.heartbeatAt = min(
                        heartbeat.heartbeatAt,
                        time.now.advanced(by: timings.heartbeat * (0.2 + 0.1 * time.randomFraction())))
                }
                heartbeat.writeAt = time.now.advanced(by: timings.heartbeat * (0.9 + 0.1 * time.randomFraction()))
            }
            await rest(until: heartbeat.next())
        }
    }

    private func note(_ error: EtcdError) {
        // If the watch is not open, its own error is logged instead.
        guard isWatchOpen, heartbeat.reported != error else { return }
        warn("its status cannot be written: \(error)")
        heartbeat.reported = error
    }

    private func beatIfDue() async throws(EtcdError) {
        guard heartbeat.heartbeatAt <= time.now else { return }
        heartbeat.heartbeatAt = time.now.advanced(by: timings.heartbeat * (0.9 + 0.1 * time.randomFraction()))
        // Without the lease the process would count as gone.
        try await keepLease()
        if let problem = try await compareHead() {
            report(problem)
            rewatch()
        } else if heartbeat.expected == nil, hasRead {
            didReceiveReply()
        }
        saveAgain()
        // They are gone when the process ends that has written them.
        if let lease = heartbeat.lease { try await writeHeldValues(lease) }
        // Local overrides can change at any time.
        if core.covered != heartbeat.covered || LocalOverrides(registry) != heartbeat.overrides {
            heartbeat.isDirty = true
        }
    }

    private func writeIfDue() async throws(EtcdError) {
        if let expected = heartbeat.expected, expected.by <= time.now {
            heartbeat.expected = nil
            if expected.revision > core.position?.revision ?? 0 { rewatch() }
        }
        try await sampleIfDue()
        if heartbeat.isDirty, heartbeat.lease != nil, heartbeat.writeAt <= time.now { try await writeStatus() }
    }

    /// Detects a dead watch, and a store that does not continue what was applied, by reading the head directly: if it is
    /// newer than the applied one and the watch does not deliver it soon, the watch is reopened.
    /// - Returns: Why the store cannot be followed.
    func compareHead() async throws(EtcdError) -> StoreProblem? {
        let before = core.position
        let (proof, gone) = try await proof()
        // Before the first read there is nothing to compare, and a position that has moved means that the watch works.
        guard hasRead, let position = core.position, position == before else { return nil }
        if let problem = core.validate(proof) { return problem }
        if position.needsRead(for: proof.head) {
            needsRead = true
            rewatch()
        }
        core.leave(missing: gone, at: proof.header.revision)
        if proof.headRevision > position.revision, heartbeat.expected == nil {
            // An existing deadline stays: frequent heartbeats would postpone it forever.
            heartbeat.expected = (proof.headRevision, time.now.advanced(by: .seconds(2)))
        }
        return nil
    }

    private func keepLease() async throws(EtcdError) {
        if let lease = heartbeat.lease, try await etcd.keepAlive(lease) != nil { return }
        heartbeat.lease = try await etcd.grantLease(seconds: timings.leaseSeconds).id
        // A store that has lost the status may have lost the declarations, too.
        heartbeat.build = nil
        heartbeat.isDirty = true
        heartbeat.writeAt = time.now.advanced(by: statusJitter)
    }

    // MARK: Status

    private func writeStatus() async throws(EtcdError) {
        guard let lease = heartbeat.lease else { return }
        heartbeat.isDirty = false
        do throws(EtcdError) {
            let build = try await writeBuild()
            (heartbeat.covered, heartbeat.overrides) = (core.covered, LocalOverrides(registry))
            var status = FleetStatus(core, heartbeat, identity, build: build, at: time.wall)
            status.trouble = status.trouble ?? saveProblem?.text
            let key = keys.instance(identity.instance.id, start: heartbeat.started)
            status.held = try await writeHeldValues(lease)
            let result = try await etcd.commit(
                EtcdTransaction(then: [
                    .put(key: key, value: status.bytes, lease: lease), .range(.key(keys.build(build)), keysOnly: true),
                ]))
            if case .range(let range)? = result.responses.last, range.keys.isEmpty {
                // The store was emptied, and the lease survived.
                heartbeat.build = nil
                _ = try await writeBuild()
            }
        } catch {
            heartbeat.isDirty = true
            if error == .leaseNotFound { heartbeat.lease = nil }
            throw error
        }
        heartbeat.reported = nil
        heartbeat.writeAt = time.now.advanced(by: statusJitter)
    }

    /// Writes the declarations of this build, which all of its processes share, unless they exist.
    private func writeBuild() async throws(EtcdError) -> String {
        let generation = registry.generation
        if let build = heartbeat.build, build.generation == generation { return build.hash }
        let build = FleetBuild(registry)
        if build.hash != heartbeat.build?.hash {
            let key = keys.build(build.hash)
            _ = try await etcd.commit(
                EtcdTransaction(
                    if: [.createRevision(key, equals: 0)], then: [.put(key: key, value: build.bytes)]))
        }
        heartbeat.build = (build.hash, generation)
        return build.hash
    }

    /// Writes the values of this process while it does not apply those of the store, for operators who decide. All
    /// processes with the same values share them.
    /// - Returns: Their hash; nil if the process follows the store.
    @discardableResult private func writeHeldValues(_ lease: Int64) async throws(EtcdError) -> String? {
        guard core.storeProblem?.needsAdoption ?? false else { return nil }
        let bytes = HeldValues(core.heldValues).bytes
        let hash = String(FleetHash.fnv(bytes), radix: 16).padded(to: 16)
        let key = keys.held(hash)
        if try await etcd.range(EtcdRange(.key(key), keysOnly: true)).keys.isEmpty {
            let put = EtcdTransaction.Operation.put(key: key, value: bytes, lease: lease)
            _ = try await etcd.commit(EtcdTransaction(if: [.createRevision(key, equals: 0)], then: [put]))
        }
        return hash
    }

    // MARK: Figures

    /// Samples the figures of open rollouts' conditions, in members and in some other processes for comparison.
    private func sampleIfDue() async throws(EtcdError) {
        let watched = core.desired.rollouts.filter { $0.value.value.state != .done && !$0.value.value.abortIf.isEmpty }
        if watched.isEmpty {
            heartbeat.sampleAt = nil
            heartbeat.metrics = [:]
            heartbeat.instanceCount = nil
            return
        }
        guard heartbeat.sampleAt.map({ $0 <= time.now }) ?? true else { return }
        heartbeat.sampleAt = time.now.advanced(by: timings.sample)
        if core.composition.members.allSatisfy({ watched[$0] == nil }), try await !isForComparison() {
            // Otherwise the next status would report old figures as new.
            heartbeat.metrics = [:]
            return
        }
        let paths = Set(watched.values.flatMap { $0.value.abortIf.map(\.path) })
        heartbeat.metrics = paths.reduce(into: [:]) { $0[$1.joined] = registry[$1]?.value?.metric }
        heartbeat.sampledAt = time.wall
        heartbeat.isDirty = true
        heartbeat.writeAt = time.now
    }

    /// Whether this process belongs to the comparison group: about 200 processes, chosen by a hash that does not
    /// change.
    private func isForComparison() async throws(EtcdError) -> Bool {
        if heartbeat.instanceCount.map({ $0.until <= time.now }) ?? true {
            // An estimate suffices, so processes that left within the last minutes may be counted, too.
            let range = EtcdRange(.prefix(keys.instances), limit: 1, keysOnly: true)
            heartbeat.instanceCount = (max(1, try await etcd.range(range).count), time.now.advanced(by: .seconds(300)))
        }
        let share = Share(hundredths: Int(min(10_000, 2_000_000 / (heartbeat.instanceCount?.count ?? 1)))) ?? .all
        return FleetHash.isBelow(share, instance: identity.instance.id, rollout: "figures")
    }

    /// Saves everything if the last attempt failed.
    private func saveAgain() {
        guard let keeper, saveProblem != nil else { return }
        if let update = core.takeUnsaved(whole: true) { keeper.save(update) }
    }

    // MARK: Ending

    /// Ends the status by a farewell, so that an orderly exit does not count as a failure. Without one it is deleted: also
    /// where the program ends by an error, which is a crash to those who drive a rollout.
    package func withdrawStatus() async {
        async let saved: Void? = keeper?.finish()
        await endStatus()
        await saved
    }

    private func endStatus() async {
        guard let lease = heartbeat.lease else { return }
        let farewell = Task { try await writeFarewell() }
        let (time, end) = (time, time.now.advanced(by: timings.farewell))
        let timer = Task {
            try await time.sleep(until: end)
            farewell.cancel()
        }
        _ = await farewell.result
        timer.cancel()
        try? await etcd.revokeLease(lease)
    }

    /// Writes the last status under a lease of its own, without findings: they are about a process that has ended.
    private func writeFarewell() async throws(EtcdError) {
        guard let build = heartbeat.build?.hash, !core.hasProgramFailed else { return }
        var status = FleetStatus(core, heartbeat, identity, build: build, at: time.wall)
        (status.refused, status.covered, status.metrics, status.trouble) = ([], [], [:], nil)
        (status.overrides, status.moreOverrides) = ([], 0)
        status.left = status.at
        let lease = try await etcd.grantLease(seconds: FleetStatus.farewellSeconds).id
        let key = keys.instance(identity.instance.id, start: heartbeat.started)
        _ = try await etcd.commit(EtcdTransaction(then: [.put(key: key, value: status.bytes, lease: lease)]))
    }
}

/// The tweaks with an override of this process, as a status tells them: shortened, so that no change that it does not tell
/// writes one. The values of secrets are left out.
struct LocalOverrides: Equatable {
    private(set) var listed: [FleetStatus.Override] = []
    private(set) var more = 0

    init() {}

    init(_ registry: TweakRegistry) {
        let snapshot = registry.snapshot()
        let nodes = registry.listing().nodes.filter { snapshot.source(of: $0)?.layer.isOverride ?? false }
        more = max(0, nodes.count - FleetStatus.Override.maxCount)
        listed = nodes.prefix(FleetStatus.Override.maxCount)
            .map { .init(path: $0.path.joined, value: $0.isSecret ? nil : snapshot.settled($0)?.text) }
    }
}

extension TweakValue {
    /// The number that conditions compare; nil for kinds without one.
    fileprivate var metric: Double? {
        switch self {
        case .bool(let value): value ? 1 : 0
        case .int(let value): Double(value)
        case .number(let value): value
        case .duration(let value): value / .seconds(1)
        default: nil
        }
    }
}
