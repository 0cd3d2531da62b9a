// Tests sources of values: what their sinks change, what they are asked for, and how they are opened and stopped.

import Foundation
import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

struct ValueSourceTests {
    private let registry = TweakRegistry()
    private let size: Tweak<Double>
    private let count: Tweak<Int>
    private let own = TweakLayer("feature service", rank: 350)

    init() throws {
        size = try registry.register("A", "B", "Size", 50.0, in: 10...100)
        count = try registry.register("A", "B", "Count", 1, in: 0...9)
    }

    private func path(_ name: String) throws -> TweakPath { try TweakPath("A/B/\(name)") }

    /// Opens a source, and returns its sink.
    private func opened(_ source: HandSource) throws -> (sources: OpenSources, sink: TweakSourceSink) {
        let sources = try registry.open(source)
        try sources.start()
        return (sources, try #require(source.sink))
    }

    private func sink() throws -> TweakSourceSink { try opened(HandSource(own)).sink }

    // MARK: Changing

    @Test func `Values are a layer by its rank, with their origin or the layer's name`() throws {
        registry.replace(.configFile, with: ["A/B/Size": "60"])
        let result = try sink().replace([
            path("Size"): .text("70", origin: TweakOrigin("a.json:3")), path("Count"): .value(.int(4)),
        ])
        #expect(result.changed.map(\.joined) == ["A/B/Size", "A/B/Count"] && result.refusals.isEmpty)
        #expect(result.revision == registry.revision && !result.isIgnored && result.pending == 0)
        let layers = size.erased.layers.map(\.description)
        #expect(layers == ["default 50 by code", "config file 60 by a.conf:1", "feature service 70 by a.json:3"])
        #expect(count.erased.layers.last?.description == "feature service 4 by feature service")
    }

    @Test func `A replacement removes the other values, an update only those that are nil`() throws {
        let sink = try sink()
        sink.replace([try path("Size"): .text("70"), try path("Count"): .text("4")])
        sink.update([try path("Size"): .text("71")])
        #expect(size.value == 71 && count.value == 4)
        sink.update([try path("Count"): nil])
        #expect(size.value == 71 && count.value == 1)
        sink.replace([try path("Count"): .text("5")])
        #expect(size.value == 50 && count.value == 5)
        sink.replace([:])
        #expect(count.value == 1 && count.erased.layers.map(\.layer) == [.default])
    }

    @Test(arguments: [true, false], [TweakSourceRule.each, .allOrNothing])
    func `A bad value is refused alone or with all others, and its path is in the result`(
        isWhole: Bool, rule: TweakSourceRule
    ) throws {
        let sink = try sink()
        sink.replace([try path("Size"): .text("70"), try path("Count"): .text("4")])
        let values = [try path("Size"): TweakSourceEntry.text("700"), try path("Count"): .text("5")]
        let result = isWhole ? sink.replace(values, rule) : sink.update(values, rule)
        #expect(result.refusals.map(\.path?.joined) == ["A/B/Size"])
        #expect(result.refusals.map(\.code) == [.outOfRange])
        #expect(size.value == 70 && count.value == (rule == .each ? 5 : 4))
        #expect(result.changed.map(\.joined) == (rule == .each ? ["A/B/Count"] : []))
        #expect(registry.quarantined(size.node).map(\.layer) == (rule == .each ? [own] : []))
    }

    @Test func `A check changes nothing, and says what would`() throws {
        let sink = try sink()
        let result = sink.check([
            try path("Size"): .text("700"), try path("Count"): .text("5"), try path("Late"): .text("1"),
        ])
        #expect(result.refusals.map(\.code) == [.outOfRange] && result.changed.map(\.joined) == ["A/B/Count"])
        #expect(result.pending == 1 && result.revision == 0 && count.value == 1)
        #expect(registry.quarantined(size.node).isEmpty)
        #expect(try registry.pendingEntries(path("Late")).isEmpty)
    }

    @Test func `A whole number fits a tweak of numbers`() throws {
        try sink().update([path("Size"): .value(.int(70))])
        #expect(size.value == 70)
    }

    @Test func `The same bad value is reported once, and again with another reason`() throws {
        let reported = Recorder<String>()
        registry.onInvalid { path, entry in reported.note("\(path.name): \(entry.reason.code.rawValue)") }
        let sink = try sink()
        for text in ["700", "700", "x", "x", "70", "700"] { sink.replace([try path("Size"): .text(text)]) }
        #expect(reported.all == ["Size: out-of-range", "Size: bad-value", "Size: out-of-range"])
    }

    @Test func `A path may be a former one, and the present one wins`() throws {
        let speed = try registry.register("A", "B", "Speed", 1, in: 0...9, formerly: "A/B/Velocity")
        let sink = try sink()
        sink.replace([try path("Velocity"): .text("3")], .allOrNothing)
        #expect(speed.value == 3)
        let result = sink.replace([try path("Velocity"): .text("3"), try path("Speed"): .text("4")], .allOrNothing)
        #expect(speed.value == 4 && result.refusals.isEmpty)
    }

    @Test func `Values of a change are one commit that undo skips, and those of the start are no change`() throws {
        let changes = ChangeRecorder(count) { "\($0.new) \($0.origin)" }
        let source = HandSource(own, loads: [try path("Count"): .text("3")])
        let sink = try opened(source).sink
        #expect(count.value == 3 && registry.history(last: 10).isEmpty)
        sink.update([try path("Count"): .text("4"), try path("Size"): .text("60")], origin: TweakOrigin("release 7"))
        #expect(changes.all.last == "4 release 7")
        #expect(registry.history(last: 10).map(\.origin.description) == ["release 7"])
        try size.set(90)
        try registry.undo()
        #expect(size.value == 60 && count.value == 4)
        #expect(sink.coveredPaths.isEmpty)
        try size.set(90)
        #expect(sink.coveredPaths.map(\.joined) == ["A/B/Size"])
    }

    @Test func `Observers run on the executor, and may call the sink`() throws {
        let executor = HandExecutor()
        registry.observerExecutor = executor
        let sink = try sink()
        let other = try path("Count")
        let observation = size.observe { _ in sink.update([other: .text("7")]) }
        sink.update([try path("Size"): .text("60")])
        #expect(count.value == 1)
        executor.runAll()
        #expect(count.value == 7)
        observation.cancel()
    }

    @Test(.tags(.quantity)) func `Calls of several threads take effect one after the other`() throws {
        let (sink, other) = (try sink(), try registry.register("A", "B", "Twin", 50.0, in: 10...100))
        let paths = [try path("Size"), try path("Twin")]
        let torn = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for round in 0..<quantity(1_000) {
                let text = "\(10 + (thread * 17 + round) % 90)"
                let result = sink.replace([paths[0]: .text(text), paths[1]: .text(text)])
                let snapshot = registry.snapshot()
                let values = paths.map { snapshot[$0.joined] }
                if values[0] != values[1] || result.isIgnored { torn.add(1, ordering: .relaxed) }
            }
        }
        #expect(torn.load(ordering: .relaxed) == 0 && size.value == other.value)
    }

