// Tests observers on one thread: when they run, with which change, and in which order.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct ObserverTests {
    private let registry = TweakRegistry()
    private let observations = Recorder<TweakObservation>()
    private let seen = Recorder<String>()
    private let a: Tweak<Int>
    private let b: Tweak<Int>

    init() {
        a = Tweak("A", "B", "a", 0, registry: registry)
        b = Tweak("A", "B", "b", 0, registry: registry)
    }

    // MARK: Calls

    @Test func runsOnlyOnARealChange() throws {
        let text = Tweak("A", "B", "Text", "a", registry: registry)
        let seen = ChangeRecorder(text) { "\($0.old)→\($0.new)" }
        try text.set("a")
        text.value = "b"
        text.value = "b"
        text.reset()
        text.reset()
        #expect(refusal { try text.erased.set(.int(1)) } != nil)
        #expect(seen.all == ["a→b", "b→a"])
    }

    @Test func aChangeHasBothValuesItsOriginAndItsRevision() throws {
        try a.set(2)
        let seen = ChangeRecorder(a) { $0 }
        try registry.commit(origin: .user(1000)) { $0.set(a, 3) }
        let change = try #require(seen.all.first)
        #expect(change.old == 2 && change.new == 3 && change.origin == .user(1000) && change.revision == 2)
    }

    @Test func hasRunOnTheCallersThreadWhenTheSetReturns() {
        let threads = Recorder<UInt>()
        let values = ChangeRecorder(a) { [a] change in
            threads.note(currentThread())
            return [change.new, a.value]
        }
        let (other, callsAtReturn) = (Box(UInt(0)), Box(0))
        TestThread { [a] in
            a.value = 2
            callsAtReturn.value = threads.all.count
            other.value = currentThread()
        }.join()
        #expect(threads.all == [other.value] && callsAtReturn.value == 1 && values.all == [[2, 2]])
        a.value = 3
        #expect(threads.all.count == 2)
    }

    @Test func observersRunInTheOrderInWhichTheyWereAdded() {
        for number in 1...5 { observations.note(a.observe { [seen] _ in seen.note("\(number)") }) }
        a.value = 2
        #expect(seen.all == ["1", "2", "3", "4", "5"])
    }

    @Test func mayReadTheRegistryAndSnapshotIt() {
        let seen = ChangeRecorder(a) { [registry, a] change in
            [
                registry.snapshot()[a] == change.new, registry.revision == change.revision,
                registry["A/B/a"]?.value == .int(Int64(change.new)),
            ]
        }
        a.value = 2
        #expect(seen.all == [[true, true, true]])
    }

    // MARK: Sets by observers

    @Test func aSetOfTheSameTweakIsDeliveredAfterTheRunningCall() {
        observations.note(
            a.observe { [a, seen] change in
                seen.note("begin \(change.old)→\(change.new)")
                if change.new < 3 {
                    a.value += 1
                    #expect(a.value == change.new + 1)  // Committed at once …
                }
                seen.note("end \(change.new)")  // … delivered later.
            })
        a.value = 1
        #expect(seen.all == ["begin 0→1", "end 1", "begin 1→2", "end 2", "begin 2→3", "end 3"])
    }

    @Test func aSetOfAnotherTweakIsDeliveredAfterTheRunningDelivery() {
        observations.note(
            a.observe { [b, seen] _ in
                seen.note("first begin")
                b.value = 1
                seen.note("first end, b is \(b.value)")
            })
        observations.note(a.observe { [seen] _ in seen.note("second") })
        observations.note(b.observe { [seen] in seen.note("b→\($0.new)") })
        a.value = 1
        #expect(seen.all == ["first begin", "first end, b is 1", "second", "b→1"])
    }

    @Test func callsOfObserversThatSetEachOtherDoNotNest() {
        let depth = Box(0)
        observations.note(a.observe { [b] change in depth.unnested { b.value = change.new } })
        observations.note(
            b.observe { [a] change in depth.unnested { if change.new < 1_000 { a.value = change.new + 1 } } })
        a.value = 1
        #expect(a.value == 1_000 && b.value == 1_000)
    }

    @Test(arguments: [(3, ["0→3"]), (0, [])])
    func aLaterObserverReceivesOnlyTheNewestOfWhatAnEarlierOneSet(last: Int, calls: [String]) {
        observations.note(
            a.observe { [a] change in
                if last == 0 { a.reset() } else if change.new != last { a.value += 1 }
            })
        let seen = ChangeRecorder(a) { "\($0.old)→\($0.new)" }
        a.value = 1
        #expect(a.value == last && a.isModified == (last != 0) && seen.all == calls)
    }

    @Test func aTaskStartedByAnObserverIsNotInsideTheDelivery() async {
        let (stream, done) = AsyncStream.makeStream(of: Bool.self)
        observations.note(
            a.observe { [b, seen] _ in
                Task {
                    b.value = 1
                    done.yield(seen.all == ["1"])  // Its set has run its observers when it returned.
                }
            })
        observations.note(b.observe { [seen] in seen.note("\($0.new)") })
        a.value = 1
        var results = stream.makeAsyncIterator()
        #expect(await results.next() == true)
    }

    @Test func aTaskThatRunsImmediatelyInAnObserverIsInsideTheDelivery() {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        observations.note(
            a.observe { [b, seen] _ in
                Task.immediate { b.value = 1 }
                seen.note("end")
            })
        observations.note(b.observe { [seen] in seen.note("b→\($0.new)") })
        a.value = 1
        #expect(seen.all == ["end", "b→1"])
    }

    // MARK: Ending

    @Test(arguments: [true, false]) func noCallStartsAfterCancelOrRelease(isCanceled: Bool) {
        var token: TweakObservation? = a.observe { seen.note("\($0.new)") }
        a.value = 1
        withExtendedLifetime(token) {}
        if isCanceled {
            token?.cancel()
            token?.cancel()
        } else {
            token = nil
        }
        a.value = 2
        #expect(seen.all == ["1"] && registry.observerCount(of: a) == 0)
        withExtendedLifetime(token) {}
    }

    @Test func anObserverCanceledDuringTheDeliveryIsNotCalled() {
        let second = Box<TweakObservation?>(nil)
        observations.note(
            a.observe { [seen] _ in
                seen.note("first")
                second.value?.cancel()
            })
        second.value = a.observe { _ in seen.note("second") }
        a.value = 1
        #expect(seen.all == ["first"])
    }

    @Test func anObserverMayCancelItself() {
        let token = Box<TweakObservation?>(nil)
        token.value = a.observe { change in
            seen.note("\(change.new)")
            a.value += 1
            token.value?.cancel()
        }
        a.value = 1
        #expect(seen.all == ["1"] && a.value == 2)
    }

    @Test func anObservationDoesNotRetainItsRegistry() {
        var registry: TweakRegistry? = TweakRegistry()
        weak let reference = registry
        let token = registry.map { Tweak("A", "B", "C", 0, registry: $0).observe { _ in } }
        registry = nil
        #expect(reference == nil && token != nil)
        token?.cancel()
    }
}
