// Follows a fleet in etcd: reads what it wants, watches it, and applies one commit for each of its revisions.

package import Tweaks
package import TweaksInterface

/// The follower of one process. One actor: what is known, and when something is due.
package actor FleetFollower {
    let etcd: any Etcd
    let keys: FleetKeys
    let registry: TweakRegistry
    let time: any FleetTime
    let timings: FleetTimings
    let identity: FleetIdentity
    let board: FleetBoard
    let file: LastGoodFile?
    private let log: @Sendable (TweakDaemonEvent) -> Void

    var core: FleetCore
    /// When what was applied was last known to be the newest.
    var contact: ContinuousClock.Instant
    private var watching: Task<Void, any Error>?
    /// Whether the watch stands.
    private(set) var stands = false
    /// Whether the store was read since the process started.
    private(set) var hasRead = false
    private var nap: Task<Void, any Error>?
    /// The task that leaves rollouts whose lease has ended, and when it checks next.
    private var leaving: (task: Task<Void, any Error>, due: ContinuousClock.Instant)?
    private var reported = Reported()
    var heart: FleetHeart
    /// Why the last good state is not on disk, as it was logged.
    var unsaved: FleetProblem?

    /// What was logged already.
    private struct Reported {
        var trouble: String?
        var isFollowing = false
        var problems: [[UInt8]: String] = [:]
        var refused: [FleetStatus.Refusal] = []
    }

    package init(
        _ core: FleetCore, etcd: any Etcd, keys: FleetKeys, identity: FleetIdentity, registry: TweakRegistry,
        file: LastGoodFile?, board: FleetBoard, time: any FleetTime = FleetSystemTime(),
        timings: FleetTimings = FleetTimings(), log: @escaping @Sendable (TweakDaemonEvent) -> Void
    ) {
        (self.core, self.etcd, self.keys, self.identity, self.registry) = (core, etcd, keys, identity, registry)
        (self.file, self.board, self.time, self.timings, self.log) = (file, board, time, timings, log)
        contact = time.now
        heart = FleetHeart(started: time.wall, at: time.now)
    }

    /// Follows until the task is cancelled.
    package func run() async {
        await withTaskGroup { group in
            group.addTask { await self.follow() }
            group.addTask { await self.beat() }
        }
        leaving?.task.cancel()
    }

    // MARK: Following

    private func follow() async {
        var pause = FleetPause(timings.longestPause)
        var mustRead = true
        while !Task.isCancelled {
            do {
                if mustRead || core.objection != nil { try await read() }
                mustRead = false
                try await watch()
                pause = FleetPause(timings.longestPause)
            } catch {
                if Task.isCancelled { return }
                // One that stood, however short, is a beginning.
                if stands { pause = FleetPause(timings.longestPause) }
                let isPastLost = !mustRead && Self.isPastLost(error)
                mustRead = mustRead || isPastLost || error is FleetLag
                if !isPastLost, !(error is FleetLag) { report(error) }
                let rest = isPastLost ? timings.rereadJitter * time.chance() : pause.next(time.chance())
                stands = false
                try? await time.sleep(until: time.now.advanced(by: rest))
            }
            stands = false
        }
    }

    /// Whether a watch cannot go on from where it was: what it missed is gone, is too much for one message, or has not
    /// happened in this store.
    private static func isPastLost(_ error: any Error) -> Bool {
        switch error as? EtcdError {
        case .compacted?, .tooLarge?, .futureRevision?: true
        default: false
        }
    }

    /// Reads all that the fleet wants, at one revision. Of a store that is not what it was only the head is read, and of
    /// one with too many keys their number.
    private func read() async throws {
        if core.objection != nil {
            let head = try await readHead()
            if let objection = core.judge(head.header, head.value) { throw FleetTrouble(text: objection) }
            let count = try await etcd.range(EtcdRange(.prefix(keys.desired), limit: 1, keysOnly: true)).count
            if count > DesiredState.mostKeys + 1 { throw FleetTrouble(text: core.objection ?? "") }
        }
        let range = try await etcd.range(EtcdRange(.prefix(keys.desired)))
        let isTaken = core.take(range)
        if !isTaken { throw FleetTrouble(text: core.objection ?? "") }
        hasRead = true
        didTake()
    }

    func readHead() async throws -> (header: EtcdHeader, value: FleetHead?, revision: Int64) {
        let range = try await etcd.range(EtcdRange(.key(keys.head)))
        let pair = range.keys.first
        // A head that is garbage is none that can be compared; what was known of it stays.
        let head = pair.map { (try? FleetHead($0.value)) ?? core.position?.head } ?? nil
        return (range.header, head, pair?.modRevision ?? 0)
    }

    /// Follows the changes behind what was applied. Returns when the watch is to be opened anew.
    private func watch() async throws {
        let stream = etcd.watch(.prefix(keys.desired), from: (core.position?.revision ?? 0) + 1)
        let reading = Task { for try await message in stream { try self.take(message) } }
        watching = reading
        let (time, end) = (time, time.now.advanced(by: timings.watchLife))
        let alarm = Task {
            try await time.sleep(until: end)
            reading.cancel()
        }
        defer { alarm.cancel() }
        try await withTaskCancellationHandler {
            try await reading.value
        } onCancel: {
            reading.cancel()
        }
        if !reading.isCancelled { throw EtcdError.unavailable("the watch ended") }
    }

    /// Opens the watch anew, since it seems to have missed something.
    func rewatch() { watching?.cancel() }

    private func take(_ message: EtcdWatchMessage) throws {
        switch message {
        case .created(let header):
            // A reading, on which most members agree, says whether this one lags or all are at an older state.
            if let position = core.position, header.revision < position.revision { throw FleetLag() }
            if let objection = core.judge(header, core.position?.head) { throw FleetTrouble(text: objection) }
            // Whether it has missed something says the head.
            stands = true
            heart.beatAt = time.now
            wake()
        case .events(let header, let events):
            for group in Self.revisions(of: events) {
                let revision = EtcdHeader(clusterID: header.clusterID, revision: group[0].pair.modRevision)
                let isTaken = core.take(group, of: revision)
                if !isTaken { throw FleetTrouble(text: core.objection ?? "") }
            }
            if events.isEmpty { core.progress(to: header) }
            didTake()
        }
    }

    /// The events, revision by revision.
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

    /// The store has answered as the one that is followed.
    func didHear() {
        if core.objection != nil { return }
        contact = time.now
        core.rejoin()
        leaveInTime()
        // Answers alone are no following: a member may let no watch stand.
        if stands, !reported.isFollowing || reported.trouble != nil {
            let again = reported.isFollowing ? " again" : ""
            log(
                .fleet(
                    "follows the fleet \(keys.name)\(again) as \(identity.instance.id): \(core.count) values at etcd "
                        + "revision \(core.position?.revision ?? 0)"))
        }
        if stands { (reported.isFollowing, reported.trouble) = (true, nil) }
        tellBoard()
    }

    private func didTake() {
        didHear()
        heart.didApply(core, at: time.now, telling: timings.statusJitter * time.chance())
        wake()
        reportProblems()
    }

    /// Composes anew: the program's tweaks are others than when it was done last.
    package func recompose() {
        core.recompose()
        leaveInTime()
        heart.didApply(core, at: time.now, telling: timings.statusJitter * time.chance())
        wake()
        reportProblems()
    }

    // MARK: Resting

    /// Sleeps until something is due, or it is woken.
    func rest(until deadline: ContinuousClock.Instant) async {
        let time = time
        let nap = Task { try await time.sleep(until: deadline) }
        self.nap = nap
        await withTaskCancellationHandler {
            _ = await nap.result
        } onCancel: {
            nap.cancel()
        }
    }

    /// What is due next may be another thing now.
    func wake() { nap?.cancel() }

    /// Sees to it that rollouts whose lease ends by all that is known are left then, however long a request takes. A sleep
    /// that is cancelled keeps its memory until its end: it is cancelled only where another one has to be earlier.
    private func leaveInTime() {
        guard let due = core.nextLeave(since: contact) else { return }
        if let leaving, leaving.due <= due { return }
        leaving?.task.cancel()
        let task = Task { [time, weak self] in
            try await time.sleep(until: due)
            await self?.leave()
        }
        leaving = (task, due)
    }

    private func leave() {
        if Task.isCancelled { return }
        leaving = nil
        core.leave(after: contact)
        leaveInTime()
    }

    // MARK: Reporting

    func warn(_ text: String) { log(.warning("fleet \(keys.name): \(text)")) }

    func report(_ error: any Error) {
        let text = (error as? FleetTrouble)?.text ?? (error as? EtcdError)?.description ?? "\(error)"
        if reported.trouble == text { return }
        reported.trouble = text
        let remedy = core.objection == nil ? "" : "; if this is the right one: tweakctl fleet \(keys.name) adopt"
        warn("\(text); the last good values stay\(remedy)")
        heart.isDirty = true
        wake()
        tellBoard()
    }

    private func reportProblems() {
        let problems = core.desired.problems
        for (key, problem) in problems where reported.problems[key] != problem {
            warn("\(String(decoding: key, as: UTF8.self)): \(problem); it is passed over")
        }
        reported.problems = problems
        let refused = core.composition.refused
        for refusal in refused where !reported.refused.contains(refusal) {
            guard let rollout = refusal.rollout else { continue }
            warn("rollout \(rollout) is refused here: \(refusal.path): \(refusal.reason)")
        }
        reported.refused = refused
        tellBoard()
    }

    private func tellBoard() {
        board.set(
            FleetFacts(
                state: reported.trouble.map { "last good: \($0)" } ?? (reported.isFollowing ? "followed" : "last good"),
                revision: core.position?.revision ?? 0, values: core.count, refused: core.composition.refused.count,
                rollouts: core.composition.members, contact: contact))
    }
}

/// Why a store that answers is not followed.
struct FleetTrouble: Error {
    let text: String
}

/// A watch stands at a member that has not what was applied.
struct FleetLag: Error {}

/// Pauses between attempts: longer from one to the next, and not the same in all processes.
struct FleetPause {
    private let longest: Duration
    private var current = Duration.milliseconds(250)

    init(_ longest: Duration) { self.longest = longest }

    /// - Parameter chance: 0…1.
    mutating func next(_ chance: Double) -> Duration {
        defer { current = min(current * 2, longest) }
        return current * (0.5 + chance / 2)
    }
}
