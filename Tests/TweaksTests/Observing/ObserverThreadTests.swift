// Tests observers between threads: no two calls at once, no older value after a newer one, the last value in the end.

import Synchronization
import Testing
import TweaksTestSupport

@testable import Tweaks

struct ObserverThreadTests {
    private let registry = TweakRegistry()
    private let tweak: Tweak<Int>
    private let entered = Signal()
    private let release = Signal()

    init() { tweak = Tweak("A", "B", "C", 0, registry: registry) }

    /// Records the new values; each call announces itself and waits for its release.
    private func blockingRecorder() -> ChangeRecorder<Int> {
        ChangeRecorder(tweak) { [entered, release] change in
            entered.send()
            release.wait()
            return change.new
        }
    }

    @Test func changesOfTwoWritersArriveInOrderUpToTheLast() {
        let seen = ChangeRecorder(tweak) { $0 }
        onThreads(2) { thread in for round in 1...2_000 { tweak.value = round * 2 + thread } }
        let changes = seen.all
        #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.revision < $1.revision && $0.new == $1.old })
        #expect(changes.allSatisfy { $0.old != $0.new })
        #expect(changes.first?.old == 0 && changes.last?.new == tweak.value)
    }

    @Test func neverRunsConcurrentlyWithItself() {
        let (a, b) = (tweak, Tweak("A", "B", "b", 0, registry: registry))
        let running = Atomic(0)
        let overlaps = Atomic(0)
        let token = a.observe { change in
            if running.add(1, ordering: .sequentiallyConsistent).newValue > 1 {
                overlaps.add(1, ordering: .sequentiallyConsistent)
            }
            b.value = change.new  // Some work, which is a set, too.
            running.subtract(1, ordering: .sequentiallyConsistent)
        }
        onThreads(4) { [registry] thread in
            for round in 0..<500 {
                if round.isMultiple(of: 2) {
                    a.value = round * 4 + thread
                } else {
                    _ = try? registry.commit(origin: .code) { $0.set(a, round * 4 + thread) }
                }
            }
        }
        #expect(overlaps.load(ordering: .sequentiallyConsistent) == 0)
        #expect(b.value == a.value)
        token.cancel()
    }

    /// The second thread does not wait: the first one, still inside the observer, delivers the newest value later.
    @Test func theThreadThatRunsABusyObserverDeliversTheNewestValueToIt() {
        let (seen, threads) = (Recorder<String>(), Recorder<UInt>())
        let token = tweak.observe { [entered, release] change in
            seen.note("\(change.old)→\(change.new)")
            threads.note(currentThread())
            if change.new == 1 {
                entered.send()
                release.wait()
            }
        }
        let first = TestThread { tweak.value = 1 }
        entered.wait()
        tweak.value = 2
        tweak.value = 3
        #expect(seen.all == ["0→1"] && tweak.value == 3)
        release.send()
        first.join()
        #expect(seen.all == ["0→1", "1→3"])
        #expect(Set(threads.all).count == 1 && !threads.all.contains(currentThread()))
        token.cancel()
    }

    @Test func aBusyObserverDoesNotReceiveAChangeBackToItsValue() {
        let seen = blockingRecorder()
        let first = TestThread { tweak.value = 1 }
        entered.wait()
        tweak.value = 2
        tweak.value = 1  // The value of the running call.
        release.send()
        first.join()
        #expect(seen.all == [1])
    }

    @Test func aSlowObserverDelaysNeitherReadersNorOtherTweaks() throws {
        let other = Tweak("A", "B", "other", "", registry: registry)
        let slow = tweak.observe { [entered, release] _ in
            entered.send()
            release.wait()
        }
        let (seen, seenBySecond) = (ChangeRecorder(other) { $0.new }, ChangeRecorder(tweak) { $0.new })
        let thread = TestThread { tweak.value = 1 }
        entered.wait()
        // All of this happens while the observer waits.
        for round in 1...100 {
            try other.set("\(round)")
            #expect(tweak.value == round && registry["A/B/C"]?.value == .int(Int64(round)))
            #expect(registry.snapshot()[tweak] == round)
            try registry.commit(origin: .code) { $0.set(tweak, round + 1) }
        }
        #expect(seen.all == (1...100).map { "\($0)" })
        #expect(seenBySecond.all.last == 101)
        release.send()
        release.send()
        thread.join()
        slow.cancel()
    }

    @Test func noCallStartsAfterACancelDuringACall() {
        let seen = blockingRecorder()
        let thread = TestThread { tweak.value = 1 }
        entered.wait()
        tweak.value = 2  // Waits for the running call …
        seen.cancel()  // … and is dropped here.
        release.send()
        thread.join()
        tweak.value = 3
        #expect(seen.all == [1])
    }

    @Test func anObserverReceivesTheLastValueWhileOthersComeAndGo() {
        let last = Box(0)
        let token = tweak.observe { last.value = $0.new }
        onThreads(4) { thread in
            for round in 1...300 {
                if thread < 2 { tweak.value = round * 2 + thread } else { tweak.observe { _ in }.cancel() }
            }
        }
        #expect(last.value == tweak.value)
        #expect(registry.observerCount(of: tweak) == 1)
        token.cancel()
    }

    @Test func aReaderNeverReadsPartOfAString() {
        let (short, long) = ("a", String(repeating: "b", count: 1_000))
        let tweak = Tweak("A", "B", "Text", short, registry: registry)
        let wrong = Atomic(0)
        onThreads(3) { thread in
            for round in 0..<1_000 {
                if thread == 0 {
                    tweak.value = round.isMultiple(of: 2) ? long : short
                } else if ![short, long].contains(tweak.value) {
                    wrong.add(1, ordering: .relaxed)
                }
            }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
    }
}
