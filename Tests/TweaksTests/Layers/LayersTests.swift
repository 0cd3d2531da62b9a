// Tests layers: which one applies, what a reset uncovers, and what is recorded for each.

import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

struct LayersTests {
    private let registry = TweakRegistry()
    private let tweak: Tweak<Int>
    private let calls: ChangeRecorder<[Int]>

    init() {
        tweak = Tweak("A", "B", "C", 5, registry: registry)
        calls = ChangeRecorder(tweak) { [$0.old, $0.new] }
    }

    private var layers: [TweakLayer] { tweak.erased.layers.map(\.layer) }

    private let table = LayerTable()

    private func index(_ layer: TweakLayer) -> LayerIndex {
        table.index(of: layer) ?? (layer == .override ? .override : .temporaryOverride)
    }

    private func entry(_ layer: TweakLayer, _ value: Int64) throws -> Overlays.Entry {
        let prepared = try #require(TypedCore(0, choices: []).prepare(.int(value)))
        return Overlays.Entry(layer: index(layer), prepared: prepared, origin: .code, time: .now)
    }

    @Test(arguments: [
        [TweakLayer.configFile, .override, .temporaryOverride], [.temporaryOverride, .override, .configFile],
        [.override, .temporaryOverride, .configFile], [.override, .configFile, .temporaryOverride],
    ])
    func theHighestLayerAppliesAndSettingOneAgainReplacesIt(_ order: [TweakLayer]) throws {
        var overlays = Overlays()
        for layer in order { overlays.set(try entry(layer, 9), in: table) }
        for layer in order { overlays.set(try entry(layer, Int64(layer.rank)), in: table) }
        #expect(overlays.entries.map { table[$0.layer] } == [.configFile, .override, .temporaryOverride])
        for layer in [TweakLayer.temporaryOverride, .override, .configFile] {
            #expect(overlays.top?.value == .int(Int64(layer.rank)))
            overlays.remove(index(layer))
        }
        #expect(overlays.top == nil && order.allSatisfy { overlays[index($0)] == nil })
    }

    @Test func layersAreOrderedAndNamedAndActionsHaveNone() {
        let names = [
            "default", "config file", "environment", "arguments", "fleet", "override", "temporary override",
        ]
        let layers: [TweakLayer] = [
            .default, .configFile, .environment, .arguments, .fleet, .override, .temporaryOverride,
        ]
        #expect(layers == layers.reversed().sorted() && layers.map(\.description) == names)
        let action = tweakAction("A", "B", "Run", registry: registry) { _ in "" }
        #expect(registry["A/B/Run"]?.layers.isEmpty == true && action.path.name == "Run")
    }

    @Test func aPlainSetEndsATemporaryOverrideAndAResetUncoversTheConfigFile() throws {
        let entries = try [entry(.configFile, 2), entry(.override, 3), entry(.temporaryOverride, 4)]
        registry.state.withLock { state in
            for entry in entries { state.overlays[tweak.node.slot].set(entry, in: table) }
        }
        #expect(tweak.erased.value == .int(4))
        // The override is 3 already; the change is that the temporary one ends.
        #expect(try tweak.set(3).didStore)
        #expect(tweak.value == 3 && tweak.erased.layers.map(\.value) == [.int(5), .int(2), .int(3)])
        #expect(tweak.reset()?.new == .int(2) && tweak.value == 2 && tweak.isModified)
        #expect(tweak.reset()?.didStore == false)
    }

    @Test func anOverrideThatEqualsTheDefaultRaisesTheRevisionAndChangesNoValue() throws {
        var commits = CommitReader(registry.follow(.folds) {})
        let outcome = try tweak.set(5)
        #expect(registry.revision == 1 && outcome.didStore && !outcome.didChange && layers == [.default, .override])
        #expect(!tweak.isModified && !registry.snapshot().isModified(tweak.node) && commits.next() == nil)
        #expect(try tweak.set(5).didStore == false && registry.revision == 1 && tweak.reset()?.didStore == true)
        #expect(registry.revision == 2 && calls.all.isEmpty && layers == [.default])
        // Any other override does.
        try tweak.set(6)
        tweak.reset()
        #expect(tweak.value == 5 && calls.all == [[5, 6], [6, 5]] && registry.revision == 4)
    }

    @Test func eachLayerHasItsOriginAndTime() throws {
        let start = Moment.now
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
        #expect(layers.map(\.moment) == [declared, ticks.value].map { start.advanced(by: .seconds($0)) })
        try registry.commit(origin: TweakOrigin("the\npanel")) { $0.set(tweak, 7) }
        #expect(tweak.erased.layers.last?.origin.description == "the\u{FFFD}panel")
    }

    @Test func freezingResetsAllValuesExceptMetrics() throws {
        let text = Tweak("A", "B", "Text", "default", registry: registry)
        let metric = Tweak("A", "B", "Figure", 1, flags: .readOnly, registry: registry)
        try tweak.set(6)
        try text.set("other")
        try metric.set(2)
        var commits = CommitReader(registry.follow(.folds) {})
        registry.freeze()
        #expect(tweak.value == 5 && text.value == "default" && registry.snapshot()[text] == "default")
        #expect(!tweak.isModified && layers == [.default] && calls.all == [[5, 6], [6, 5]] && commits.next() != nil)
        #expect(metric.value == 2)
    }

    @Test func aFrozenRegistryRefusesSetsAndResetsExceptOfMetrics() throws {
        let metric = Tweak("A", "B", "Figure", 1, flags: .readOnly, registry: registry)
        registry.freeze()
        let late = Tweak("A", "B", "Late", 7, registry: registry)
        for change: () throws -> Void in [{ try tweak.set(6) }, { try tweak.erased.reset() }, { try late.set(8) }] {
            #expect(refusal(change)?.code == .readOnly)
        }
        tweak.value = 6
        #expect(tweak.value == 5 && tweak.reset() == nil && registry.revision == 0)
        try metric.set(3)
        #expect(metric.value == 3)
    }
}
