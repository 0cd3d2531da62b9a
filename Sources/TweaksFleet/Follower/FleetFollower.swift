// Follows a fleet in etcd: reads its desired state, watches it, and applies each revision as one commit.

import Synchronization
package import Tweaks
package import TweaksInterface
package import TweaksSystem

/// The time, sleep and random numbers of a follower.
package protocol FleetClock: Time {
    /// Sleeps until a time; throws if the task is canceled.
    func sleep(until deadline: Moment) async throws
    /// A random number in 0…1.
    func randomFraction() -> Double
}

extension SystemTime: FleetClock {
    package func sleep(until deadline: Moment) async throws {
        try await ContinuousClock().sleep(until: deadline.instant)
    }

    package func randomFraction() -> Double { Double.random(in: 0...1) }
}

/// The intervals and time limits of a follower.
package struct FleetTimings: Sendable {
    /// The interval of heartbeats, which renew the lease and compare the head.
    package var heartbeat = Duration.seconds(20)
    /// The status of a process disappears this long after its last heartbeat.
    package var leaseSeconds: Int64 = 60
    /// A watch is reopened after this time, or up to a fifth less. etcd tells every ten minutes that nothing has changed:
    /// a watch that lives longer goes on from there, even if what it missed is compacted.
    package var watchLife = Duration.seconds(1_800)
    /// A status is written after a random delay of up to this, so that processes do not all write at once.
    package var statusJitter = Duration.seconds(5)
    /// The interval between two samples of the figures in rollout conditions.
    package var sample = Duration.seconds(15)
    /// After a compaction everything is read again, after a random delay of up to this.
    package var rereadJitter = Duration.seconds(10)
    /// The longest delay between two retries.
    package var maxPause = Duration.seconds(15)
    /// The shortest time between two writes of the last good state.
    package var saveInterval = Duration.milliseconds(100)
    /// How long a farewell may take: half of what the end of a process waits for, so that the lease can be revoked, too.
    package var farewell = Duration.seconds(1)

    package init() {}
}

/// A snapshot of a follower's state, for `stats`.
package struct FollowerInfo: Sendable {
    package var state: String
    package var revision: Int64 = 0
    package var values = 0
    package var refused = 0
    package var rollouts = 0
    /// When the store last replied; nil before its first reply.
    package var contact: Moment?
}

