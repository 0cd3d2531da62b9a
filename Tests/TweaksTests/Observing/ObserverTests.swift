// Observers on one thread: when they run, what they see, and in which order.

import Testing

@testable import Tweaks

struct ObserverTests {
    private let registry = TweakRegistry()

    // MARK: When, and what

    @Test func runsOnlyOnARealChange() throws {
        let tweak = Tweak("A", "B", "C", "a", registry: registry)
        let seen = Recorder<String>()
        let token = tweak.observe { seen.note("\($0.old)→\($0.new)") }
        try tweak.set("a")
        tweak.value = "b"
        tweak.value = "b"
        tweak.reset()
        tweak.reset()
        #expect(refusal { try tweak.erased.set(.int(1)) } != nil)
        #expect(seen.all == ["a→b", "b→a"])
        token.cancel()
    }

    @Test func isToldTheWholeStory() throws {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        try tweak.set(2)
        let seen = Recorder<TweakChange<Int>>()
        let token = tweak.observe { seen.note($0) }
        try registry.commit(origin: .user(1000)) { $0.set(tweak, 3) }
        let change = try #require(seen.all.first)
        #expect(change.old == 2 && change.new == 3 && change.origin == .user(1000) && change.revision == 2)
        token.cancel()
    }

    @Test func hasRunOnTheCallersThreadWhenTheSetReturns() {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let (threads, values) = (Recorder<UInt>(), Recorder<[Int]>())
        let token = tweak.observe { change in
            values.note([change.new, tweak.value])
            threads.note(currentThread())
        }
        let (other, callsAtReturn) = (Box(UInt(0)), Box(0))
        TestThread {
            tweak.value = 2
            callsAtReturn.value = threads.all.count
            other.value = currentThread()
        }.join()
        #expect(threads.all == [other.value] && callsAtReturn.value == 1 && values.all == [[2, 2]])
        tweak.value = 3
        #expect(threads.all.count == 2)
        token.cancel()
    }

    @Test func allObserversRunInTheOrderTheyCame() {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let seen = Recorder<Int>()
        let tokens = (1...5).map { number in tweak.observe { _ in seen.note(number) } }
        tweak.value = 2
        #expect(seen.all == [1, 2, 3, 4, 5])
        for token in tokens { token.cancel() }
    }

    @Test func mayReadTheRegistryAndSnapshotIt() {
        let tweak = Tweak("A", "B", "C", 1, registry: registry)
        let seen = Recorder<Bool>()
        let token = tweak.observe { [registry] change in
            seen.note(registry.snapshot()[tweak] == change.new && registry.revision == change.revision)
            seen.note(registry["A/B/C"]?.value == .int(Int64(change.new)))
        }
        tweak.value = 2
        #expect(seen.all == [true, true])
        token.cancel()
    }

    // MARK: Sets from inside

    @Test func aSetOfTheSameTweakIsDeliveredAfterTheRunningCall() {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let seen = Recorder<String>()
        let token = tweak.observe { change in
            seen.note("begin \(change.old)→\(change.new)")
            if change.new < 3 {
                tweak.value += 1
                #expect(tweak.value == change.new + 1)  // Committed at once …
            }
            seen.note("end \(change.new)")  // … delivered later.
        }
        tweak.value = 1
        #expect(seen.all == ["begin 0→1", "end 1", "begin 1→2", "end 2", "begin 2→3", "end 3"])
        token.cancel()
    }

    @Test func aSetOfAnotherTweakIsDeliveredAfterTheRunningDelivery() {
        let (a, b) = (Tweak("A", "B", "a", 0, registry: registry), Tweak("A", "B", "b", 0, registry: registry))
        let seen = Recorder<String>()
        let tokens = [
            a.observe { _ in
                seen.note("first begin")
                b.value = 1
                seen.note("first end, b is \(b.value)")
            },
            a.observe { _ in seen.note("second") },
            b.observe { seen.note("b→\($0.new)") },
        ]
        a.value = 1
        #expect(seen.all == ["first begin", "first end, b is 1", "second", "b→1"])
        for token in tokens { token.cancel() }
    }

