// Keeps a process's lease alive, writes its status and figures, and compares the head with what was applied.

import Tweaks

extension FleetFollower {
    /// Does what is due, until the task is cancelled.
    func beat() async {
        while !Task.isCancelled {
            do throws(EtcdError) {
                try await doWhatIsDue()
            } catch {
                // Where no watch stands, the watch's own error is the one that is logged.
                if stands, heart.reported != error {
                    warn("its status cannot be written: \(error)")
                    heart.reported = error
                }
                heart.beatAt = time.now.advanced(by: timings.heartbeat * (0.2 + 0.1 * time.chance()))
                heart.delay(until: heart.beatAt)
            }
            await rest(until: heart.next())
        }
    }

    private func doWhatIsDue() async throws(EtcdError) {
        saveIfDue()
        if heart.beatAt <= time.now {
            heart.beatAt = time.now.advanced(by: timings.heartbeat * (0.9 + 0.1 * time.chance()))
            try await compareHead()
            try await keepLease()
            // People set overrides, and take them back, at any time.
            if core.covered != heart.covered { heart.isDirty = true }
        }
        if let expected = heart.expected, expected.by <= time.now {
            heart.expected = nil
            if expected.revision > core.position?.revision ?? 0 { rewatch() }
        }
        try await sampleIfDue()
        if heart.isDirty, heart.lease != nil, heart.writeAtHasCome(time.now) { try await writeStatus() }
    }

    /// A watch that says nothing may be dead. The head is read beside it: one that is newer than what was applied has to
    /// come by the watch soon, or that is opened anew.
    private func compareHead() async throws(EtcdError) {
        let head: (header: EtcdHeader, value: FleetHead?, revision: Int64)
        let before = core.position
        do {
            head = try await readHead()
        } catch {
            throw error as? EtcdError ?? .garbled("\(error)")
        }
        // Before the first reading there is nothing to compare, and what has moved meanwhile was told by the watch.
        guard hasRead, let position = core.position, position == before else { return }
        if let objection = core.judge(head.header, head.value) {
            report(FleetTrouble(text: objection))
            return rewatch()
        }
        if head.revision <= position.revision { return didHear() }
        // What is expected already keeps its time, or quick heartbeats would put it off for ever.
        if heart.expected == nil {
            heart.expected = (head.revision, time.now.advanced(by: .seconds(2)))
        }
    }

    private func keepLease() async throws(EtcdError) {
        if let lease = heart.lease, try await etcd.keepAlive(lease) != nil { return }
        heart.lease = try await etcd.grantLease(seconds: timings.leaseSeconds).id
        // A store that has lost the status may have lost the declarations, too.
        heart.build = nil
        heart.isDirty = true
        heart.delay(until: time.now.advanced(by: timings.statusJitter * time.chance()))
    }

    // MARK: Status

    private func writeStatus() async throws(EtcdError) {
        guard let lease = heart.lease else { return }
        heart.isDirty = false
        do throws(EtcdError) {
            let build = try await writeBuild()
            heart.covered = core.covered
            let status = FleetStatus(core, heart, identity, build: build, at: time.wall)
            let key = keys.instance(identity.instance.id, start: heart.started)
            _ = try await etcd.commit(EtcdTransaction(then: [.put(key: key, value: status.bytes, lease: lease)]))
        } catch {
            heart.isDirty = true
            if error == .leaseNotFound { heart.lease = nil }
            throw error
        }
        heart.reported = nil
        heart.delay(until: time.now.advanced(by: timings.statusJitter * time.chance()))
    }

    /// Writes the declarations of this build, which all of its processes share, where they are not there yet.
    private func writeBuild() async throws(EtcdError) -> String {
        let generation = registry.generation
        if let build = heart.build, build.generation == generation { return build.hash }
        let build = FleetBuild(registry)
        if build.hash != heart.build?.hash {
            let key = keys.build(build.hash)
            _ = try await etcd.commit(
                EtcdTransaction(
                    if: [.createRevision(key, equals: 0)], then: [.put(key: key, value: build.bytes)]))
        }
        heart.build = (build.hash, generation)
        return build.hash
    }

    // MARK: Figures

    /// Members of a rollout with a condition sample what it looks at, and so do some others, to compare with.
    private func sampleIfDue() async throws(EtcdError) {
        let watched = core.desired.rollouts.filter { $0.value.value.state != .done && !$0.value.value.abortIf.isEmpty }
        if watched.isEmpty {
            (heart.sampleAt, heart.figures, heart.population) = (nil, [:], nil)
            return
        }
        guard heart.sampleAt.map({ $0 <= time.now }) ?? true else { return }
        heart.sampleAt = time.now.advanced(by: timings.sample)
        if core.composition.members.allSatisfy({ watched[$0] == nil }), try await !isForComparison() {
            // Old figures would be told as new ones by the next status.
            heart.figures = [:]
            return
        }
        let paths = Set(watched.values.flatMap { $0.value.abortIf.map(\.path) })
        heart.figures = paths.reduce(into: [:]) { $0[$1.joined] = registry[$1]?.value?.figure }
        heart.isDirty = true
        heart.delay(until: time.now)
    }

    /// Whether it is one of some 200 by chance, which is the same one each time.
    private func isForComparison() async throws(EtcdError) -> Bool {
        if heart.population.map({ $0.until <= time.now }) ?? true {
            let range = EtcdRange(.prefix(keys.instances), limit: 1, keysOnly: true)
            heart.population = (max(1, try await etcd.range(range).count), time.now.advanced(by: .seconds(300)))
        }
        let share = Share(hundredths: Int(min(10_000, 2_000_000 / (heart.population?.count ?? 1)))) ?? .all
        return FleetHash.isBelow(share, instance: identity.instance.id, rollout: "figures")
    }

    private func saveIfDue() {
        guard let due = heart.saveAt, due <= time.now else { return }
        heart.saveAt = nil
        save()
    }

    private func save() {
        guard let file, let state = core.lastGood else { return }
        do throws(FleetProblem) {
            try file.save(state)
            unsaved = nil
        } catch {
            if unsaved != error { warn("\(error); the last good state on disk is an older one") }
            unsaved = error
        }
    }

    // MARK: Ending

    /// Takes the status away: who ends in order is not missed.
    package func retract() async {
        if heart.saveAt != nil { save() }
        if let lease = heart.lease { try? await etcd.revokeLease(lease) }
    }
}

extension FleetHeart {
    fileprivate func writeAtHasCome(_ now: ContinuousClock.Instant) -> Bool { writeAt <= now }
}

extension TweakValue {
    /// As conditions compare it; nil for what has no size.
    fileprivate var figure: Double? {
        switch self {
        case .bool(let value): value ? 1 : 0
        case .int(let value): Double(value)
        case .number(let value): value
        case .duration(let value): value / .seconds(1)
        default: nil
        }
    }
}
