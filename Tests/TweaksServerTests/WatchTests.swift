// watch: the values, then an event for each change, and nothing lost in between.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct WatchTests {
    private let size = "Content/Text/Size = 60      # number 10...100 step 0.5 pt"

    @Test func valuesThenEvents() throws {
        let server = try TestServer()
        let (watcher, writer) = (try server.connect(), try server.connect(.tcp4))
        #expect(try watcher.ask("watch Content/Text/Size") == [size, "ok rev 0 watching 1"])
        try writer.ask("set Content/Text/Size 72")
        #expect(
            Transcript.fits(try watcher.line(), "event 1 Content/Text/Size = 72      # was 60 by 127.0.0.1:…"))
        // A change of something else, and one that changes nothing, are no news.
        try writer.ask("set Content/Text/String Hello")
        try writer.ask("set Content/Text/Size 72")
        try server.registry["Content/Text/Size"]?.set(.number(80))
        #expect(try watcher.line() == "event 3 Content/Text/Size = 80      # was 72 by code")
    }

    @Test func ownChangesComeAfterTheirReply() throws {
        let client = try TestServer().connect()
        try client.ask("watch Content/Text/Size")
        try client.send("set Content/Text/Size 72\n")
        #expect(try client.lines(2) == ["Content/Text/Size = 72      # was 60", "ok rev 1"])
        #expect(try client.line().hasPrefix("event 1 Content/Text/Size = 72"))
    }

    @Test func aSetToTheDefaultIsNoEvent() throws {
        let client = try TestServer().connect()
        try client.ask("watch Content/Text/Size")
        #expect(try client.ask("set Content/Text/Size 60").last == "ok rev 1")
        #expect(try client.ask("set Content/Text/Size 61").last == "ok rev 2")
        #expect(try client.line().hasPrefix("event 2 "))
    }

    @Test func aBatchIsOneRevision() throws {
        let server = try TestServer()
        let client = try server.connect()
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

    @Test func sinceShowsOnlyWhatChanged() throws {
        let client = try TestServer().connect()
        try client.ask("set Content/Text/String Hello")
        try client.ask("set Content/Text/Size 72")
        #expect(
            try client.ask("watch Content since 1") == [
                "Content/Text/Size = 72      # number 10...100 step 0.5 pt, default 60", "ok rev 2 watching 6",
            ])
        #expect(try client.ask("watch Content since 2") == ["ok rev 2 watching 6"])
        // A revision of another life of the process: everything is shown.
        #expect(try client.ask("watch Content since 99").count == 7)
        #expect(try client.ask("watch since 2").last?.hasPrefix("error") == true)
        #expect(try client.ask("watch Content since x").last?.hasPrefix("error usage") == true)
    }

    /// They change without a revision: nobody can say since when.
    @Test func sinceShowsFigures() throws {
        let example = ExampleTweaks()
        let client = try TestServer(registry: example.registry).connect()
        example.frames.value = 24
        let lines = try client.ask("watch Player/Status since 0")
        #expect(lines.first?.hasPrefix("Player/Status/Frames = 24 ") == true && lines.last == "ok rev 0 watching 1")
    }

    /// What is seen is one unbroken row of values, whenever the watching begins.
    @Test(arguments: 1...10) func nothingIsLost(_ round: Int) throws {
        let registry = TweakRegistry()
        let count = Tweak("A", "B", "Count", 0, registry: registry)
        let server = try TestServer(registry: registry)
        let client = try server.connect()
        let ended = Gate()
        Thread.detachNewThread {
            for value in 1...2_000 { count.value = value }
            ended.open()
        }
        var lines = try client.ask("watch A since 0")
        if lines.count == 1 { lines.insert("A/B/Count = 0 #", at: 0) }
        var seen = try #require(value(lines[0]))
        while seen < 2_000 {
            let next = try #require(value(try client.line()))
            #expect(next == seen + 1)
            seen = next
        }
        ended.waitBlocking()
    }

    private func value(_ line: String) -> Int? {
        let words = line.split(separator: " ")
        return words.firstIndex(of: "=").flatMap { Int(words[$0 + 1]) }
    }

    @Test func laterRegistrationsAreWatched() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.ask("watch Content/Text")
        let late = Tweak("Content", "Text", "Late", 1, registry: server.registry)
        late.value = 2
        #expect(try client.line().hasPrefix("event 1 Content/Text/Late = 2"))
    }

    @Test func watchesTheUnion() throws {
        let server = try TestServer()
        let client = try server.connect()
        #expect(try client.ask("watch Content/Text/Size").last == "ok rev 0 watching 1")
        #expect(try client.ask("watch Content/Text/S*").last == "ok rev 0 watching 2")
        #expect(try client.ask("watch Content/Text/Fade Content/Text/Size").last == "ok rev 0 watching 3")
        // One event however many patterns it matches.
        try client.send("set Content/Text/Size 72\nset Content/Text/Fade 1s\n")
        var lines = try client.lines(6)
        #expect(lines.filter { $0.hasPrefix("event 1 ") }.count == 1)
        #expect(lines.filter { $0.hasPrefix("event 2 ") }.count == 1)
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
        #expect(try client.ask("watch Content/Text/Size Nothing").last?.hasPrefix("error unknown-tweak") == true)
        #expect(try client.ask("set Content/Text/Size 72").last == "ok rev 1")
        #expect(try client.ask("ping") == ["ok pong"])
    }

    /// `*` may stand for nothing yet.
    @Test func everythingMayBeNothing() throws {
        let registry = TweakRegistry()
        let client = try TestServer(registry: registry).connect()
        #expect(try client.ask("watch *") == ["ok rev 0 watching 0"])
        Tweak("A", "B", "C", 1, registry: registry).value = 2
        #expect(try client.line().hasPrefix("event 1 A/B/C = 2"))
    }

    @Test func secretsStaySecretInEvents() throws {
        let client = try TestServer().connect()
        try client.ask("watch Player")
        try client.ask("set Player/Audio/Token hunter2")
        #expect(try client.line().hasPrefix("event 1 Player/Audio/Token = (set)  # was (unset) by "))
    }

    @Test func eventsInJSON() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.send("json\nwatch Content/Text/Fade\n")
        _ = try client.lines(2)
        try server.registry["Content/Text/Fade"]?.set(text: "1s")
        #expect(
            try client.line()
                == #"{"event":"change","rev":1,"path":"Content/Text/Fade","kind":"duration","value":"1s","was":"250ms","by":"code","layer":"override"}"#
        )
    }

    /// A person sees the event on a line of its own, and the prompt again.
    @Test func eventsBehindAPrompt() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.send("\n")
        _ = try client.read(through: "help\n> ")
        try client.send("watch Content/Text/Size\n")
        #expect(try client.read(through: "watching 1\n> ") == "\(size)\nok rev 0 watching 1\n> ")
        try server.registry["Content/Text/Size"]?.set(.number(72))
        #expect(
            try client.read(through: "code\n> ") == "\nevent 1 Content/Text/Size = 72      # was 60 by code\n> ")
    }
}
