// Two daemons of one process on one registry: the tweaks have one set of overrides, and one place where they are kept.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct TwoDaemonsTests {
    /// As of another process: the second one reads, and writes nothing, presets among it.
    @Test func theSecondSavesNoPresets() throws {
        let home = try Home()
        let state = TweakDaemon.Storage.directory(home.directory.file("state"))
        let first = try home.start("first", storage: state)
        defer { first.stop() }
        let owner = try TestClient(unix: try #require(first.socketPath))
        #expect(try owner.ask("Content/Text/Size = 71").last?.hasPrefix("ok rev 1") == true)
        #expect(try owner.ask("save warm").last?.hasPrefix("ok") == true)
        let second = try home.start("second", storage: state, registry: ExampleTweaks().registry)
        defer { second.stop() }
        let client = try TestClient(unix: try #require(second.socketPath))
        let pid = ProcessInfo.processInfo.processIdentifier
        let refusal = "the state directory is used by pid \(pid); do it there"
        #expect(
            try client.ask("save cold").last?.hasPrefix("error io the preset cold is not saved: \(refusal)") == true)
        #expect(
            try client.ask("delete warm").last?.hasPrefix("error io the preset warm is not deleted: \(refusal)") == true
        )
        #expect(try client.ask("presets").count == 2)
        #expect(try client.ask("load warm").last?.hasPrefix("ok") == true)
        #expect(try client.ask("stats").contains("  presets: off: the state directory is used by pid \(pid)"))
        let presets = home.directory.file("state/presets")
        #expect(try FileManager.default.contentsOfDirectory(atPath: presets) == ["warm.conf"])
        #expect(home.log.lines.contains { $0.hasPrefix("second: ") && $0.contains("overrides and presets") })
    }

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
