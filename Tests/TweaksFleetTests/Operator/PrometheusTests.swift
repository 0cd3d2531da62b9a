// Tests conditions on Prometheus: their text, the answers, what a driver decides, and a real server.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite struct PrometheusConditionTests {
    @Test(arguments: [
        ("up < 1", "up", MetricCondition.Comparison.below, 1.0, 2),
        ("sum(rate(e[1m])) > 5 for 3 samples", "sum(rate(e[1m]))", .above, 5, 3),
        ("a > bool 2 >= 1e3 for 1 sample", "a > bool 2", .atLeast, 1_000, 1),
        (#"e{path="<a> \"b\""} <= -0.5"#, #"e{path="<a> \"b\""}"#, .atMost, -0.5, 2),
    ])
    func `The last comparison is the condition's own`(
        _ text: String, _ query: String, _ comparison: MetricCondition.Comparison, _ limit: Double, _ samples: Int
    ) throws {
        let condition = try #require(PrometheusCondition(parsing: text))
        #expect(condition.query == query && condition.comparison == comparison)
        #expect(condition.limit == limit && condition.samples == samples)
        #expect(PrometheusCondition(parsing: condition.text) == condition)
    }

    @Test(arguments: [
        "", "up", "> 5", "up > x", "up > 5 for 0 samples", "up > 5 for 99 samples", "up > 2 × others", "up\n > 5",
        "up > 1e999", String(repeating: "x", count: 1_998) + ">5", String(repeating: "x", count: 2_000) + " > 5",
    ])
    func `Other texts are none`(_ text: String) { #expect(PrometheusCondition(parsing: text) == nil) }

    @Test func `A rollout keeps them`() throws {
        var rollout = try Rollout("r1", ["A/B/C": .int(1)])
        rollout.abortIfPrometheus = [try #require(PrometheusCondition(parsing: "up < 1"))]
        rollout.isHanded = true
        #expect(try Rollout(rollout.bytes) == rollout)
    }
}

@Suite struct PrometheusAnswerTests {
    static let vector = """
        {"status":"success","data":{"resultType":"vector","result":[\
        {"metric":{"job":"a"},"value":[1435781451.781,"1"]},{"metric":{},"value":[1435781451.781,"+Inf"]}]}}
        """

    @Test(
        arguments: [
            (200, vector, .results([1, .infinity])),
            (200, #"{"status":"success","data":{"resultType":"scalar","result":[1,"-2.5"]}}"#, .results([-2.5])),
            (200, #"{"status":"success","data":{"resultType":"vector","result":[]}}"#, .results([])),
            (400, #"{"status":"error","errorType":"bad_data","error":"parse error"}"#, .problem("parse error")),
            (503, #"{"status":"error","error":""}"#, .problem("it answers 503 without a reason")),
            (502, "<html>", .problem("it answers 502 with something that is not JSON; is this Prometheus?")),
        ] as [(Int, String, PrometheusAnswer)])
    func `The documented answers are read`(_ status: Int, _ body: String, _ answer: PrometheusAnswer) {
        #expect(PrometheusAnswer(status: status, utf8(body)) == answer)
    }

    @Test(arguments: [
        "null", "[]", "{}", #"{"data":1}"#, #"{"data":{"resultType":"matrix","result":[]}}"#,
        #"{"data":{"resultType":"vector","result":[{"value":[1,2]}]}}"#,
        #"{"data":{"resultType":"vector","result":[{"value":["1"]}]}}"#,
        #"{"data":{"resultType":"vector","result":[1]}}"#, #"{"data":{"resultType":"scalar","result":["1","x"]}}"#,
        #"{"data":{"resultType":"string","result":[1,"x"]}}"#,
    ])
    func `Other answers are problems`(_ body: String) {
        guard case .problem = PrometheusAnswer(status: 200, utf8(body)) else {
            Issue.record("\(body) was read")
            return
        }
    }

    @Test func `A query is sent as a form, and what it must not have is escaped`() async throws {
        let stub = try HTTPStub("HTTP/1.1 200 OK\r\nContent-Length: \(Self.vector.utf8.count)\r\n\r\n\(Self.vector)")
        defer { stub.close() }
        let server = try Prometheus("\(stub.url)/prefix/")
        #expect(await server.answer(to: #"a{b="ü&+"} / 2"#) == .results([1, .infinity]))
        let request = try #require(stub.requests.first)
        #expect(request.hasPrefix("POST /prefix/api/v1/query HTTP/1.1\r\n"))
        #expect(request.components(separatedBy: "Content-Type:").count == 2)
        #expect(request.contains("Content-Type: application/x-www-form-urlencoded\r\n"))
        #expect(request.hasSuffix("\r\n\r\nquery=a%7Bb%3D%22%C3%BC%26%2B%22%7D%20%2F%202"))
    }

    @Test func `A server that is not there is a problem`() async throws {
        let server = try Prometheus("http://127.0.0.1:\(try BoundSocket(loopback: .version4, backlog: nil).port)")
        guard case .problem(let text) = await server.answer(to: "up") else {
            Issue.record("it answered")
            return
        }
        #expect(text.hasPrefix("cannot connect"), "\(text)")
    }

    @Test(arguments: [
        ("https://a", "asks for TLS"), ("a:9090", "is not a URL"), ("http://", "is not a URL"),
        ("http://u:p@a", "is not a URL"), ("http://a/?x", "is not a URL"), ("http://a\r\nX: y", "is not a URL"),
    ])
    func `Other addresses are refused`(_ url: String, _ text: String) {
        let problem = #expect(throws: FleetProblem.self) { _ = try Prometheus(url) }
        #expect(problem?.text.contains(text) == true)
    }
}

/// A driver with conditions on Prometheus.
@Suite struct PrometheusJudgmentTests {
    private let harness = OperatorHarness()
    private let clock = ManualClock(wall: 1_000_000)

    private func fleet() -> FleetOperator {
        FleetOperator(harness.etcd, harness.keys, by: "alice", now: { [clock] in clock.wall })
    }

    private func begin(_ condition: String) async throws -> DriverRun {
        harness.register("i1")
        var plan = try harness.plan("A/B/C", .int(1))
        plan.abortIfPrometheus = [try #require(PrometheusCondition(parsing: condition))]
        let claim = try await fleet().claim("r1", host: "h", pid: 1)
        plan.driver = claim.fence
        _ = try await fleet().begin(plan)
        var run = DriverRun(fleet(), claim, time: clock)
        let revision = harness.etcd.revision
        harness.register("i1") { $0.revision = revision }
        _ = await run.handle(try await read())
        return run
    }

    private func read() async throws -> DriverInput {
        .read(
            try await fleet().readRollout("r1"),
            instances: try await harness.etcd.range(EtcdRange(.prefix(harness.keys.instances))))
    }

    private func answer(_ answer: PrometheusAnswer, to run: inout DriverRun) async -> [DriverEvent] {
        clock.advance(by: .seconds(15))
        return await run.handle(.measured([answer], askedAt: clock.now))
    }

    @Test func `Two results in a row that meet it revert the rollout`() async throws {
        var run = try await begin("errors > 5")
        #expect(await answer(.results([1, 9]), to: &run).isEmpty)
        #expect(await answer(.results([1, 5]), to: &run).isEmpty)
        #expect(await answer(.results([9]), to: &run).isEmpty)
        // What is not answered neither helps nor harms.
        #expect(await answer(.problem("overload"), to: &run).isEmpty)
        let events = await answer(.results([.nan, .infinity]), to: &run)
        #expect(events.first?.abortReason == "Prometheus: errors > 5: infinite", "\(events)")
        #expect(run.progress.metrics.map(\.violators) == [1])
        #expect(try await harness.rollout() == nil)
    }

    @Test(arguments: [
        (PrometheusAnswer.problem("overload"), "Prometheus: errors: overload"),
        (.results([]), "Prometheus: errors: no series matches; end the query with “or vector(0)” if that is well"),
    ])
    func `No result for two minutes pauses it`(_ missing: PrometheusAnswer, _ reason: String) async throws {
        var run = try await begin("errors > 5")
        #expect(await answer(.results([1]), to: &run).isEmpty)
        for _ in 0..<7 { #expect(await answer(missing, to: &run).isEmpty) }
        #expect(await answer(missing, to: &run) == [.paused(reason)])
    }

    @Test func `A question from before the step does not count`() async throws {
        var run = try await begin("errors > 5")
        let before = clock.now
        clock.advance(by: .seconds(1))
        _ = try await fleet().pause("r1")
        _ = await run.handle(try await read())
        _ = try await fleet().resume("r1")
        _ = await run.handle(try await read())
        for _ in 0..<3 { #expect(await run.handle(.measured([.results([9])], askedAt: before)).isEmpty) }
        #expect(await run.handle(.measured([.results([9])], askedAt: clock.now)).isEmpty)
        #expect(await run.handle(.measured([.results([9])], askedAt: clock.now)).first?.abortReason != nil)
    }

    @Test func `The step ends only when there are enough answers`() async throws {
        var run = try await begin("errors > 5")
        harness.etcd.delete(.key(harness.keys.timer("r1")))
        #expect(await run.handle(try await read()).isEmpty)
        #expect(await answer(.results([1]), to: &run).isEmpty)
        #expect(await answer(.results([1]), to: &run).first?.finishReceipt != nil)
    }
}

extension Trait where Self == ConditionTrait {
    /// Runs only if Prometheus is installed; always in CI.
    fileprivate static var needsPrometheus: Self {
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: PrometheusServer.path)
                || ProcessInfo.processInfo.environment["CI"] == "true",
            "prometheus is not installed: apt-get install prometheus")
    }
}

/// A real Prometheus that scrapes itself.
private final class PrometheusServer: Sendable {
    static let path = "/usr/bin/prometheus"

    private let directory: TemporaryDirectory
    private let process: ChildProcess
    let url: String

    init() async throws {
        directory = try TemporaryDirectory()
        let port = try BoundSocket(loopback: .version4).port
        url = "http://127.0.0.1:\(port)"
        let config = """
            global: {scrape_interval: 1s}
            scrape_configs: [{job_name: self, static_configs: [{targets: ["127.0.0.1:\(port)"]}]}]
            """
        try directory.write(config, to: "prometheus.yml")
        process = try ChildProcess([
            Self.path, "--config.file=\(directory.file("prometheus.yml"))",
            "--storage.tsdb.path=\(directory.file("data"))",
            "--web.listen-address=127.0.0.1:\(port)",
        ])
        await process.log.wait(for: "Server is ready to receive web requests", RunningProgram.end)
    }

    deinit { process.kill() }
}

@Suite(.blockingCluster, .tags(.process), .needsPrometheus) struct PrometheusLiveTests {
    @Test func `A real server answers as it is documented`() async throws {
        let server = try await PrometheusServer()
        let client = try Prometheus(server.url)
        #expect(await client.answer(to: "vector(2) * 3") == .results([6]))
        #expect(await client.answer(to: "1 / 0") == .results([.infinity]))
        #expect(await client.answer(to: #"up{job="nothing"}"#) == .results([]))
        #expect(await client.answer(to: #"label_replace(vector(1), "a", "ü&+", "", "")"#) == .results([1]))
        guard case .problem(let text) = await client.answer(to: "rate(") else {
            Issue.record("it answered")
            return
        }
        #expect(text.hasPrefix("invalid parameter \"query\""), "\(text)")
        guard case .problem = await client.answer(to: "up[1m]") else {
            Issue.record("it answered with a matrix")
            return
        }
    }

    @Test func `A drive service reverts a rollout by what a real server answers`() async throws {
        let server = try await PrometheusServer()
        let harness = OperatorHarness()
        harness.register("i1")
        var source = PrometheusSource(try Prometheus(server.url))
        source.every = .milliseconds(50)
        var limits = DriveService.Limits()
        (limits.look, limits.timing.outageGrace) = (.milliseconds(50), .zero)
        let events = Recorder<DriveServiceEvent>()
        let service = DriveService(harness.fleet(by: "service"), host: "a", pid: 1, source, limits: limits) {
            events.note($0)
        }
        let task = Task { await service.run() }
        await events.wait { $0 == .leads }
        #expect(try await harness.fleet().leader()?.hasPrometheus == true)
        var plan = try harness.plan("A/B/C", .int(1))
        (plan.isHanded, plan.steps) = (true, [.all])
        plan.abortIfPrometheus = ["vector(1) > 5", "vector(9) > 5"].compactMap { PrometheusCondition(parsing: $0) }
        _ = try await harness.fleet().begin(plan)
        await events.wait {
            if case .rollout(_, .ended(.aborted(let reason, _))) = $0 {
                reason == "Prometheus: vector(9) > 5: 9"
            } else {
                false
            }
        }
        #expect(try await harness.rollout() == nil)
        task.cancel()
        await task.value
    }
}
