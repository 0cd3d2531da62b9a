// Tests observers and bindings on actors: they run there, one hop at a time, and the newest change wins.

import Testing
import TweaksTestSupport

@testable import Tweaks

@MainActor
private final class Panel {
    var changes: [String] = []
    var number = 0 {
        didSet { writes += 1 }
    }
    var writes = 0
    private let (calls, called) = AsyncStream.makeStream(of: Void.self)
    private var observation: TweakObservation?

    func observe(_ tweak: Tweak<Int>) {
        observation = tweak.observe { [weak self] change in self?.note(change.old, change.new) }
    }

    func observe(_ pair: TweakGroup<NumberPair>) {
        observation = pair.observe { [weak self] change in self?.note(change.old.a, change.new.a) }
    }

    private func note(_ old: Int, _ new: Int) {
        // At run time, too: the compiler's check is not enough, since the closure was cast.
        MainActor.preconditionIsolated()
        changes.append("\(old)→\(new)")
        called.yield()
    }

    func waitForCall() async {
        for await _ in calls { return }
    }
}

struct ActorObserverTests {
    private let registry = TweakRegistry()
    private let observations = Recorder<TweakObservation>()
    private let tweak: Tweak<Int>
    private let other: Tweak<Int>

    init() {
        tweak = Tweak("A", "B", "C", 0, registry: registry)
        other = Tweak("A", "B", "D", 0, registry: registry)
    }

    // MARK: On the main actor

    @MainActor @Test func hasRunWhenTheSetterOnItsActorReturns() {
        let panel = Panel()
        panel.observe(tweak)
        tweak.value = 1
        tweak.value = 2
        #expect(panel.changes == ["0→1", "1→2"])
    }

    @MainActor @Test func changesOfAnotherThreadArriveInOneHop() async {
        let panel = Panel()
        panel.observe(tweak)
        let tweak = tweak
        TestThread { for value in 1...1_000 { tweak.value = value } }.join()
        #expect(panel.changes.isEmpty)  // The main actor is busy with this test.
        await panel.waitForCall()
        #expect(panel.changes == ["0→1000"])
    }

    @MainActor @Test func aSetOnItsActorDeliversWhatAPendingHopWould() async {
        let panel = Panel()
        panel.observe(tweak)
        tweak.bind(to: panel, \.number)
        let tweak = tweak
        TestThread { tweak.value = 1 }.join()
        tweak.value = 2
        #expect(panel.changes == ["0→2"] && panel.number == 2)
        TestThread { tweak.value = 3 }.join()
        await panel.waitForCall()
        await panel.waitForCall()
        #expect(panel.changes == ["0→2", "2→3"])
    }

    @MainActor @Test func observersOfGroupsRunOnTheirActorInOneHop() async {
        let pair = TweakGroup("A", "Pair", NumberPair(), registry: registry)
        let panel = Panel()
        panel.observe(pair)
        pair.value = NumberPair(a: 1, b: 1)
        #expect(panel.changes == ["0→1"])
        TestThread { for value in 2...100 { pair.value = NumberPair(a: value, b: value) } }.join()
        await panel.waitForCall()
        await panel.waitForCall()
        #expect(panel.changes == ["0→1", "1→100"])
    }

    /// It has no isolation, even if it is passed on an actor.
    @MainActor @Test func aSendableFunctionRunsOnTheThreadOfTheChange() {
        let (seen, setting) = (Recorder<UInt>(), Recorder<UInt>())
        let note: @Sendable (TweakChange<Int>) -> Void = { _ in seen.note(currentThread()) }
        observations.note(tweak.observe(note))
        let tweak = tweak
        TestThread {
            setting.note(currentThread())
            tweak.value = 1
        }.join()
        #expect(seen.all == setting.all && seen.all.count == 1)
    }

    @Test func aClosureMadeOutsideAnActorMayNameOne() async {
        let (stream, called) = AsyncStream.makeStream(of: Int.self)
        observations.note(
            tweak.observe { @MainActor change in
                MainActor.assertIsolated()
                called.yield(change.new)
            })
        tweak.value = 1
        var calls = stream.makeAsyncIterator()
        #expect(await calls.next() == 1)
    }

