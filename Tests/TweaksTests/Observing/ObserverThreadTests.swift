// Observers between threads: never at once, never backwards, never without the last value, never in anybody's way.

import Synchronization
import Testing

@testable import Tweaks

struct ObserverThreadTests {
    private let registry = TweakRegistry()

    @Test func twoWritersTheNewestWinsAndTheLastIsSeen() {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let seen = Recorder<TweakChange<Int>>()
        let token = tweak.observe { seen.note($0) }
        onThreads(2) { thread in
            for round in 1...2_000 { tweak.value = round * 2 + thread }
        }
        let changes = seen.all
        #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.revision < $1.revision })
        #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.new == $1.old })
        #expect(changes.allSatisfy { $0.old != $0.new })
        #expect(changes.first?.old == 0)
        #expect(changes.last?.new == tweak.value)
        token.cancel()
    }

    @Test func neverRunsConcurrentlyWithItself() {
        let (a, b) = (Tweak("A", "B", "a", 0, registry: registry), Tweak("A", "B", "b", 0, registry: registry))
        let running = Atomic(0)
        let overlaps = Atomic(0)
        let token = a.observe { change in
            if running.add(1, ordering: .sequentiallyConsistent).newValue > 1 {
                overlaps.add(1, ordering: .sequentiallyConsistent)
            }
            b.value = change.new  // Work, and a set from inside.
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

    /// The second thread does not wait: the first one, still inside the observer, carries the newest value on.
    @Test func aBusyObserverIsShownTheNewestByTheThreadThatRunsIt() {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let (entered, release) = (Signal(), Signal())
        let seen = Recorder<String>()
        let threads = Recorder<UInt>()
        let mine = currentThread()
        let token = tweak.observe { change in
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
        #expect(Set(threads.all).count == 1 && !threads.all.contains(mine))
        token.cancel()
    }

    @Test func aBusyObserverIsNotShownWhatCameAndWent() {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let (entered, release) = (Signal(), Signal())
        let seen = Recorder<Int>()
        let token = tweak.observe { change in
            seen.note(change.new)
            entered.send()
            release.wait()
        }
        let first = TestThread { tweak.value = 1 }
        entered.wait()
        tweak.value = 2
        tweak.value = 1  // What it is just looking at.
        release.send()
        first.join()
        #expect(seen.all == [1])
        token.cancel()
    }

    @Test func aSlowObserverDelaysNeitherReadersNorOtherTweaks() throws {
        let (slow, other) = (
            Tweak("A", "B", "slow", 0, registry: registry), Tweak("A", "B", "other", "", registry: registry)
        )
        let (entered, release) = (Signal(), Signal())
        let (seen, seenBySecond) = (Recorder<String>(), Recorder<Int>())
        let tokens = [
            slow.observe { _ in
                entered.send()
                release.wait()
            },
            other.observe { seen.note($0.new) },
            slow.observe { seenBySecond.note($0.new) },
        ]
        let thread = TestThread { slow.value = 1 }
        entered.wait()
        // All of this happens while the observer sleeps.
        for round in 1...100 {
            try other.set("\(round)")
            #expect(slow.value == round && registry["A/B/slow"]?.value == .int(Int64(round)))
            #expect(registry.snapshot()[slow] == round)
            try registry.commit(origin: .code) { $0.set(slow, round + 1) }
        }
        #expect(seen.all == (1...100).map { "\($0)" })
        #expect(seenBySecond.all.last == 101)
        release.send()
        release.send()
        thread.join()
        for token in tokens { token.cancel() }
    }

    @Test func cancelledWhileItRunsNoMoreCallsStart() {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let (entered, release) = (Signal(), Signal())
        let seen = Recorder<Int>()
        let token = tweak.observe { change in
            seen.note(change.new)
            entered.send()
            release.wait()
        }
        let thread = TestThread { tweak.value = 1 }
        entered.wait()
        tweak.value = 2  // Waits for the running call …
        token.cancel()  // … and is dropped here.
        release.send()
        thread.join()
        tweak.value = 3
        #expect(seen.all == [1])
    }

    @Test func observersComeAndGoWhileOthersSet() {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let last = Box(0)
        let stays = tweak.observe { last.value = $0.new }
        onThreads(4) { thread in
            for round in 1...300 {
                if thread < 2 {
                    tweak.value = round * 2 + thread
                } else {
                    let token = tweak.observe { _ in }
                    token.cancel()
                }
            }
        }
        #expect(last.value == tweak.value)
        #expect(registry.observerCount(of: tweak) == 1)
        stays.cancel()
    }

    @Test func readersNeverSeeHalfAString() {
        let (short, long) = ("a", String(repeating: "b", count: 1_000))
        let tweak = Tweak("A", "B", "C", short, registry: registry)
        let strange = Atomic(0)
        onThreads(3) { thread in
            for round in 0..<1_000 {
                if thread == 0 {
                    tweak.value = round.isMultiple(of: 2) ? long : short
                } else if ![short, long].contains(tweak.value) {
                    strange.add(1, ordering: .relaxed)
                }
            }
        }
        #expect(strange.load(ordering: .relaxed) == 0)
    }
}
