// Tests bindings: properties that follow a tweak, on the actor they were bound on, as long as their object lives.

import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

/// A target for any thread.
private final class Meter: Sendable {
    private let state = Mutex((level: 0, threads: [UInt]()))
    var level: Int {
        get { state.withLock { $0.level } }
        set { state.withLock { $0 = (newValue, $0.threads + [currentThread()]) } }
    }
    var threads: [UInt] { state.withLock { $0.threads } }
}

/// A target that stays on the main actor.
@MainActor
private final class Label {
    let writes = AsyncStream.makeStream(of: Int.self)
    var onWrite: (Int) -> Void = { _ in }
    var number = -1 {
        didSet {
            writes.continuation.yield(number)
            onWrite(number)
        }
    }
}

struct BindingTests {
    private let registry = TweakRegistry()
    private let tweak: Tweak<Int>

    init() { tweak = Tweak("A", "B", "C", 1, registry: registry) }

    // MARK: Without an actor

    @Test func outsideAnActorItIsWrittenOnTheThreadOfTheChange() {
        let meter = Meter()
        tweak.bind(to: meter, \.level)
        #expect(meter.level == 1 && meter.threads == [currentThread()])
        let (other, levelAtReturn) = (Box(UInt(0)), Box(0))
        TestThread {
            other.value = currentThread()
            tweak.value = 2
            levelAtReturn.value = meter.level
        }.join()
        #expect(meter.threads == [currentThread(), other.value] && levelAtReturn.value == 2)
    }

    @Test func onChangeSkipsTheFirstWrite() {
        let meter = Meter()
        tweak.bind(to: meter, \.level, when: .onChange)
        #expect(meter.level == 0 && meter.threads.isEmpty)
        tweak.value = 2
        #expect(meter.level == 2)
        tweak.value = 2
        #expect(meter.threads.count == 1)
    }

    @Test func endsWithItsObject() {
        var meter: Meter? = Meter()
        weak let reference = meter
        if let meter { tweak.bind(to: meter, \.level) }
        #expect(registry.observerCount(of: tweak) == 1)
        meter = nil
        #expect(reference == nil)
        tweak.value = 2
        #expect(registry.observerCount(of: tweak) == 0)
    }

    @Test func cancelEndsIt() {
        let meter = Meter()
        let binding = tweak.bind(to: meter, \.level)
        tweak.value = 2
        binding.cancel()
        tweak.value = 3
        #expect(meter.level == 2 && registry.observerCount(of: tweak) == 0)
    }

    @Test func tweakBindDeclaresAndBinds() throws {
        let (ranged, labeled) = (Meter(), Meter())
        tweakBind(ranged, \.level, "A", "B", "Ranged", 5, in: 0...10, registry: registry)
        #expect(ranged.level == 5)
        try registry["A/B/Ranged"]?.set(text: "7")
        tweakBind(labeled, \.level, "A", "B", "Labeled", 1, choices: [1: "one", 2: "two"], registry: registry)
        try registry["A/B/Labeled"]?.set(text: "2")
        #expect(ranged.level == 7 && labeled.level == 2)
    }

    @Test func bindingARemovedTweakWritesTheDefaultOnce() {
        registry.remove(tweak.path)
        let meter = Meter()
        tweak.bind(to: meter, \.level)
        #expect(meter.level == 1)
    }

    // MARK: On the main actor

    @MainActor @Test func onTheMainActorItIsWrittenBeforeTheSetterReturns() {
        let label = Label()
        tweak.bind(to: label, \.number)
        #expect(label.number == 1)
        tweak.value = 2
        #expect(label.number == 2)
        tweak.reset()
        #expect(label.number == 1)
    }

    @MainActor @Test(arguments: [2, 10]) func aHopToTheMainActorWritesTheNewest(last: Int) async {
        let (tweak, label) = (tweak, Label())
        tweak.bind(to: label, \.number, when: .onChange)
        TestThread { for value in 2...last { tweak.value = value } }.join()
        #expect(label.number == -1)  // The main actor is busy with this test.
        var writes = label.writes.stream.makeAsyncIterator()
        #expect(await writes.next() == last && label.number == last)
    }

    /// A late hop has already written a newer value; from that one back is a change.
    @MainActor @Test func aChangeBackIsWrittenThoughALateHopHasWrittenTheValueBetween() async {
        let executor = HandExecutor()
        registry.observerExecutor = executor
        let (tweak, label) = (tweak, Label())
        tweak.bind(to: label, \.number, when: .onChange)
        TestThread {
            try? tweak.setFromOutside(2)
            executor.runAll()
            try? tweak.setFromOutside(3)
        }.join()
        var writes = label.writes.stream.makeAsyncIterator()
        #expect(await writes.next() == 3)
        let other = Tweak("A", "B", "D", 0, registry: registry)
        other.bind(to: label, \.number, when: .onChange)
        TestThread {
            try? tweak.setFromOutside(2)
            executor.runAll()
            // If 2 is not written, this is.
            other.value = 99
        }.join()
        #expect(await writes.next() == 2)
    }

    @MainActor @Test func aSetDuringAWriteIsDeliveredAfterIt() {
        let (label, other) = (Label(), Tweak("A", "B", "b", 0, registry: registry))
        let seen = Recorder<String>()
        let token = other.observe { seen.note("b→\($0.new)") }
        label.onWrite = { number in
            other.value = number
            seen.note("wrote \(number)")
        }
        tweak.bind(to: label, \.number, when: .onChange)
        tweak.value = 2
        #expect(seen.all == ["wrote 2", "b→2"])
        token.cancel()
    }

    @MainActor @Test func endsWithItsObjectOnTheMainActor() {
        var label: Label? = Label()
        weak let reference = label
        if let label { tweak.bind(to: label, \.number) }
        label = nil
        #expect(reference == nil)
        tweak.value = 2
        #expect(registry.observerCount(of: tweak) == 0)
    }

    // MARK: On another actor

    @Test(arguments: [(TweakBindingStart.now, 1), (.onChange, -1)])
    func onAnActorItIsWrittenThereBeforeTheSetterReturns(when: TweakBindingStart, first: Int) async {
        let studio = Studio()
        let binding = await studio.bind(tweak, when: when)
        #expect(await studio.level == first)
        #expect(await studio.set(tweak, 2).level == 2)
        binding.cancel()
        #expect(await studio.set(tweak, 3).level == 2)
    }

    @Test func aHopToAnActorWritesTheNewest() async {
        let studio = Studio()
        await studio.bind(tweak)
        #expect(await studio.levelWhile { for value in 2...9 { tweak.value = value } } == -1)
        var writes = await studio.stream.makeAsyncIterator()
        #expect(await writes.next() == 9)
    }
}