    @MainActor @Test func aSetByAnObserverIsDeliveredAfterItsCall() {
        let seen = Recorder<String>()
        observations.note(
            tweak.observe { [tweak, other] change in
                other.value = change.new
                if change.new < 3 { tweak.value += 1 }
                seen.note("tweak \(change.new)")
            })
        observations.note(other.observe { change in seen.note("other \(change.new)") })
        tweak.value = 1
        #expect(seen.all == ["tweak 1", "other 1", "tweak 2", "other 2", "tweak 3", "other 3"])
    }

    @MainActor @Test func callsOfObserversThatSetEachOtherDoNotNest() {
        let depth = Box(0)
        observations.note(tweak.observe { [other] change in depth.unnested { other.value = change.new } })
        observations.note(
            other.observe { [tweak] change in
                depth.unnested { if change.new < 500 { tweak.value = change.new + 1 } }
            })
        tweak.value = 1
        #expect(tweak.value == 500 && other.value == 500)
    }

    /// A slow observer on the thread of the change comes after the hops to actors and the signals of sequences.
    @MainActor @Test func aSlowObserverDelaysNoActor() async {
        let (entered, release) = (Signal(), Signal())
        let slow: @Sendable (TweakChange<Int>) -> Void = { _ in
            entered.send()
            release.wait()
        }
        observations.note(tweak.observe(slow))
        let panel = Panel()
        panel.observe(tweak)
        var values = tweak.values.makeAsyncIterator()
        #expect(await values.next() == 0)
        let tweak = tweak
        let thread = TestThread { tweak.value = 1 }
        entered.wait()
        await panel.waitForCall()
        #expect(await values.next() == 1)
        #expect(panel.changes == ["0→1"])
        release.send()
        thread.join()
    }

    @MainActor @Test func aBusyMainActorWritesABindingOnce() async {
        let panel = Panel()
        panel.observe(tweak)
        tweak.bind(to: panel, \.number, when: .onChange)
        let tweak = tweak
        TestThread { for value in 1...20_000 { tweak.value = value } }.join()
        await panel.waitForCall()
        while panel.number != 20_000 { await Task.yield() }
        // Further jobs, if there are any, run meanwhile.
        for _ in 0..<10 { await Task.yield() }
        #expect(panel.writes == 1)
    }

    // MARK: On another actor

    @Test func runsOnTheActorThatMadeIt() async {
        let studio = Studio()
        await studio.observe(tweak)
        #expect(await studio.set(tweak, 1).seen == ["0→1"])
        tweak.value = 2
        #expect(await studio.seen == ["0→1", "1→2"])
        await studio.endObservation()
        #expect(registry.observerCount(of: tweak) == 0)
    }

    @Test func aBusyActorIsSentAFewJobsAndWritesABindingOnce() async {
        let studio = Studio()
        await studio.bind(tweak)
        let jobs = studio.jobsWhileSuspended { for value in 1...20_000 { tweak.value = value } }
        #expect((1...4).contains(jobs))
        #expect(await studio.writes == [20_000])
    }

    @Test func changesFromOutsideAreSentToABusyActorInOneJob() async throws {
        registry.observerExecutor = HandExecutor()
        let studio = Studio()
        await studio.bind(tweak)
        let jobs = try studio.jobsWhileSuspended {
            for value in 1...100 { try tweak.setFromOutside(value) }
        }
        #expect(jobs == 1)
        #expect(await studio.writes == [100])
    }

    @Test func aBindingRetainsNeitherItsObjectNorTheActorOfTheObject() async {
        var studio: Studio? = Studio()
        weak let reference = studio
        await studio?.bind(tweak)
        studio = nil
        // Its last job may still be ending.
        while reference != nil { await Task.yield() }
        tweak.value = 1
        #expect(registry.observerCount(of: tweak) == 0)
    }
}