    // MARK: Being asked

    @Test func `A source is asked at the opening for what is registered, and later when a tweak registers`() throws {
        let source = HandSource(own, answers: ["A/B/Size": .text("70"), "A/B/Late": .text("3"), "A/B/Old": .text("4")])
        let sink = try opened(source).sink
        #expect(size.value == 70 && registry.history(last: 10).isEmpty)
        #expect(try registry.register("A", "B", "Late", 1, in: 0...9).value == 3)
        let new = try registry.register("A", "B", "New", 1, in: 0...9, formerly: "A/B/Old")
        #expect(new.value == 4 && new.erased.layers.last?.layer == own)
        // A tweak that has the name now is the one that is asked for.
        #expect(try registry.register("A", "B", "Old", 1, in: 0...9).value == 4)
        #expect(try registry.register("A", "B", "Newer", 1, in: 0...9, formerly: "A/B/Old").value == 1)
        sink.update([try path("Late"): .text("5")])
        #expect(registry["A/B/Late"]?.value == .int(5))
        registry.remove(try path("Late"))
        source.answer("A/B/Late", .text("6"))
        #expect(try registry.register("A", "B", "Late", 1, in: 0...9).value == 6)
    }

    @Test func `A bad answer is quarantined, and the next layer applies`() throws {
        registry.replace(.configFile, with: ["A/B/Size": "60", "A/B/Late": "2"])
        _ = try opened(HandSource(own, answers: ["A/B/Size": .text("700"), "A/B/Late": .text("x")]))
        let late = try registry.register("A", "B", "Late", 1, in: 0...9)
        #expect(size.value == 60 && late.value == 2)
        #expect(registry.quarantined(late.node).map(\.layer) == [own])
        #expect(registry.quarantined(size.node).map(\.reason.code) == [.outOfRange])
    }

