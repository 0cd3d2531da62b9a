// Tests `watch`: the values first, then an event for each change, none of them lost.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct WatchTests {
    private let size = "Content/Text/Size = 60      # number 10...100 step 0.5 pt"

    @Test func valuesAreFollowedByEvents() throws {
        let server = try TestServer()
        let (watcher, writer) = (try server.connect(), try server.connect(.tcp4))
        #expect(try watcher.ask("watch Content/Text/Size") == [size, "ok rev 0 watching 1"])
        try writer.ask("set Content/Text/Size 72")
        #expect(
            Transcript.fits(try watcher.line(), "event 1 Content/Text/Size = 72      # was 60 by 127.0.0.1:…"))
        // Neither a change of another tweak nor an unchanged value is an event.
        try writer.ask("set Content/Text/String Hello")
        try writer.ask("set Content/Text/Size 72")
        try server.registry["Content/Text/Size"]?.set(.number(80))
        #expect(try watcher.line() == "event 3 Content/Text/Size = 80      # was 72 by code")
    }

    @Test func ownEventsFollowTheReply() throws {
        let client = try TestServer().connect()
        try client.ask("watch Content/Text/Size")
        try client.send("set Content/Text/Size 72\n")
        #expect(try client.lines(2) == ["Content/Text/Size = 72      # was 60", "ok rev 1"])
        #expect(try client.line().hasPrefix("event 1 Content/Text/Size = 72"))
    }

    @Test func anOverrideWithTheDefaultValueIsNoEvent() throws {
        let client = try TestServer().connect()
        try client.ask("watch Content/Text/Size")
        #expect(try client.status("set Content/Text/Size 60") == "ok rev 1")
        #expect(try client.status("set Content/Text/Size 61") == "ok rev 2")
        #expect(try client.line().hasPrefix("event 2 "))
    }

    @Test func theEventsOfABatchHaveOneRevision() throws {
        let (server, client) = try TestServer().withClient()
        try client.ask("watch Content")
        try server.registry.commit(origin: .code) { batch in
            batch.set("Content/Text/Size", .number(72))
            batch.set("Content/Text/String", .string("Hello"))
        }
        #expect(
            try client.lines(2) == [
                "event 1 Content/Text/Size = 72      # was 60 by code",
                "event 1 Content/Text/String = \"Hello\" # was \"Tweaks\" by code",
            ])
    }

    /// Values are read from one continuous sequence, whenever the watch begins; the changes that a late watcher misses are counted.
    @Test(arguments: 1...10) func noChangeIsLost(_ round: Int) throws {
        let registry = TweakRegistry()
        let count = Tweak("A", "B", "Count", 0, registry: registry)
        let client = try TestServer(registry: registry).connect()
        let ended = Gate()
        Thread.detachNewThread {
            for value in 1...2_000 { count.value = value }
            ended.open()
        }
        var lines = try client.ask("watch A since 0")
        if lines.count == 1 { lines.insert("A/B/Count = 0 #", at: 0) }
        var (seen, missing, lagged) = (try #require(value(lines[0])), 0, 0)
        // The count of folded changes follows all newer values.
        while seen < 2_000 || lagged < missing {
            let line = try client.line()
            if let next = value(line) {
                missing += next - seen - 1
                seen = next
            } else {
                lagged += try #require(line.split(separator: " lagged ").last.flatMap { Int($0) }, "\(line)")
            }
        }
        #expect(lagged == missing)
        ended.waitBlocking()
    }

    private func value(_ line: String) -> Int? {
        let words = line.split(separator: " ")
        return words.firstIndex(of: "=").flatMap { Int(words[$0 + 1]) }
    }

    @Test func eventsInJSONHaveTheLayer() throws {
        let (server, client) = try TestServer().withClient()
        try client.send("json\nwatch Content/Text/Fade\n")
        _ = try client.lines(2)
        try server.registry["Content/Text/Fade"]?.set(text: "1s")
        let values = #""kind":"duration","value":"1s","was":"250ms","by":"code","layer":"override","overridden":true}"#
        #expect(try client.line() == #"{"event":"change","rev":1,"path":"Content/Text/Fade",\#(values)"#)
    }

    @Test func anEventBehindAPromptIsOnItsOwnLineAndThePromptIsRepeated() throws {
        let (server, client) = try TestServer().withClient()
        try client.send("\n")
        _ = try client.read(through: "help\n> ")
        try client.send("watch Content/Text/Size\n")
        #expect(try client.read(through: "watching 1\n> ") == "\(size)\nok rev 0 watching 1\n> ")
        try server.registry["Content/Text/Size"]?.set(.number(72))
        #expect(try client.read(through: "code\n> ") == "\nevent 1 Content/Text/Size = 72      # was 60 by code\n> ")
    }

    // MARK: since

    @Test func sinceShowsOnlyLaterChanges() throws {
        let client = try TestServer().connect()
        try client.ask("set Content/Text/String Hello")
        try client.ask("set Content/Text/Size 72")
        #expect(
            try client.ask("watch Content since 1") == [
                "Content/Text/Size = 72      # number 10...100 step 0.5 pt, default 60", "ok rev 2 watching 6",
            ])
        #expect(try client.ask("watch Content since 2") == ["ok rev 2 watching 6"])
        // A revision of an earlier run of the process: every value is shown.
        #expect(try client.ask("watch Content since 99").count == 7)
        #expect(try client.status("watch since 2").hasPrefix("error"))
        #expect(try client.status("watch Content since x").hasPrefix("error usage"))
    }

    // MARK: Patterns

    @Test func tweaksRegisteredLaterAreWatched() throws {
        let (server, client) = try TestServer().withClient()
        try client.ask("watch Content/Text")
        Tweak("Content", "Text", "Late", 1, registry: server.registry).value = 2
        #expect(try client.line().hasPrefix("event 1 Content/Text/Late = 2"))
    }

    @Test func severalPatternsAreAUnion() throws {
        let client = try TestServer().connect()
        #expect(try client.status("watch Content/Text/Size") == "ok rev 0 watching 1")
        #expect(try client.status("watch Content/Text/S*") == "ok rev 0 watching 2")
        #expect(try client.status("watch Content/Text/Fade Content/Text/Size") == "ok rev 0 watching 3")
        // One event however many patterns match.
        try client.send("set Content/Text/Size 72\nset Content/Text/Fade 1s\n")
        var lines = try client.lines(6)
        for revision in 1...2 { #expect(lines.count { $0.hasPrefix("event \(revision) ") } == 1) }
        #expect(try client.ask("unwatch Content/Text/S*") == ["ok watching 2"])
        #expect(try client.ask("unwatch Content/Text/Size") == ["ok watching 1"])
        try client.send("set Content/Text/Size 73\nset Content/Text/Fade 2s\n")
        lines = try client.lines(5)
        #expect(lines.filter { $0.hasPrefix("event") }.map { $0.prefix(7) } == ["event 4"])
        #expect(try client.ask("unwatch") == ["ok watching 0"])
        try client.ask("set Content/Text/Size 74")
        try client.ask("set Content/Text/Fade 3s")
        #expect(try client.ask("ping") == ["ok pong"])
    }

    @Test func anUnknownPatternWatchesNothing() throws {
        let client = try TestServer().connect()
        #expect(try client.status("watch Content/Text/Size Nothing").hasPrefix("error unknown-tweak"))
        #expect(try client.status("set Content/Text/Size 72") == "ok rev 1")
        #expect(try client.ask("ping") == ["ok pong"])
    }

    @Test func aStarMayMatchNothingYet() throws {
        let registry = TweakRegistry()
        let client = try TestServer(registry: registry).connect()
        #expect(try client.ask("watch *") == ["ok rev 0 watching 0"])
        Tweak("A", "B", "C", 1, registry: registry).value = 2
        #expect(try client.line().hasPrefix("event 1 A/B/C = 2"))
    }

    @Test func anEventDoesNotShowASecret() throws {
        let client = try TestServer().connect()
        try client.ask("watch Player")
        try client.ask("set Player/Audio/Token hunter2")
        #expect(try client.line().hasPrefix("event 1 Player/Audio/Token = (set)  # was (unset) by "))
    }
}

