// Observers and bindings on actors: run there, one hop at a time, the newest change wins.

import Dispatch
import Synchronization
import Testing

@testable import Tweaks

/// What a program has on the main actor.
@MainActor
private final class Panel {
    var changes: [String] = []
    var number = 0 {
        didSet { writes += 1 }
    }
    var writes = 0
    private let (heard, hear) = AsyncStream.makeStream(of: Void.self)
    private var observation: TweakObservation?

    func observe(_ tweak: Tweak<Int>) {
        observation = tweak.observe { [weak self] change in
            // Not only by the compiler's word; the thread may be any on Linux.
            MainActor.preconditionIsolated()
            self?.changes.append("\(change.old)→\(change.new)")
            self?.hear.yield()
        }
    }

    func observe(_ pair: TweakGroup<Pair>) {
        observation = pair.observe { [weak self] change in
            self?.changes.append("\(change.old.a)→\(change.new.a)")
            self?.hear.yield()
        }
    }

    func wait() async {
        for await _ in heard { return }
    }
}

private struct Pair: TweakTemplate {
    var a = 0
    var b = 0
    static let parts: [TweakPart<Pair>] = [TweakPart("a", \.a), TweakPart("b", \.b)]
}

/// An actor's queue that can be held up, and counts the jobs that come.
private final class HeldExecutor: SerialExecutor {
    let queue = DispatchQueue(label: "tests.held")
    let jobs = Atomic(0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.add(1, ordering: .sequentiallyConsistent)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}

private actor Studio {
    final class Lamp {
        var writes: [Int] = []
        var level = 0 {
            didSet { writes.append(level) }
        }
    }

    nonisolated let executor = HeldExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private let lamp = Lamp()
    private var observation: TweakObservation?
    var writes: [Int] { lamp.writes }
    private(set) var seen: [String] = []

    func bind(_ tweak: Tweak<Int>) { tweak.bind(to: lamp, \.level, when: .onChange) }

    func observe(_ tweak: Tweak<Int>) {
        observation = tweak.observe { change in self.seen.append("\(change.old)→\(change.new)") }
    }

    func set(_ tweak: Tweak<Int>, _ value: Int) -> [String] {
        tweak.value = value
        return seen
    }

    func end() { observation = nil }
}

struct ActorObserverTests {
    private let registry = TweakRegistry()
    private let tweak: Tweak<Int>

    init() { tweak = Tweak("A", "B", "C", 0, registry: registry) }

    // MARK: On the main actor

    @MainActor @Test func itHasRunWhenTheSetterReturns() {
        let panel = Panel()
        panel.observe(tweak)
        tweak.value = 1
        tweak.value = 2
        #expect(panel.changes == ["0→1", "1→2"])
    }

    @MainActor @Test func changesFromElsewhereComeInOneHop() async {
        let panel = Panel()
        panel.observe(tweak)
        let tweak = tweak
        TestThread { for value in 1...1_000 { tweak.value = value } }.join()
        #expect(panel.changes.isEmpty)  // The main actor is here.
        await panel.wait()
        #expect(panel.changes == ["0→1000"])
    }

    /// What is on its way from elsewhere is brought along.
    @MainActor @Test func aSetThereDoesNotWaitForAHop() async {
        let panel = Panel()
        panel.observe(tweak)
        tweak.bind(to: panel, \.number)
        let tweak = tweak
        TestThread { tweak.value = 1 }.join()
        tweak.value = 2
        #expect(panel.changes == ["0→2"] && panel.number == 2)
        TestThread { tweak.value = 3 }.join()
        await panel.wait()
        await panel.wait()
        #expect(panel.changes == ["0→2", "2→3"])
    }

    @MainActor @Test func groupsDoTheSame() async throws {
        let pair = TweakGroup("A", "Pair", Pair(), registry: registry)
        let panel = Panel()
        panel.observe(pair)
        pair.value = Pair(a: 1, b: 1)
        #expect(panel.changes == ["0→1"])
        TestThread { for value in 2...100 { pair.value = Pair(a: value, b: value) } }.join()
        await panel.wait()
        await panel.wait()
        #expect(panel.changes == ["0→1", "1→100"])
    }

    /// It belongs to no actor, wherever it is passed from.
    @MainActor @Test func aSendableFunctionRunsOnTheThreadOfTheChange() {
        let (seen, setting) = (Recorder<UInt>(), Recorder<UInt>())
        let note: @Sendable (TweakChange<Int>) -> Void = { _ in seen.note(currentThread()) }
        let token = tweak.observe(note)
        let tweak = tweak
        TestThread {
            setting.note(currentThread())
            tweak.value = 1
        }.join()
        #expect(seen.all == setting.all && seen.all.count == 1)
        token.cancel()
    }

