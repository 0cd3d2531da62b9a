// Observation from several threads at once: nothing is lost where it must not be, and nothing breaks.

import Observation
import Testing

@testable import Tweaks

struct ObservedThreadTests {
    private let registry = TweakRegistry()

    @Test("On the main actor a view that reads again after each change ends with the last value")
    @MainActor func aViewEndsWithTheLastValue() async {
        let tweak = Tweak("A", "B", "C", 0, registry: registry)
        let view = View(tweak)
        view.draw()
        let writers = Box(false)
        let writing = TestThread {
            onThreads(3) { index in for number in 1...300 { tweak.value = index * 1_000 + number } }
            tweak.value = -1
            writers.value = true
        }
        while !writers.value || view.shown != -1 { await Task.yield() }
        writing.join()
        #expect(view.shown == -1)
    }

    @Test func onlyOneObjectIsMadeByManyFirstReads() {
        for number in 0..<200 {
            let tweak = Tweak("A", "B", "\(number)", 0, registry: registry)
            let told = Recorder<Int>()
            onThreads(4) { index in
                if index == 0 { tweak.value = 1 }
                withObservationTracking {
                    _ = tweak.observed
                } onChange: {
                    told.note(index)
                }
            }
            #expect(registry.observerCount(of: tweak) == 1)
            // Those who came while it was first set, and were missed by that, are told now.
            tweak.value = 2
            #expect(Set(told.all) == [0, 1, 2, 3])
        }
    }

    @Test func readersWritersAndRemoval() {
        for number in 0..<30 {
            let tweak = Tweak("A", "B", "\(number)", 0, registry: registry)
            onThreads(4) { index in
                switch index {
                case 0: for value in 1...100 { tweak.value = value }
                case 1: for _ in 0..<50 { if tweak.value == 100 { break } }; registry.remove(tweak.path)
                default:
                    for _ in 0..<100 {
                        withObservationTracking {
                            _ = tweak.observed
                        } onChange: {
                        }
                    }
                }
            }
            #expect(tweak.observed == 0)
        }
    }
}

/// What SwiftUI does: reads on the main actor; when told, reads again there, soon.
@MainActor
private final class View {
    private let tweak: Tweak<Int>
    private(set) var shown: Int?

    init(_ tweak: Tweak<Int>) { self.tweak = tweak }

    func draw() {
        shown = withObservationTracking {
            tweak.observed
        } onChange: { [weak self] in
            Task { @MainActor in self?.draw() }
        }
    }
}
