// Drives the rollouts that this program has begun or resumed, until each ends or the program does.

import Synchronization
import Tweaks
import TweaksFleet

/// The drivers of a program without a terminal.
final class PanelDriver: Sendable {
    /// What users learn of a rollout that this program drives, or has driven.
    struct Report: Sendable {
        var progress = DriverProgress()
        /// The last event, in words.
        var text = ""
        var isBad = false
        /// Milliseconds since 1970.
        var at: Int64
        var hasEnded = false
    }

    private struct Run {
        /// Tells it from a later run of the same rollout.
        let lease: Int64
        let inputs: AsyncStream<DriverInput>.Continuation
        let task: Task<Void, Never>
    }

    private struct State {
        var runs: [String: Run] = [:]
        var reports: [String: Report] = [:]
        var isStopping = false
    }

    private let fleet: FleetOperator
    private let limits: DriverLimits
    private let prometheus: PrometheusSource
    private let state = Mutex(State())
    private let onChange: @Sendable () -> Void

    /// The reports of ended rollouts that are kept.
    private static let maxEnded = 20

    /// - Parameter onChange: Called after each change of a report.
    init(
        _ fleet: FleetOperator, _ limits: DriverLimits, _ prometheus: PrometheusSource,
        onChange: @escaping @Sendable () -> Void
    ) {
        (self.fleet, self.limits, self.prometheus, self.onChange) = (fleet, limits, prometheus, onChange)
    }

    var reports: [String: Report] { state.withLock { $0.reports } }

    /// Whether this program drives a rollout.
    func drives(_ id: String) -> Bool { state.withLock { $0.runs[id] != nil } }

    /// Whether it can ask Prometheus.
    var hasPrometheus: Bool { prometheus.server != nil }

    /// Drives a claimed rollout.
    /// - Throws: When the program ends; the claim is the caller's then.
    func drive(
        _ claim: DriverClaim, isResumed: Bool = false, conditions: [PrometheusCondition] = []
    ) throws(FleetRefusal) {
        let (inputs, continuation) = AsyncStream.makeStream(of: DriverInput.self)
        let begins = state.withLock { state in
            if state.isStopping { return false }
            // It may end at once, and then removes what is stored here.
            let task = Task { await run(claim, inputs, continuation, isResumed: isResumed, conditions) }
            state.runs[claim.id] = Run(lease: claim.lease.id, inputs: continuation, task: task)
            state.reports[claim.id] = Report(at: fleet.now())
            return true
        }
        if !begins { throw FleetRefusal(.refused, "rollout \(claim.id): the panel ends, and does not drive it") }
        onChange()
    }

    /// Ends all drivers, and waits for them: what is under a lease is reverted, the rest stays at its share.
    func stop() async {
        let runs = state.withLock { state in
            state.isStopping = true
            return Array(state.runs.values)
        }
        for run in runs { run.inputs.yield(.command(.leave)) }
        for run in runs { await run.task.value }
    }

    private func run(
        _ claim: DriverClaim, _ inputs: AsyncStream<DriverInput>,
        _ continuation: AsyncStream<DriverInput>.Continuation, isResumed: Bool, _ conditions: [PrometheusCondition]
    ) async {
        let feed = DriverFeed(
            fleet, claim, heartbeat: .seconds(limits.claim) / 3, prometheus, conditions: conditions)
        let tasks = feed.start(into: continuation)
        var run = DriverRun(fleet, claim, timing: limits.timing, isResumed: isResumed)
        var hasEnded = false
        for await input in inputs {
            let events = await run.handle(input)
            hasEnded = events.contains { if case .ended = $0 { true } else { false } }
            note(claim.id, events, run.progress)
            if hasEnded { break }
        }
        for task in tasks { task.cancel() }
        continuation.finish()
        // This reverts a rollout under the claim's lease; a rollout that has ended is not affected.
        await fleet.release(claim)
        // Once the claim is released, the rollout can be resumed here again.
        state.withLock { if $0.runs[claim.id]?.lease == claim.lease.id { $0.runs[claim.id] = nil } }
        onChange()
    }

    private func note(_ id: String, _ events: [DriverEvent], _ progress: DriverProgress) {
        let now = fleet.now()
        let hasChanged = state.withLock { state in
            var report = state.reports[id] ?? Report(at: now)
            let before = report
            report.progress = progress
            // What an operator resumes, the driver only sees.
            if before.progress.state == .paused, progress.state == .open {
                (report.text, report.isBad) = ("resumed", false)
            }
            for event in events {
                (report.text, report.isBad) = event.words
                report.at = now
                if case .ended = event { report.hasEnded = true }
            }
            state.reports[id] = report
            let ended = state.reports.filter(\.value.hasEnded)
            if ended.count > Self.maxEnded, let oldest = ended.min(by: { $0.value.at < $1.value.at })?.key {
                state.reports[oldest] = nil
            }
            return before.progress != progress || !events.isEmpty
        }
        if hasChanged { onChange() }
    }
}

extension DriverEvent {
    /// The event in words, and whether it is a problem.
    fileprivate var words: (String, isBad: Bool) {
        switch self {
        case .stepped(let share): ("step to \(share.text)", false)
        case .resumed: ("resumed", false)
        case .awaitingConfirmation(let until):
            ("at 100 %: finish it until \(TimeText.seconds(until)), or it is reverted", false)
        case .outage(let text): ("\(text); the rollout waits", true)
        case .contact: ("etcd answers again", false)
        case .refused(let refusal): (refusal.description, true)
        case .paused(let reason): ("paused: \(reason)", true)
        case .ended(let outcome): outcome.words
        }
    }
}

extension DriverOutcome {
    fileprivate var words: (String, isBad: Bool) {
        switch self {
        case .finished: ("finished", false)
        case .aborted(let reason, _): ("reverted: \(reason)", true)
        case .finishedElsewhere(let who): ("finished by \(who)", false)
        case .gone(let reason): ("reverted: \(reason)", true)
        case .left: ("its driver has ended", true)
        case .lost(let refusal): (refusal.description, true)
        }
    }
}