    @Test func `A source can ask for the tweak, before it is registered too; its value is the default then`() throws {
        struct Kinds: TweakValueSource {
            let layer = TweakLayer("kinds", rank: 150)
            let asked = Recorder<String>()
            func start(_ sink: TweakSourceSink) {}
            func entry(for path: TweakPath, of tweak: AnyTweak) -> TweakSourceEntry? {
                asked.note("\(path.name) \(tweak.path.name) \(tweak.kind) \(tweak)")
                return tweak.kind == .bool ? .value(.bool(true)) : nil
            }
        }
        let source = Kinds()
        let sources = try registry.open(source)
        defer { sources.stop() }
        let isOn = try registry.register("A", "B", "On", false, formerly: "A/B/Off")
        #expect(isOn.value)
        let calls = ["Size Size number A/B/Size = 50", "Count Count int A/B/Count = 1", "On On bool A/B/On = false"]
        #expect(Array(source.asked.all.prefix(3)) == calls)
        let secret = try registry.register("A", "B", "Key", "x", formerly: "A/B/Pass", flags: .secret)
        #expect(source.asked.all.suffix(2) == ["Key Key string A/B/Key = (set)", "Pass Key string A/B/Key = (set)"])
        #expect(secret.value == "x")
    }

    @Test func `The generation is raised by each registration and removal, and by nothing else`() throws {
        let generation = registry.generation
        count.value = 3
        #expect(registry.generation == generation)
        _ = try registry.register("A", "B", "Count", 1, in: 0...9)
        #expect(registry.generation == generation)
        let late = try registry.register("A", "B", "Late", 1)
        let registered = registry.generation
        registry.remove(late.path)
        #expect(registered > generation && registry.generation > registered)
    }

    @Test func `A source that changes its values whenever it is asked ends no registration`() throws {
        final class Restless: TweakValueSource {
            let layer = TweakLayer("restless", rank: 1)
            let sink = Mutex<TweakSourceSink?>(nil)
            func load(_ sink: TweakSourceSink) { self.sink.withLock { $0 = sink } }
            func start(_ sink: TweakSourceSink) {}
            func entry(for path: TweakPath) -> TweakSourceEntry? {
                sink.withLock { $0 }?.update([path: nil])
                return .text("7")
            }
        }
        let sources = try OpenSources([Restless()], of: registry, SourceSetting(daemon: "test"))
        #expect(count.value == 7)
        #expect(try registry.register("A", "B", "Late", 1, in: 0...9).value == 7)
        sources.stop()
    }

    // MARK: Opening and stopping

    @Test func `A source is loaded, started, reloaded and stopped once`() throws {
        let source = HandSource(own)
        let sources = try registry.open(source)
        try sources.start()
        sources.reload()
        sources.stop()
        sources.stop()
        sources.reload()
        #expect(source.calls == ["load", "start", "reload", "stop"])
        let status = sources.status.map { "\($0.name) \($0.value?.text ?? "null")" }
        #expect(status == [#"featureService "x""#, "featureServiceState 3", "featureServiceAge null"])
    }

