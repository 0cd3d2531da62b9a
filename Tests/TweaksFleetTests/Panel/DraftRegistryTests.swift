// Tests the registry of a fleet's page: declarations of builds, the fleet's values, and drafts.

import Testing
import Tweaks

@testable import TweaksFleet
@testable import TweaksFleetOperator

@Suite struct DraftRegistryTests {
    private let harness = OperatorHarness()
    private let path = "A/B/Size"

    /// Declares a build with a process that started at a time.
    private func build(
        _ started: Int64, live: Bool = true, _ declare: (TweakRegistry) throws -> Void
    ) throws -> String {
        let registry = TweakRegistry()
        try declare(registry)
        let build = FleetBuild(registry)
        harness.etcd.put(harness.keys.build(build.hash), build.bytes)
        if live { harness.register("at\(started)", build: build.hash) { $0.started = started } }
        return build.hash
    }

    private func update(_ drafts: inout DraftRegistry) async throws {
        let fleet = harness.fleet()
        drafts.declare(try await fleet.builds(), try await fleet.instanceStatuses().live)
        drafts.apply(try await fleet.readState(), now: 1_000_000)
    }

    @Test func `Every kind has its limits, texts and default`() async throws {
        _ = try build(1) { registry in
            _ = try registry.register(
                "A", "B", "Size", 60.0, in: 10...100, step: 0.5, scale: .linear, unit: "pt", help: "How large")
            _ = try registry.register("A", "B", "Decades", 10.0, in: 1...1_000, scale: .logarithmic)
            _ = try registry.register("A", "B", "On", true)
            _ = try registry.register("A", "B", "Side", "left", choices: ["left", "right"])
            _ = try registry.register("A", "B", "Fade", .milliseconds(250), in: .zero ... .seconds(5))
            _ = try registry.register("A", "B", "Color", TweakColor(red8: 255, green8: 0, blue8: 0))
            _ = try registry.register("A", "B", "Point", TweakPoint(x: 1, y: 2))
            _ = try registry.register("A", "B", "Curve", TweakCurve.easeIn)
            _ = try registry.register("A", "B", "List", [1, 2], in: 0...9)
            _ = try registry.register("A", "B", "Maybe", Double?.none, in: 0...1)
            _ = try registry.register("A", "B", "Large", UInt64.max)
            _ = try registry.register("A", "B", "Key", "hunter2", flags: .secret)
            _ = try registry.register("A", "B", "Figure", 1.0, flags: .readOnly)
            tweakAction("A", "B", "Act", registry: registry) { _ in "" }
        }
        var drafts = DraftRegistry()
        try await update(&drafts)
        let found = drafts.registry.listing().nodes.map { "\($0.path.name) \($0.defaultValue?.text ?? "")" }.sorted()
        let wanted = [
            "Color #FF0000FF", "Curve cubic-bezier(0.42,0,1,1)", "Decades 10.0", "Fade 250ms",
            #"Key """#, "Large 18446744073709551615",
            "List [1, 2]", "Maybe none", "On true", "Point 1,2", "Side left", "Size 60.0",
        ]
        #expect(found.map { $0.replacing(".0", with: "") } == wanted.map { $0.replacing(".0", with: "") })
        let size = try #require(drafts.registry[path])
        #expect(size.unit == "pt" && size.help == "How large" && size.step == .number(0.5))
        #expect(throws: TweakError.self) { try size.set(.number(500)) }
        #expect(drafts.registry["A/B/Decades"]?.scale == .logarithmic)
        #expect(drafts.undefaulted.isEmpty)
    }

    @Test func `The newest live build wins, and differences are known`() async throws {
        _ = try build(10) { _ = try $0.register("A", "B", "Size", 1, in: 0...10) }
        _ = try build(20) { _ = try $0.register("A", "B", "Size", 2, in: 0...20) }
        _ = try build(30, live: false) { _ = try $0.register("A", "B", "Size", 3, in: 0...30) }
        var drafts = DraftRegistry()
        try await update(&drafts)
        #expect(drafts.registry[path]?.upperBound == .int(20))
        #expect(drafts.differing.map(\.joined) == [path])
        harness.etcd.delete(.prefix(harness.keys.instance("at20", start: 1)))
        try await update(&drafts)
        #expect(drafts.registry[path]?.upperBound == .int(10) && drafts.differing.isEmpty)
    }

    @Test func `A draft stays through changes of the fleet and of builds that allow it`() async throws {
        _ = try build(10) { _ = try $0.register("A", "B", "Size", 1, in: 0...10) }
        try harness.put(path, .int(5))
        var drafts = DraftRegistry()
        try await update(&drafts)
        let tweak = try #require(drafts.registry[path])
        #expect(tweak.value == .int(5) && tweak.layers.last?.layer == .fleet && drafts.drafts.isEmpty)
        _ = try tweak.set(.int(7))
        try harness.put(path, .int(6))
        try await update(&drafts)
        #expect(try drafts.draft(of: TweakPath(path)) == .int(7))
        _ = try build(20) { _ = try $0.register("A", "B", "Size", 1, in: 0...20) }
        try await update(&drafts)
        #expect(drafts.registry[path]?.value == .int(7) && drafts.registry[path]?.layers.count == 3)
        _ = try build(30) { _ = try $0.register("A", "B", "Size", 1, in: 0...6) }
        try await update(&drafts)
        #expect(drafts.drafts.isEmpty && drafts.registry[path]?.value == .int(6))
    }

    @Test func `Only drafts that are as they were written are discarded`() async throws {
        _ = try build(10) { registry in
            for name in ["Size", "Other", "*"] { _ = try registry.register("A", "B", name, 1) }
        }
        var drafts = DraftRegistry()
        try await update(&drafts)
        for (name, value) in [("Size", Int64(7)), ("Other", 8), ("*", 9)] {
            _ = try drafts.registry["A/B/\(name)"]?.set(.int(value))
        }
        drafts.discard([try harness.assignment("A/B/*", .int(9)), try harness.assignment("A/B/Size", .int(6))])
        #expect(Set(drafts.drafts.map(\.name)) == ["Size", "Other"])
    }

    @Test func `Older builds have no defaults, and hostile texts are not shown`() async throws {
        let text = #"""
            {"tweaks":[{"path":"A/B/Old","kind":"int","min":5,"max":9},{"path":"A/B/Bad","kind":"int","initial":"x"},
            {"path":"A/B/Evil","kind":"int","initial":1,"unit":"\u202egpj","help":"a\u202eb"}]}
            """#
        harness.etcd.put(harness.keys.build("x"), utf8(text.replacing("\n", with: "")))
        harness.register("i1", build: "x")
        var drafts = DraftRegistry()
        try await update(&drafts)
        #expect(drafts.registry["A/B/Old"]?.value == .int(5) && drafts.registry["A/B/Bad"]?.value == .int(0))
        #expect(Set(drafts.undefaulted.map(\.name)) == ["Old", "Bad"])
        let evil = try #require(drafts.registry["A/B/Evil"])
        #expect(evil.unit == nil && evil.help.map { Quoting.isSafe($0) } == true)
    }
}
