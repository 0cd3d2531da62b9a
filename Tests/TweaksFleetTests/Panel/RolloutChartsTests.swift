// Tests the figures of a rollout over time: medians of members and of others, and the limit of samples.

import Testing
import Tweaks

@testable import TweaksFleet
@testable import TweaksFleetOperator

@Suite struct RolloutChartsTests {
    private static let path = "Service/Errors/Rate"

    private func rollout(_ change: (inout Rollout) -> Void = { _ in }) throws -> Rollout {
        var rollout = try Rollout("r1", ["A/B/C": .int(1)])
        rollout.selector = ["zone": "eu"]
        rollout.abortIf = [MetricCondition(path: try TweakPath(Self.path), comparison: .above, limit: 5)]
        change(&rollout)
        return rollout
    }

    private func process(_ id: String, _ zone: String, _ figure: Double?) -> LiveInstance {
        var status = FleetStatus(build: "b1")
        status.labels = ["zone": zone]
        status.metrics = figure.map { [Self.path: $0] } ?? [:]
        return LiveInstance(id: id, start: 1, status: status)
    }

    @Test func `Members and others have their medians`() throws {
        var charts = RolloutCharts()
        let live = [
            process("a", "eu", 1), process("b", "eu", 9), process("c", "eu", 5), process("d", "us", 2),
            process("e", "us", 4), process("f", "us", nil),
        ]
        charts.record([try rollout()], live, at: 10)
        #expect(charts.samples("r1", try TweakPath(Self.path)) == [.init(at: 10, members: 5, others: 3)])
        charts.record([try rollout()], [process("a", "eu", nil)], at: 5_000)
        #expect(charts.samples("r1", try TweakPath(Self.path)).count == 1)
        charts.record([try rollout()], [process("d", "us", 7)], at: 9_000)
        #expect(charts.samples("r1", try TweakPath(Self.path)).last == .init(at: 9_000, members: nil, others: 7))
    }

    @Test func `Samples are bounded, and reach back to the start at growing distances`() throws {
        var charts = RolloutCharts(period: 10)
        let live = [process("a", "eu", 1)]
        for time in 0..<10_000 { charts.record([try rollout()], live, at: Int64(time)) }
        let samples = charts.samples("r1", try TweakPath(Self.path))
        #expect(samples.count > RolloutCharts.maxSamples / 2 && samples.count <= RolloutCharts.maxSamples)
        #expect(samples.first?.at == 0 && samples.last.map { $0.at > 9_900 } == true)
        let distances = zip(samples, samples.dropFirst()).map { $1.at - $0.at }
        #expect(Set(distances).count <= 2 && distances.min() == 40, "\(Set(distances))")
    }

    @Test func `A clock that is set back, and the end of a rollout`() throws {
        var charts = RolloutCharts(period: 1_000)
        let live = [process("a", "eu", 1)]
        for time in [5_000, 5_500, 1_000, 1_500] as [Int64] { charts.record([try rollout()], live, at: time) }
        #expect(charts.samples("r1", try TweakPath(Self.path)).map(\.at) == [5_000, 1_000])
        charts.record([try rollout { $0.state = .done }], live, at: 9_000)
        #expect(charts.samples("r1", try TweakPath(Self.path)).isEmpty)
    }
}
