// What texts become, and what builds think of them.

import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct ProposalTests {
    private let bench = OperatorBench()

    /// A build's declarations, and so many processes that run it.
    @discardableResult
    private func build(_ live: Int, _ declare: (TweakRegistry) -> Void) async throws -> String {
        let registry = TweakRegistry()
        declare(registry)
        let build = FleetBuild(registry)
        try await bench.put(bench.keys.build(build.hash), build.bytes)
        for number in 0..<live { try await bench.register("\(build.hash)-\(number)", build: build.hash) }
        return build.hash
    }

    private func propose(_ path: String, _ text: String, isNew: Bool = false) async throws -> FleetProposal {
        try await bench.fleet().propose(
            [TextAssignment(path: try TweakPath(path), text: text)], allowsNew: isNew)
    }

    private func refusal(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "it was not refused"
        } catch {
            return (error as? FleetRefusal)?.description ?? "\(error)"
        }
    }

    @Test func `A text is of the kind that builds declare`() async throws {
        try await build(1) { registry in
            _ = Tweak("A", "B", "Number", 5.0, registry: registry)
            _ = Tweak("A", "B", "Text", "x", registry: registry)
            _ = Tweak("A", "B", "Fade", .seconds(1), registry: registry)
            _ = Tweak("A", "B", "List", [1, 2], registry: registry)
        }
        let cases: [(String, String, TweakValue)] = [
            ("A/B/Number", "7", .number(7)), ("A/B/Text", "7", .string("7")),
            ("A/B/Fade", "250ms", .duration(.milliseconds(250))), ("A/B/List", "[3]", .list([.int(3)])),
        ]
        for (path, text, value) in cases {
            let proposal = try await propose(path, text)
            #expect(proposal.assignments.map(\.value) == [value] && proposal.notes.isEmpty)
        }
        let text = await refusal { _ = try await propose("A/B/Number", "much") }
        #expect(text.hasPrefix("A/B/Number: “much” is not a number, which builds declare it to be"))
    }

    @Test func `The kind of the build with the most processes is tried first`() async throws {
        try await build(1) { _ = Tweak("A", "B", "C", "text", registry: $0) }
        try await build(3) { _ = Tweak("A", "B", "C", 5, registry: $0) }
        #expect(try await propose("A/B/C", "7").assignments[0].value == .int(7))
        let other = try await propose("A/B/C", "seven")
        #expect(other.assignments[0].value == .string("seven"))
        #expect(other.refusals.map(\.live) == [3])
    }

    @Test func `Builds that would refuse a value are named, with how many processes run them`() async throws {
        let old = try await build(2) { _ = Tweak("A", "B", "C", 5, in: 0...10, registry: $0) }
        try await build(5) { _ = Tweak("A", "B", "C", 5, in: 0...100, registry: $0) }
        try await build(9) { _ = Tweak("X", "Y", "Z", 5, registry: $0) }
        let good = try await propose("A/B/C", "7")
        #expect(good.refusals.isEmpty && good.builds == 3 && good.live == 16)
        let bad = try await propose("A/B/C", "50")
        #expect(bad.refusals.map(\.build) == [old] && bad.refusals.map(\.live) == [2])
        let text = await refusal { try bad.check() }
        #expect(text.hasPrefix("build \(old), 2 processes, refuses it: A/B/C: 50 is outside 0...10"), "\(text)")
    }

    @Test func `A build that no process runs any more refuses nothing, unless none runs at all`() async throws {
        let old = try await build(0) { _ = Tweak("A", "B", "C", 5, in: 0...10, registry: $0) }
        #expect(try await propose("A/B/C", "50").refusals.map(\.build) == [old])
        try await build(5) { _ = Tweak("A", "B", "C", 5, in: 0...100, registry: $0) }
        #expect(try await propose("A/B/C", "50").refusals.isEmpty)
    }

    @Test func `A path that no build has is refused unless it is new`() async throws {
        #expect(await refusal { _ = try await propose("A/B/C", "7") }.contains("no build has declared anything yet"))
        try await build(1) { _ = Tweak("X", "Y", "Z", 5, registry: $0) }
        #expect(
            await refusal { _ = try await propose("A/B/C", "7") }
                == "A/B/C: no build has it; mend the path, or say --new")
        let proposal = try await propose("A/B/C", "7", isNew: true)
        #expect(proposal.assignments[0].value == .int(7))
        #expect(proposal.notes == ["A/B/C: no build has it; taken as an int"])
        _ = try await bench.fleet().set([try bench.assignment("A/B/C", .string("x"))])
        let known = try await propose("A/B/C", "7", isNew: true)
        #expect(known.assignments[0].value == .string("7"))
    }

    @Test func `Processes whose builds have declared nothing are mentioned`() async throws {
        try await build(1) { _ = Tweak("A", "B", "C", 5, registry: $0) }
        try await bench.register("stranger", build: "0000")
        #expect(
            try await propose("A/B/C", "7").notes.first?.hasPrefix("1 process of builds that have declared nothing")
                == true)
    }

    @Test(arguments: [
        ("true", TweakValue.bool(true)), ("7", .int(7)), ("-7", .int(-7)), ("1.5", .number(1.5)),
        ("18446744073709551615", .unsigned(.max)), ("250ms", .duration(.milliseconds(250))),
        ("#FF8800", .color(TweakColor(0xFF8800))), ("[1, 2]", .list([.int(1), .int(2)])),
        ("[1, 2.5]", .list([.number(1), .number(2.5)])), ("[a, b]", .list([.string("a"), .string("b")])),
        ("12,40", .point(TweakPoint(x: 12, y: 40))), ("words and more", .string("words and more")), ("", .string("")),
        ("[", .string("[")), ("#", .string("#")),
    ])
    func `A text alone says its kind by its form`(_ text: String, _ value: TweakValue) {
        #expect(TweakValue(form: text) == value)
        #expect(TweakValue(form: text, isQuoted: true) == .string(text))
    }
}

