// Implements the command drive, a service that drives rollouts, and what status says of it and of scheduled rollouts.

import Synchronization
import Tweaks
import TweaksFleet
import TweaksInterface
import TweaksSystem

extension FleetClient {
    /// Drives what operators hand over, until a signal asks it to end.
    func drive() async -> ExitCode {
        let log: DriverLog
        do throws(ServerError) {
            log = DriverLog(console, try ServiceManager(environment: ThisProcess.environment))
        } catch {
            console.output.reportProblem(error.description)
            return .usage
        }
        var limits = DriveService.Limits()
        limits.timing = self.limits.timing
        let service = DriveService(
            fleet, host: FleetIdentity.host, pid: Int64(ThisProcess.id), prometheus, limits: limits
        ) { log.note($0) }
        let task = Task { await service.run() }
        let interrupts = Interrupts {
            log.noteStop()
            task.cancel()
        }
        await task.value
        interrupts.cancel()
        return .ok
    }

    // MARK: status

    /// Prints who drives, and what is scheduled.
    func show(_ leader: FleetDriver?, _ scheduled: [ScheduledRollout]) {
        if let leader {
            console.print(["drive service: process \(leader.pid) on \(leader.host) leads, as \(leader.by)"])
        }
        console.print(scheduled.map { Self.line($0) })
    }

    static func line(_ scheduled: ScheduledRollout) -> String {
        let rollout = scheduled.rollout
        let changes = rollout.changes.map { "\($0.path.token) = \($0.value.text)" }.joined(separator: ", ")
        let moment = rollout.next.map { TimeText.seconds($0) } ?? "an unknown time"
        let when = scheduled.isDue ? "is to begin now, since \(moment)" : "is to begin at \(moment)"
        return "rollout \(rollout.id) by \(rollout.by) \(when): \(changes); abort \(rollout.id) cancels it"
    }

    static func fields(_ leader: FleetDriver?, _ scheduled: [ScheduledRollout]) -> [(String, JSON)] {
        let service = leader.map { leader in
            JSON.object([
                ("host", .string(leader.host)), ("pid", .int(leader.pid)), ("by", .string(leader.by)),
                ("prometheus", .bool(leader.hasPrometheus)),
            ])
        }
        let rollouts = scheduled.map { scheduled in
            JSON.object([
                ("id", .string(scheduled.rollout.id)), ("by", .string(scheduled.rollout.by)),
                ("at", scheduled.rollout.next.map { .int($0) } ?? .null), ("due", .bool(scheduled.isDue)),
            ])
        }
        return [("driveService", service ?? .null), ("scheduled", .array(rollouts))]
    }
}

/// Prints the events of a service, and tells a service manager what it does.
private final class DriverLog: Sendable {
    private let console: FleetConsole
    private let manager: ServiceManager?
    private let isReady = Mutex(false)

    init(_ console: FleetConsole, _ manager: ServiceManager?) {
        (self.console, self.manager) = (console, manager)
    }

    func noteStop() { manager?.stopping() }

    func note(_ event: DriveServiceEvent) {
        if event == .lives {
            manager?.notifyWatchdog()
            return
        }
        let text = Quoting.sanitized(event.text)
        if event.isProblem {
            console.output.reportProblem(text)
        } else if console.isJSON {
            console.print(.object([("text", .string(text))]))
        } else {
            console.print([text])
        }
        guard let manager, let status = event.status else { return }
        let isFirst = isReady.withLock { isReady in
            defer { isReady = true }
            return !isReady
        }
        if isFirst { manager.ready(status: status) } else { manager.show(status: status) }
    }
}

extension DriveServiceEvent {
    fileprivate var text: String {
        switch self {
        case .leads: "leads: drives what operators hand over"
        case .waits(let leader): "waits: process \(leader.pid) on \(leader.host) leads"
        case .lostLead: "its lease is over; another service may lead"
        case .outage(let text): text
        case .contact: "etcd answers again"
        case .began(let receipt): "rollout \(receipt.rollout ?? "") begins, as it was scheduled"
        case .couldNotBegin(let id, let refusal, let triesAgain):
            "rollout \(id) cannot begin: \(refusal.description); \(triesAgain ? "it is tried again" : "it is canceled")"
        case .drives(let rollout): "rollout \(rollout.id) by \(rollout.by) at \(rollout.share.text): drives it"
        case .rollout(let id, let event): ProgressDisplay.line(event.text(of: id), id: id)
        case .lives: ""
        }
    }

    fileprivate var isProblem: Bool {
        switch self {
        case .lostLead, .outage, .couldNotBegin: true
        case .rollout(_, let event): event.isProblem
        case .leads, .waits, .contact, .began, .drives, .lives: false
        }
    }

    /// What `systemctl status` shows of the service itself.
    fileprivate var status: String? {
        switch self {
        case .leads, .waits, .lostLead, .outage, .contact: text
        case .began, .couldNotBegin, .drives, .rollout, .lives: nil
        }
    }
}
