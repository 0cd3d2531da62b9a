// Tests of `tweakctl watch`: changes, restarts and lost connections.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.exists)) struct WatcherTests {
    private let fixture: TweakctlFixture

    init() throws { fixture = try TweakctlFixture() }

    @Test func aWatchContinuesAfterARestart() throws {
        let tweaks = ExampleTweaks()
        let server = try fixture.server("bounce", registry: tweaks.registry)
        let process = try fixture.start(["bounce", "watch", "Content/Text/Size"])
        try process.lines(through: "Content/Text/Size = 60")
        try tweaks.size.set(72)
        #expect(try process.lines(through: "72").last == "event 1 Content/Text/Size = 72      # was 60 by code")
        server.stop()
        try process.lines(through: "# disconnected, retrying")
        let later = ExampleTweaks()
        try fixture.server("bounce", registry: later.registry)
        #expect(try process.lines(through: "Content/Text/Size = 60").first == "# bounce restarted")
        try later.size.set(30)
        try process.lines(through: "event 1 Content/Text/Size = 30")
        process.signal(SIGINT)
        let result = try process.result()
        #expect(result.code == 0 && result.errors == "")
    }

    @Test func aReconnectedWatchAsksOnlyForLaterChanges() throws {
        let server = try FakeServer(fixture.directory.file("fake"))
        let process = try fixture.start(["-s", server.address, "watch", "A", "B C"])
        var peer = try server.accept()
        let hello = ["  name: fake", "  instance: one", "  rev: 4", "ok"].joined(separator: "\n")
        try peer.answer("hello 1", hello)
        try peer.answer("watch A \"B C\"", "A/B/C = 5", "ok rev 4 watching 1", "event 6 A/B/C = 6 # was 5 by code")
        try process.lines(through: "event 6")
        try peer.close()
        peer = try server.accept()
        try peer.answer("hello 1", hello)
        // Revision 6 may have had more changes than the one that was received.
        try peer.answer("watch A \"B C\" since 4", "ok rev 6 watching 1", "event 7 A/B/C = 7 # was 6 by code")
        let lines = try process.lines(through: "event 7")
        #expect(lines == ["# disconnected, retrying", "event 7 A/B/C = 7 # was 6 by code"])
        try peer.close()
        peer = try server.accept()
        try peer.answer("hello 1", hello)
        // A refusal is tried again later.
        try peer.answer("watch A \"B C\" since 6", "error unknown-tweak there is none")
        peer = try server.accept()
        try peer.answer("hello 1", hello.replacingOccurrences(of: "one", with: "two"))
        try peer.answer("watch A \"B C\"", "A/B/C = 5", "ok rev 0 watching 1")
        let last = try process.lines(through: "A/B/C")
        #expect(last == ["# disconnected, retrying", "# fake restarted", "A/B/C = 5"])
    }

    @Test func eventsAreJSONIfAsked() throws {
        let tweaks = ExampleTweaks()
        let server = try fixture.server("bounce", registry: tweaks.registry)
        let process = try fixture.start(["--json", "bounce", "watch", "Content/Text/Size"])
        try process.lines(through: "{\"ok\":true,\"rev\":0,\"watching\":1,\"tweaks\":[{\"path\":\"Content/Text/Size\"")
        try tweaks.size.set(72)
        try process.lines(through: "{\"event\":\"change\",\"rev\":1,")
        server.stop()
        try process.lines(through: "{\"event\":\"lost\",\"name\":\"bounce\"}")
        try fixture.server("bounce")
        try process.lines(through: "{\"event\":\"restarted\",\"name\":\"bounce\"}")
    }

    @Test func aWatchThatIsRefusedAtFirstEnds() throws {
        let server = try fixture.server("bounce")
        let result = try fixture.run("bounce", "watch", "No/Such/Tweak")
        #expect(result.code == 1 && result.errors.hasPrefix("tweakctl: unknown-tweak: "))
        server.stop()
        #expect(try fixture.run("bounce", "watch", "Content").code == 3)
    }

    /// `tweakctl watch … | head -1` ends even if nothing changes any more.
    @Test func aWatchEndsWithTheReaderOfItsOutput() throws {
        try fixture.server("bounce")
        let output = try fixture.shell("\(fixture.command()) watch Content | head -1")
        #expect(output.hasPrefix("Content/Text/Size = 60"))
    }

    @Test(
        arguments: [
            ("event 44 A/B/C = 5", 44), ("event 44 lagged 3", 44),
            ("{\"event\":\"change\",\"rev\":43,\"path\":\"x\"}", 43),
            ("event", nil), ("event x", nil), ("{\"event\":\"lost\"}", nil), ("{\"rev\":99999999999999999999}", nil),
        ] as [(String, UInt64?)])
    func anEventHasARevision(_ line: String, _ revision: UInt64?) {
        #expect(Watcher.revision(of: line) == revision)
    }
}
