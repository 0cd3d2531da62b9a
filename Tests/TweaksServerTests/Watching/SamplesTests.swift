// Tests `samples`: when figures are sampled, what the command replies, and who may read it.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct SamplesTests {
    private let example = ExampleTweaks()
    private let clock = ManualClock()

    private func server(_ change: (inout TweakServerLimits) -> Void = { _ in }) throws -> TestServer {
        var (limits, hooks) = (TweakServerLimits(), TweakServerHooks())
        change(&limits)
        hooks.wallClock = { [clock] in clock.wall }
        return try TestServer(registry: example.registry, limits: limits, hooks: hooks, clock: clock)
    }

    /// Publishes values, one each second.
    private func publish(_ values: [Double], _ server: TestServer) {
        for value in values {
            example.frames.value = value
            clock.advance(by: .seconds(1))
            server.server.wake()
            server.settle()
        }
    }

    // MARK: Replies

    @Test func linesAreTimesAndValues() throws {
        let (server, watcher) = try server().withClient()
        try watcher.ask("watch Content")
        publish([24, 59.94], server)
        let client = try server.connect()
        #expect(
            try client.ask("samples Player/Status/Frames 60") == [
                "  2026-11-21T09:30:00.123Z 0", "  2026-11-21T09:30:01.123Z 24", "  2026-11-21T09:30:02.123Z 59.94",
                "ok",
            ])
        #expect(try client.ask("samples Player/Status/Frames 1").count == 3)
        #expect(
            try client.ask("samples Player/Status/Frames 301") == ["  2026-11-21T09:30:02.123Z 59.94 0 59.94", "ok"])
    }

    @Test func jsonHasThePeriodAndTheExtremes() throws {
        let client = try server().connect()
        try client.ask("watch Player/Status/Frames")
        _ = try client.json("json")
        let begin =
            #"{"ok":true,"path":"Player/Status/Frames","kind":"number","period":"#
        let time = "2026-11-21T09:30:00.123Z"
        let now = #","now":"\#(time)","samples":[{"time":"\#(time)","value":0"#
        #expect(try client.json("samples Player/Status/Frames") == "\(begin)1\(now)}]}")
        #expect(try client.json("samples Player/Status/Frames 1800") == "\(begin)6\(now),\"min\":0,\"max\":0}]}")
    }

    @Test(
        arguments: [
            ("samples Player/Status/None", "error unknown-tweak there is no tweak “Player/Status/None”; …"),
            ("samples Content/Text/Size", "error unknown-tweak Content/Text/Size is not a figure with samples; …"),
            ("samples Player/Audio/Mute", "error unknown-tweak Player/Audio/Mute is not a figure with samples; …"),
            ("samples Player/Status", "error ambiguous …"),
            ("samples Player/Status/Frames 0", "error usage samples reach back 1 to 1800 seconds, …"),
            ("samples Player/Status/Frames 1801", "error usage samples reach back 1 to 1800 seconds, …"),
            (
                "samples Player/Status/Frames 9223372036854775807",
                "error usage samples reach back 1 to 1800 seconds, …"
            ),
            ("samples Player/Status/Frames x", "error usage samples PATH [N], …"),
            ("samples", "error usage samples PATH [N], …"),
        ])
    func aRefusalNamesTheRemedy(_ line: String, _ refusal: String) throws {
        let reply = try server().connect().status(line)
        #expect(Transcript.fits(reply, refusal), "\(reply)")
    }

    // MARK: When

    @Test func nothingIsSampledWithoutASubscriber() throws {
        let (server, client) = try server().withClient()
        publish([1, 2], server)
        #expect(try client.ask("samples Player/Status/Frames") == ["ok"])
        try client.ask("watch Content")
        publish([3], server)
        try client.ask("unwatch")
        publish([4, 5], server)
        try client.ask("watch Content")
        #expect(
            try client.ask("samples Player/Status/Frames").dropLast().map { String($0.suffix(9)) } == [
                "02.123Z 2", "03.123Z 3", "05.123Z 5",
            ])
    }

    /// A figure that is registered later, and one that is removed and declared again.
    @Test func figuresMayComeAndGo() throws {
        let (server, client) = try server().withClient()
        try client.ask("watch Content")
        let late = Tweak("Player", "Status", "Late", 7, flags: .readOnly, registry: example.registry)
        publish([1], server)
        #expect(try client.ask("samples Player/Status/Late").count == 2)
        try example.registry.remove(TweakPath("Player", "Status", "Late"))
        #expect(try client.status("samples Player/Status/Late").hasPrefix("error unknown-tweak"))
        _ = Tweak("Player", "Status", "Late", 8, flags: .readOnly, registry: example.registry)
        publish([1], server)
        #expect(try client.ask("samples Player/Status/Late").first?.hasSuffix(" 8") == true)
        _ = late
    }

    // MARK: Bounds

    @Test func beyondTheLimitOnlyWatchedFiguresAreSampled() throws {
        for name in ["A", "B", "C"] { _ = Tweak("Many", name, "One", 1, flags: .readOnly, registry: example.registry) }
        let (server, client) = try server { $0.figures = 2 }.withClient()
        func sampled() throws -> [String] {
            try ["Many/A/One", "Many/B/One", "Many/C/One", "Player/Status/Frames"].filter {
                try client.ask("samples \($0)").count > 1
            }
        }
        try client.ask("watch Many/B")
        publish([1], server)
        #expect(try sampled() == ["Many/B/One"])
        try client.ask("watch *")
        publish([1], server)
        #expect(try sampled() == ["Many/A/One", "Many/B/One"])
    }

    @Test(arguments: [(1_024, 16_777_216, true), (0, 16_777_216, false), (1_024, 0, false)])
    func samplesCountAsMemory(_ figures: Int, _ bytes: Int, _ isCounted: Bool) throws {
        let (server, client) = try server { ($0.figures, $0.figureBytes) = (figures, bytes) }.withClient()
        let before = try #require(Int(try client.stats("heldBytes")))
        try client.ask("watch Content")
        publish([1], server)
        let after = try #require(Int(try client.stats("heldBytes")))
        #expect((after - before > 9_600) == isCounted, "\(before) \(after)")
    }

    /// A quarter of the memory of clients, which holds no figure here.
    @Test func figuresTakeAtMostAQuarterOfTheMemory() throws {
        let (server, client) = try server { $0.memoryBytes = 38_000 }.withClient()
        try client.ask("watch Content")
        publish([1], server)
        #expect(try client.ask("samples Player/Status/Frames") == ["ok"])
    }

    // MARK: Rights

    /// (the rights that the session gives up, whether it still reads the samples)
    @Test(arguments: [("read:Content", true), ("write", true), ("read:Player", false), ("read:**/Frames", false)])
    func aFigureThatIsHiddenHasNoSamples(_ scope: String, _ isShown: Bool) throws {
        let (server, watcher, client) = try server().withTwoClients()
        try watcher.ask("watch *")
        publish([1], server)
        #expect(try client.ask("samples Player/Status/Frames").count == 3)
        try client.ask("drop \(scope)")
        let reply = try client.ask("samples Player/Status/Frames")
        // As one that does not exist.
        let unknown = "error unknown-tweak there is no tweak “Player/Status/Frames”"
        #expect(isShown ? reply.count == 3 : reply.count == 1 && reply[0].hasPrefix(unknown), "\(reply)")
    }
}
