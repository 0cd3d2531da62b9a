// Tests the parsing of a fleet's keys.

import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct FleetKeysTests {
    private let keys = FleetKeys(name: "api")

    @Test func `A key of each kind is recognized, and others are unknown`() throws {
        let path = try TweakPath("Label/Text/Size")
        #expect(keys.desired(keys.head) == .head)
        #expect(keys.desired(keys.value(path)) == .value(path))
        #expect(keys.desired(keys.rollout("r-1")) == .rollout("r-1"))
        for key in [utf8("/tweaks/api/desired/values/a//b"), utf8("/tweaks/api/desired/values/") + [0xFF]] {
            #expect(keys.desired(key) == .foreign)
        }
    }
}