@Suite struct HoldingsTests {
    private let bench = OperatorBench()

    @Test func `Who holds what is derived from values, rollouts and statuses`() async throws {
        let registry = TweakRegistry()
        _ = Tweak("A", "B", "C", 5, registry: registry)
        let build = FleetBuild(registry)
        try await bench.put(bench.keys.build(build.hash), build.bytes)
        let other = FleetBuild(TweakRegistry())
        try await bench.put(bench.keys.build(other.hash), other.bytes)
        _ = try await bench.fleet().set([
            try bench.assignment("A/B/C", .int(64)), try bench.assignment("X/Y/Z", .int(1)),
        ])
        var plan = RolloutPlan(id: "r1", assignments: [try bench.assignment("A/B/C", .int(80))])
        plan.selector = ["zone": "eu"]
        let revision = try await bench.fleet().begin(plan).header.revision
        func register(_ id: String, _ zone: String, _ change: (inout FleetStatus) -> Void = { _ in }) async throws {
            try await bench.register(id, build: build.hash, labels: ["zone": zone]) { status in
                status.revision = revision
                change(&status)
            }
        }
        for number in 0..<3 { try await register("us\(number)", "us") }
        for number in 0..<2 { try await register("eu\(number)", "eu") }
        try await register("refusing", "eu") { $0.refused = [.init(rollout: "r1", path: "A/B/C", reason: "no")] }
        try await register("old", "us") { $0.refused = [.init(rollout: nil, path: "A/B/C", reason: "no")] }
        try await register("covered", "us") { $0.covered = ["A/B/C"] }
        try await register("late", "us") { $0.revision = revision - 1 }
        try await bench.register("lacking", build: other.hash) { $0.revision = revision }
        let holdings = FleetHoldings(
            try await bench.fleet().look(), try await bench.fleet().population().live,
            try await bench.fleet().builds(), keys: bench.keys
        ) { $0.joined.hasPrefix("A/") }
        #expect(holdings.paths.map(\.joined) == ["A/B/C"])
        #expect(
            holdings.of(holdings.paths[0]).map { "\($0.count) \($0.text)" } == [
                "4 64", "2 80 by rollout r1", "1 64, not yet reported", "1 a build that lacks it",
                "1 a local override above 64", "1 refused, so what was there before",
            ])
    }
}

@Suite struct SummaryTests {
    private let bench = OperatorBench()

    @Test func `The newest start of a process counts, and garbage harms itself alone`() async throws {
        try await bench.register("i1", start: 9, build: "new")
        try await bench.register("i1", start: 10, build: "newest")
        try await bench.register("i1", start: 2, build: "old")
        try await bench.register("i2")
        try await bench.put(Array("/tweaks/api/instances/i3/x".utf8), Array("{}".utf8))
        try await bench.put(bench.keys.instance("i4", start: 1), Array("garbage".utf8))
        var population = try await bench.fleet().population()
        #expect(population.live.map(\.status.build) == ["newest", "b1"] && population.garbage.count == 2)
        let key = bench.keys.instance("i1", start: 10)
        population.apply(
            EtcdHeader(clusterID: 1, revision: 99), [EtcdEvent(.delete, EtcdKeyValue(key: key, modRevision: 99))])
        #expect(population.live.map(\.status.build) == ["new", "b1"] && population.revision == 99)
    }

    @Test func `Statuses are summed up`() async throws {
        let revision = try await bench.fleet().set([try bench.assignment("A/B/C", .int(64))]).header.revision
        for number in 0..<4 {
            try await bench.register("i\(number)", build: number == 0 ? "b2" : "b1") { status in
                status.revision = number == 3 ? revision - 1 : revision
                status.isUnstable = number == 1
                if number < 2 { status.refused = [.init(rollout: nil, path: "A/B/C", reason: "too large")] }
                status.covered = number == 2 ? ["A/B/C"] : []
                status.trouble = number == 3 ? "another cluster" : nil
            }
        }
        let summary = FleetSummary(
            try await bench.fleet().look(), try await bench.fleet().population(), builds: ["b1"])
        #expect(summary.live == 4 && summary.unstable == 1 && summary.lagging.map(\.id) == ["i3"])
        #expect(
            summary.builds == [
                .init(hash: "b1", live: 3, isKnown: true), .init(hash: "b2", live: 1, isKnown: false),
            ])
        #expect(summary.refusals.map(\.count) == [2] && summary.refusals.map(\.example) == ["i0"])
        #expect(summary.covered.map(\.path) == ["A/B/C"] && summary.trouble.map(\.example) == ["i3"])
    }
}