@Suite(.blocking) struct WatchModifiedTests {
    @Test func tweaksAreWatchedWhileTheirValuesDifferFromTheDefaults() throws {
        let (_, watcher, writer) = try TestServer().withTwoClients()
        try writer.ask("set Content/Text/Size 72")
        let size = "Content/Text/Size = 72      # number 10...100 step 0.5 pt, default 60"
        #expect(try watcher.ask("watch modified") == [size, "ok rev 1 watching 1"])
        for (line, event) in [
            ("set Content/Text/Fade 1s", "event 2 Content/Text/Fade = 1s      # was 250ms by …"),
            ("set Content/Text/Fade 2s", "event 3 Content/Text/Fade = 2s      # was 1s by …"),
            ("reset Content/Text/Fade", "event 4 Content/Text/Fade = 250ms   # was 2s by …"),
        ] {
            try writer.ask(line)
            #expect(Transcript.fits(try watcher.line(), event))
        }
        // An override with the default value modifies nothing.
        try writer.ask("set Content/Text/Fade 250ms")
        try writer.ask("set Content/Text/Fade 3s")
        #expect(Transcript.fits(try watcher.line(), "event 6 Content/Text/Fade = 3s      # was 250ms by …"))
        #expect(try watcher.ask("unwatch modified") == ["ok watching 0"])
        try writer.ask("reset Content")
        #expect(try watcher.ask("ping") == ["ok pong"])
    }

