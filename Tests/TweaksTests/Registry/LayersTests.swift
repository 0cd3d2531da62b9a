// Layers: which one shows, what reset uncovers, and what explain is told.

import Synchronization
import Testing

@testable import Tweaks

struct LayersTests {
    private let registry = TweakRegistry()

    // MARK: The model

    private func entry(_ layer: TweakLayer, _ value: Int64) throws -> Overlays.Entry {
        let prepared = try #require(TypedCore(0, choices: []).prepare(.int(value)))
        return Overlays.Entry(layer: layer, prepared: prepared, origin: .code, time: .now)
    }

    @Test func theHighestLayerPresentShows() throws {
        let orders: [[TweakLayer]] = [
            [.configFile, .override, .temporaryOverride], [.temporaryOverride, .override, .configFile],
            [.override, .temporaryOverride, .configFile], [.override, .configFile, .temporaryOverride],
        ]
        for order in orders {
            var overlays = Overlays()
            for layer in order { overlays.set(try entry(layer, Int64(layer.rawValue))) }
            #expect(overlays.entries.map(\.layer) == [.configFile, .override, .temporaryOverride])
            for layer in [TweakLayer.temporaryOverride, .override, .configFile] {
                #expect(overlays.top?.value == .int(Int64(layer.rawValue)))
                overlays.remove(layer)
            }
            #expect(overlays.top == nil)
        }
    }

    @Test func settingALayerAgainReplacesIt() throws {
        var overlays = Overlays()
        for value in 1...3 { overlays.set(try entry(.override, Int64(value))) }
        #expect(overlays.entries.count == 1 && overlays[.override]?.prepared.value == .int(3))
        #expect(overlays[.configFile] == nil)
    }

    @Test func layersAreOrderedAndNamed() {
        #expect(TweakLayer.allCases == TweakLayer.allCases.sorted())
        #expect(
            TweakLayer.allCases.map(\.description) == [
                "default", "config file", "fleet", "override", "temporary override",
            ])
    }

    /// As storage will put them there; then sets and resets through the front door.
    @Test func aPlainSetEndsATemporaryOverrideAndAResetUncoversTheConfigFile() throws {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let entries = try [entry(.configFile, 2), entry(.override, 3), entry(.temporaryOverride, 4)]
        registry.state.withLock { state in
            for entry in entries { state.overlays[tweak.node.slot].set(entry) }
        }
        #expect(tweak.erased.value == .int(4))
        // The override holds 3 already; what changes is that the temporary one ends.
        #expect(try tweak.set(3).didStore)
        #expect(tweak.value == 3 && tweak.erased.layers.map(\.value) == [.int(1), .int(2), .int(3)])
        #expect(tweak.reset()?.new == .int(2))
        #expect(tweak.value == 2 && tweak.isModified)
        #expect(tweak.reset()?.didStore == false)
    }

    // MARK: Reset against set to the default

    @Test func settingTheDefaultIsAnOverrideThatChangesNothing() throws {
        let tweak = Tweak("A", "B", "C", 5, registry: registry)
        let calls = Recorder<Int>()
        let token = tweak.observe { calls.note($0.new) }
        var commits = CommitReader(registry.follow(.folds) {})
        let outcome = try tweak.set(5)
        #expect(registry.revision == 1 && outcome.didStore && !outcome.didChange)
        #expect(tweak.erased.layers.map(\.layer) == [.default, .override])
        #expect(!tweak.isModified && !registry.snapshot().isModified(tweak.node))
        #expect(calls.all.isEmpty && commits.next() == nil)
        #expect(try tweak.set(5).didStore == false)
        #expect(registry.revision == 1)
        token.cancel()
    }

    @Test func resettingSuchAnOverrideRaisesTheRevisionAndStaysSilent() throws {
        let tweak = Tweak("A", "B", "C", 5, registry: registry)
        try tweak.set(5)
        let calls = Recorder<Int>()
        let token = tweak.observe { calls.note($0.new) }
        #expect(tweak.reset()?.didStore == true)
        #expect(registry.revision == 2 && calls.all.isEmpty)
        #expect(tweak.erased.layers.map(\.layer) == [.default])
        token.cancel()
    }

    @Test func aResetRemovesTheOverrideAndTellsObservers() throws {
        let tweak = Tweak("A", "B", "C", 5, registry: registry)
        try tweak.set(6)
        let calls = Recorder<[Int]>()
        let token = tweak.observe { calls.note([$0.old, $0.new]) }
        tweak.reset()
        #expect(tweak.value == 5 && calls.all == [[6, 5]] && registry.revision == 2)
        token.cancel()
    }

    // MARK: Who and when

    @Test func eachLayerSaysWhoSetItAndWhen() throws {
        let start = ContinuousClock.now
        let ticks = Box(0)
        let registry = TweakRegistry(now: {
            ticks.value += 1
            return start.advanced(by: .seconds(ticks.value))
        })
        let tweak = Tweak("A", "B", "C", 5, registry: registry)
        let declared = ticks.value
        try registry.commit(origin: .user(1000)) { $0.set(tweak, 6) }
        let layers = tweak.erased.layers
        #expect(layers.map(\.origin.description) == ["code", "uid 1000"])
        #expect(layers.map(\.value) == [.int(5), .int(6)])
        #expect(layers.map(\.time) == [declared, ticks.value].map { start.advanced(by: .seconds($0)) })
        try registry.commit(origin: TweakOrigin("the\npanel")) { $0.set(tweak, 7) }
        #expect(tweak.erased.layers.last?.origin.description == "the\u{FFFD}panel")
    }

    @Test func anActionHasNoLayers() {
        let action = tweakAction("A", "B", "Run", registry: registry) { _ in "" }
        #expect(registry["A/B/Run"]?.layers.isEmpty == true && action.path.name == "Run")
    }

    // MARK: Frozen

    @Test func whenFrozenValuesAreTheirDefaults() throws {
        let number = Tweak("A", "B", "Number", 5, registry: registry)
        let text = Tweak("A", "B", "Text", "default", registry: registry)
        let figure = Tweak("A", "B", "Figure", 1, flags: .readOnly, registry: registry)
        let calls = Recorder<Int>()
        try number.set(6)
        try text.set("other")
        try figure.set(2)
        let token = number.observe { calls.note($0.new) }
        var commits = CommitReader(registry.follow(.folds) {})
        registry.freeze()
        #expect(number.value == 5 && text.value == "default" && registry.snapshot()[text] == "default")
        #expect(!number.isModified && number.erased.layers.map(\.layer) == [.default])
        #expect(calls.all == [5] && commits.next() != nil)
        #expect(figure.value == 2)
        token.cancel()
    }

    @Test func whenFrozenSetsAndResetsAreRefusedAndFiguresGoOn() throws {
        let tweak = Tweak("A", "B", "C", 5, registry: registry)
        let figure = Tweak("A", "B", "Figure", 1, flags: .readOnly, registry: registry)
        registry.freeze()
        #expect(refusal { try tweak.set(6) }?.code == .readOnly)
        #expect(refusal { try tweak.erased.reset() }?.code == .readOnly)
        tweak.value = 6
        #expect(tweak.value == 5 && tweak.reset() == nil && registry.revision == 0)
        try figure.set(3)
        #expect(figure.value == 3)
        let late = Tweak("A", "B", "Late", 7, registry: registry)
        #expect(refusal { try late.set(8) }?.code == .readOnly)
    }
}