    /// Made outside any actor, for one.
    @Test func aClosureMaySayWhereItRuns() async {
        let (stream, hear) = AsyncStream.makeStream(of: Int.self)
        let token = tweak.observe { @MainActor change in
            MainActor.assertIsolated()
            hear.yield(change.new)
        }
        tweak.value = 1
        var heard = stream.makeAsyncIterator()
        #expect(await heard.next() == 1)
        token.cancel()
    }

    @MainActor @Test func aSetFromInsideIsDeliveredAfterwards() {
        let other = Tweak("A", "B", "D", 0, registry: registry)
        let seen = Recorder<String>()
        let tokens = [
            tweak.observe { change in
                other.value = change.new
                if change.new < 3 { tweak.value += 1 }
                seen.note("tweak \(change.new)")
            },
            other.observe { change in seen.note("other \(change.new)") },
        ]
        tweak.value = 1
        #expect(seen.all == ["tweak 1", "other 1", "tweak 2", "other 2", "tweak 3", "other 3"])
        for token in tokens { token.cancel() }
    }

    @MainActor @Test func observersThatSetEachOtherDoNotNest() {
        let other = Tweak("A", "B", "D", 0, registry: registry)
        let depth = Box(0)
        let tokens = [
            tweak.observe { change in
                depth.value += 1
                #expect(depth.value == 1)
                other.value = change.new
                depth.value -= 1
            },
            other.observe { change in
                depth.value += 1
                #expect(depth.value == 1)
                if change.new < 500 { tweak.value = change.new + 1 }
                depth.value -= 1
            },
        ]
        tweak.value = 1
        #expect(tweak.value == 500 && other.value == 500)
        for token in tokens { token.cancel() }
    }

    /// A slow observer on the thread of the change comes after the hops to actors and the signals of sequences.
    @MainActor @Test func aSlowObserverKeepsNoActorWaiting() async {
        let (entered, release) = (Signal(), Signal())
        let slow: @Sendable (TweakChange<Int>) -> Void = { _ in
            entered.send()
            release.wait()
        }
        let token = tweak.observe(slow)
        let panel = Panel()
        panel.observe(tweak)
        var values = tweak.values.makeAsyncIterator()
        #expect(await values.next() == 0)
        let tweak = tweak
        let thread = TestThread { tweak.value = 1 }
        entered.wait()
        await panel.wait()
        #expect(await values.next() == 1)
        #expect(panel.changes == ["0→1"])
        release.send()
        thread.join()
        token.cancel()
    }

    // MARK: On another actor

    @Test func itRunsOnTheActorThatMadeIt() async {
        let studio = Studio()
        await studio.observe(tweak)
        #expect(await studio.set(tweak, 1) == ["0→1"])
        tweak.value = 2
        #expect(await studio.seen == ["0→1", "1→2"])
        await studio.end()
        #expect(registry.observerCount(of: tweak) == 0)
    }

    @Test func aBusyActorIsSentAFewJobsAndWritesOnce() async {
        let studio = Studio()
        await studio.bind(tweak)
        studio.executor.queue.suspend()
        let before = studio.executor.jobs.load(ordering: .sequentiallyConsistent)
        for value in 1...20_000 { tweak.value = value }
        let sent = studio.executor.jobs.load(ordering: .sequentiallyConsistent) - before
        #expect((1...4).contains(sent))
        studio.executor.queue.resume()
        #expect(await studio.writes == [20_000])
    }

    @Test func changesFromOutsideAreSentInOne() async throws {
        registry.observerExecutor = HandExecutor()
        let studio = Studio()
        await studio.bind(tweak)
        studio.executor.queue.suspend()
        let before = studio.executor.jobs.load(ordering: .sequentiallyConsistent)
        for value in 1...100 {
            try registry.commit(tweak.node, .set(.int(Int64(value))), origin: .user(1), delivery: .carrier)
        }
        #expect(studio.executor.jobs.load(ordering: .sequentiallyConsistent) - before == 1)
        studio.executor.queue.resume()
        #expect(await studio.writes == [100])
    }

    /// A binding holds neither its object nor the actor that has the object.
    @Test func anActorThatHasBoundItsOwnObjectMayGo() async {
        var studio: Studio? = Studio()
        weak let reference = studio
        await studio?.bind(tweak)
        studio = nil
        // Its last job may still be ending.
        while reference != nil { await Task.yield() }
        tweak.value = 1
        #expect(registry.observerCount(of: tweak) == 0)
    }

    @MainActor @Test func aBusyMainActorWritesOnce() async {
        let panel = Panel()
        panel.observe(tweak)
        tweak.bind(to: panel, \.number, when: .onChange)
        let tweak = tweak
        TestThread { for value in 1...20_000 { tweak.value = value } }.join()
        await panel.wait()
        while panel.number != 20_000 { await Task.yield() }
        // Whatever else was sent has come by then.
        for _ in 0..<10 { await Task.yield() }
        #expect(panel.writes == 1)
    }
}