/// The follower of one process, as an actor that owns its state and schedule.
package actor FleetFollower {
    let etcd: any Etcd
    let keys: FleetKeys
    let registry: TweakRegistry
    let time: any FleetClock
    let timings: FleetTimings
    let identity: FleetIdentity
    /// The state for other threads.
    nonisolated let info = Mutex(FollowerInfo(state: "starting"))
    private let file: LastGoodFile?
    /// Saves what was applied; nil without a state directory.
    private(set) lazy var keeper = file.map { file in
        LastGoodKeeper(file, interval: timings.saveInterval) { [weak self] in Task { await self?.noteSaved() } }
    }
    private let log: @Sendable (TweakDaemonEvent) -> Void

    var core: FleetCore
    /// When the applied state was last known to be the newest.
    var contact: Moment
    private var watchTask: Task<Void, any Error>?
    /// Whether the watch is open.
    private(set) var isWatchOpen = false
    /// Whether the store has been read since the process started.
    private(set) var hasRead = false
    /// Whether the complete state must be read before the next watch.
    var needsRead = true
    private var sleepTask: Task<Void, any Error>?
    /// The task that leaves rollouts whose lease has expired, and the time of its next check.
    private var leaveTimer: (task: Task<Void, any Error>, due: Moment)?
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
        file: LastGoodFile?, time: any FleetClock = SystemTime(), timings: FleetTimings = FleetTimings(),
        log: @escaping @Sendable (TweakDaemonEvent) -> Void
    ) {
        self.core = core
        self.etcd = etcd
        self.keys = keys
        self.identity = identity
        self.registry = registry
        self.file = file
        self.time = time
        self.timings = timings
        self.log = log
        contact = time.now
        heartbeat = FollowerHeartbeat(started: time.wall, at: time.now)
        // It comes from the disk.
        heartbeat.applied = core.position
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
        var backoff = Backoff(.milliseconds(250)...timings.maxPause)
        while !Task.isCancelled {
            do {
                if needsRead || core.storeProblem != nil || !core.leftRollouts.isEmpty { try await read() }
                try await watch()
                backoff.reset()
            } catch {
                if Task.isCancelled { return }
                // A watch that was open, however briefly, resets the backoff.
                if isWatchOpen { backoff.reset() }
                let needsFullRead = !needsRead && Self.needsFullRead(error)
                let isGap = error is LaggingMemberError || error is FleetGapError
                needsRead = needsRead || needsFullRead || isGap
                if !needsFullRead, !isGap { report(error) }
                let random = time.randomFraction()
                // Many processes read everything for the same reason.
                let isShared = needsFullRead || error is FleetGapError
                let rest = isShared ? timings.rereadJitter * random : backoff.next(random: random)
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
            if let problem = core.validate(try await proof().proof) { throw problem }
            let count = try await etcd.range(EtcdRange(.prefix(keys.desired), limit: 1, keysOnly: true)).count
            if count > DesiredState.maxKeys + 1 { throw StoreProblem.tooLarge }
        }
        let range = try await etcd.range(EtcdRange(.prefix(keys.desired)))
        let before = core.changeCount
        let isApplied = core.apply(range, ancestor: try await ancestor(for: range))
        if !isApplied { throw core.storeProblem ?? .tooLarge }
        let isFirst = !hasRead
        (hasRead, needsRead) = (true, false)
        // Many processes read everything for the same reason, and most of them find what they have.
        if isFirst || core.changeCount != before { didApplyState() } else { didReceiveReply() }
    }

    /// Reads the chain that the store has for the write that was applied last, if that must be known.
    private func ancestor(for range: EtcdRangeResult) async throws(EtcdError) -> String? {
        let head = range.keys.first { $0.key == keys.head }.flatMap { try? FleetHead($0.value) }
        guard let position = core.position, let counter = position.head?.counter, position.needsAncestor(for: head)
        else { return nil }
        let key = EtcdRange(.key(keys.chain(counter)), revision: range.header.revision)
        return try await etcd.range(key).keys.first.map { String(decoding: $0.value, as: UTF8.self) }
    }

    /// Asks the store for its head, for the chain of the write that was applied last, and for those rollouts of this
    /// process that end with a lease, at one revision.
    /// - Returns: The proof, and the rollouts' keys that are gone.
    func proof() async throws(EtcdError) -> (proof: FleetProof, gone: [[UInt8]]) {
        let known = core.position?.head
        let asked = [keys.head, keys.chain(known?.counter ?? 0)] + core.leasedKeys.prefix(Self.maxLeased)
        // Of a rollout only its existence: its record can be large.
        let ranges = asked.enumerated().map { EtcdTransaction.Operation.range(.key($1), keysOnly: $0 >= 2) }
        let result = try await etcd.commit(EtcdTransaction(then: ranges))
        let pairs = result.responses.map { response -> EtcdKeyValue? in
            if case .range(let range) = response { range.keys.first } else { nil }
        }
        guard pairs.count == asked.count else { throw .garbled("a read of \(asked.count) keys has other responses") }
        // An unreadable head cannot be compared; keep the known one.
        let head = pairs[0].map { (try? FleetHead($0.value)) ?? known }
        let proof = FleetProof(
            header: result.header, head: head ?? nil, headRevision: pairs[0]?.modRevision ?? 0,
            ancestor: pairs[1].map { String(decoding: $0.value, as: UTF8.self) })
        return (proof, zip(asked, pairs).dropFirst(2).filter { $0.1 == nil }.map(\.0))
    }

    /// The number of rollouts under leases that a heartbeat asks for.
    private static let maxLeased = 100

    /// Watches the changes after the applied revision. Returns when the watch should be reopened.
    private func watch() async throws {
        let stream = etcd.watch(.prefix(keys.desired), from: (core.position?.revision ?? 0) + 1)
        let reading = Task { for try await message in stream { try await self.handle(message) } }
        watchTask = reading
        let (time, end) = (time, time.now.advanced(by: timings.watchLife * (0.8 + 0.2 * time.randomFraction())))
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

    private func handle(_ message: EtcdWatchMessage) async throws {
        switch message {
        case .created(let header):
            // A quorum read tells whether only this member lags or the whole store has an older state.
            if let position = core.position, header.revision < position.revision { throw LaggingMemberError() }
            // Before any of its events: the store may not be the one that was followed.
            if let problem = try await compareHead() { throw problem }
            if needsRead { throw FleetGapError() }
            isWatchOpen = true
            if core.storeProblem == nil { didReceiveReply() }
            wake()
        case .events(let header, let events):
            if events.isEmpty {
                core.progress(to: header)
                return didReceiveReply()
            }
            var hasApplied = false
            // What comes before a revision that is not applied is in effect, and is saved.
            defer { if hasApplied { didApplyState() } }
            for group in Self.revisions(of: events) {
                let revision = EtcdHeader(clusterID: header.clusterID, revision: group[0].pair.modRevision)
                guard try core.apply(group, of: revision) else { throw core.storeProblem ?? .tooLarge }
                hasApplied = true
            }
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
        // What was left is joined again only if it is still there, which a read of everything tells.
        if !core.leftRollouts.isEmpty { rewatch() }
        scheduleLeave()
        // Replies alone do not count as following: a member may reply but reject watches.
        if isWatchOpen, !reported.isFollowing || reported.trouble != nil {
            let again = reported.isFollowing ? " again" : ""
            log(
                .fleet(
                    "follows the fleet \(keys.name)\(again) as \(identity.instance.id): \(core.count) values at etcd "
                        + "revision \(core.position?.revision ?? 0)"))
        }
        if isWatchOpen {
            reported.isFollowing = true
            reported.trouble = nil
        }
        publishInfo()
    }

    private func didApplyState() {
        didReceiveReply()
        reportApplied()
    }

    /// Composes again after the program's tweaks have changed.
    package func recompose() {
        core.recompose()
        scheduleLeave()
        reportApplied()
    }

    /// Reports what was applied, once it is on disk.
    private func reportApplied() {
        if let keeper {
            if let update = core.takeUnsaved(whole: keeper.needsWhole) { keeper.save(update) }
        } else if let position = core.position {
            didApply(position)
        }
        reportProblems()
    }

    private func didApply(_ position: FleetPosition) {
        heartbeat.didApply(position, at: time.now, delayedBy: statusJitter)
        wake()
    }

    /// Takes the result of the last write to the disk; those of earlier ones may come later.
    private func noteSaved() {
        guard let saved = keeper?.takeResult() else { return }
        switch saved {
        case .success(let position): didApply(position)
        case .failure(let problem):
            if saveProblem != problem { warn("\(problem); the last good state on disk is an older one") }
            heartbeat.isDirty = true
            wake()
        }
        saveProblem = if case .failure(let problem) = saved { problem } else { nil }
    }

    /// A random delay that spreads the statuses of processes which apply a change at the same moment.
    var statusJitter: Duration { timings.statusJitter * time.randomFraction() }

    // MARK: Resting

    /// Sleeps until work is due or `wake` is called.
    func rest(until deadline: Moment) async {
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
        let text = "\(error)"
        if reported.trouble == text { return }
        reported.trouble = text
        let isApart = core.storeProblem?.needsAdoption ?? false
        let remedy = isApart ? "; if this is the right one: tweakctl fleet \(keys.name) adopt" : ""
        warn("\(text); the last good values stay\(remedy)")
        if error is StoreProblem {
            heartbeat.writeAt = max(heartbeat.writeAt, time.now.advanced(by: statusJitter))
            heartbeat.isDirty = true
            wake()
        }
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
        var state = reported.isFollowing ? "followed" : "last good"
        if let trouble = reported.trouble { state = "last good: \(trouble)" }
        let current = FollowerInfo(
            state: state, revision: core.position?.revision ?? 0, values: core.count,
            refused: core.composition.refused.count, rollouts: core.composition.members.count, contact: contact)
        info.withLock { $0 = current }
    }
}

/// The watch was opened at a member that lags behind the applied revision.
struct LaggingMemberError: Error {}
