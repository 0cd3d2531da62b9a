// Tests the expiry schedule against a dictionary, through thousands of random changes.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct ExpiryScheduleTests {
    @Test(arguments: 1...5) func agreesWithADictionary(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let registry = TweakRegistry()
        let nodes = try (0..<20).map { try registry.register("A", "B", "T\($0)", 0).node }
        let start = Moment(.now)
        var schedule = ExpirySchedule()
        var ends: [Int: Moment] = [:]
        for _ in 0..<2_000 {
            let index = Int.random(in: nodes.indices, using: &random)
            // Few different times, so that many ends are equal.
            let seconds = Duration.seconds(Int.random(in: 0..<8, using: &random))
            let end = Bool.random(using: &random) ? start.advanced(by: seconds) : nil
            schedule.move(nodes[index], from: ends[index], to: end)
            ends[index] = end
            #expect(schedule.count == ends.count && schedule.next == ends.values.min())
            let moment = start.advanced(by: .seconds(Int.random(in: -1..<9, using: &random)))
            let due = schedule.due(moment).map(\.slot).sorted()
            #expect(due == ends.filter { $0.value <= moment }.keys.map { nodes[$0].slot }.sorted())
        }
    }
}
