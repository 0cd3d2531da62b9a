// Two daemons of one process on one registry: the tweaks have one set of overrides, and one place where they are kept.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct TwoDaemonsTests {
    /// A reply that promises the disk comes, and the promise holds, whichever daemon gives it.
    @Test func theFirstKeepsTheOverrides() throws {
        let home = try Home()
        let first = try home.start("first", storage: .directory(home.directory.file("first")))
        defer { first.stop() }
        let second = try home.start("second", storage: .directory(home.directory.file("second")))
        for daemon in [first, second] {
            let client = try TestClient(unix: try #require(daemon.socketPath))
            let value = daemon === first ? 71 : 72
            #expect(try client.ask("Content/Text/Size = \(value)").last?.contains("unsaved") == false)
            let stored = try String(contentsOfFile: home.directory.file("first/overrides.json"), encoding: .utf8)
            #expect(stored.contains("\"value\": \(value)"))
        }
        #expect(home.log.lines.contains { $0.hasPrefix("second: overrides are not saved") })

        second.stop()
        let client = try TestClient(unix: try #require(first.socketPath))
        #expect(try client.ask("Content/Text/Size = 73").last?.hasPrefix("ok rev ") == true)
        let stored = try String(contentsOfFile: home.directory.file("first/overrides.json"), encoding: .utf8)
        #expect(stored.contains("\"value\": 73"))
    }
}
