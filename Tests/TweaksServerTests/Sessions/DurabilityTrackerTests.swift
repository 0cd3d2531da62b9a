// Tests what the server keeps about commits that the audit has not recorded.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksServer

@Suite struct DurabilityTrackerTests {
    /// The process's own user needs no room: its commits are counted however many there are.
    @Test func anAuditThatWritesNothingTakesLittleMemory() throws {
        let audit = GatedStore(isRequired: false)
        let tracker = DurabilityTracker(nil, audit, try Mailbox(), auditWait: .milliseconds(200))
        for revision in 1...100_000 as ClosedRange<UInt64> { tracker.noteCommit(revision, bytes: 512) }
        #expect(tracker.unaudited.count <= DurabilityTracker.maxUnauditedEntries)
        #expect(tracker.unaudited.reduce(0) { $0 + $1.bytes } == 51_200_000)
        #expect(!tracker.hasRoom(for: 1))
        // The newest commits keep entries of their own, so that there is room before all are recorded.
        tracker.note(audited: SaveStatus(saved: 99_900, attempted: 99_900), Moment(.now))
        #expect(tracker.hasRoom(for: 1))
        tracker.note(audited: SaveStatus(saved: 100_000, attempted: 100_000), Moment(.now))
        #expect(tracker.unaudited.isEmpty)
    }
}
