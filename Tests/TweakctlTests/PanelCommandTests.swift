// Tests of `tweakctl panel`: its output, and the page that opens the panel in a browser.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.exists)) struct PanelCommandTests {
    private let fixture: TweakctlFixture

    init() throws { fixture = try TweakctlFixture() }

    @Test func onlyTheAddressIsPrintedAndNoBrowserOpensWithoutATerminal() throws {
        let daemon = try fixture.daemon { $0.panel = .on }
        let first = try #require(daemon.panelAddress)
        for arguments in [["panel"], ["panel", "--no-open"]] {
            #expect(try fixture.run(["bounce"] + arguments) == .init(output: first + "\n"))
        }
        #expect(!FileManager.default.fileExists(atPath: fixture.socket("bounce") + ".panel.html"))
        let rotated = try fixture.run("bounce", "panel", "rotate")
        #expect(rotated.output == (daemon.panelAddress ?? "") + "\n" && daemon.panelAddress != first)
        let json = try fixture.run("--json", "bounce", "panel")
        #expect(json.output == "{\"ok\":true,\"address\":\"\(daemon.panelAddress ?? "")\"}\n")
        for words in [["turn"], ["rotate", "token"], ["token", "token"], ["--no-open", "--no-open"]] {
            #expect(try fixture.run(["bounce", "panel"] + words).code == 2)
        }
        let token = daemon.panelToken ?? ""
        #expect(try fixture.run("bounce", "panel", "token") == .init(output: token + "\n"))
        let tokenJSON = try fixture.run("--json", "bounce", "panel", "token")
        #expect(tokenJSON.output == "{\"ok\":true,\"token\":\"\(token)\"}\n")
    }

    @Test func aMissingPanelIsReported() throws {
        try fixture.daemon { $0.panel = .off }
        let result = try fixture.run("bounce", "panel")
        #expect(result.code == 1 && result.output == "" && result.errors.contains("this process has no panel"))
    }

    /// The code is in a file that only this user can read, and in no argument. The address comes from the server.
    @Test func thePageRedirectsToTheAddressAndEscapesIt() {
        let page = PanelCommand.page("http://127.0.0.1:1/#code=a_-Z0")
        #expect(page.contains("content=\"0;url=http://127.0.0.1:1/#code=a_-Z0\""))
        #expect(!PanelCommand.page("x\"><script>alert(1)</script>").contains("<script"))
    }
}
