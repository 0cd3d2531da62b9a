// One write path: whoever sets a value, by whichever door, is judged the same and told the same.

import Testing

@testable import Tweaks

/// A way to set a tweak of numbers.
private struct Door: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let set: @Sendable (Tweak<Double>, Double) throws -> Void

    static let all = [
        Door(testDescription: "Tweak.set") { try $0.set($1) },
        Door(testDescription: "AnyTweak.set") { try $0.erased.set(.number($1)) },
        Door(testDescription: "AnyTweak.set(text:)") { try $0.erased.set(text: TweakValue.number($1).text) },
        Door(testDescription: "batch by path") { tweak, value in
            try tweak.registry.commit(origin: .code) { $0.set(tweak.path.joined, .number(value)) }
        },
        Door(testDescription: "batch by handle") { tweak, value in
            try tweak.registry.commit(origin: .code) { $0.set(tweak, value) }
        },
        Door(testDescription: "commit from outside") { tweak, value in
            var batch = TweakBatch()
            batch.append(tweak.node, .set(.number(value)))
            try tweak.registry.commit(batch, origin: .user(1000), delivery: .carrier)
        },
        Door(testDescription: "relative change") { tweak, value in
            var batch = TweakBatch()
            batch.append(tweak.node, .add(.number(value - tweak.value)))
            try tweak.registry.commit(batch, origin: .user(1000), delivery: .carrier)
        },
        Door(testDescription: "forecast") { tweak, value in
            var batch = TweakBatch()
            batch.append(tweak.node, .set(.number(value)))
            let forecast = try tweak.registry.forecast(batch)
            #expect(forecast.map(\.new) == [.number(value)])
            try tweak.set(value)
        },
    ]
}

struct WritePathTests {
    private let registry = TweakRegistry()

    @Test(arguments: Door.all)
    private func everyDoorAcceptsTheSame(_ door: Door) throws {
        let tweak = Tweak("A", "B", "C", 60.0, in: 10...100, step: 0.5, registry: registry)
        try door.set(tweak, 72.5)
        #expect(tweak.value == 72.5 && tweak.erased.value == .number(72.5) && registry.snapshot()[tweak] == 72.5)
        #expect(registry.revision == 1 && tweak.isModified)
        #expect(tweak.erased.layers.map(\.layer) == [.default, .override])
    }

    @Test(arguments: Door.all)
    private func everyDoorRefusesTheSame(_ door: Door) throws {
        let tweak = Tweak("A", "B", "C", 60.0, in: 10...100, step: 0.5, registry: registry)
        for (value, message) in [
            (500, "A/B/C: 500 is outside 10...100"),
            (60.25, "A/B/C: 60.25 is not on a step of 0.5 from 10; the nearest is 60.5"),
        ] {
            let error = refusal { try door.set(tweak, value) }
            #expect(error?.code == .outOfRange && error?.message == message && error?.path == tweak.path)
        }
        #expect(tweak.value == 60 && registry.revision == 0 && !tweak.isModified)
    }

    @Test(arguments: Door.all)
    private func everyDoorIsShutWhenFrozen(_ door: Door) throws {
        let tweak = Tweak("A", "B", "C", 60.0, in: 10...100, registry: registry)
        registry.freeze()
        let error = refusal { try door.set(tweak, 72) }
        #expect(error?.code == .readOnly)
        #expect(tweak.value == 60 && registry.revision == 0)
    }

    // MARK: Outcomes

    @Test func anOutcomeTellsWhatHappened() throws {
        let tweak = Tweak("A", "B", "C", 60.0, in: 10...100, registry: registry)
        let first = try tweak.set(72)
        #expect(first.path == tweak.path && first.old == .number(60) && first.new == .number(72))
        #expect(first.didChange && first.didStore && first.revision == 1 && first.adjustment == .none)
        let same = try tweak.set(72)
        #expect(!same.didChange && !same.didStore && same.revision == 1)
        let reset = try #require(tweak.reset())
        #expect(reset.old == .number(72) && reset.new == .number(60) && reset.didStore && reset.revision == 2)
        #expect(tweak.reset()?.didStore == false)
        #expect(registry.revision == 2)
    }

