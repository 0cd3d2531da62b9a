// Tests two daemons of one process that share a state directory or a registry.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct TwoDaemonsTests {
    @Test func ofASharedStateDirectoryTheSecondDaemonReadsPresetsAndWritesNone() throws {
        let fixture = try DaemonFixture()
        let owner = try fixture.connect(fixture.start(named: "first"))
        #expect(try owner.ask("Content/Text/Size = 71").last?.hasPrefix("ok rev 1") == true)
        #expect(try owner.ask("save warm").last?.hasPrefix("ok") == true)
        let client = try fixture.connect(fixture.start(named: "second", registry: ExampleTweaks().registry))
        let pid = ProcessInfo.processInfo.processIdentifier
        let refusal = "the state directory is used by pid \(pid); do it there"
        for (line, problem) in [("save cold", "cold is not saved"), ("delete warm", "warm is not deleted")] {
            #expect(try client.ask(line).last?.hasPrefix("error io the preset \(problem): \(refusal)") == true)
        }
        #expect(try client.ask("presets").count == 2)
        #expect(try client.ask("load warm").last?.hasPrefix("ok") == true)
        #expect(try client.ask("stats").contains("  presets: off: the state directory is used by pid \(pid)"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.presets) == ["warm.conf"])
        #expect(fixture.logLines.contains { $0.hasPrefix("second: ") && $0.contains("overrides and presets") })
    }

    @Test func ofASharedRegistryTheFirstDaemonSavesTheOverrides() throws {
        let fixture = try DaemonFixture(isSaving: false)
        let first = try fixture.start(named: "first", storage: .directory(fixture.directory.file("first")))
        let second = try fixture.start(named: "second", storage: .directory(fixture.directory.file("second")))
        let stored = { try String(contentsOfFile: fixture.directory.file("first/overrides.json"), encoding: .utf8) }
        for daemon in [first, second] {
            let client = try fixture.connect(daemon)
            let value = daemon === first ? 71 : 72
            #expect(try client.ask("Content/Text/Size = \(value)").last?.contains("unsaved") == false)
            #expect(try stored().contains("\"value\": \(value)"))
        }
        #expect(fixture.logLines.contains { $0.hasPrefix("second: overrides are not saved") })

        second.stop()
        let client = try fixture.connect(first)
        #expect(try client.ask("Content/Text/Size = 73").last?.hasPrefix("ok rev ") == true)
        #expect(try stored().contains("\"value\": 73"))
    }
}
