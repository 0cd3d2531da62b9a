// tweakctl watch: through the end of a process, its return, and the loss of a connection.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTerminal
import TweaksTestSupport

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: Surroundings.exists)) struct FollowingTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    @Test func followsARestart() throws {
        let tweaks = ExampleTweaks()
        var server = try surroundings.server("bounce", registry: tweaks.registry)
        let process = try surroundings.start(["bounce", "watch", "Content/Text/Size"])
        try process.lines(through: "Content/Text/Size = 60")
        try tweaks.size.set(72)
        #expect(try process.lines(through: "72").last == "event 1 Content/Text/Size = 72      # was 60 by code")
        server.stop()
        try process.lines(through: "# lost, trying again")
        let later = ExampleTweaks()
        server = try surroundings.server("bounce", registry: later.registry)
        #expect(try process.lines(through: "Content/Text/Size = 60").first == "# bounce restarted")
        try later.size.set(30)
        try process.lines(through: "event 1 Content/Text/Size = 30")
        process.signal(SIGINT)
        let result = try process.result()
        #expect(result.code == 0 && result.errors == "")
        server.stop()
    }

    /// The same process again: only what changed meanwhile.
    @Test func goesOnAfterALoss() throws {
        let path = surroundings.directory.file("fake")
        let server = try FakeServer(path)
        let process = try surroundings.start(["-s", path, "watch", "A", "B C"])
        var peer = try server.accepted()
        let hello = ["  name: fake", "  instance: one", "  rev: 4", "ok"].joined(separator: "\n")
        try peer.answer("hello 1", hello)
        try peer.answer("watch A \"B C\"", "A/B/C = 5", "ok rev 4 watching 1", "event 6 A/B/C = 6 # was 5 by code")
        try process.lines(through: "event 6")
        try peer.close()
        peer = try server.accepted()
        try peer.answer("hello 1", hello)
        // Revision 6 may have had more changes than the one that came through.
        try peer.answer("watch A \"B C\" since 4", "ok rev 6 watching 1", "event 7 A/B/C = 7 # was 6 by code")
        let lines = try process.lines(through: "event 7")
        #expect(lines == ["# lost, trying again", "event 7 A/B/C = 7 # was 6 by code"])
        try peer.close()
        peer = try server.accepted()
        try peer.answer("hello 1", hello)
        try peer.answer("watch A \"B C\" since 6", "error unknown-tweak there is none")
        // Refused: once more, patiently.
        peer = try server.accepted()
        try peer.answer("hello 1", hello.replacingOccurrences(of: "one", with: "two"))
        try peer.answer("watch A \"B C\"", "A/B/C = 5", "ok rev 0 watching 1")
        let last = try process.lines(through: "A/B/C")
        #expect(last == ["# lost, trying again", "# fake restarted", "A/B/C = 5"])
    }

    @Test func json() throws {
        let tweaks = ExampleTweaks()
        var server = try surroundings.server("bounce", registry: tweaks.registry)
        let process = try surroundings.start(["--json", "bounce", "watch", "Content/Text/Size"])
        try process.lines(through: "{\"ok\":true,\"rev\":0,\"watching\":1,\"tweaks\":[{\"path\":\"Content/Text/Size\"")
        try tweaks.size.set(72)
        try process.lines(through: "{\"event\":\"change\",\"rev\":1,")
        server.stop()
        try process.lines(through: "{\"event\":\"lost\",\"name\":\"bounce\"}")
        server = try surroundings.server("bounce")
        try process.lines(through: "{\"event\":\"restarted\",\"name\":\"bounce\"}")
        server.stop()
    }

    @Test func refusedAtFirst() throws {
        let server = try surroundings.server("bounce")
        let result = try surroundings.run("bounce", "watch", "No/Such/Tweak")
        #expect(result.code == 1 && result.errors.hasPrefix("tweakctl: unknown-tweak: "))
        server.stop()
        #expect(try surroundings.run("bounce", "watch", "Content").code == 3)
    }

    /// `tweakctl watch … | head -1` ends although nothing changes any more.
    @Test func endsWithItsReader() throws {
        let server = try surroundings.server("bounce")
        let process = surroundings.environment.map { "\($0.key)='\($0.value)'" }.joined(separator: " ")
        let command = "\(process) \(Surroundings.executable.path) watch Content | head -1"
        #expect(try Tool.sh.run(["-c", command], input: "").hasPrefix("Content/Text/Size = 60"))
        server.stop()
    }

    @Test(
        arguments: [
            ("event 44 A/B/C = 5", 44), ("event 44 lagged 3", 44),
            ("{\"event\":\"change\",\"rev\":43,\"path\":\"x\"}", 43),
            ("event", nil), ("event x", nil), ("{\"event\":\"lost\"}", nil), ("{\"rev\":99999999999999999999}", nil),
        ] as [(String, UInt64?)])
    func revisions(_ line: String, _ revision: UInt64?) { #expect(Watcher.revision(of: line) == revision) }
}
