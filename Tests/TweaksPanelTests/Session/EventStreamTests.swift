// Server-sent events over a socket: what comes first, what follows, and going on after a loss.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct EventStreamTests {
    // MARK: What comes

    @Test func helloThenTheSnapshotThenChanges() throws {
        let server = try PanelServer()
        let (panel, line) = (try server.connect(), try server.connectByLine())
        let (hello, snapshot) = try panel.stream()
        let instance = try #require(hello.json["instance"] as? String)
        #expect(hello.json["identity"] as? String == "token admin" && hello.json["name"] as? String == "example")
        #expect(hello.json["scopes"] as? [String] == ["admin"] && hello.json["session"] != nil)
        // Who is cut off between the two has nothing to go on from.
        #expect(hello.id == nil && snapshot.id == "\(instance)-0")
        #expect(snapshot.json["resumed"] as? Bool == false && snapshot.json["watching"] as? Int == 9)
        #expect(snapshot.paths.count == 9)
        try line.ask("Content/Text/Size = 72")
        try line.ask("begin")
        try line.ask("reset Content/Text/Size")
        try line.ask("Content/Text/Fade = 1s")
        try line.ask("commit")
        let events = try (1...3).map { _ in try #require(try panel.event()) }
        #expect(events.allSatisfy { $0.name == "change" })
        #expect(events.map(\.id) == ["\(instance)-1", "\(instance)-2", "\(instance)-2"])
        #expect(events.map(\.path) == ["Content/Text/Size", "Content/Text/Size", "Content/Text/Fade"])
        #expect(events.map { $0.json["layer"] as? String } == ["override", "default", "override"])
        #expect(events[0].json["by"] as? String == "uid \(geteuid())")
        #expect(events[0].json["value"] as? Double == 72 && events[0].json["was"] as? Double == 60)
        #expect(events[0].json["event"] as? String == "change")
    }

    @Test func severalPatterns() throws {
        let server = try PanelServer()
        let (panel, line) = (try server.connect(), try server.connectByLine())
        let (_, snapshot) = try panel.stream("?pattern=Content/Text/Size&pattern=Player/Audio")
        #expect(snapshot.paths == ["Content/Text/Size", "Player/Audio/Mute", "Player/Audio/Token"])
        try line.ask("Content/Text/Fade = 1s")
        try line.ask("Content/Text/Size = 72")
        #expect(try panel.event()?.path == "Content/Text/Size")
        let wrong = try server.connect().ask("GET", "/api/events?pattern=Nothing")
        #expect(wrong.status == 404 && wrong.code == "unknown-tweak")
        let many = (1...200).map { "pattern=Content/Text/S\($0)*" }.joined(separator: "&")
        #expect(try server.connect().ask("GET", "/api/events?\(many)").code == "too-many")
    }

    /// Who reads events has nothing more to say; what is said all the same is not kept.
    @Test func nothingElseIsHeard() throws {
        let server = try PanelServer()
        let (panel, line) = (try server.connect(), try server.connectByLine())
        try panel.client.send(
            panel.request("GET", "/api/events")
                + panel.request("PATCH", "/api/tweaks", PanelClient.changes([("Content/Text/Size", "44")])))
        #expect(try panel.readHead().status == 200)
        for _ in 1...2 { _ = try panel.event() }
        try panel.client.send(String(repeating: "x", count: 5_000_000))
        try line.ask("Content/Text/Size = 45")
        #expect(try panel.event()?.json["value"] as? Double == 45)
        #expect(server.registry.revision == 1)
    }

    @Test func figures() throws {
        let example = ExampleTweaks()
        let panel = try PanelServer(registry: example.registry).connect()
        _ = try panel.stream()
        example.frames.value = 24
        let event = try #require(try panel.event())
        #expect(event.path == "Player/Status/Frames" && event.json["value"] as? Double == 24)
        // What was committed just before it may come after it.
        #expect(event.id == nil)
    }

    @Test func sixtyAtOnce() throws {
        let server = try PanelServer()
        let line = try server.connectByLine()
        let panels = try (1...60).map { _ in try server.connect() }
        for panel in panels { #expect(try panel.stream().snapshot.paths.count == 9) }
        for value in 1...5 { try line.ask("Content/Text/Size = \(20 + value)") }
        for panel in panels {
            for value in 1...5 { #expect(try panel.event()?.json["value"] as? Double == Double(20 + value)) }
        }
    }

    // MARK: Going on

    /// How a client says where it was.
    enum Way: CaseIterable { case header, query }

    private func resume(_ panel: PanelClient, _ id: String, _ way: Way = .header) throws -> PanelEvent {
        try way == .header
            ? panel.stream("", ["Last-Event-ID: \(id)"]).snapshot : panel.stream("?since=\(id)").snapshot
    }

    @Test(arguments: Way.allCases) func whatChangedSince(_ way: Way) throws {
        let server = try PanelServer()
        let line = try server.connectByLine()
        var last: String?
        do {
            let panel = try server.connect()
            _ = try panel.stream()
            try line.ask("Content/Text/String = once")
            last = try panel.event()?.id
        }
        try line.ask("Content/Text/Size = 72")
        try line.ask("Content/Text/Size = 73")
        let snapshot = try resume(try server.connect(), try #require(last), way)
        #expect(snapshot.json["resumed"] as? Bool == true && snapshot.revision == 3)
        // The one before it comes again: a commit may have been cut.
        let settable = snapshot.paths.filter { $0 != "Player/Status/Frames" }
        #expect(settable == ["Content/Text/Size", "Content/Text/String"])
        #expect(snapshot.json["watching"] as? Int == 9)
    }

    /// The header is newer than the address.
    @Test func theHeaderCounts() throws {
        let server = try PanelServer()
        let panel = try server.connect()
        let instance = try #require(try server.connect().stream().hello.json["instance"] as? String)
        let (_, snapshot) = try panel.stream("?since=other-1", ["Last-Event-ID: \(instance)-0"])
        #expect(snapshot.json["resumed"] as? Bool == true)
    }

    /// Of several tweaks that one commit has changed a client may have heard of the first alone.
    @Test func aCommitThatWasCut() throws {
        let server = try PanelServer()
        let line = try server.connectByLine()
        var last: String?
        do {
            let panel = try server.connect()
            _ = try panel.stream()
            for request in ["begin", "Content/Text/Size = 72", "Content/Text/Fade = 1s", "commit"] {
                try line.ask(request)
            }
            last = try panel.event()?.id
        }
        let snapshot = try resume(try server.connect(), try #require(last))
        #expect(snapshot.paths.contains("Content/Text/Fade"))
    }

    /// A figure that has changed meanwhile and changes no more.
    @Test func aFigureThatChangedMeanwhile() throws {
        let example = ExampleTweaks()
        let server = try PanelServer(registry: example.registry)
        var last: String?
        do { last = try server.connect().stream().snapshot.id }
        example.frames.value = 24
        let snapshot = try resume(try server.connect(), try #require(last))
        let figure = (snapshot.json["tweaks"] as? [[String: Any]])?.first {
            $0["path"] as? String == "Player/Status/Frames"
        }
        #expect(figure?["value"] as? Double == 24)
    }

    @Test(arguments: [
        "other-0", "other-1", "", "-", "INSTANCE", "INSTANCE-", "INSTANCE-x", "INSTANCE-+1", "INSTANCE--1",
        "INSTANCE-99", "INSTANCE-18446744073709551615", "INSTANCE-99999999999999999999", "INSTANCE-1 ", "1",
        "INSTANCE-1-1",
    ])
    func whatIsNoPlaceToGoOnFrom(_ text: String) throws {
        let server = try PanelServer()
        try server.connectByLine().ask("Content/Text/Size = 72")
        let instance = try #require(try server.connect().stream().hello.json["instance"] as? String)
        // Blanks at the end of a header are none of its value.
        let id = text.replacingOccurrences(of: "INSTANCE", with: instance)
        let snapshot = try resume(try server.connect(), id)
        #expect(snapshot.json["resumed"] as? Bool == (text == "INSTANCE-1 "), "\(id)")
        #expect(snapshot.paths.count == (text == "INSTANCE-1 " ? 2 : 9))
    }

    /// However often it is cut, the values that are heard of end with the last one, and none comes twice the wrong way.
    @Test(arguments: 1...3) func nothingIsLost(_ round: Int) throws {
        let registry = TweakRegistry()
        let count = Tweak("A", "B", "Count", 0, registry: registry)
        let server = try PanelServer(registry: registry)
        let ended = Gate()
        Thread.detachNewThread {
            for value in 1...3_000 { count.value = value }
            ended.open()
        }
        var (last, seen) = ("none", 0)
        while seen < 3_000 {
            let panel = try server.connect()
            let snapshot = try resume(panel, last)
            last = snapshot.id ?? last
            if let tweak = (snapshot.json["tweaks"] as? [[String: Any]])?.first, let value = tweak["value"] as? Int {
                #expect(value >= seen - 1)
                seen = value
            }
            for _ in 1...(50 * round) where seen < 3_000 {
                let event = try #require(try panel.event())
                last = event.id ?? last
                guard event.name == "change", let value = event.json["value"] as? Int else { continue }
                #expect(value > seen)
                seen = value
            }
        }
        ended.waitBlocking()
        #expect(count.value == 3_000)
    }

    // MARK: Slow readers

    @Test func theNewestOfEach() throws {
        let registry = TweakRegistry()
        let count = Tweak("A", "B", "Count", 0, registry: registry)
        let server = try PanelServer(registry: registry) { $0.unsentBytes = 4_096 }
        let (deaf, line) = (try server.connect(), try server.connectByLine())
        _ = try deaf.stream()
        // Under the sanitizer the changes may take longer than there is time for a first line.
        try line.ask("ping")
        let last = quantity(60_000, few: 15_000)
        for value in 1...last { count.value = value }
        try line.ask("ping")
        #expect(try server.connect().ask("GET", "/api/tweaks/A/B/Count").json["value"] as? Int == last)
        var (heard, seen, folded) = (0, 0, 0)
        while seen < last || heard + folded < last {
            let event = try #require(try deaf.event())
            switch event.name {
            case "change":
                let value = try #require(event.json["value"] as? Int)
                #expect(value > seen)
                (heard, seen) = (heard + 1, value)
            case "lagged":
                folded += event.json["count"] as? Int ?? 0
                #expect(event.id?.hasSuffix("-\(event.revision ?? 0)") == true)
            default: Issue.record("\(event)")
            }
        }
        #expect(seen == last && folded > 0 && heard + folded == last)
    }

    // MARK: Beats

    @Test func beatsAndListings() throws {
        let registry = ExampleTweaks().registry
        let server = try PanelServer(.named("see", "read:Content"), registry: registry) {
            $0.beatInterval = .milliseconds(5)
        }
        let (panel, other) = (try server.connect(), try server.connect("see"))
        _ = try panel.stream()
        _ = try other.stream()
        for _ in 1...3 {
            for panel in [panel, other] {
                let beat = try #require(try panel.eventOrBeat())
                #expect(beat.name.isEmpty && beat.data.isEmpty && beat.id == nil)
            }
        }
        let added = Tweak("Player", "Status", "Late", 1, registry: registry)
        let event = try #require(try panel.event())
        #expect(event.name == "listing" && event.id == nil && event.data == "{\"rev\":0}")
        // Who does not see it is not told.
        for _ in 1...5 { #expect(try other.eventOrBeat()?.name == "") }
        let another = Tweak("Content", "Text", "Late", 1, registry: registry)
        #expect(try other.event()?.name == "listing")
        #expect(added.value == 1 && another.value == 1)
        // One that comes back may have missed one.
        let id = "\(try #require(try server.connect().stream().snapshot.id))"
        let again = try server.connect()
        _ = try again.stream("?since=\(id)")
        #expect(try again.event()?.name == "listing")
    }

    // MARK: The end

    @Test func aServerThatStops() throws {
        let server = try PanelServer(hasThread: true)
        let panel = try server.connect()
        let idle = try server.connect()
        _ = try idle.ask("GET", "/api/whoami")
        _ = try panel.stream()
        server.server.stop()
        let last = try #require(try panel.event())
        #expect(last.name == "closing" && last.id == nil)
        #expect(
            last.data == #"{"ok":false,"error":{"code":"closing","message":"the process is shutting down"}}"#)
        #expect(try panel.event().map(\.name) == nil)
        #expect(try panel.hasEnded())
        // Whoever has asked nothing is told nothing: it would be taken for the answer to what is asked next.
        #expect(try idle.hasEnded())
    }
}
