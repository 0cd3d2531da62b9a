// Follows a fleet in etcd: reads its desired state, watches it, and applies each revision as one commit.

package import Tweaks
package import TweaksInterface

/// The follower of one process, as an actor that owns its state and schedule.
package actor FleetFollower {
    let etcd: any Etcd
    let keys: FleetKeys
    let registry: TweakRegistry
    let time: any FleetClock
    let timings: FleetTimings
    let identity: FleetIdentity
    let sharedInfo: SharedFollowerInfo
    let file: LastGoodFile?
    private let log: @Sendable (TweakDaemonEvent) -> Void

    var core: FleetCore
    /// When the applied state was last known to be the newest.
    var contact: ContinuousClock.Instant
    private var watchTask: Task<Void, any Error>?
    /// Whether the watch is open.
    private(set) var isWatchOpen = false
    /// Whether the store has been read since the process started.
    private(set) var hasRead = false
    private var sleepTask: Task<Void, any Error>?
    /// The task that leaves rollouts whose lease has expired, and the time of its next check.
    private var leaveTimer: (task: Task<Void, any Error>, due: ContinuousClock.Instant)?
    private var reported = Reported()
    var heartbeat: FollowerHeartbeat
    /// The logged reason why the last good state could not be saved.
    var saveProblem: FleetProblem?

    /// Events that are already logged.
    private struct Reported {
        var trouble: String?
        var isFollowing = false
        var problems: [[UInt8]: String] = [:]
        var refused: [FleetStatus.Refusal] = []
    }

    package init(
        _ core: FleetCore, etcd: any Etcd, keys: FleetKeys, identity: FleetIdentity, registry: TweakRegistry,
        file: LastGoodFile?, sharedInfo: SharedFollowerInfo, time: any FleetClock = SystemFleetClock(),
        timings: FleetTimings = FleetTimings(), log: @escaping @Sendable (TweakDaemonEvent) -> Void
    ) {
        (self.core, self.etcd, self.keys, self.identity, self.registry) = (core, etcd, keys, identity, registry)
        (self.file, self.sharedInfo, self.time, self.timings, self.log) = (file, sharedInfo, time, timings, log)
        contact = time.now
        heartbeat = FollowerHeartbeat(started: time.wall, at: time.now)
    }

    /// Follows the fleet until the task is canceled.
    package func run() async {
        await withTaskGroup { group in
            group.addTask { await self.follow() }
            group.addTask { await self.sendHeartbeats() }
        }
        leaveTimer?.task.cancel()
    }

    // MARK: Following

    private func follow() async {
        var pause = RetryBackoff(timings.maxPause)
        var mustRead = true
        while !Task.isCancelled {
            do {
                if mustRead || core.storeProblem != nil { try await read() }
                mustRead = false
                try await watch()
                pause = RetryBackoff(timings.maxPause)
            } catch {
                if Task.isCancelled { return }
                // A watch that was open, however briefly, resets the backoff.
                if isWatchOpen { pause = RetryBackoff(timings.maxPause) }
                let needsFullRead = !mustRead && Self.needsFullRead(error)
                mustRead = mustRead || needsFullRead || error is LaggingMemberError
                if !needsFullRead, !(error is LaggingMemberError) { report(error) }
                let random = time.randomFraction()
                let rest = needsFullRead ? timings.rereadJitter * random : pause.next(random)
                isWatchOpen = false
                try? await time.sleep(until: time.now.advanced(by: rest))
            }
            isWatchOpen = false
        }
    }

    /// Whether a watch cannot continue at its position: the changes are compacted, too large for one message, or
    /// unknown to this store.
    private static func needsFullRead(_ error: any Error) -> Bool {
        switch error as? EtcdError {
        case .compacted?, .tooLarge?, .futureRevision?: true
        default: false
        }
    }

    /// Reads the complete desired state at one revision. For a store with a problem it reads only the head, then the
    /// number of keys.
    private func read() async throws {
        if core.storeProblem != nil {
            let head = try await readHead()
            if let problem = core.validate(head.header, head.value) { throw StoreProblemError(text: problem) }
            let count = try await etcd.range(EtcdRange(.prefix(keys.desired), limit: 1, keysOnly: true)).count
            if count > DesiredState.maxKeys + 1 { throw StoreProblemError(text: core.storeProblem ?? "") }
        }
        let range = try await etcd.range(EtcdRange(.prefix(keys.desired)))
        let isApplied = core.apply(range)
        if !isApplied { throw StoreProblemError(text: core.storeProblem ?? "") }
        hasRead = true
        didApplyState()
    }

    func readHead() async throws -> (header: EtcdHeader, value: FleetHead?, revision: Int64) {
        let range = try await etcd.range(EtcdRange(.key(keys.head)))
        let pair = range.keys.first
        // An unreadable head cannot be compared; keep the known one.
        let head = pair.map { (try? FleetHead($0.value)) ?? core.position?.head } ?? nil
        return (range.header, head, pair?.modRevision ?? 0)
    }

    /// Watches the changes after the applied revision. Returns when the watch should be reopened.
    private func watch() async throws {
        let stream = etcd.watch(.prefix(keys.desired), from: (core.position?.revision ?? 0) + 1)
        let reading = Task { for try await message in stream { try self.handle(message) } }
        watchTask = reading
        let (time, end) = (time, time.now.advanced(by: timings.watchLife))
        let timer = Task {
            try await time.sleep(until: end)
            reading.cancel()
        }
        defer { timer.cancel() }
        try await withTaskCancellationHandler {
            try await reading.value
        } onCancel: {
            reading.cancel()
        }
        if !reading.isCancelled { throw EtcdError.unavailable("the watch ended") }
    }

    /// Reopens a watch that seems to have missed changes.
    func rewatch() { watchTask?.cancel() }

    private func handle(_ message: EtcdWatchMessage) throws {
        switch message {
        case .created(let header):
            // A quorum read tells whether only this member lags or the whole store has an older state.
            if let position = core.position, header.revision < position.revision { throw LaggingMemberError() }
            if let problem = core.validate(header, core.position?.head) { throw StoreProblemError(text: problem) }
            // The next heartbeat compares the head, to detect missed changes.
            isWatchOpen = true
            heartbeat.heartbeatAt = time.now
            wake()
        case .events(let header, let events):
            for group in Self.revisions(of: events) {
                let revision = EtcdHeader(clusterID: header.clusterID, revision: group[0].pair.modRevision)
                let isApplied = core.apply(group, of: revision)
                if !isApplied { throw StoreProblemError(text: core.storeProblem ?? "") }
            }
            if events.isEmpty { core.progress(to: header) }
            didApplyState()
        }
    }

    /// Groups events by revision.
    private static func revisions(of events: [EtcdEvent]) -> [[EtcdEvent]] {
        events.reduce(into: []) { groups, event in
            if let last = groups.last?.last, last.pair.modRevision == event.pair.modRevision {
                groups[groups.count - 1].append(event)
            } else {
                groups.append([event])
            }
        }
    }

    // MARK: What follows from it

    /// Records a reply from the store that is being followed.
    func didReceiveReply() {
        if core.storeProblem != nil { return }
        contact = time.now
        core.rejoin()
        scheduleLeave()
        // Replies alone do not count as following: a member may reply but reject watches.
        if isWatchOpen, !reported.isFollowing || reported.trouble != nil {
            let again = reported.isFollowing ? " again" : ""
            log(
                .fleet(
                    "follows the fleet \(keys.name)\(again) as \(identity.instance.id): \(core.count) values at etcd "
                        + "revision \(core.position?.revision ?? 0)"))
        }
        if isWatchOpen { (reported.isFollowing, reported.trouble) = (true, nil) }
        publishInfo()
    }

    private func didApplyState() {
        didReceiveReply()
        heartbeat.didApply(core, at: time.now, delayedBy: timings.statusJitter * time.randomFraction())
        wake()
        reportProblems()
    }

    /// Composes again after the program's tweaks have changed.
    package func recompose() {
        core.recompose()
        scheduleLeave()
        heartbeat.didApply(core, at: time.now, delayedBy: timings.statusJitter * time.randomFraction())
        wake()
        reportProblems()
    }

    // MARK: Resting

    /// Sleeps until work is due or `wake` is called.
    func rest(until deadline: ContinuousClock.Instant) async {
        let time = time
        let sleepTask = Task { try await time.sleep(until: deadline) }
        self.sleepTask = sleepTask
        await withTaskCancellationHandler {
            _ = await sleepTask.result
        } onCancel: {
            sleepTask.cancel()
        }
    }

    /// Ends the sleep, since the next due time may have changed.
    func wake() { sleepTask?.cancel() }

    /// Schedules leaving rollouts when their lease expires, independent of requests in progress. A canceled sleep keeps
    /// its memory until its deadline, so it is canceled only for an earlier one.
    private func scheduleLeave() {
        guard let due = core.nextLeave(since: contact) else { return }
        if let leaveTimer, leaveTimer.due <= due { return }
        leaveTimer?.task.cancel()
        let task = Task { [time, weak self] in
            try await time.sleep(until: due)
            await self?.leave()
        }
        leaveTimer = (task, due)
    }

    private func leave() {
        if Task.isCancelled { return }
        leaveTimer = nil
        core.leave(after: contact)
        scheduleLeave()
    }

    // MARK: Reporting

    func warn(_ text: String) { log(.warning("fleet \(keys.name): \(text)")) }

    func report(_ error: any Error) {
        let text = (error as? StoreProblemError)?.text ?? (error as? EtcdError)?.description ?? "\(error)"
        if reported.trouble == text { return }
        reported.trouble = text
        let remedy = core.storeProblem == nil ? "" : "; if this is the right one: tweakctl fleet \(keys.name) adopt"
        warn("\(text); the last good values stay\(remedy)")
        heartbeat.isDirty = true
        wake()
        publishInfo()
    }

    private func reportProblems() {
        let problems = core.desired.problems
        for (key, problem) in problems where reported.problems[key] != problem {
            warn("\(String(decoding: key, as: UTF8.self)): \(problem); it is ignored")
        }
        reported.problems = problems
        let refused = core.composition.refused
        for refusal in refused where !reported.refused.contains(refusal) {
            guard let rollout = refusal.rollout else { continue }
            warn("rollout \(rollout) is refused here: \(refusal.path): \(refusal.reason)")
        }
        reported.refused = refused
        publishInfo()
    }

    private func publishInfo() {
        sharedInfo.set(
            FollowerInfo(
                state: reported.trouble.map { "last good: \($0)" } ?? (reported.isFollowing ? "followed" : "last good"),
                revision: core.position?.revision ?? 0, values: core.count, refused: core.composition.refused.count,
                rollouts: core.composition.members, contact: contact))
    }
}

/// The reason why a store that replies is not followed.
struct StoreProblemError: Error {
    let text: String
}

/// The watch was opened at a member that lags behind the applied revision.
struct LaggingMemberError: Error {}

/// Delays between retries: exponential, with random jitter.
struct RetryBackoff {
    private let longest: Duration
    private var current = Duration.milliseconds(250)

    init(_ longest: Duration) { self.longest = longest }

    /// - Parameter chance: A random number in 0…1.
    mutating func next(_ chance: Double) -> Duration {
        defer { current = min(current * 2, longest) }
        return current * (0.5 + chance / 2)
    }
}
