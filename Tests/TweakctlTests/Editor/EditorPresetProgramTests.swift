// Presets and times in the editor, on a real terminal and with a real daemon.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksTestSupport

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: Surroundings.exists && Tool.setsid.exists))
struct EditorPresetProgramTests {
    private let surroundings: Surroundings
    private let tweaks = ExampleTweaks()

    init() throws { surroundings = try Surroundings() }

    private var state: String { surroundings.directory.file("state") }

    private func start(_ storage: TweakDaemon.Storage? = nil) throws -> TweakDaemon {
        let environment = [
            "XDG_RUNTIME_DIR": surroundings.directory.file("run"), "HOME": "/nonexistent", "LANG": "C",
        ]
        var configuration = TweakDaemon.Configuration.test(tweaks.registry, environment)
        configuration.storage = storage ?? .directory(state)
        return try TweakDaemon.start("bounce", configuration)
    }

    private func open() throws -> EditorTerminal {
        let terminal = try EditorTerminal(surroundings, 80, 24, "")
        try terminal.wait(for: "● live")
        try terminal.wait(for: "by code at")
        return terminal
    }

    private func quit(_ terminal: EditorTerminal, _ daemon: TweakDaemon) throws {
        try terminal.type("q")
        try terminal.wait(for: "code 0")
        #expect(terminal.isRestored)
        daemon.stop()
    }

    @Test func savesSwapsAndDeletes() throws {
        let daemon = try start()
        let terminal = try open()
        try terminal.type("\r\u{15}72\r")
        try terminal.wait(for: "● Size       72 pt")
        try terminal.type("p")
        try terminal.wait(for: "none yet; s saves the values of now")
        try terminal.type("slarge\r")
        try terminal.wait(for: "saved large, 1 tweak")
        try terminal.wait(for: "▌ large  1 tweak, saved ")
        try terminal.type("\u{1B}")
        try terminal.wait(for: "▾ Player")
        try terminal.type("r")
        try terminal.wait { _ in tweaks.size.value == 60 }
        try terminal.wait(for: "reset: Content/Text/Size = 60")
        // There, and back by the same keys.
        try terminal.type("pw")
        try terminal.wait(for: "swapped to large: Content/Text/Size = 72; p w goes back")
        #expect(tweaks.size.value == 72)
        try terminal.type("pw")
        try terminal.wait(for: "back from large: Content/Text/Size = 60")
        #expect(tweaks.size.value == 60)
        try terminal.type("pd")
        try terminal.wait(for: "── compared with large ──")
        try terminal.wait(for: "Content/Text/Size 60 → 72")
        try terminal.type("q")
        try terminal.wait(for: "── presets ──")
        try terminal.type("D")
        try terminal.wait(for: "delete the preset large?")
        try terminal.type("y")
        try terminal.wait(for: "none yet; s saves the values of now")
        try terminal.type("\u{1B}")
        try terminal.wait(for: "▾ Player")
        try quit(terminal, daemon)
    }

    /// What does not fit is shown with its lines, and nothing has changed; the rest can be had.
    @Test func loadsPartly() throws {
        let daemon = try start()
        let presets = state + "/presets"
        try FileManager.default.createDirectory(
            atPath: presets, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let lines = "Content/Text/Size = 500\nContent/Text/String = \"Later\"\n"
        #expect(
            FileManager.default.createFile(
                atPath: presets + "/warm.conf", contents: Data("# Tweaks preset, format 1\n\(lines)".utf8),
                attributes: [.posixPermissions: 0o600]))
        let terminal = try open()
        try terminal.type("p")
        try terminal.wait(for: "▌ warm")
        try terminal.type("w")
        try terminal.wait(for: "1 line does not fit; nothing has changed; mend")
        #expect(terminal.screen.text.contains("line 2: out-of-range Content/Text/Size"))
        try terminal.type("\u{1B}")
        try terminal.wait(for: "▾ Player")
        try terminal.type("p\r")
        try terminal.wait(for: "nothing has changed. Load the rest?")
        #expect(tweaks.size.value == 60)
        try terminal.type("y")
        try terminal.wait(for: "loaded warm, without 1 line")
        try terminal.wait(for: "\"Later\"")
        #expect(tweaks.size.value == 60)
        try quit(terminal, daemon)
    }

    @Test func withoutDirectory() throws {
        let daemon = try start(.off)
        let terminal = try open()
        try terminal.type("p")
        try terminal.wait(for: "presets need a state directory")
        try terminal.wait(for: "▾ Player")
        try quit(terminal, daemon)
    }

    /// Somebody else sets it for a while; it is seen to go by, and to end.
    @Test func countsDown() throws {
        let daemon = try start()
        let terminal = try open()
        _ = try surroundings.run("bounce", "set", "Content/Text/Size", "72", "for", "10m")
        // Drawn, and drawn again a second later.
        try terminal.wait { $0.screen.text.contains("72 pt") && $0.count("⧗ ") >= 2 }
        _ = try surroundings.run("bounce", "set", "Content/Text/Size", "71", "for", "1s")
        try terminal.wait { $0.sawBytes("← expired") }
        try terminal.wait { $0.screen.text.contains("60 pt") && !$0.screen.text.contains("⧗") }
        try quit(terminal, daemon)
    }
}
