// Ends temporary overrides when they expire: their lifetimes, the schedule, the timer and the commit.

import Synchronization

extension TweakNode {
    /// The maximum lifetime of a temporary override: one year. Longer ones should be permanent.
    package static let maxLifetime = Duration.seconds(365 * 86_400)

    /// Returns a requested lifetime if it is valid.
    func validate(_ lifetime: Duration) throws(TweakError) -> Duration {
        if lifetime > .zero, lifetime <= Self.maxLifetime { return lifetime }
        throw TweakError(
            .outOfRange,
            "\(path.token): a temporary override lasts longer than 0 and at most 8760h, such as 10m; leave the time "
                + "out for a permanent one", path: path)
    }

    /// Validates earlier overrides against the current definition, without a temporary one that has expired.
    func validate(
        _ values: OverrideValues, at time: Moment, _ policy: TweakPolicy?
    ) throws(TweakError) -> RestoredOverrides {
        var restored = RestoredOverrides()
        if let value = values.override { restored.override = try prepare(value, policy: policy).prepared }
        if let temporary = values.live(time).temporary {
            restored.temporary = try prepare(temporary.value, policy: policy).prepared
            restored.end = temporary.expires
        }
        return restored
    }
}

/// The expiry times of all temporary overrides of a registry. Part of its state.
struct ExpirySchedule: Sendable {
    private var entries: [(end: Moment, node: TweakNode)] = []

    /// The next expiry; nil if there is none.
    var next: Moment? { entries.first?.end }

    /// The number of pending expiries.
    var count: Int { entries.count }

    /// Updates the expiry of a tweak's temporary override; nil means none.
    mutating func move(_ node: TweakNode, from old: Moment?, to new: Moment?) {
        if old == new { return }
        if let old { remove(node, at: old) }
        if let new { entries.insert((new, node), at: position(of: new)) }
    }

    /// The tweaks whose temporary overrides have expired.
    func due(_ time: Moment) -> [TweakNode] { entries.prefix { $0.end <= time }.map(\.node) }

    private mutating func remove(_ node: TweakNode, at end: Moment) {
        var index = position(of: end)
        while index < entries.count, entries[index].end == end {
            if entries[index].node === node {
                entries.remove(at: index)
                return
            }
            index += 1
        }
    }

    /// The index of the first entry with this or a later end.
    private func position(of end: Moment) -> Int { entries.endOfFirstPart { $0.end < end } }
}

extension TweakRegistry {
    /// When the next temporary override expires; nil if there is none.
    package var nextExpiry: Moment? { state.withLock { $0.expiries.next } }

    /// The number of active temporary overrides.
    package var temporaryCount: Int { state.withLock { $0.expiries.count } }

    /// The remaining time of a tweak's temporary override; nil without one.
    package func timeLeft(_ node: TweakNode) -> Duration? {
        let end = state.withLock { state in
            state.expiries.next == nil || !state.holds(node)
                ? nil : state.overlays[node.slot][.temporaryOverride]?.end
        }
        return end.map { timeLeft($0) }
    }

    /// Sets the alarm to the next expiry.
    func setAlarm() {
        alarm.set({ [self] in nextExpiry }) { [weak self] in self?.expire() }
    }

    /// Ends all expired temporary overrides, as one commit.
    package func expire() {
        var commit = PendingCommit(.expiry, .expired, currentTime)
        state.withLock { state in
            let steps = state.expiries.due(commit.time).map { CommitStep(node: $0, change: .expire(commit.time)) }
            if !steps.isEmpty { _ = state.apply(steps, &commit) }
        }
        deliver(commit, .executor)
        setAlarm()
    }
}

/// A timer with one sleeping task while an expiry is pending, and none otherwise.
final class ExpiryAlarm: Sendable {
    /// Sleeps until a time; throws when the task is canceled.
    typealias Sleep = @Sendable (Moment) async throws -> Void

    private struct State {
        var deadline: Moment?
        var task: Task<Void, Never>?
    }

    private let sleep: Sleep
    private let state = Mutex(State())

    init(sleep: @escaping Sleep) { self.sleep = sleep }

    deinit { state.withLock { $0.task }?.cancel() }

    /// Updates the deadline.
    /// - Parameters:
    ///   - next: Returns the next expiry; called under the lock, so that the later of two callers wins.
    ///   - onExpiry: Called at that time, on a thread of the concurrency runtime.
    func set(_ next: () -> Moment?, onExpiry: @escaping @Sendable () -> Void) {
        let old = state.withLock { state -> Task<Void, Never>? in
            let deadline = next()
            if deadline == state.deadline { return nil }
            defer { state = State(deadline: deadline, task: deadline.map { task($0, onExpiry) }) }
            return state.task
        }
        // Not under the lock: canceling wakes the sleeping task.
        old?.cancel()
    }

    private func task(
        _ deadline: Moment, _ onExpiry: @escaping @Sendable () -> Void
    ) -> Task<Void, Never> {
        Task.detached { [sleep, weak self] in
            guard (try? await sleep(deadline)) != nil, !Task.isCancelled else { return }
            self?.clear(deadline)
            onExpiry()
        }
    }

    /// Clears the deadline after it has fired, so that setting the same time again starts a new task.
    private func clear(_ deadline: Moment) {
        state.withLock { if $0.deadline == deadline { $0 = State() } }
    }
}
