// Tests that a thread slot gives each thread an object that lives until the thread ends.

import Foundation
import Testing
import TweaksTestSupport

@testable import Tweaks

struct ThreadSlotTests {
    private final class Object: Sendable {
        private let onEnd: @Sendable () -> Void

        init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

        deinit { onEnd() }
    }

    @Test func eachThreadHasAnObjectUntilItEnds() async {
        let slot = ThreadSlot<Object>()
        let seen = Recorder<String>()
        let mine = slot.object { Object {} }
        // Resumed by the end of the other thread's object; without that the test would not end.
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let object = slot.object { Object { continuation.resume() } }
                seen.note(object === slot.object { Object {} } ? "the same" : "another")
                seen.note(object === mine ? "of all threads" : "of this thread")
            }
        }
        #expect(seen.all == ["the same", "of this thread"])
    }
}
