// Tests observers and bindings that an actor makes for itself, in its initializer or later.

import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

/// An actor that follows a tweak and a group from its synchronous initializer.
private actor Pool {
    private(set) var size = -1
    private(set) var pair = NumberPair(a: -1, b: -1)
    private(set) var changes: [String] = []
    private let (calls, called) = AsyncStream.makeStream(of: Void.self)

    private let released: Gate?

    /// - Parameter released: Is opened when the actor is released.
    init(_ released: Gate? = nil) { self.released = released }

    deinit { released?.open() }

    init(binding size: Tweak<Int>, when: TweakBindingStart = .now) {
        released = nil
        size.bind(on: self, when: when) { pool, size in pool.resize(to: size) }
    }

    init(observing size: Tweak<Int>) {
        released = nil
        size.observe(on: self) { pool, change in pool.note(change.old, change.new) }
    }

    init(binding pair: TweakGroup<NumberPair>) {
        released = nil
        pair.bind(on: self) { pool, pair in pool.use(pair) }
    }

    init(observing pair: TweakGroup<NumberPair>) {
        released = nil
        pair.observe(on: self) { pool, change in pool.note(change.old.b, change.new.b) }
    }

    func bind(_ size: Tweak<Int>) -> TweakBinding {
        let binding = size.bind(on: self) { pool, size in pool.resize(to: size) }
        // Written already: this code runs on the actor.
        changes.append("bound at \(self.size)")
        return binding
    }

    func set(_ tweak: Tweak<Int>, to value: Int) -> Int {
        tweak.value = value
        return size
    }

    private func resize(to size: Int) {
        preconditionIsolated()
        self.size = size
        called.yield()
    }

    private func use(_ pair: NumberPair) {
        preconditionIsolated()
        self.pair = pair
        called.yield()
    }

    private func note(_ old: Int, _ new: Int) {
        preconditionIsolated()
        changes.append("\(old)→\(new)")
        called.yield()
    }

    nonisolated func waitForCall() async {
        for await _ in calls { return }
    }
}

@Suite struct ActorStateTests {
    private let registry = TweakRegistry()
    private let size: Tweak<Int>
    private let pair: TweakGroup<NumberPair>

    init() {
        size = Tweak("A", "B", "C", 4, registry: registry)
        pair = TweakGroup("A", "Pair", NumberPair(), registry: registry)
    }

    @Test func aBindingOfAnInitializerWritesTheValueAndEachChange() async {
        let pool = Pool(binding: size)
        await pool.waitForCall()
        #expect(await pool.size == 4)
        size.value = 5
        await pool.waitForCall()
        #expect(await pool.size == 5)
    }

    @Test func aBindingThatWaitsForChangesWritesNothingAtFirst() async {
        let pool = Pool(binding: size, when: .onChange)
        size.value = 5
        await pool.waitForCall()
        #expect(await pool.size == 5)
    }

    @Test func anObserverOfAnInitializerGetsChanges() async {
        let pool = Pool(observing: size)
        size.value = 5
        await pool.waitForCall()
        size.value = 6
        await pool.waitForCall()
        #expect(await pool.changes == ["4→5", "5→6"])
    }

    @Test func onTheActorItWritesAtOnce() async {
        let pool = Pool()
        let binding = await pool.bind(size)
        #expect(await pool.changes == ["bound at 4"])
        #expect(await pool.set(size, to: 7) == 7)
        binding.cancel()
        #expect(await pool.set(size, to: 8) == 7)
    }

    @Test func aGroupIsWrittenAsAWhole() async {
        let pool = Pool(binding: pair)
        await pool.waitForCall()
        pair.value = NumberPair(a: 1, b: 2)
        await pool.waitForCall()
        #expect(await pool.pair == NumberPair(a: 1, b: 2))
    }

    @Test func anObserverOfAGroupGetsWholeValues() async {
        let pool = Pool(observing: pair)
        let old = pair.value.b
        pair.value = NumberPair(a: 1, b: 2)
        await pool.waitForCall()
        #expect(await pool.changes == ["\(old)→2"])
    }

    /// Neither form retains the actor, and the next change ends the observers of an actor that is gone.
    @Test func theActorIsReleased() async {
        let released = Gate()
        do {
            let pool = Pool(released)
            _ = await pool.bind(size)
            pair.observe(on: pool) { _, _ in }
        }
        // A task that ran on the actor releases it when it has ended.
        await released.wait()
        size.value = 9
        pair.value = NumberPair(a: 3, b: 3)
        #expect(registry.state.withLock { $0.observers.flatMap(\.all) }.filter { $0.hasOwner && !$0.isEnded }.isEmpty)
    }

    /// Without a change, too: a server has an actor for each of its connections.
    @Test func observersOfReleasedActorsDoNotPileUp() {
        let before = registry.state.withLock { $0.observers.flatMap(\.all).count }
        for _ in 0..<500 {
            _ = Pool(observing: size)
            _ = Pool(observing: pair)
        }
        // Three tweaks, and in each list a few more ended ones than live ones.
        #expect(registry.state.withLock { $0.observers.flatMap(\.all).count } < before + 60)
    }

    @Test func theNewestValueWins() async {
        let pool = Pool(binding: size)
        await pool.waitForCall()
        let size = size
        await withTaskGroup { group in
            for value in 1...200 { group.addTask { size.value = value } }
        }
        size.value = 1_000
        while await pool.size != 1_000 { await pool.waitForCall() }
        #expect(await pool.size == size.value)
    }

    @Test func theMainActorObservesAsWell() async {
        let (stream, called) = AsyncStream.makeStream(of: Int.self)
        let binding = size.observe(on: MainActor.shared) { _, change in
            MainActor.preconditionIsolated()
            called.yield(change.new)
        }
        size.value = 5
        for await value in stream {
            #expect(value == 5)
            break
        }
        binding.cancel()
    }
}