    @Test func anUnchangedSetRaisesNothing() throws {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        try tweak.set(2)
        let calls = Recorder<Int>()
        let token = tweak.observe { calls.note($0.new) }
        for _ in 0..<3 { try tweak.set(2) }
        tweak.value = 2
        let result = try registry.commit(origin: TweakOrigin("other")) { $0.set(tweak, 2) }
        token.cancel()
        #expect(registry.revision == 1 && calls.all.isEmpty && !result.didStore && result.revision == 1)
        #expect(tweak.erased.layers.last?.origin == .code)
    }

    // MARK: Relative changes

    @Test func relativeChangesFromManyThreadsAllCount() throws {
        let count = Tweak("A", "B", "Count", 0, registry: registry)
        let flag = Tweak("A", "B", "Flag", false, registry: registry)
        onThreads(4) { [registry] _ in
            for _ in 0..<251 {
                var batch = TweakBatch()
                batch.append(count.node, .add(.int(1)))
                batch.append(flag.node, .toggle)
                _ = try? registry.commit(batch, origin: .code, delivery: .caller)
            }
        }
        #expect(count.value == 1_004 && registry.revision == 1_004)
        #expect(flag.value == false)
    }

    @Test func relativeChangesWithinABatchBuildOnEachOther() throws {
        let count = Tweak("A", "B", "Count", 10, registry: registry)
        try count.set(50)
        var batch = TweakBatch()
        batch.append(count.node, .set(.int(5)))
        batch.append(count.node, .add(.int(2)))
        batch.append(count.node, .add(.int(-1)))
        try registry.commit(batch, origin: .code, delivery: .caller)
        #expect(count.value == 6)
    }

    @Test func aRelativeChangeAfterAResetStartsFromWhatLiesBeneath() throws {
        let count = Tweak("A", "B", "Count", 10, registry: registry)
        let flag = Tweak("A", "B", "Flag", false, registry: registry)
        try count.set(50)
        try flag.set(true)
        var batch = TweakBatch()
        batch.append(count.node, .reset)
        batch.append(count.node, .add(.int(2)))
        batch.append(flag.node, .reset)
        batch.append(flag.node, .toggle)
        try registry.commit(batch, origin: .code, delivery: .caller)
        #expect(count.value == 12)
        #expect(flag.value == true)
    }

    @Test func relativeChangesThatMakeNoSenseAreRefused() throws {
        let values: [(TweakNode, TweakBatch.Change)] = [
            (Tweak("A", "B", "Int2", 0, registry: registry).node, .add(.number(1.5))),
            (Tweak("A", "B", "Int3", 0, registry: registry).node, .toggle),
            (Tweak("A", "B", "Number", 1e308, registry: registry).node, .add(.number(1.7e308))),
            (Tweak("A", "B", "Text", "", registry: registry).node, .add(.string("x"))),
            (Tweak("A", "B", "Bool", true, registry: registry).node, .add(.bool(true))),
        ]
        for (node, change) in values {
            var batch = TweakBatch()
            batch.append(node, change)
            let error = refusal { try registry.commit(batch, origin: .code, delivery: .caller) }
            #expect(error?.code == .badValue, "\(node.path)")
        }
        let full = Tweak("A", "B", "Int", Int.max, registry: registry)
        let time = Tweak("A", "B", "Time", Duration.nanoseconds(Int64.max), registry: registry)
        let overflows: [(TweakNode, TweakValue)] = [(full.node, .int(1)), (time.node, .duration(.nanoseconds(1)))]
        for (node, amount) in overflows {
            let overflow = refusal { try registry.commit(origin: .code) { $0.append(node, .add(amount)) } }
            #expect(overflow?.code == .outOfRange, "\(node.path)")
        }
        #expect(registry.revision == 0)
    }
}
