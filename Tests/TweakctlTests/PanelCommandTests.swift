// The command panel: what it prints, and what a browser is given.

import Foundation
import Testing
import TweaksDaemon
import TweaksTerminal
import TweaksTestSupport

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: Surroundings.exists)) struct PanelCommandTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private func start(_ panel: TweakDaemon.Panel = .on) throws -> TweakDaemon {
        let environment = ["XDG_RUNTIME_DIR": surroundings.directory.file("run"), "HOME": "/nonexistent"]
        var configuration = TweakDaemon.Configuration.test(ExampleTweaks().registry, environment)
        configuration.panel = panel
        return try TweakDaemon.start("bounce", configuration)
    }

    @Test func printsTheAddress() throws {
        let daemon = try start()
        let first = try #require(daemon.panelAddress)
        for arguments in [["panel"], ["panel", "--no-open"]] {
            let process = try surroundings.start(["bounce"] + arguments)
            process.endInput()
            let result = try process.result()
            // Nothing else, for scripts; and no browser, where nobody sits.
            #expect(result.code == 0 && result.output == first + "\n" && result.errors == "")
        }
        #expect(!FileManager.default.fileExists(atPath: surroundings.socket("bounce") + ".panel.html"))
        let rotated = try surroundings.run("bounce", "panel", "rotate")
        #expect(rotated.output == (daemon.panelAddress ?? "") + "\n" && daemon.panelAddress != first)
        let json = try surroundings.run("--json", "bounce", "panel")
        #expect(json.output == "{\"ok\":true,\"address\":\"\(daemon.panelAddress ?? "")\"}\n")
        #expect(try surroundings.run("bounce", "panel", "turn").code == 2)
        daemon.stop()
    }

    @Test func withoutAPanel() throws {
        let daemon = try start(.off)
        let result = try surroundings.run("bounce", "panel")
        #expect(result.code == 1 && result.output == "" && result.errors.contains("this process has no panel"))
        daemon.stop()
    }

    /// The token is in a file that only this user reads, and in no argument. A server is not believed to be harmless.
    @Test func thePageLeadsThere() {
        let page = PanelCommand.page("http://127.0.0.1:1/#token=twk_a-Z0")
        #expect(page.contains("content=\"0;url=http://127.0.0.1:1/#token=twk_a-Z0\""))
        #expect(!PanelCommand.page("x\"><script>alert(1)</script>").contains("<script"))
    }
}
