// watch modified: whatever differs from its default, or comes to do so, and once more when it does no longer.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct WatchModifiedTests {
    private let modifiedSize = "Content/Text/Size = 72      # number 10...100 step 0.5 pt, default 60"

    @Test func whatIsModifiedAndWhatBecomesSo() throws {
        let server = try TestServer()
        let (watcher, writer) = (try server.connect(), try server.connect())
        try writer.ask("set Content/Text/Size 72")
        #expect(try watcher.ask("watch modified") == [modifiedSize, "ok rev 1 watching 1"])
        // It becomes so, it changes, it stops being so.
        try writer.ask("set Content/Text/Fade 1s")
        #expect(Transcript.fits(try watcher.line(), "event 2 Content/Text/Fade = 1s      # was 250ms by …"))
        try writer.ask("set Content/Text/Fade 2s")
        #expect(Transcript.fits(try watcher.line(), "event 3 Content/Text/Fade = 2s      # was 1s by …"))
        try writer.ask("reset Content/Text/Fade")
        #expect(Transcript.fits(try watcher.line(), "event 4 Content/Text/Fade = 250ms   # was 2s by …"))
        // An override with the default's own value modifies nothing.
        try writer.ask("set Content/Text/Fade 250ms")
        try writer.ask("set Content/Text/Fade 3s")
        #expect(Transcript.fits(try watcher.line(), "event 6 Content/Text/Fade = 3s      # was 250ms by …"))
        #expect(try watcher.ask("unwatch modified") == ["ok watching 0"])
        try writer.ask("reset Content")
        #expect(try watcher.ask("ping") == ["ok pong"])
    }

    @Test func nothingIsModifiedYet() throws {
        let client = try TestServer().connect()
        #expect(try client.ask("watch modified") == ["ok rev 0 watching 0"])
        try client.send("set Content/Text/Size 72\n")
        #expect(try client.lines(2).last == "ok rev 1")
        #expect(try client.line().hasPrefix("event 1 Content/Text/Size = 72"))
    }

    /// Together with patterns it is a union, and no change is told twice.
    @Test func unionWithPatterns() throws {
        let client = try TestServer().connect()
        try client.ask("set Content/Text/Size 72")
        let lines = try client.ask("watch Content/Text/String modified")
        #expect(lines.count == 3)
        #expect(lines.last == "ok rev 1 watching 2")
        try client.send("set Content/Text/String Hello\nset Content/Text/Size 73\nping\n")
        #expect(try client.lines(7).filter { $0.hasPrefix("event") }.count == 2)
        #expect(try client.ask("unwatch Content/Text/String") == ["ok watching 2"])
        #expect(try client.ask("unwatch Content/Text/String").last?.hasSuffix("watched: modified") == true)
    }

    /// Figures differ from their defaults all the time, and are not modified.
    @Test func figuresAreNotModified() throws {
        let tweaks = ExampleTweaks()
        let client = try TestServer(registry: tweaks.registry).connect()
        #expect(try client.ask("watch modified") == ["ok rev 0 watching 0"])
        tweaks.frames.value = 5
        try client.ask("watch Player/Status/Frames")
        tweaks.frames.value = 6
        #expect(try client.line().hasPrefix("event 0 Player/Status/Frames = 6 "))
    }

    /// Whoever goes on from a revision hears of what is the default again, too.
    @Test func sinceShowsWhatStoppedBeingModified() throws {
        let client = try TestServer().connect()
        try client.ask("set Content/Text/Size 72")
        try client.ask("set Content/Text/Fade 1s")
        try client.ask("reset Content/Text/Size")
        #expect(
            try client.ask("watch modified since 2") == [
                "Content/Text/Size = 60      # number 10...100 step 0.5 pt", "ok rev 3 watching 1",
            ])
    }

    /// In quotes it is a pattern like any other.
    @Test func aCategoryMayHaveThatName() throws {
        let registry = TweakRegistry()
        let tweak = Tweak("modified", "B", "C", 1, registry: registry)
        let client = try TestServer(registry: registry).connect()
        #expect(try client.ask("watch 'modified'") == ["modified/B/C = 1            # int", "ok rev 0 watching 1"])
        #expect(try client.ask("watch modified") == ["ok rev 0 watching 1"])
        #expect(try client.ask("unwatch modified") == ["ok watching 1"])
        tweak.value = 2
        #expect(try client.line() == "event 1 modified/B/C = 2            # was 1 by code")
        #expect(try client.ask("unwatch \"modified\"") == ["ok watching 0"])
    }
}
