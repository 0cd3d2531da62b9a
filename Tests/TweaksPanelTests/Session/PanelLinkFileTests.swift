// Tests that the file with the panel's link is written again when something has removed it.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksPanel
@testable import TweaksServer

@Suite(.blocking) struct PanelLinkFileTests {
    @Test func aRemovedLinkIsWrittenAgain() throws {
        let (endpoint, reports) = (PanelEndpoint(.on), LogLines())
        var hooks = TweakServerHooks()
        hooks.serverEndpoints = [endpoint]
        hooks.report = { reports.note($0) }
        let server = try TestServer(hooks: hooks)
        let path = server.path + ".panel"
        // A link that was never written, as on a terminal, is not written later.
        server.pass(EventLoop.socketCheckInterval)
        #expect(!FileManager.default.fileExists(atPath: path))
        _ = endpoint.text(for: server.server, isOnTerminal: false, hasTokens: false)
        let link = try String(contentsOfFile: path, encoding: .utf8)
        try FileManager.default.removeItem(atPath: path)
        server.pass(EventLoop.socketCheckInterval)
        PanelEndpoint.finishWriting()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == link)
        let text = "the link of the panel, \(path), was removed, and is written again; let nothing clean its directory"
        #expect(reports.all == [text])
    }
}
