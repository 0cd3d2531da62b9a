// Compares layers of sources with a naive model: random ranks, replacements, pending, quarantined and overridden values.

import Testing
import TweaksTestSupport

@testable import Tweaks

/// The expected behavior of tweaks of 0...9 whose default is 0, by one dictionary for each thing that can be known.
private struct LayerModel {
    struct Held {
        /// The value in use by registered tweaks.
        var values: [Int: Int] = [:]
        /// The values that registered tweaks refuse.
        var refused: [Int: Int] = [:]
        /// The values for tweaks that are not registered.
        var pending: [Int: Int] = [:]
        /// What the source has when it is asked.
        var answers: [Int: Int] = [:]
    }

    /// Lowest layer first.
    var layers: [Held]
    var registered: Set<Int> = []
    var overrides: [Int: Int] = [:]
    var temporary: [Int: (value: Int, end: Int)] = [:]

    static func isGood(_ value: Int) -> Bool { (0...9).contains(value) }

    /// - Returns: The tweaks that change, and those whose values are refused.
    mutating func change(
        _ layer: Int, _ changes: [Int: Int?], isWhole: Bool, isEach: Bool
    ) -> (changed: Set<Int>, refused: Set<Int>) {
        var all = changes
        if isWhole {
            let known = registered.union(layers[layer].pending.keys)
            for tweak in known where changes[tweak] == nil { all[tweak] = .some(nil) }
        }
        let bad = Set(changes.filter { registered.contains($0.key) && $0.value.map { !Self.isGood($0) } ?? false }.keys)
        if !isEach, !bad.isEmpty { return ([], bad) }
        let before = layers[layer].values
        for (tweak, value) in all {
            if !registered.contains(tweak) {
                layers[layer].pending[tweak] = value
            } else if bad.contains(tweak) {
                layers[layer].refused[tweak] = value
            } else {
                layers[layer].values[tweak] = value
                layers[layer].refused[tweak] = nil
            }
        }
        return (registered.filter { before[$0] != layers[layer].values[$0] }, bad)
    }

    mutating func register(_ tweak: Int) {
        if !registered.insert(tweak).inserted { return }
        for layer in layers.indices {
            guard let value = layers[layer].answers[tweak] ?? layers[layer].pending[tweak] else { continue }
            layers[layer].pending[tweak] = nil
            if Self.isGood(value) { layers[layer].values[tweak] = value } else { layers[layer].refused[tweak] = value }
        }
    }

    mutating func remove(_ tweak: Int) {
        if registered.remove(tweak) == nil { return }
        overrides[tweak] = nil
        temporary[tweak] = nil
        for layer in layers.indices {
            let value = layers[layer].refused.removeValue(forKey: tweak)
            let held = layers[layer].values.removeValue(forKey: tweak)
            if let kept = value ?? held { layers[layer].pending[tweak] = kept }
        }
    }

    /// The values of a tweak, the current one last.
    func stack(_ tweak: Int) -> [Int] {
        [0] + layers.compactMap { $0.values[tweak] } + [overrides[tweak], temporary[tweak]?.value].compactMap(\.self)
    }
}

struct LayerModelTests {
    private static let tweaks = 0..<5

    private static func path(_ tweak: Int) throws -> TweakPath { try TweakPath("A/B/T\(tweak)") }

