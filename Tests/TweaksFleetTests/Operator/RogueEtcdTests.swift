// Tests that no answer of a rogue etcd ends tweakctl-fleet: the grammar of the fuzzers builds answers for every command.

import Synchronization
import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport
import tweaks_fuzz

@testable import TweaksFleet
@testable import TweaksFleetOperator

struct RogueEtcdTests {
    private static let keys = FleetKeys(name: "api")
    private static let now: Int64 = 1_795_310_400_000
    private static let commands = [
        "ls", "get **", "status", "instances", "instance i1", "history", "export", "check Sample/Bound/int = 1",
        "set Sample/Bound/number = 0.5 --new", "set Sample/Free/text = x --new --for 5m", "reset Sample/Free/time",
        "undo", "pause r1", "finish r1 --force",
        "abort r2", "adopt", "rollout Sample/Free/int = 7 --new --detach --yes --abort-if",
        "rollout Sample/Free/int = 7 --new --dry-run --steps 0.01,100 --confirm-within 5m", "import FILE --new --yes",
        "import FILE --new --yes --prune --force", "abort r3", "resume r1 --detach",
        "rollout Sample/Free/int = 7 --new --detach --yes --at 5m",
    ]

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try directory.write("Sample/Bound/int = 1\nSample/Free/text = x\n", to: "api.conf")
    }

    private static func choices(_ random: inout SeededGenerator) -> Choices {
        let count = Int.random(in: 20..<1_500, using: &random)
        return Choices((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }

    private func arguments(_ line: String, isJSON: Bool) throws -> FleetArguments {
        var words = line.split(separator: " ").map { $0 == "FILE" ? directory.file("api.conf") : String($0) }
        if words.last == "--abort-if" { words.append("A/B/C > 5") }
        return try FleetArguments(["api"] + words + (isJSON ? ["--json"] : []))
    }

    /// Output is text or JSON, without characters that a terminal obeys.
    @Test(.tags(.quantity), arguments: 0..<4) func everyCommandPrintsOrRefuses(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<quantity(100, few: 5) {
            let choices = Self.choices(&random)
            for command in Self.commands {
                for isJSON in [false, true] {
                    let lines = Mutex<[String]>([])
                    let console = FleetConsole(isJSON: isJSON) { line in lines.withLock { $0.append(line) } }
                    let fleet = FleetOperator(
                        RogueEtcd(choices, Self.keys), Self.keys, by: "ana", now: { Self.now }, makeID: { "r9" })
                    let client = FleetClient(
                        try arguments(command, isJSON: isJSON), console, fleet, DriverLimits())
                    do {
                        _ = try await client.run()
                    } catch {
                        #expect(!error.description.isEmpty, "\(command)")
                    }
                    let unsafe = lines.withLock { $0 }.first { !Quoting.isSafe($0) }
                    #expect(unsafe == nil, "\(command)")
                }
            }
        }
    }

    @Test(.tags(.quantity), arguments: 0..<4) func progressIsShown(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: 200 + seed)
        var shown = 0
        for _ in 0..<quantity(400, few: 15) {
            let etcd = RogueEtcd(Self.choices(&random), Self.keys)
            let fleet = FleetOperator(etcd, Self.keys, by: "ana", now: { Self.now })
            let live = try await fleet.instanceStatuses().live
            for record in try await fleet.readState().ordered {
                var driver = RolloutDriver()
                let start = Moment.now
                for minutes: Int64 in [0, 1, 10, 6_000] {
                    let now = Self.now + minutes * 60_000
                    var observation = DriverObservation(record, live: live)
                    (observation.left, observation.wall) = (live, now)
                    let decision = driver.decide(observation, now: start + .seconds(60 * minutes))
                    if case .awaitConfirmation(let seconds) = decision {
                        _ = TimeText.seconds(now.adding(seconds: seconds))
                    }
                    for style in [Style.full, .plain] {
                        shown += ProgressDisplay.block(driver.progress, id: "r1", now: now, style).count
                    }
                    _ = ProgressDisplay.json(driver.progress, id: "r1").text + ProgressDisplay.line(driver.progress)
                }
            }
        }
        #expect(shown > 0)
    }

    /// Also the driver that follows them.
    @Test(.tags(.quantity), arguments: 0..<4) func changesAreShown(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: 300 + seed)
        for _ in 0..<quantity(200, few: 10) {
            let choices = Self.choices(&random)
            let etcd = RogueEtcd(choices, Self.keys)
            let fleet = FleetOperator(etcd, Self.keys, by: "ana", now: { Self.now })
            let events = etcd.pairs.flatMap { [EtcdEvent(.put, $0), EtcdEvent(.delete, $0)] }
            for event in events {
                guard let change = FleetChange(event, Self.keys) else { continue }
                _ = change.json.text
                _ = FleetConsole.lines([.init(path: change.text, value: change.kind, note: change.text)], .full)
            }
            guard let claim = try? await fleet.claim("r1", host: "h", pid: 1) else { continue }
            var run = DriverRun(fleet, claim)
            let reading = try await fleet.readRollout("r1")
            let instances = try await etcd.range(EtcdRange(.prefix(Self.keys.instances)))
            for input in [DriverInput.read(reading, instances: instances), .tick, .tick] {
                _ = await run.handle(input)
            }
            _ = await run.handle(.watched(reading.rollout.header, events))
            _ = await run.handle(.command(.finish))
        }
    }

    /// Also what a driver makes of them.
    @Test(.tags(.quantity), arguments: 0..<4) func answersOfPrometheusAreJudged(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: 400 + seed)
        var rollout = try Rollout("r1", ["A/B/C": .int(1)])
        rollout.abortIfPrometheus = ["up < 1", "up >= 1e308 for 1 sample"].compactMap {
            PrometheusCondition(parsing: $0)
        }
        var (results, problems) = (0, 0)
        for _ in 0..<quantity(5_000, few: 200) {
            var choices = Self.choices(&random)
            var samples = PrometheusSamples()
            samples.begin(.now)
            for _ in 0..<3 {
                let answer = PrometheusAnswer(status: 200, utf8(choices.resultOfQuery()))
                if case .problem(let text) = answer {
                    problems += 1
                    #expect(Quoting.isSafe(text) && !text.isEmpty)
                } else {
                    results += 1
                }
                samples.record([answer, answer], askedAt: .now, rollout, .now)
            }
            _ = samples.violation(of: rollout)
            _ = samples.problem(of: rollout, now: .now, after: .zero)
            for state in samples.conditionStates(rollout) {
                var progress = RolloutDriver().progress
                progress.metrics = [state]
                _ = ProgressDisplay.line(progress) + ProgressDisplay.json(progress, id: "r1").text
            }
        }
        #expect(results > 0 && problems > 0)
    }
}
