// Tests that all ways to set a value share one path: they accept and refuse the same, with the same results.

import Testing

@testable import Tweaks

/// A way to set a tweak of numbers.
private struct WritePath: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let set: @Sendable (Tweak<Double>, Double) throws -> Void

    static let all = [
        WritePath(testDescription: "Tweak.set") { try $0.set($1) },
        WritePath(testDescription: "AnyTweak.set") { try $0.erased.set(.number($1)) },
        WritePath(testDescription: "AnyTweak.set(text:)") { try $0.erased.set(text: TweakValue.number($1).text) },
        WritePath(testDescription: "batch by path") { tweak, value in
            try tweak.registry.commit(origin: .code) { $0.set(tweak.path.joined, .number(value)) }
        },
        WritePath(testDescription: "batch by handle") { tweak, value in
            try tweak.registry.commit(origin: .code) { $0.set(tweak, value) }
        },
        WritePath(testDescription: "commit of a client") { tweak, value in
            try tweak.registry.commit(batch(tweak, .set(.number(value))), origin: .user(1000), delivery: .executor)
        },
        WritePath(testDescription: "relative change") { tweak, value in
            let change = TweakBatch.Change.add(.number(value - tweak.value))
            try tweak.registry.commit(batch(tweak, change), origin: .user(1000), delivery: .executor)
        },
        WritePath(testDescription: "forecast") { tweak, value in
            let forecast = try tweak.registry.forecast(batch(tweak, .set(.number(value))))
            #expect(forecast.map(\.new) == [.number(value)])
            try tweak.set(value)
        },
    ]

    private static func batch(_ tweak: Tweak<Double>, _ change: TweakBatch.Change) -> TweakBatch {
        var batch = TweakBatch()
        batch.append(tweak.node, change)
        return batch
    }
}

struct WritePathTests {
    private let registry = TweakRegistry()
    private let tweak: Tweak<Double>
    private let count: Tweak<Int>
    private let flag: Tweak<Bool>

    init() {
        tweak = Tweak("A", "B", "C", 60.0, in: 10...100, step: 0.5, registry: registry)
        count = Tweak("A", "B", "Count", 10, registry: registry)
        flag = Tweak("A", "B", "Flag", false, registry: registry)
    }

    @Test(arguments: WritePath.all) private func everyWayAcceptsTheSame(_ way: WritePath) throws {
        try way.set(tweak, 72.5)
        #expect(tweak.value == 72.5 && tweak.erased.value == .number(72.5) && registry.snapshot()[tweak] == 72.5)
        #expect(registry.revision == 1 && tweak.isModified)
        #expect(tweak.erased.layers.map(\.layer) == [.default, .override])
    }

    @Test(arguments: WritePath.all) private func everyWayRefusesTheSame(_ way: WritePath) throws {
        for (value, message) in [
            (500, "A/B/C: 500 is outside 10...100"),
            (60.25, "A/B/C: 60.25 is not on a step of 0.5 from 10; the nearest is 60.5"),
        ] {
            let error = refusal { try way.set(tweak, value) }
            #expect(error?.code == .outOfRange && error?.message == message && error?.path == tweak.path)
        }
        #expect(tweak.value == 60 && registry.revision == 0 && !tweak.isModified)
        registry.freeze()
        #expect(refusal { try way.set(tweak, 72) }?.code == .readOnly)
        #expect(tweak.value == 60 && registry.revision == 0 && !tweak.isModified)
    }

    @Test func anOutcomeHasOldAndNewValueAndRevision() throws {
        let first = try tweak.set(72)
        #expect(first.path == tweak.path && first.old == .number(60) && first.new == .number(72))
        #expect(first.didChange && first.didStore && first.revision == 1 && first.adjustment == .none)
        let same = try tweak.set(72)
        #expect(!same.didChange && !same.didStore && same.revision == 1)
        let reset = try #require(tweak.reset())
        #expect(reset.old == .number(72) && reset.new == .number(60) && reset.didStore && reset.revision == 2)
        #expect(tweak.reset()?.didStore == false && registry.revision == 2)
    }

    @Test func settingTheCurrentValueChangesNothing() throws {
        try count.set(2)
        let calls = ChangeRecorder(count) { $0.new }
        for _ in 0..<3 { try count.set(2) }
        count.value = 2
        let result = try registry.commit(origin: TweakOrigin("other")) { $0.set(count, 2) }
        #expect(registry.revision == 1 && calls.all.isEmpty && !result.didStore && result.revision == 1)
        #expect(count.erased.layers.last?.origin == .code)
    }

    @Test func noRelativeChangeOfSeveralThreadsIsLost() throws {
        onThreads(4) { [registry, count, flag] _ in
            for _ in 0..<251 {
                _ = try? registry.commit(origin: .code) { batch in
                    batch.append(count.node, .add(.int(1)))
                    batch.append(flag.node, .toggle)
                }
            }
        }
        #expect(count.value == 1_014 && registry.revision == 1_004 && flag.value == false)
    }

    /// After a reset they start from the next layer.
    @Test func relativeChangesInABatchStartFromItsEarlierChanges() throws {
        try count.set(50)
        try registry.commit(origin: .code) { batch in
            batch.append(count.node, .set(.int(5)))
            batch.append(count.node, .add(.int(2)))
            batch.append(count.node, .add(.int(-1)))
        }
        #expect(count.value == 6)
        try flag.set(true)
        try registry.commit(origin: .code) { batch in
            batch.append(count.node, .reset)
            batch.append(count.node, .add(.int(2)))
            batch.append(flag.node, .reset)
            batch.append(flag.node, .toggle)
        }
        #expect(count.value == 12 && flag.value == true)
    }

    @Test func relativeChangesOfOtherKindsOrBeyondTheLargestValueAreRefused() throws {
        let number = Tweak("A", "B", "Number", 1e308, registry: registry)
        let text = Tweak("A", "B", "Text", "", registry: registry)
        let full = Tweak("A", "B", "Int", Int.max, registry: registry)
        let time = Tweak("A", "B", "Time", Duration.nanoseconds(Int64.max), registry: registry)
        for (node, change, code) in [
            (count.node, TweakBatch.Change.add(.number(1.5)), TweakError.Code.badValue),
            (count.node, .toggle, .badValue), (number.node, .add(.number(1.7e308)), .badValue),
            (text.node, .add(.string("x")), .badValue), (flag.node, .add(.bool(true)), .badValue),
            (full.node, .add(.int(1)), .outOfRange), (time.node, .add(.duration(.nanoseconds(1))), .outOfRange),
        ] {
            let error = refusal { try registry.commit(origin: .code) { $0.append(node, change) } }
            #expect(error?.code == code, "\(node.path)")
        }
        #expect(registry.revision == 0)
    }
}
