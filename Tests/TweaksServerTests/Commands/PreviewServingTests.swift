// Tests the command preview: what clients see, and every way in which a preview ends by itself.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct PreviewServingTests {
    private let registry: TweakRegistry
    private let size: Tweak<Int>
    private let server: TestServer
    private let client: TestClient

    init() throws {
        let registry = TweakRegistry()
        size = Tweak("A", "B", "Size", 60, registry: registry)
        _ = Tweak("A", "B", "Count", 1, registry: registry)
        _ = Tweak("A", "B", "Key", "abc", flags: .secret, registry: registry)
        self.registry = registry
        server = try Self.server(registry)
        client = try server.connect()
        try client.ask("as Ada")
        try client.ask("set A/B/Size 72")
    }

    private static func server(_ registry: TweakRegistry, previews: Bool = true) throws -> TestServer {
        var hooks = TweakServerHooks()
        hooks.previews = previews
        hooks.access.grants = [.admin]
        return try TestServer(registry: registry, hooks: hooks)
    }

    // MARK: Showing

    @Test func itShowsWhatResetWouldGive() throws {
        #expect(try client.ask("preview A") == ["A/B/Size = 60               # was 72", "ok rev 2"])
        #expect(size.value == 60)
        #expect(try client.ask("preview off") == ["ok rev 3"])
        #expect(size.value == 72)
        #expect(try client.ask("preview off") == ["ok rev 3 unchanged"])
    }

    @Test func itShowsAnOpenBatchAndClosesIt() throws {
        for line in ["begin", "set A/B/Size 5", "set A/B/Count 9"] { try client.ask(line) }
        #expect(try client.ask("preview").last == "ok rev 2")
        #expect(size.value == 5)
        #expect(try client.status("commit") == "error usage commit: no batch is open; begin opens one")
        try client.ask("preview off")
        #expect(size.value == 72 && registry["A/B/Count"]?.value == .int(1))
    }

    @Test func aDryOneOnlySaysIt() throws {
        let client = try Self.server(registry, previews: false).connect()
        #expect(try client.ask("preview dry A") == ["A/B/Size = 60               # was 72", "ok rev 1 unchanged"])
        for line in ["begin", "set A/B/Size 5"] { try client.ask(line) }
        #expect(try client.ask("preview dry").first == "A/B/Size = 5                # was 72")
        #expect(size.value == 72 && registry.preview == nil)
    }

    @Test func anInvalidBatchShowsNothing() throws {
        for line in ["begin", "set A/B/Size 5", "set A/B/Size x"] { _ = try client.ask(line) }
        #expect(try client.status("preview").hasPrefix("error bad-value"))
        #expect(size.value == 72 && registry.preview == nil)
    }

    /// Everything that a client reads, with what it shows of a tweak of which 72 is set and 60 is shown.
    @Test(arguments: [
        ("get A/B/Size", "A/B/Size = 60               # int, preview of uid"),
        ("get A/B/*", "A/B/Size = 60 "), ("find size", "A/B/Size = 60 "),
        ("modified", "A/B/Size = 60 "), ("export", "A/B/Size = 72"), ("export --modified", "A/B/Size = 72"),
        ("explain A/B/Size", "→ preview            60  by preview of uid"),
        ("describe A/B/Size", "settled: 72"),
        ("history 1", "A/B/Size 60 → 72"), ("check A/B/Size 5", "A/B/Size = 5                # was 72"),
    ]) func clientsSeeIt(line: String, part: String) throws {
        try client.ask("preview A")
        let lines = try client.ask(line)
        #expect(lines.contains { $0.contains(part) }, "\(lines)")
        #expect(try client.ask("get A/B/Size")[0].hasSuffix("(Ada), set to 72") || line.isEmpty)
    }

    @Test func programsSeeItToo() throws {
        try client.ask("preview A")
        let other = try server.connect()
        _ = try other.json("json on")
        let reply = try other.json("get A/B/Size")
        for part in [
            #""value":60"#, #""layer":"preview""#, #""overridden":true"#, #""settled":72"#, #""modified":true"#,
        ] {
            #expect(reply.contains(part), "\(reply)")
        }
    }

    @Test func itsStartAndEndAreEvents() throws {
        let other = try server.connect()
        _ = try other.json("json on")
        _ = try other.json("watch A")
        try client.ask("preview A")
        let start = try other.line()
        for part in [#""value":60,"was":72"#, #""layer":"preview""#, #""by":"preview of uid "#] {
            #expect(start.contains(part), "\(start)")
        }
        #expect(!start.contains("overridden"))
        try client.ask("preview off")
        let end = try other.line()
        for part in [#""value":72,"was":60"#, #""layer":"override","overridden":true"#] {
            #expect(end.contains(part), "\(end)")
        }
    }

    @Test func aClientThatResumesGetsIt() throws {
        let other = try server.connect()
        try client.ask("preview A")
        #expect(try other.ask("watch A since 1").contains { $0.hasPrefix("A/B/Size = 60") })
        try client.ask("preview off")
        let third = try server.connect()
        #expect(try third.ask("watch A since 2").contains { $0.hasPrefix("A/B/Size = 72") })
    }

    // MARK: Ending

    @Test func itEndsAfterTenSecondsOfSilence() throws {
        try client.ask("preview A")
        server.pass(.milliseconds(9_900))
        #expect(size.value == 60)
        server.pass(.milliseconds(200))
        #expect(size.value == 72 && registry.preview == nil)
        #expect(
            try client.status("preview")
                == "error conflict you have no preview that is on: it has ended, or one of its tweaks has changed")
    }

    @Test func aRenewalKeepsItForAMinuteAtMost() throws {
        try client.ask("preview A")
        for second in stride(from: 6, through: 54, by: 6) {
            server.pass(.seconds(6))
            #expect(size.value == 60, "\(second) s")
            #expect(try client.ask("preview") == ["ok rev 2 unchanged"])
        }
        // A replacement does not begin the minute again.
        #expect(try client.status("preview A/B") == "ok rev 2 unchanged")
        server.pass(.seconds(6))
        #expect(size.value == 72)
        #expect(try client.status("preview A").hasPrefix("ok rev 4"))
    }

    @Test func itEndsWithItsConnection() throws {
        let other = try server.connect()
        try other.ask("preview A")
        other.endInput()
        server.settle()
        #expect(size.value == 72)
    }

    @Test(arguments: ["quit", "drop write"]) func itEndsWithItsSessionAndRights(line: String) throws {
        let other = try server.connect()
        try other.ask("preview A")
        _ = try other.status(line)
        try server.settle(client)
        #expect(size.value == 72)
    }

    @Test func itEndsWithTheServer() throws {
        let other = try Self.server(registry)
        let client = try other.connect()
        try client.ask("preview A")
        #expect(size.value == 60)
        other.server.stop(other.stepped)
        #expect(size.value == 72)
    }

    @Test func aChangeByAnybodyEndsIt() throws {
        let other = try server.connect()
        try client.ask("preview A")
        #expect(try other.ask("set A/B/Size 80") == ["A/B/Size = 80               # was 72", "ok rev 4"])
        #expect(size.value == 80)
        #expect(try client.status("preview").hasPrefix("error conflict you have no preview"))
    }

    /// Nothing was changed by it.
    @Test func aBatchThatWasBegunBeforeItIsCommitted() throws {
        let other = try server.connect()
        try client.ask("preview A")
        try client.ask("preview off")
        for line in ["begin 1", "set A/B/Size 80"] { try other.ask(line) }
        #expect(try other.status("commit") == "ok rev 4")
        try client.ask("preview A")
        try other.ask("A/B/Count = 2")
        #expect(try client.ask("preview off").last == "ok rev 7")
        #expect(try other.status("undo").hasPrefix("ok rev 8"))
    }

    // MARK: Refusals

    @Test func onlyOneIsOn() throws {
        let other = try server.connect()
        try client.ask("preview A")
        let refusal = try other.status("preview A")
        #expect(
            refusal.hasPrefix("error busy a preview of uid ")
                && refusal.hasSuffix("(Ada) is on; try again when it has ended"), "\(refusal)")
        #expect(try other.ask("preview off") == ["ok rev 2 unchanged"] && size.value == 60)
    }

    @Test func itIsOffUnlessTheProgramAllowsIt() throws {
        let client = try Self.server(registry, previews: false).connect()
        #expect(
            try client.status("preview A")
                == "error denied this program does not allow previews; it is started with previews: true where they do no harm"
        )
        #expect(try !client.ask("hello 1").contains { $0.contains("preview") || $0.contains("stream") })
        let hello = try self.client.ask("hello 1")
        #expect(hello.contains { $0.hasPrefix("  stream: ") }, "\(hello)")
        #expect(size.value == 72)
    }

    @Test func aBatchOfTooManyChangesIsRefused() throws {
        for line in ["begin"] + (0...200).map({ "set A/B/Size \($0)" }) { try client.send(line + "\n") }
        for _ in 0...201 { _ = try client.line() }
        #expect(
            try client.ask("preview")
                == ["error too-many a preview shows at most 200 tweaks, and these are 201; name fewer"])
        #expect(size.value == 72 && registry.preview == nil)
    }

    @Test(arguments: [
        ("read", "preview A", "error denied"), ("read write:A/C", "preview A", "error denied"),
        ("read:A/C write:A/C", "preview A/B", "error unknown-tweak"),
        ("read write", "preview A/B/Key", "error conflict there is nothing to preview"),
        ("read write", "preview Nothing", "error unknown-tweak"),
    ]) func whatAClientMayNotChangeItMayNotPreview(scopes: String, line: String, refusal: String) throws {
        let other = try server.connect()
        try #require(try other.status("drop read write run admin").hasPrefix("ok"))
        try #require(try other.status("request \(scopes)").hasPrefix("ok"))
        let reply = try other.status(line)
        #expect(reply.hasPrefix(refusal), "\(reply)")
        #expect(size.value == 72 && registry.preview == nil)
    }
}
