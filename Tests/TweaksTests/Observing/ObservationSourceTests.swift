// Tests tweaks with Swift's Observation: what is tracked, when `onChange` runs, and which value it reads.

import Observation
import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

struct ObservationSourceTests {
    private let registry = TweakRegistry()
    private let executor = HandExecutor()
    private let seen = Recorder<Int>()
    private let tweak: Tweak<Int>

    init() { tweak = Tweak("A", "B", "C", 1, registry: registry) }

    @Test func aChangeTriggersOnceAndTheNewValueIsRead() {
        #expect(tweak.tracked { seen.note(tweak.observed) } == 1)
        tweak.value = 2
        tweak.value = 3
        #expect(seen.all == [2])
    }

    @Test func untrackedReadsAndSetsOfTheSameValueDoNotTrigger() {
        let other = Tweak("A", "B", "D", 1, registry: registry)
        #expect(other.observed == 1)
        tweak.tracked { seen.note(1) }
        other.value = 2
        tweak.value = 1
        #expect(seen.all.isEmpty)
        tweak.value = 2
        #expect(seen.all == [1])
    }

    @Test func changesOfEveryOriginTrigger() throws {
        let changes: [() throws -> Void] = [
            { _ = try registry.commit(origin: .user(1000)) { $0.set("A/B/C", .int(2)) } },
            { _ = try tweak.erased.set(text: "3") },
            { tweak.reset() },
        ]
        for (number, change) in changes.enumerated() {
            tweak.tracked { seen.note(number) }
            try change()
        }
        #expect(seen.all == [0, 1, 2])
    }

    @Test func changesFromOutsideTriggerOnTheExecutor() throws {
        registry.observerExecutor = executor
        tweak.tracked { seen.note(tweak.value) }
        try tweak.setFromOutside(2)
        #expect(seen.all.isEmpty)
        executor.runAll()
        #expect(seen.all == [2])
    }

    @Test func anUndeliveredValueThatWasReadTriggersWhenItIsReplacedByTheDeliveredOne() throws {
        registry.observerExecutor = executor
        #expect(tweak.observed == 1)
        try tweak.setFromOutside(2)
        #expect(tweak.tracked { seen.note(tweak.value) } == 2)
        try tweak.setFromOutside(1)
        executor.runAll()
        #expect(seen.all == [1])
    }

    @Test func aWrappedPropertyIsTracked() {
        struct Look {
            @Tweak var size: Double
            init(_ registry: TweakRegistry) {
                _size = Tweak(wrappedValue: 60, "A", "B", "Size", in: 10...100, registry: registry)
            }
        }
        let (look, seen) = (Look(registry), Recorder<Double>())
        look.$size.tracked { seen.note(look.size) }
        look.size = 72
        #expect(seen.all == [72])
    }

    @Test func onChangeMaySetTweaks() {
        tweak.tracked { tweak.value += 10 }
        tweak.value = 2
        #expect(tweak.observed == 12)
    }

    // MARK: Removal and memory

    @Test func removalTriggersAndTheDefaultIsRead() throws {
        try tweak.set(2)
        tweak.tracked { seen.note(tweak.observed) }
        registry.remove(tweak.path)
        #expect(seen.all == [1] && tweak.observed == 1)
        let successor = Tweak("A", "B", "C", 5, registry: registry)
        successor.tracked { seen.note(successor.observed) }
        try successor.set(6)
        #expect(seen.all == [1, 6])
    }

    @MainActor @Test func allReadsShareOneObserverThatEndsWithTheTweak() async {
        weak var object: ObservationSource?
        do {
            let tweak = Tweak("A", "B", "D", 1, registry: registry)
            #expect(registry.observerCount(of: tweak) == 0)
            for _ in 0..<1_000 { _ = tweak.observed }
            #expect(registry.observerCount(of: tweak) == 1)
            object = tweak.node.observed.load()
            #expect(object != nil)
            registry.remove(tweak.path)
        }
        // The removal is a change, which is delivered to the main actor in a job of its own.
        await runMainActorJobs()
        #expect(object == nil)
    }

    @Test func trackingDoesNotRetainTheRegistry() {
        weak var kept: TweakRegistry?
        do {
            let registry = TweakRegistry()
            kept = registry
            Tweak("A", "B", "C", 1, registry: registry).tracked { [seen] in seen.note(1) }
        }
        #expect(kept == nil)
    }

    // MARK: Catching up on the main actor

    @MainActor @Test func aChangeDuringTheReadingClosureTriggersLater() async {
        let (tweak, seen, gate) = (tweak, seen, Gate())
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

    @MainActor @Test func aValueThatWasReadDoesNotTriggerAgain() async {
        tweak.tracked { [seen] in seen.note(1) }
        tweak.value = 2
        tweak.tracked { [seen] in seen.note(2) }
        await runMainActorJobs()
        #expect(seen.all == [1])
        tweak.value = 3
        #expect(seen.all == [1, 2])
    }

    // MARK: Once a change

    /// A way to change the value, which returns when the observers have run.
    enum Change: CaseIterable { case code, commit, outside }

    /// `onChange` tracks again at once, or on another thread while it runs: both have read the new value.
    @MainActor @Test(arguments: Change.allCases, [false, true])
    func eachChangeTriggersOnceWhereOnChangeTracksAgain(_ change: Change, onAnotherThread: Bool) async throws {
        let text = Tweak("A", "B", "Text", "0", registry: registry)
        try await expectOneCall(tweak, [2, 3, 4], change, onAnotherThread)
        try await expectOneCall(text, ["1", "2", "3"], change, onAnotherThread)
    }

    @MainActor private func expectOneCall<Value: TweakConvertible>(
        _ tweak: Tweak<Value>, _ values: [Value], _ change: Change, _ onAnotherThread: Bool
    ) async throws {
        let seen = Recorder<Value>()
        track(tweak, seen, onAnotherThread)
        for value in values {
            try make(change, tweak, value)
            await runMainActorJobs()
        }
        #expect(seen.all == values)
    }

    private func make<Value>(_ change: Change, _ tweak: Tweak<Value>, _ value: Value) throws {
        switch change {
        case .code: tweak.value = value
        case .commit: try registry.commit { $0.set(tweak, value) }
        case .outside:
            registry.observerExecutor = executor
            try registry.commit(tweak.node, .set(value.tweakErased), origin: .user(1000), delivery: .executor)
            executor.runAll()
        }
    }

    /// Changes that follow each other faster than the main actor runs: at most one more call, for very many of them.
    @MainActor @Test(arguments: [(changes: 10, most: 10), (changes: 100, most: 101)])
    func changesWhileTheMainActorIsBusyTriggerOnceEach(changes: Int, most: Int) async {
        track(tweak, seen, false)
        let (tweak, last) = (tweak, changes + 1)
        TestThread { for number in 2...last { tweak.value = number } }.join()
        #expect(seen.all == Array(2...last))
        await runMainActorJobs()
        #expect((changes...most).contains(seen.all.count))
        tweak.value = 0
        #expect(seen.all.last == 0)
    }

    /// Notes the value after each change, and tracks it again.
    private func track<Value: Sendable>(_ tweak: Tweak<Value>, _ seen: Recorder<Value>, _ onAnotherThread: Bool) {
        tweak.tracked {
            seen.note(tweak.value)
            if onAnotherThread {
                TestThread { track(tweak, seen, true) }.join()
            } else {
                track(tweak, seen, false)
            }
        }
    }

    /// Lets the main actor run the jobs that wait for it.
    @MainActor private func runMainActorJobs() async {
        for _ in 0..<3 { await Task { @MainActor in }.value }
    }
}
