// Tests Swift's Observation of tweaks from several threads at once: no change is missed.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct ObservationSourceThreadTests {
    private let registry = TweakRegistry()

    @MainActor @Test func aViewThatReadsAgainAfterEachChangeEndsWithTheLastValue() async {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let view = View(tweak)
        view.draw()
        let isWritten = Box(false)
        let writing = TestThread {
            onThreads(3) { index in for number in 1...300 { tweak.value = index * 1_000 + number } }
            tweak.value = -1
            isWritten.value = true
        }
        while !isWritten.value || view.shown != -1 { await Task.yield() }
        writing.join()
        #expect(view.shown == -1)
    }

    @Test func firstReadsOnManyThreadsShareOneObserver() {
        for number in 0..<200 {
            let tweak = Tweak("A", "B", "\(number)", 0, registry: registry)
            let triggered = Recorder<Int>()
            onThreads(4) { index in
                if index == 0 { tweak.value = 1 }
                tweak.tracked { triggered.note(index) }
            }
            #expect(registry.observerCount(of: tweak) == 1)
            // Triggers also those that the first set did not, since they began to read during it.
            tweak.value = 2
            #expect(Set(triggered.all) == [0, 1, 2, 3])
        }
    }

    @Test func readsSetsAndRemovalAtOnceEndWithTheDefault() {
        for number in 0..<30 {
            let tweak = Tweak("A", "B", "\(number)", 0, registry: registry)
            onThreads(4) { [registry] index in
                switch index {
                case 0: for value in 1...100 { tweak.value = value }
                case 1:
                    for _ in 0..<50 { if tweak.value == 100 { break } }
                    registry.remove(tweak.path)
                default: for _ in 0..<100 { tweak.tracked {} }
                }
            }
            #expect(tweak.observed == 0)
        }
    }
}

/// Reads on the main actor and, after a change, soon again there, as SwiftUI does.
@MainActor
private final class View {
    private let tweak: Tweak<Int>
    private(set) var shown: Int?

    init(_ tweak: Tweak<Int>) { self.tweak = tweak }

    func draw() { shown = tweak.tracked { [weak self] in Task { @MainActor in self?.draw() } } }
}
