// Tweaks and Swift's Observation: what is tracked, when onChange runs, and what it sees.

import Observation
import Synchronization
import Testing

@testable import Tweaks

struct ObservedTests {
    private let registry = TweakRegistry()

    @Test func aChangeTriggersItOnceAndTheNewValueIsThere() throws {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let seen = Recorder<Int>()
        let read = withObservationTracking {
            tweak.observed
        } onChange: {
            seen.note(tweak.observed)
        }
        #expect(read == 1)
        tweak.value = 2
        tweak.value = 3
        #expect(seen.all == [2])
    }

    @Test func whatIsReadOutsideOrSetToTheSameTriggersNothing() throws {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let other = Tweak("A", "B", "D", 1, registry: registry)
        let seen = Recorder<Int>()
        #expect(other.observed == 1)
        withObservationTracking {
            _ = tweak.observed
        } onChange: {
            seen.note(1)
        }
        other.value = 2
        tweak.value = 1
        #expect(seen.all.isEmpty)
        tweak.value = 2
        #expect(seen.all == [1])
    }

    /// On the main actor, where tracking catches up: running there at the same time, it could call `onChange` twice.
    @Test("Whoever makes the change, it triggers")
    @MainActor func anyOrigin() throws {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let seen = Recorder<Int>()
        let changes: [() throws -> Void] = [
            { _ = try registry.commit(origin: .user(1000)) { $0.set("A/B/C", .int(2)) } },
            { _ = try tweak.erased.set(text: "3") },
            { tweak.reset() },
        ]
        for (number, change) in changes.enumerated() {
            withObservationTracking {
                _ = tweak.observed
            } onChange: {
                seen.note(number)
            }
            try change()
        }
        #expect(seen.all == [0, 1, 2])
    }

    @Test func changesFromOutsideComeByTheCarrier() throws {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let (carrier, seen) = (HandExecutor(), Recorder<Int>())
        registry.observerExecutor = carrier
        withObservationTracking {
            _ = tweak.observed
        } onChange: {
            seen.note(tweak.value)
        }
        try registry.commit(tweak.node, .set(.int(2)), origin: .user(1), delivery: .carrier)
        #expect(seen.all.isEmpty)
        carrier.runAll()
        #expect(seen.all == [2])
    }

    @Test("A value that was seen on the way is told of its end, though for observers nothing changed")
    func thereAndBackBeforeDelivery() throws {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let (carrier, seen) = (HandExecutor(), Recorder<Int>())
        registry.observerExecutor = carrier
        #expect(tweak.observed == 1)
        try registry.commit(tweak.node, .set(.int(2)), origin: .user(1), delivery: .carrier)
        withObservationTracking {
            #expect(tweak.observed == 2)
        } onChange: {
            seen.note(tweak.value)
        }
        try registry.commit(tweak.node, .set(.int(1)), origin: .user(1), delivery: .carrier)
        carrier.runAll()
        #expect(seen.all == [1])
    }

    @Test func aWrappedProperty() {
        struct Look {
            @Tweak var size: Double
            init(_ registry: TweakRegistry) {
                _size = Tweak(wrappedValue: 60, "A", "B", "Size", in: 10...100, registry: registry)
            }
        }
        let (look, seen) = (Look(registry), Recorder<Double>())
        withObservationTracking {
            _ = look.$size.observed
        } onChange: {
            seen.note(look.size)
        }
        look.size = 72
        #expect(seen.all == [72])
    }

    @Test func onChangeMaySetTweaks() {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        withObservationTracking {
            _ = tweak.observed
        } onChange: {
            tweak.value += 10
        }
        tweak.value = 2
        #expect(tweak.observed == 12)
    }

    // MARK: Removal, and what is kept

    @Test func removalTriggersItAndTheDefaultIsRead() throws {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        try tweak.set(2)
        let seen = Recorder<Int>()
        withObservationTracking {
            _ = tweak.observed
        } onChange: {
            seen.note(tweak.observed)
        }
        registry.remove(tweak.path)
        #expect(seen.all == [1])
        #expect(tweak.observed == 1)
        let successor = Tweak("A", "B", "C", 5, registry: registry)
        withObservationTracking {
            _ = successor.observed
        } onChange: {
            seen.note(successor.observed)
        }
        try successor.set(6)
        #expect(seen.all == [1, 6])
    }

    @Test("A read makes one object and one observer, however many there are; none outlives the tweak")
    @MainActor func nothingLeaks() async {
        weak var object: Observed?
        do {
            let tweak = Tweak("A", "B", "C", 1, registry: registry)
            #expect(registry.observerCount(of: tweak) == 0)
            for _ in 0..<1_000 { _ = tweak.observed }
            #expect(registry.observerCount(of: tweak) == 1)
            object = tweak.node.observed.load()
            #expect(object != nil)
            registry.remove(tweak.path)
        }
        // The removal was a change; the main actor is told of that in a turn of its own.
        await turn()
        #expect(object == nil)
    }

    @Test func aRegistryIsNotKept() {
        weak var kept: TweakRegistry?
        let seen = Recorder<Int>()
        do {
            let registry = TweakRegistry()
            kept = registry
            let tweak = Tweak("A", "B", "C", 1, registry: registry)
            withObservationTracking {
                _ = tweak.observed
            } onChange: {
                seen.note(1)
            }
        }
        #expect(kept == nil)
    }

    // MARK: Being late

    @Test("A change made while the closure still reads is made up for on the main actor")
    @MainActor func changedWhileReading() async {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let (seen, gate) = (Recorder<Int>(), Gate())
        withObservationTracking {
            _ = tweak.observed
            TestThread { tweak.value = 2 }.join()
        } onChange: {
            seen.note(tweak.observed)
            gate.open()
        }
        #expect(seen.all.isEmpty)
        await gate.wait()
        #expect(seen.all == [2])
    }

    @Test("Whoever has read the new value already is not told of it again")
    @MainActor func noEcho() async {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let seen = Recorder<Int>()
        withObservationTracking {
            _ = tweak.observed
        } onChange: {
            seen.note(1)
        }
        tweak.value = 1
        withObservationTracking {
            _ = tweak.observed
        } onChange: {
            seen.note(2)
        }
        await turn()
        #expect(seen.all == [1])
        tweak.value = 2
        #expect(seen.all == [1, 2])
    }

    /// Lets the main actor do what waits there.
    @MainActor private func turn() async {
        for _ in 0..<3 { await Task { @MainActor in }.value }
    }
}
