// Checks the names of a fleet's keys.

import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct FleetKeysTests {
    private let keys = FleetKeys(name: "api")

    @Test func `A key of each kind is read as what it is`() throws {
        let path = try #require(try? TweakPath("Label/Text/Size"))
        #expect(keys.desired(keys.head) == .head)
        #expect(keys.desired(keys.value(path)) == .value(path))
        #expect(keys.desired(keys.rollout("r-1")) == .rollout("r-1"))
        #expect(keys.desired(Array("/tweaks/api/desired/values/a//b".utf8)) == .foreign)
        #expect(keys.desired(Array("/tweaks/api/desired/values/".utf8) + [0xFF]) == .foreign)
    }
}
