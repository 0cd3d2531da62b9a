// The number of rounds (kills, connections, steps) that a test run takes, and the tags of tests.

import Foundation
package import Testing

/// Whether a run takes all of it.
package let isQuantityFull =
    ProcessInfo.processInfo.environment["TWEAKS_TEST_QUANTITY"] == "full"

/// A number of rounds: all of them where `TWEAKS_TEST_QUANTITY=full`, as in `.ci/run`, else enough to see what is tested.
/// - Parameter few: How many are enough; a tenth unless told otherwise.
package func quantity(_ full: Int, few: Int? = nil) -> Int { isQuantityFull ? full : few ?? max(1, full / 10) }

extension Tag {
    /// The test drives a real browser.
    @Tag package static var browser: Tag
    /// The test starts programs: daemons, tweakctl, nc, telnet.
    @Tag package static var process: Tag
    /// The test's point is a number of rounds, which `TWEAKS_TEST_QUANTITY=full` raises.
    @Tag package static var quantity: Tag
}
