// Drives one rollout to its end: displays its progress and reads the operator's commands.

import Dispatch
import Tweaks
import TweaksFleet
import TweaksSystem

/// A rollout driven by this program.
struct RolloutSession {
    private let client: FleetClient
    private let claim: DriverClaim
    /// The rollout is reverted when this driver ends.
    private let revertsOnExit: Bool
    /// Another driver began it.
    private let isResumed: Bool
    /// An operator can type commands.
    private let isInteractive: Bool

    init(
        _ client: FleetClient, _ claim: DriverClaim, revertsOnExit: Bool, isResumed: Bool = false,
        isInteractive: Bool = System.isTerminal(0)
    ) {
        self.client = client
        self.claim = claim
        self.revertsOnExit = revertsOnExit
        self.isResumed = isResumed
        self.isInteractive = isInteractive
    }

    private var console: FleetConsole { client.console }

    /// Runs until the rollout ends, or is paused without an operator at the terminal.
    func drive() async -> ExitCode {
        let (inputs, continuation) = AsyncStream.makeStream(of: DriverInput.self)
        let feed = DriverFeed(client.fleet, claim, heartbeat: .seconds(client.limits.claim) / 3)
        let tasks = feed.start(into: continuation)
        let interrupts = leaveOnInterrupt(continuation)
        defer { for interrupt in interrupts { interrupt.cancel() } }
        var run = DriverRun(client.fleet, claim, timing: client.limits.timing, isResumed: isResumed)
        var display = ProgressDisplay(id: claim.id, console: console, now: client.fleet.now)
        if isInteractive {
            readCommands(continuation, display.typed)
            display.printLine(
                "p pauses it, r resumes, a aborts, y finishes; each with the enter key; Ctrl-C "
                    + (revertsOnExit ? "reverts it" : "leaves it at its share"))
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
        await client.fleet.release(claim)
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

    /// Releases the claim on an interrupt, so that another driver need not wait for its lease.
    private func leaveOnInterrupt(_ inputs: AsyncStream<DriverInput>.Continuation) -> [any DispatchSourceSignal] {
        [SIGINT, SIGTERM, SIGHUP].map { number in
            #if canImport(Darwin)
                // kqueue reports ignored signals, too. Elsewhere the source has a handler, and a child must not inherit that
                // a signal is ignored.
                signal(number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { @Sendable in inputs.yield(.command(.leave)) }
            source.resume()
            return source
        }
    }

    /// Prints an event; returns the exit code if it is the last one.
    private func report(_ event: DriverEvent, _ display: inout ProgressDisplay) -> ExitCode? {
        switch event {
        case .stepped(let share): display.printLine("step to \(share.text)")
        case .resumed: display.printLine("resumed")
        case .awaitingConfirmation(let until):
            display.printLine("at 100 %: finish \(claim.id) until \(TimeText.seconds(until)), or it is reverted")
        case .outage(let text): display.printProblem("\(text); the rollout waits")
        case .contact: display.printLine("etcd answers again")
        case .refused(let refusal): display.printProblem(refusal.description)
        case .paused(let reason):
            display.printProblem("paused: \(reason)")
            if isInteractive { return nil }
            display.printProblem("there is no terminal to resume it on, so this driver ends, and \(endText)")
            return .refused
        case .ended(let end): return report(end, &display)
        }
        return nil
    }

    private func report(_ end: DriverOutcome, _ display: inout ProgressDisplay) -> ExitCode {
        display.end()
        switch end {
        case .finished(let receipt):
            client.receipt("finished rollout \(claim.id)", receipt)
            return .ok
        case .aborted(let reason, let receipt):
            client.receipt("aborted rollout \(claim.id)", receipt)
            console.output.reportProblem("rollout \(claim.id) is reverted: \(reason)")
            return .refused
        case .finishedElsewhere(let who):
            display.printLine("finished by \(who)")
            return .ok
        case .gone(let reason):
            display.printProblem("reverted: \(reason)")
            return .refused
        case .left:
            display.printProblem("this driver ends, and \(endText)")
            return .refused
        case .lost(let refusal):
            console.output.reportProblem(refusal.description)
            display.printProblem(endText)
            return Failure(refusal).code
        }
    }

    /// What the end of this driver means for the rollout.
    private var endText: String {
        if revertsOnExit { return "the rollout is reverted with it; --keep-if-driver-dies would keep it" }
        return "the rollout stays at its share: resume \(claim.id) drives it on, abort \(claim.id) reverts it"
    }
}
