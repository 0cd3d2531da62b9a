// Drives or follows one rollout to its end: displays its progress and reads the operator's commands.

import Dispatch
import Tweaks
import TweaksFleet
import TweaksSystem

/// A rollout driven by this program, or followed while another one drives it.
struct RolloutSession {
    private let client: FleetClient
    private let id: String
    /// Nil while another program drives it.
    private let claim: DriverClaim?
    /// What the end of this program means for the rollout.
    private let fate: String
    /// What Ctrl-C does.
    private let interruption: String
    /// Another driver began it.
    private let isResumed: Bool
    /// An operator can type commands.
    private let isInteractive: Bool
    private let conditions: [PrometheusCondition]

    init(
        _ client: FleetClient, _ claim: DriverClaim, revertsOnExit: Bool, isResumed: Bool = false,
        isInteractive: Bool = System.isTerminal(0), conditions: [PrometheusCondition] = []
    ) {
        (self.client, self.claim, id) = (client, claim, claim.id)
        (self.isResumed, self.isInteractive) = (isResumed, isInteractive)
        self.conditions = conditions
        let id = claim.id
        let fate =
            revertsOnExit
            ? "the rollout is reverted with it; --keep-if-driver-dies would keep it"
            : "the rollout stays at its share: resume \(id) drives it on, abort \(id) reverts it"
        self.fate = "this driver ends, and \(fate)"
        interruption = revertsOnExit ? "reverts it" : "leaves it at its share"
    }

    /// - Parameter fate: What becomes of the rollout when this command ends.
    init(_ client: FleetClient, observing id: String, fate: String, isInteractive: Bool = System.isTerminal(0)) {
        (self.client, claim, self.id) = (client, nil, id)
        (isResumed, self.isInteractive) = (false, isInteractive)
        conditions = []
        (self.fate, interruption) = (fate, "leaves it to its driver")
    }

    private var console: FleetConsole { client.console }

    private var feed: DriverFeed {
        guard let claim else { return DriverFeed(observing: id, client.fleet) }
        return DriverFeed(
            client.fleet, claim, heartbeat: .seconds(client.limits.claim) / 3, client.prometheus,
            conditions: conditions)
    }

    private var driver: DriverRun {
        guard let claim else { return DriverRun(observing: id, client.fleet) }
        return DriverRun(client.fleet, claim, timing: client.limits.timing, isResumed: isResumed)
    }

    /// Runs until the rollout ends, or is paused without an operator at the terminal.
    func run() async -> ExitCode {
        let (inputs, continuation) = AsyncStream.makeStream(of: DriverInput.self)
        let tasks = feed.start(into: continuation)
        let interrupts = Interrupts { continuation.yield(.command(.leave)) }
        defer { interrupts.cancel() }
        var run = driver
        var display = ProgressDisplay(id: id, console: console, now: client.fleet.now)
        if isInteractive {
            readCommands(continuation, display.typed)
            display.printLine(
                "p pauses it, r resumes, a aborts, y finishes; each with the enter key; Ctrl-C \(interruption)")
        }
        var code: ExitCode?
        for await input in inputs {
            for event in await run.handle(input) where code == nil { code = report(event, &display) }
            if code != nil { break }
            for word in display.typed.takeUnknown() { display.printProblem("\(word): type p, r, a or y") }
            display.show(run.progress)
        }
        for task in tasks { task.cancel() }
        continuation.finish()
        // This reverts a rollout under the claim's lease; a rollout that has ended is not affected.
        if let claim { await client.fleet.release(claim) }
        return code ?? .unreachable
    }

    /// Reads standard input on its own thread, because that blocks.
    private func readCommands(_ inputs: AsyncStream<DriverInput>.Continuation, _ typed: TypedLines) {
        let commands: [String: DriverCommand] = [
            "y": .finish, "yes": .finish, "finish": .finish, "a": .abort, "abort": .abort, "p": .pause,
            "pause": .pause, "r": .resume, "resume": .resume,
        ]
        SystemThread.start("tweakctl-stdin") {
            while let line = readLine() {
                let command = commands[line.lowercased()]
                typed.add(unknown: command == nil && !line.isEmpty ? line : nil)
                // The driver's loop prints the answer to an unknown word, as it alone knows what is on the screen.
                inputs.yield(command.map { .command($0) } ?? .tick)
            }
        }
    }

    /// Prints an event; returns the exit code if it is the last one.
    private func report(_ event: DriverEvent, _ display: inout ProgressDisplay) -> ExitCode? {
        if case .ended(let end) = event { return report(end, &display) }
        if event.isProblem {
            display.printProblem(event.text(of: id))
        } else {
            display.printLine(event.text(of: id))
        }
        guard case .paused = event, !isInteractive else { return nil }
        display.printProblem("there is no terminal to resume it on, so \(fate)")
        return .refused
    }

    private func report(_ end: DriverOutcome, _ display: inout ProgressDisplay) -> ExitCode {
        display.end()
        switch end {
        case .finished(let receipt):
            client.receipt("finished rollout \(id)", receipt)
            return .ok
        case .aborted(let reason, let receipt):
            client.receipt("aborted rollout \(id)", receipt)
            console.output.reportProblem("rollout \(id) is reverted: \(reason)")
            return .refused
        case .finishedElsewhere(let who):
            display.printLine("finished by \(who)")
            return .ok
        case .gone(let reason):
            display.printProblem("reverted: \(reason)")
            return .refused
        case .left:
            display.printProblem(fate)
            // Who follows what others drive may stop at any time.
            return claim == nil ? .ok : .refused
        case .lost(let refusal):
            console.output.reportProblem(refusal.description)
            display.printProblem(fate)
            return Failure(refusal).code
        }
    }
}

extension DriverEvent {
    /// What it says of a rollout.
    func text(of id: String) -> String {
        switch self {
        case .stepped(let share): "step to \(share.text)"
        case .resumed: "resumed"
        case .awaitingConfirmation(let until):
            "at 100 %: finish \(id) until \(TimeText.seconds(until)), or it is reverted"
        case .outage(let text): "\(text); the rollout waits"
        case .contact: "etcd answers again"
        case .refused(let refusal): refusal.description
        case .paused(let reason): "paused: \(reason)"
        case .ended(let outcome): outcome.text
        }
    }

    var isProblem: Bool {
        switch self {
        case .outage, .refused, .paused: true
        case .stepped, .resumed, .awaitingConfirmation, .contact, .ended: false
        }
    }
}

extension DriverOutcome {
    fileprivate var text: String {
        switch self {
        case .finished: "finished"
        case .aborted(let reason, _), .gone(let reason): "reverted: \(reason)"
        case .finishedElsewhere(let who): "finished by \(who)"
        case .left: "left"
        case .lost(let refusal): refusal.description
        }
    }
}

/// Calls a handler at each signal that asks the program to end.
struct Interrupts {
    private let sources: [any DispatchSourceSignal]

    /// - Parameter handler: Runs on a queue of Dispatch.
    init(_ handler: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            #if canImport(Darwin)
                // kqueue reports ignored signals, too. Elsewhere the source has a handler, and a child must not inherit that
                // a signal is ignored.
                signal(number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { @Sendable in handler() }
            source.resume()
            return source
        }
    }

    func cancel() { for source in sources { source.cancel() } }
}
