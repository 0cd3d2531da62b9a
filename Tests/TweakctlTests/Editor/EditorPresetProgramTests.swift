// Tests of presets and temporary values in the editor, on a terminal and with a daemon.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.hasTerminal)) struct EditorPresetProgramTests {
    private let fixture: TweakctlFixture
    private let tweaks = ExampleTweaks()
    private var state: String { fixture.directory.file("state") }

    init() throws { fixture = try TweakctlFixture() }

    /// Starts a daemon that stores presets in ``state`` unless told otherwise, and the editor.
    private func open(_ storage: TweakDaemon.Storage? = nil) throws -> EditorTerminal {
        try fixture.daemon(registry: tweaks.registry) { $0.storage = storage ?? .directory(state) }
        return try EditorTerminal.live(fixture, 80, 24, "")
    }

    @Test func presetsAreSavedSwappedComparedAndDeleted() throws {
        let terminal = try open()
        try terminal.type("\r\u{15}72\r", for: "● Size       72 pt")
        try terminal.type("p", for: "no presets yet; s saves the current values")
        try terminal.type("slarge\r", for: "saved large, 1 tweak")
        try terminal.wait(for: "▌ large  1 tweak, saved ")
        try terminal.type("\u{1B}", for: "▾ Player")
        try terminal.type("r")
        try terminal.wait { _ in tweaks.size.value == 60 }
        try terminal.wait(for: "reset: Content/Text/Size = 60")
        // The same keys swap again.
        try terminal.type("pw", for: "swapped to large: Content/Text/Size = 72; p w goes back")
        #expect(tweaks.size.value == 72)
        try terminal.type("pw", for: "back from large: Content/Text/Size = 60")
        #expect(tweaks.size.value == 60)
        try terminal.type("pd", for: "── compared with large ──")
        try terminal.wait(for: "Content/Text/Size 60 → 72")
        try terminal.type("q", for: "── presets ──")
        try terminal.type("D", for: "delete the preset large?")
        try terminal.type("y", for: "no presets yet; s saves the current values")
        try terminal.type("\u{1B}", for: "▾ Player")
        try terminal.quit()
    }

    @Test func aPresetWithInvalidLinesCanBeLoadedPartly() throws {
        let presets = state + "/presets"
        try FileManager.default.createDirectory(
            atPath: presets, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let lines = "# Tweaks preset, format 1\nContent/Text/Size = 500\nContent/Text/String = \"Later\"\n"
        #expect(
            FileManager.default.createFile(
                atPath: presets + "/warm.conf", contents: Data(lines.utf8), attributes: [.posixPermissions: 0o600]))
        let terminal = try open()
        try terminal.type("p", for: "▌ warm")
        try terminal.type("w", for: "1 line does not fit; nothing has changed; fix")
        #expect(terminal.screen.text.contains("line 2: out-of-range Content/Text/Size"))
        try terminal.type("\u{1B}", for: "▾ Player")
        try terminal.type("p\r", for: "nothing has changed. Load the rest?")
        #expect(tweaks.size.value == 60)
        try terminal.type("y", for: "loaded warm, without 1 line")
        try terminal.wait(for: "\"Later\"")
        #expect(tweaks.size.value == 60)
        try terminal.quit()
    }

    @Test func withoutAStateDirectoryThereAreNoPresets() throws {
        let terminal = try open(.off)
        try terminal.type("p", for: "presets need a state directory")
        try terminal.wait(for: "▾ Player")
        try terminal.quit()
    }

    @Test func aTemporaryValueOfAnotherClientCountsDownAndExpires() throws {
        let terminal = try open()
        _ = try fixture.run("bounce", "set", "Content/Text/Size", "72", "for", "10m")
        // Drawn, and drawn again a second later.
        try terminal.wait { $0.screen.text.contains("72 pt") && $0.count("⧗ ") >= 2 }
        _ = try fixture.run("bounce", "set", "Content/Text/Size", "71", "for", "1s")
        try terminal.wait { $0.output.contains("← expired") }
        try terminal.wait { $0.screen.text.contains("60 pt") && !$0.screen.text.contains("⧗") }
        try terminal.quit()
    }
}