    @Test func tweaksThatSetEachOtherComeToRest() {
        let (a, b) = (Tweak("A", "B", "a", 0, registry: registry), Tweak("A", "B", "b", 0, registry: registry))
        let depth = Box(0)
        let tokens = [
            a.observe { change in
                depth.value += 1
                #expect(depth.value == 1)
                b.value = change.new
                depth.value -= 1
            },
            b.observe { change in
                depth.value += 1
                #expect(depth.value == 1)
                if change.new < 1_000 { a.value = change.new + 1 }
                depth.value -= 1
            },
        ]
        a.value = 1
        #expect(a.value == 1_000 && b.value == 1_000)
        for token in tokens { token.cancel() }
    }

    @Test func aLaterObserverSeesOnlyTheNewestOfWhatAnEarlierOneSet() {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let seen = Recorder<String>()
        let tokens = [
            tweak.observe { change in if change.new < 3 { tweak.value += 1 } },
            tweak.observe { seen.note("\($0.old)→\($0.new)") },
        ]
        tweak.value = 1
        #expect(seen.all == ["0→3"])
        for token in tokens { token.cancel() }
    }

    @Test func anObserverMayUndoAChangeAndTheNextOneSeesNone() {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let seen = Recorder<Int>()
        let tokens = [
            tweak.observe { _ in tweak.reset() },
            tweak.observe { seen.note($0.new) },
        ]
        tweak.value = 1
        #expect(tweak.value == 0 && seen.all.isEmpty)
        for token in tokens { token.cancel() }
    }

    @Test func aTaskStartedByAnObserverIsNotInsideTheDelivery() async {
        let (a, b) = (Tweak("A", "B", "a", 0, registry: registry), Tweak("A", "B", "b", 0, registry: registry))
        let seen = Recorder<Int>()
        let (stream, done) = AsyncStream.makeStream(of: Bool.self)
        let tokens = [
            a.observe { _ in
                Task {
                    b.value = 1
                    done.yield(seen.all == [1])  // Its set has run its observers when it returned.
                }
            },
            b.observe { seen.note($0.new) },
        ]
        a.value = 1
        var results = stream.makeAsyncIterator()
        #expect(await results.next() == true)
        for token in tokens { token.cancel() }
    }

    @Test func aTaskThatRunsAtOnceInsideAnObserverIsInsideTheDelivery() {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let (a, b) = (Tweak("A", "B", "a", 0, registry: registry), Tweak("A", "B", "b", 0, registry: registry))
        let seen = Recorder<String>()
        let tokens = [
            a.observe { _ in
                Task.immediate { b.value = 1 }
                seen.note("end")
            },
            b.observe { seen.note("b→\($0.new)") },
        ]
        a.value = 1
        #expect(seen.all == ["end", "b→1"])
        for token in tokens { token.cancel() }
    }

    // MARK: Ending

    @Test func cancelledMeansNoMoreCalls() {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let seen = Recorder<Int>()
        let token = tweak.observe { seen.note($0.new) }
        tweak.value = 1
        token.cancel()
        token.cancel()
        tweak.value = 2
        #expect(seen.all == [1])
        #expect(registry.observerCount(of: tweak) == 0)
    }

    @Test func lettingGoCancels() {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let seen = Recorder<Int>()
        var token: TweakObservation? = tweak.observe { seen.note($0.new) }
        tweak.value = 1
        withExtendedLifetime(token) {}
        token = nil
        tweak.value = 2
        #expect(seen.all == [1] && token == nil)
        #expect(registry.observerCount(of: tweak) == 0)
    }

    @Test func oneThatIsCancelledDuringTheDeliveryIsNotCalled() {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let second = Box<TweakObservation?>(nil)
        let seen = Recorder<String>()
        let first = tweak.observe { _ in
            seen.note("first")
            second.value?.cancel()
        }
        second.value = tweak.observe { _ in seen.note("second") }
        tweak.value = 1
        #expect(seen.all == ["first"])
        first.cancel()
    }

    @Test func oneMayCancelItself() {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let token = Box<TweakObservation?>(nil)
        let seen = Recorder<Int>()
        token.value = tweak.observe { change in
            seen.note(change.new)
            tweak.value += 1
            token.value?.cancel()
        }
        tweak.value = 1
        #expect(seen.all == [1] && tweak.value == 2)
    }

    @Test func anObservationDoesNotKeepItsRegistry() {
        var registry: TweakRegistry? = TweakRegistry()
        weak let reference = registry
        let token = registry.map { Tweak("A", "B", "C", 0, registry: $0).observe { _ in } }
        registry = nil
        #expect(reference == nil && token != nil)
        token?.cancel()
    }
}
