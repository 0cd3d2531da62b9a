// Drives one rollout to its end: shows how it goes, and takes what a person types.

import Dispatch
import Tweaks
import TweaksFleet
import TweaksSystem
import TweaksTerminal

/// A rollout that is driven from here.
struct RolloutSession {
    private let client: FleetClient
    private let claim: DriverClaim
    /// The rollout is gone when this driver is.
    private let dies: Bool
    /// Another driver had begun it.
    private let isResumed: Bool
    private let hasPerson = System.isTerminal(0)

    init(_ client: FleetClient, _ claim: DriverClaim, dies: Bool, isResumed: Bool = false) {
        (self.client, self.claim, self.dies, self.isResumed) = (client, claim, dies, isResumed)
    }

    private var console: FleetConsole { client.console }

    /// Until it has ended, or is paused and nobody is there to let it go on.
    func drive() async -> ExitCode {
        let (inputs, continuation) = AsyncStream.makeStream(of: DriverInput.self)
        let tasks = DriverFeed(client.fleet, claim, beat: .seconds(client.pace.claim) / 3).start(into: continuation)
        let interrupts = leaveOnInterrupt(continuation)
        defer { for interrupt in interrupts { interrupt.cancel() } }
        var run = DriverRun(client.fleet, claim, timing: client.pace.timing, isResumed: isResumed)
        var display = ProgressDisplay(id: claim.id, console: console, now: client.fleet.now)
        if hasPerson { listen(continuation, display.typed) }
        if hasPerson { display.say("p pauses it, r resumes, a aborts, y finishes; each with the enter key") }
        var code: ExitCode?
        for await input in inputs {
            for news in await run.handle(input) where code == nil { code = tell(news, &display) }
            if code != nil { break }
            display.show(run.progress)
        }
        for task in tasks { task.cancel() }
        continuation.finish()
        // A rollout under this lease would end with it; where it has ended, there is none.
        await client.fleet.release(claim)
        return code ?? .unreachable
    }

    /// Lines of standard input, read by a thread of its own: it blocks.
    private func listen(_ inputs: AsyncStream<DriverInput>.Continuation, _ typed: TypedLines) {
        let commands: [String: DriverCommand] = [
            "y": .finish, "yes": .finish, "finish": .finish, "a": .abort, "abort": .abort, "p": .pause,
            "pause": .pause, "r": .resume, "resume": .resume,
        ]
        SystemThread.start("tweakctl-stdin") {
            while let line = readLine() {
                typed.add()
                guard let command = commands[line.lowercased()] else {
                    if !line.isEmpty { System.write(Array("\(line): type p, r, a or y\n".utf8), to: 2) }
                    continue
                }
                inputs.yield(.said(command))
            }
        }
    }

    /// An interrupt gives the claim up, so that another driver need not wait for its lease.
    private func leaveOnInterrupt(_ inputs: AsyncStream<DriverInput>.Continuation) -> [any DispatchSourceSignal] {
        [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { @Sendable in inputs.yield(.said(.leave)) }
            source.resume()
            return source
        }
    }

    /// Says what happened; the exit code where that was the end.
    private func tell(_ news: DriverNews, _ display: inout ProgressDisplay) -> ExitCode? {
        switch news {
        case .stepped(let share): display.say("step to \(share.text)")
        case .resumed: display.say("resumed")
        case .asking(let until):
            display.say("at 100 %: finish \(claim.id) until \(TimeText.seconds(until)), or it is reverted")
        case .outage(let text): display.complain("\(text); nothing is decided meanwhile")
        case .contact: display.say("etcd answers again")
        case .refused(let refusal): display.complain(refusal.description)
        case .paused(let reason):
            display.complain("paused: \(reason)")
            if hasPerson { return nil }
            display.complain(
                dies
                    ? "it is reverted, because this driver ends"
                    : "resume \(claim.id) goes on, abort \(claim.id) reverts")
            return .refused
        case .ended(let end): return tell(end, &display)
        }
        return nil
    }

    private func tell(_ end: DriverEnd, _ display: inout ProgressDisplay) -> ExitCode {
        display.end()
        switch end {
        case .finished(let receipt):
            client.receipt("finished rollout \(claim.id)", receipt)
            return .ok
        case .aborted(let reason, let receipt):
            client.receipt("aborted rollout \(claim.id)", receipt)
            console.output.complain("rollout \(claim.id) is reverted: \(reason)")
            return .refused
        case .finishedElsewhere(let who):
            display.say("finished by \(who)")
            return .ok
        case .gone(let reason):
            display.complain("taken back: \(reason)")
            return .refused
        case .left:
            display.complain(
                dies
                    ? "it is reverted, because this driver ends"
                    : "left as it is; resume \(claim.id) drives it on, abort \(claim.id) reverts it")
            return .refused
        case .lost(let refusal):
            console.output.complain(refusal.description)
            if !dies {
                console.output.complain("rollout \(claim.id) is left as it is; resume \(claim.id) drives it on")
            }
            return Failure(refusal).code
        }
    }
}