    @Test(.tags(.quantity), arguments: 0..<quantity(400, few: 40))
    func `A registry with layers behaves as the model`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let clock = ManualClock()
        let registry = TweakRegistry(now: { clock.now }, sleep: { _ in throw CancellationError() })
        // Own layers between and around those of the library, and one of these.
        let ranks = Array((1...999).filter { $0 % 100 != 0 }.shuffled(using: &random).prefix(3))
        let all = (zip(["one", "two", "three"], ranks).map { TweakLayer($0, rank: $1) } + [.arguments]).sorted()
        var model = LayerModel(layers: all.map { _ in .init() })
        let sources = all.map { HandSource($0) }
        for (index, source) in sources.enumerated() where Bool.random(using: &random) {
            let tweak = Int.random(in: Self.tweaks, using: &random)
            let value = Int.random(in: 0...12, using: &random)
            model.layers[index].answers[tweak] = value
            source.answer(try Self.path(tweak).joined, .text("\(value)"))
        }
        let open = try OpenSources(sources.shuffled(using: &random), of: registry, SourceSetting(daemon: "test"))
        var time = 0
        for step in 0..<60 {
            let tweak = Int.random(in: Self.tweaks, using: &random)
            let path = try Self.path(tweak)
            switch Int.random(in: 0..<12, using: &random) {
            case 0...1:
                _ = try registry.register("A", "B", "T\(tweak)", 0, in: 0...9)
                model.register(tweak)
            case 2:
                #expect(registry.remove(path) == model.registered.contains(tweak))
                model.remove(tweak)
            case 3 where model.registered.contains(tweak):
                let value = Int.random(in: 0...9, using: &random)
                try registry[path]?.set(.int(Int64(value)))
                model.overrides[tweak] = value
                model.temporary[tweak] = nil
            case 4 where model.registered.contains(tweak):
                let value = Int.random(in: 0...9, using: &random)
                let lifetime = Int.random(in: 1...9, using: &random)
                try registry[path]?.set(.int(Int64(value)), for: .seconds(lifetime))
                model.temporary[tweak] = (value, time + lifetime)
            case 5 where model.registered.contains(tweak):
                try registry[path]?.reset()
                model.overrides[tweak] = nil
                model.temporary[tweak] = nil
            case 6:
                time += 3
                clock.advance(by: .seconds(3))
                registry.expire()
                model.temporary = model.temporary.filter { $0.value.end > time }
            default: try change(sources, &model, registry, &random)
            }
            try compare(registry, model, all, "seed \(seed), step \(step)")
        }
        for (index, source) in sources.enumerated() {
            let covered = model.registered.filter {
                model.layers[index].values[$0] != nil && (model.overrides[$0] ?? model.temporary[$0]?.value) != nil
            }
            #expect(source.sink?.coveredPaths.map(\.joined).sorted() == covered.sorted().map { "A/B/T\($0)" })
        }
        open.stop()
    }

    /// A random change by one source, of both.
    private func change(
        _ sources: [HandSource], _ model: inout LayerModel, _ registry: TweakRegistry,
        _ random: inout SeededGenerator
    ) throws {
        let layer = Int.random(in: sources.indices, using: &random)
        let sink = try #require(sources[layer].sink)
        let (isWhole, isEach) = (Bool.random(using: &random), Bool.random(using: &random))
        var changes: [Int: Int?] = [:]
        for tweak in Self.tweaks where Bool.random(using: &random) {
            let value = Int.random(in: 0...12, using: &random)
            changes[tweak] = .some(!isWhole && value == 0 ? nil : value)
        }
        let entries = Dictionary(
            uniqueKeysWithValues: try changes.map { (try Self.path($0), $1.map { TweakSourceEntry.text("\($0)") }) })
        let rule: TweakSourceRule = isEach ? .each : .allOrNothing
        let before = registry.revision
        let judged = sink.check(entries)
        #expect(registry.revision == before)
        let result = isWhole ? sink.replace(entries.compactMapValues(\.self), rule) : sink.update(entries, rule)
        let expected = model.change(layer, changes, isWhole: isWhole, isEach: isEach)
        #expect(judged.refusals.map(\.path?.name) == expected.refused.sorted().map { "T\($0)" })
        #expect(result.refusals.map(\.path?.name) == expected.refused.sorted().map { "T\($0)" })
        #expect(result.changed.map(\.name).sorted() == expected.changed.sorted().map { "T\($0)" })
        #expect(
            registry.revision == before + (expected.changed.isEmpty ? 0 : 1) && result.revision == registry.revision)
    }

    private func compare(
        _ registry: TweakRegistry, _ model: LayerModel, _ layers: [TweakLayer], _ place: String
    ) throws {
        for tweak in Self.tweaks {
            let path = try Self.path(tweak)
            guard let found = registry[path] else {
                #expect(!model.registered.contains(tweak), "\(place)")
                let pending = registry.pendingEntries(path).map { "\($0.layer) \($0.entry.text)" }
                let expected = zip(layers, model.layers).compactMap { layer, held in
                    held.pending[tweak].map { "\(layer) \($0)" }
                }
                #expect(pending == expected, "\(place)")
                continue
            }
            #expect(found.value == model.stack(tweak).last.map { .int(Int64($0)) }, "\(place), \(path)")
            #expect(found.layers.map(\.value) == model.stack(tweak).map { .int(Int64($0)) }, "\(place), \(path)")
            #expect(found.layers.map(\.layer) == found.layers.map(\.layer).sorted(), "\(place), \(path)")
            let quarantined = registry.quarantined(found.node).map { "\($0.layer) \($0.entry.text)" }
            let refused = zip(layers, model.layers).compactMap { layer, held in
                held.refused[tweak].map { "\(layer) \($0)" }
            }
            #expect(quarantined.sorted() == refused.sorted(), "\(place), \(path)")
        }
    }
}

extension StoredEntry {
    fileprivate var text: String {
        switch content {
        case .text(let text): text
        case .value(let value): value.text
        }
    }
}
