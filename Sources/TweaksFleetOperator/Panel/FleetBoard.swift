// Follows a fleet for its page: all that is known of it, kept up to date, with a number for each state.

import Tweaks
import TweaksFleet
import TweaksSystem

/// What a page shows of a fleet.
actor FleetBoard {
    /// The delays; tests use shorter ones.
    struct Timing: Sendable {
        /// The shortest time between two states: thousands of processes report within seconds.
        var publishing = Duration.milliseconds(250)
        /// After this time all is read again, in case the watch is silently dead, and figures are sampled.
        var reading = Duration.seconds(30)
        var sampling = Duration.milliseconds(RolloutCharts.firstPeriod)
        /// How long a page waits for a newer state.
        var polling = Duration.seconds(20)
    }

    /// What is read from etcd.
    struct Reading: Sendable {
        var view: OperatorView
        var statuses: InstanceStatuses
        var catalog: BuildCatalog
        var drivers: [String: FleetDriver]
        var freezes: [(name: String, freeze: FleetFreeze?)]
        var alarms: [EtcdAlarm]
    }

    nonisolated let fleet: FleetOperator
    nonisolated let registry: TweakRegistry
    private let timing: Timing
    private(set) var drafts = DraftRegistry()
    private(set) var charts: RolloutCharts
    /// Nil until etcd has answered.
    private(set) var reading: Reading?
    /// Why etcd cannot be read or watched; nil if it can.
    private(set) var outage: String?
    /// The number of the state. It begins with the time, so that a page of an earlier program never has a later one.
    private(set) var number: UInt64
    private var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    private var waiters: UInt64 = 0
    /// The number of reads that have begun, and the number of the newest one that has ended.
    private var reads = (begun: 0, ended: 0, underWay: 0)
    /// What the watch has told while something is read.
    private var missed: [(header: EtcdHeader, events: [EtcdEvent])] = []
    private var isPublishing = false
    private var publishedAt: Moment?

    init(_ fleet: FleetOperator, timing: Timing = Timing()) {
        self.fleet = fleet
        self.timing = timing
        registry = drafts.registry
        charts = RolloutCharts(period: Int64(timing.sampling / .milliseconds(1)))
        number = UInt64(clamping: fleet.now()) &* 1_000
    }

    // MARK: Following

    /// Follows the fleet until the task is canceled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.follow() }
            group.addTask { await self.every(self.timing.reading) { _ = try? await self.read() } }
            group.addTask { await self.every(self.timing.sampling) { await self.sample() } }
        }
    }

    private func every(_ pause: Duration, _ body: () async -> Void) async {
        while (try? await Task.sleep(for: pause)) != nil { await body() }
    }

    private func follow() async {
        var backoff = Backoff(.milliseconds(200) ... .seconds(5))
        while !Task.isCancelled {
            do {
                let revision = try await read()
                for try await message in fleet.etcd.watch(.prefix(fleet.keys.all), from: revision + 1) {
                    // Reads can work where a proxy ends each watch at once.
                    backoff.reset()
                    if case .events(let header, let events) = message { try await take(header, events) }
                }
                throw EtcdError.unavailable("the watch has ended")
            } catch {
                if Task.isCancelled { return }
                note(outage: error)
            }
            guard (try? await Task.sleep(for: backoff.next())) != nil else { return }
        }
    }

    private func note(outage error: any Error) {
        outage =
            switch error {
            case let refusal as FleetRefusal: refusal.description
            case let error as EtcdError: FleetRefusal(error).description
            default: "etcd: \(error)"
            }
        publish()
    }

    /// Reads all that a page shows.
    /// - Returns: The revision from which on changes are watched.
    @discardableResult func read() async throws(FleetRefusal) -> Int64 {
        reads.begun += 1
        reads.underWay += 1
        let number = reads.begun
        defer {
            reads.underWay -= 1
            if reads.underWay == 0 { missed = [] }
        }
        let statuses = try await fleet.instanceStatuses()
        let view = try await fleet.readState()
        let builds = try await fleet.builds()
        let drivers = try await fleet.drivers()
        let freezes = try await fleet.freezes()
        // An etcd that does not tell may still be read.
        let alarms = (try? await fleet.etcd.status().alarms) ?? []
        // Two reads may overlap; the one that has begun last is the newest. Revisions do not tell: a restored etcd has
        // lower ones.
        if number > reads.ended {
            reads.ended = number
            var newest = statuses
            for (header, events) in missed {
                newest.apply(header, events.filter { $0.pair.modRevision > statuses.revision })
            }
            reading = Reading(
                view: view, statuses: newest, catalog: builds, drivers: drivers, freezes: freezes, alarms: alarms)
            apply()
        }
        outage = nil
        publish()
        return statuses.revision
    }

    private func take(_ header: EtcdHeader, _ events: [EtcdEvent]) async throws(FleetRefusal) {
        if reads.underWay > 0 { missed.append((header, events)) }
        reading?.statuses.apply(header, events)
        // What operators write is read again; it is written rarely, and shown at one revision.
        if events.contains(where: { !$0.pair.key.starts(with: fleet.keys.instances) }) {
            try await read()
        } else {
            publish()
        }
    }

    private func apply() {
        guard let reading else { return }
        drafts.declare(reading.catalog, reading.statuses.live)
        drafts.apply(reading.view, now: fleet.now())
    }

    private func sample() {
        guard let reading, outage == nil else { return }
        charts.record(reading.view.ordered.map(\.value), reading.statuses.live, at: fleet.now())
    }

    // MARK: Writes

    /// Shows what was written at once, and drops the drafts of it.
    func note(written: [FleetAssignment]) async {
        _ = try? await read()
        drafts.discard(written)
        publish()
    }

    // MARK: States

    /// Waits for a state with a larger number, for a while.
    func wait(after known: UInt64) async {
        if number > known || known > number { return }
        waiters &+= 1
        let id = waiters
        let limit = Task { [polling = timing.polling] in
            if (try? await Task.sleep(for: polling)) != nil { self.end(id) }
        }
        await withCheckedContinuation { waiting[id] = $0 }
        limit.cancel()
    }

    private func end(_ id: UInt64) { waiting.removeValue(forKey: id)?.resume() }

    /// Makes a new state known, soon after the last one.
    func publish() {
        if isPublishing { return }
        let now = Moment.now
        let pause = publishedAt.map { $0 + timing.publishing - now } ?? .zero
        if pause <= .zero { return publishNow() }
        isPublishing = true
        Task {
            try? await Task.sleep(for: pause)
            self.publishNow()
        }
    }

    private func publishNow() {
        isPublishing = false
        publishedAt = .now
        number &+= 1
        let waiting = waiting
        self.waiting = [:]
        for continuation in waiting.values { continuation.resume() }
    }
}