    @Test func `After the stop calls change nothing and say so, values stay, and the layer can be opened again`() throws
    {
        let source = HandSource(own, answers: ["A/B/Late": .text("3")])
        let (sources, sink) = try opened(source)
        sink.update([try path("Size"): .text("70")])
        sources.stop()
        for result in [
            sink.replace([:]), sink.update([try path("Size"): .text("80")]),
            sink.check([try path("Size"): .text("80")]),
        ] { #expect(result.isIgnored && result.changed.isEmpty && result.revision == registry.revision) }
        #expect(size.value == 70)
        #expect(try registry.register("A", "B", "Late", 1, in: 0...9).value == 1)
        let again = try opened(HandSource(own)).sink
        again.replace([:])
        #expect(size.value == 50)
        #expect(try sink.update([path("Size"): .text("80")]).isIgnored && size.value == 50)
    }

    @Test(.tags(.quantity)) func `Once the stop has returned, no call of another thread changes anything`() throws {
        let path = try path("Size")
        for _ in 0..<quantity(100) {
            let (sources, sink) = try opened(HandSource(own))
            let (started, ended) = (Signal(), Signal())
            Thread.detachNewThread {
                for number in 0... {
                    let result = sink.update([path: .text("\(10 + number % 90)")])
                    if number == 3 { started.send() }
                    if result.isIgnored { break }
                }
                ended.send()
            }
            started.wait()
            sources.stop()
            let revision = registry.revision
            ended.wait()
            #expect(registry.revision == revision)
        }
    }

    @Test func `In a frozen registry calls are ignored`() throws {
        let sink = try sink()
        registry.freeze()
        #expect(try sink.update([path("Size"): .text("80")]).isIgnored)
        #expect(size.value == 50)
        #expect(try !sink.check([path("Size"): .text("80")]).isIgnored)
    }

    @Test func `A source that does not start says so with its layer`() throws {
        let bad = HandSource(own, failsWith: TweakError(.io, "no disk; insert one"))
        let sources = try registry.open(bad, HandSource(TweakLayer("other", rank: 2)))
        let error = #expect(throws: TweakError.self) { try sources.start() }
        #expect(error?.message == "the source of the layer feature service does not start: no disk; insert one")
        sources.stop()
        #expect(bad.calls == ["load", "start", "stop"])
    }

    @Test(
        arguments: [
            (
                [TweakLayer.fleet, .fleet],
                "the sources HandSource and HandSource have the same layer, fleet; leave one"
            ),
            (
                [TweakLayer("a", rank: 7), TweakLayer("b", rank: 7)],
                "the layer b of rank 7 is too much like the layer a"
            ),
            (
                [TweakLayer("a", rank: 7), TweakLayer("a", rank: 8)],
                "the layer a of rank 8 is too much like the layer a"
            ),
            (
                [TweakLayer("a", rank: 200)],
                "the layer a of rank 200 is too much like the layer environment of rank 200"
            ),
            ([TweakLayer("a", rank: 0)], "the layer “a” has the rank 0; use one from 1 to 999"),
            ([TweakLayer("a", rank: 1_000)], "the layer “a” has the rank 1000; use one from 1 to 999"),
            ([.override], "the layer “override” has the rank 1000"), ([.default], "the layer “default” has the rank 0"),
            ([TweakLayer("My Layer", rank: 7)], "the layer name “My Layer” is not 1 to 18 of a–z"),
            ([TweakLayer("", rank: 7)], "the layer name “” is not 1 to 18"),
            ([TweakLayer("my override", rank: 7)], "the layer name “my override” contains override"),
            ([TweakLayer("old fleet", rank: 7)], "the layer name “old fleet” contains fleet"),
        ] as [([TweakLayer], String)])
    func `Layers that sources cannot have open none of them`(layers: [TweakLayer], message: String) throws {
        let first = HandSource(TweakLayer("first", rank: 5))
        let sources = [first] + layers.map { HandSource($0) }
        let error = #expect(throws: TweakError.self) {
            _ = try OpenSources(sources, of: registry, SourceSetting(daemon: "test"))
        }
        #expect(error?.message.hasPrefix(message) == true, "\(String(describing: error))")
        #expect(first.calls.isEmpty)
        // Nothing is left open.
        try registry.open(HandSource(TweakLayer("first", rank: 6))).stop()
    }

    @Test func `A layer that is open cannot be opened for another daemon of the registry`() throws {
        let first = try registry.open(HandSource(own))
        #expect(throws: TweakError.self) { _ = try registry.open(HandSource(own)) }
        first.stop()
        try registry.open(HandSource(own)).stop()
    }
}