    @Test func theFirstModifiedTweakIsAnEvent() throws {
        let client = try TestServer().connect()
        #expect(try client.ask("watch modified") == ["ok rev 0 watching 0"])
        try client.send("set Content/Text/Size 72\n")
        #expect(try client.lines(2).last == "ok rev 1")
        #expect(try client.line().hasPrefix("event 1 Content/Text/Size = 72"))
    }

    @Test func modifiedAndPatternsAreAUnion() throws {
        let client = try TestServer().connect()
        try client.ask("set Content/Text/Size 72")
        let lines = try client.ask("watch Content/Text/String modified")
        #expect(lines.count == 3 && lines.last == "ok rev 1 watching 2")
        try client.send("set Content/Text/String Hello\nset Content/Text/Size 73\nping\n")
        #expect(try client.lines(7).count { $0.hasPrefix("event") } == 2)
        #expect(try client.ask("unwatch Content/Text/String") == ["ok watching 2"])
        #expect(try client.status("unwatch Content/Text/String").hasSuffix("watched: modified"))
    }

    @Test func figuresAreNotModified() throws {
        let example = ExampleTweaks()
        let client = try TestServer(registry: example.registry).connect()
        #expect(try client.ask("watch modified") == ["ok rev 0 watching 0"])
        example.frames.value = 5
        try client.ask("watch Player/Status/Frames")
        example.frames.value = 6
        #expect(try client.line().hasPrefix("event 0 Player/Status/Frames = 6 "))
    }

    @Test func sinceShowsTweaksThatAreNoLongerModified() throws {
        let client = try TestServer().connect()
        for line in ["set Content/Text/Size 72", "set Content/Text/Fade 1s", "reset Content/Text/Size"] {
            try client.ask(line)
        }
        let size = "Content/Text/Size = 60      # number 10...100 step 0.5 pt"
        #expect(try client.ask("watch modified since 2") == [size, "ok rev 3 watching 1"])
    }

    @Test func inQuotesModifiedIsACategory() throws {
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
