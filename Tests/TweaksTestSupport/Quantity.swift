// Defines how many rounds (kills, connections, steps) tests run, and the tags of tests.

import Foundation
package import Testing

/// Whether tests run all their rounds.
package let isQuantityFull = ProcessInfo.processInfo.environment["TWEAKS_TEST_QUANTITY"] == "full"

/// The number of rounds: `full` where `TWEAKS_TEST_QUANTITY=full`, as in `.ci/run`, else `few`.
/// - Parameter few: A tenth of `full` by default.
package func quantity(_ full: Int, few: Int? = nil) -> Int { isQuantityFull ? full : few ?? max(1, full / 10) }

extension Tag {
    /// The test drives a real browser.
    @Tag package static var browser: Tag
    /// The test starts programs: daemons, tweakctl, nc, telnet.
    @Tag package static var process: Tag
    /// The test runs a number of rounds, which `TWEAKS_TEST_QUANTITY=full` raises.
    @Tag package static var quantity: Tag
}
