// Bindings: properties that follow a tweak, on the actor they were bound on, for as long as their object lives.

import Synchronization
import Testing

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

/// Binds an object of its own, which is not Sendable.
private actor Studio {
    final class Lamp {
        let writes = AsyncStream.makeStream(of: Int.self)
        var level = -1 {
            didSet { writes.continuation.yield(level) }
        }
    }

    let lamp = Lamp()
    var level: Int { lamp.level }
    var writes: AsyncStream<Int> { lamp.writes.stream }

    func bind(_ tweak: Tweak<Int>, when: TweakBindingStart = .now) -> TweakBinding {
        tweak.bind(to: lamp, \.level, when: when)
    }

    /// Sets the tweak on this actor: the binding must have written when the setter returns.
    func set(_ tweak: Tweak<Int>, _ value: Int) -> Int {
        tweak.value = value
        return lamp.level
    }

    /// Keeps this actor busy while another thread works: nothing may be written meanwhile.
    func levelWhile(_ body: @escaping @Sendable () -> Void) -> Int {
        TestThread(body).join()
        return lamp.level
    }
}

struct BindingTests {
    private let registry = TweakRegistry()

    // MARK: Without an actor

    @Test func outsideAnyActorItIsWrittenOnTheThreadOfTheChange() {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
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
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let meter = Meter()
        tweak.bind(to: meter, \.level, when: .onChange)
        #expect(meter.level == 0 && meter.threads.isEmpty)
        tweak.value = 2
        #expect(meter.level == 2)
        tweak.value = 2
        #expect(meter.threads.count == 1)
    }

    @Test func itEndsWithItsObject() {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
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
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let meter = Meter()
        let binding = tweak.bind(to: meter, \.level)
        tweak.value = 2
        binding.cancel()
        tweak.value = 3
        #expect(meter.level == 2 && registry.observerCount(of: tweak) == 0)
    }

    @Test func tweakBindDeclaresAndBinds() throws {
        let meter = Meter()
        tweakBind(meter, \.level, "A", "B", "C", 5, in: 0...10, registry: registry)
        #expect(meter.level == 5)
        try registry["A/B/C"]?.set(text: "7")
        #expect(meter.level == 7)
        let labelled = Meter()
        tweakBind(labelled, \.level, "A", "B", "D", 1, choices: [1: "one", 2: "two"], registry: registry)
        try registry["A/B/D"]?.set(text: "2")
        #expect(labelled.level == 2)
    }

    @Test func bindingARemovedTweakWritesTheDefaultOnce() {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        registry.remove(tweak.path)
        let meter = Meter()
        tweak.bind(to: meter, \.level)
        #expect(meter.level == 1)
    }

    // MARK: On the main actor

    @MainActor @Test func onTheMainActorItIsWrittenBeforeTheSetterReturns() {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let label = Label()
        tweak.bind(to: label, \.number)
        #expect(label.number == 1)
        tweak.value = 2
        #expect(label.number == 2)
        tweak.reset()
        #expect(label.number == 1)
    }

    @MainActor @Test func aChangeFromElsewhereHopsToTheMainActor() async {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let label = Label()
        tweak.bind(to: label, \.number, when: .onChange)
        TestThread { tweak.value = 2 }.join()
        #expect(label.number == -1)  // The main actor is here: nobody else may have written.
        var writes = label.writes.stream.makeAsyncIterator()
        #expect(await writes.next() == 2 && label.number == 2)
    }

    @MainActor @Test func hopsThatComeLateWriteTheNewest() async {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let label = Label()
        tweak.bind(to: label, \.number, when: .onChange)
        TestThread { for value in 2...10 { tweak.value = value } }.join()
        var writes = label.writes.stream.makeAsyncIterator()
        #expect(await writes.next() == 10)
    }

    /// A hop that comes late has written a newer value already; from that one back is a change.
    @MainActor @Test func thereAndBackBehindALateHop() async {
        let carrier = HandExecutor()
        registry.observerExecutor = carrier
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let label = Label()
        tweak.bind(to: label, \.number, when: .onChange)
        let (registry, node) = (registry, tweak.node)
        @Sendable func commit(_ value: Int64) {
            var batch = TweakBatch()
            batch.append(node, .set(.int(value)))
            _ = try? registry.commit(batch, origin: .user(1), delivery: .carrier)
        }
        TestThread {
            commit(2)
            carrier.runAll()
            commit(3)
        }.join()
        var writes = label.writes.stream.makeAsyncIterator()
        #expect(await writes.next() == 3)
        let other = Tweak("A", "B", "D", 0, registry: registry)
        other.bind(to: label, \.number, when: .onChange)
        TestThread {
            commit(2)
            carrier.runAll()
            // What comes next, should the other one not come at all.
            other.value = 99
        }.join()
        #expect(await writes.next() == 2)
    }

    @MainActor @Test func aSetFromInsideAWriteIsDeliveredAfterwards() {
        let (a, b) = (Tweak("A", "B", "a", 0, registry: registry), Tweak("A", "B", "b", 0, registry: registry))
        let label = Label()
        let seen = Recorder<String>()
        let token = b.observe { seen.note("b→\($0.new)") }
        label.onWrite = { number in
            b.value = number
            seen.note("wrote \(number)")
        }
        a.bind(to: label, \.number, when: .onChange)
        a.value = 1
        #expect(seen.all == ["wrote 1", "b→1"])
        token.cancel()
    }

    @MainActor @Test func itEndsWithItsObjectThere() {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        var label: Label? = Label()
        weak let reference = label
        if let label { tweak.bind(to: label, \.number) }
        label = nil
        #expect(reference == nil)
        tweak.value = 2
        #expect(registry.observerCount(of: tweak) == 0)
    }

    // MARK: On another actor

    @Test func onAnActorItIsWrittenThere() async {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let studio = Studio()
        let binding = await studio.bind(tweak)
        #expect(await studio.level == 1)
        #expect(await studio.set(tweak, 2) == 2)
        binding.cancel()
        #expect(await studio.set(tweak, 3) == 2)
    }

    @Test func onChangeSkipsTheFirstWriteThere() async {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let studio = Studio()
        _ = await studio.bind(tweak, when: .onChange)
        #expect(await studio.level == -1)
        #expect(await studio.set(tweak, 2) == 2)
    }

    @Test func aChangeFromElsewhereHopsToTheActor() async {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let studio = Studio()
        _ = await studio.bind(tweak, when: .onChange)
        #expect(await studio.levelWhile { for value in 2...9 { tweak.value = value } } == -1)
        var writes = await studio.writes.makeAsyncIterator()
        #expect(await writes.next() == 9)
    }
}
