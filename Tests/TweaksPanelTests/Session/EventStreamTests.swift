// Tests server-sent events over a socket: their order, resuming, slow readers, heartbeats, and the end.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct EventStreamTests {
    @Test func aStreamHasHelloTheSnapshotAndThenChanges() throws {
        let (_, panel, line) = try PanelServer.connectedWithLine()
        let (hello, snapshot) = try panel.stream()
        let instance = try #require(hello.json["instance"] as? String)
        #expect(hello.json["identity"] as? String == "token admin" && hello.json["name"] as? String == "example")
        #expect(hello.json["scopes"] as? [String] == ["admin"] && hello.json["session"] != nil)
        // Between the two there is no position to resume from.
        #expect(hello.id == nil && snapshot.id == "\(instance)-0")
        #expect(snapshot.json["resumed"] as? Bool == false && snapshot.json["watching"] as? Int == 9)
        #expect(snapshot.paths.count == 9)
        let batch = ["begin", "reset Content/Text/Size", "Content/Text/Fade = 1s", "commit"]
        for request in ["Content/Text/Size = 72"] + batch { try line.ask(request) }
        let events = try (1...3).map { _ in try #require(try panel.event()) }
        #expect(events.allSatisfy { $0.name == "change" })
        #expect(events.map(\.id) == ["\(instance)-1", "\(instance)-2", "\(instance)-2"])
        #expect(events.map(\.path) == ["Content/Text/Size", "Content/Text/Size", "Content/Text/Fade"])
        #expect(events.map { $0.json["layer"] as? String } == ["override", "default", "override"])
        #expect(events[0].json["by"] as? String == "uid \(geteuid())")
        #expect(events[0].json["value"] as? Double == 72 && events[0].json["was"] as? Double == 60)
        #expect(events[0].json["event"] as? String == "change")
    }

    @Test func patternsSelectTheTweaks() throws {
        let (server, panel, line) = try PanelServer.connectedWithLine()
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

    @Test func requestsAfterAStreamAreDiscarded() throws {
        let (server, panel, line) = try PanelServer.connectedWithLine()
        try panel.client.send(panel.request("GET", "/api/events") + panel.request(size: 44))
        #expect(try panel.readHead().status == 200)
        for _ in 1...2 { _ = try panel.event() }
        try panel.client.send(String(repeating: "x", count: 5_000_000))
        try line.ask("Content/Text/Size = 45")
        #expect(try panel.event()?.json["value"] as? Double == 45)
        #expect(server.registry.revision == 1)
    }

    @Test func metricsHaveNoPosition() throws {
        let example = ExampleTweaks()
        let panel = try PanelServer(registry: example.registry).connect()
        _ = try panel.stream()
        example.frames.value = 24
        let event = try #require(try panel.event())
        #expect(event.path == "Player/Status/Frames" && event.json["value"] as? Double == 24)
        // A commit from just before may come after it.
        #expect(event.id == nil)
    }

    @Test func sixtyStreamsGetAllChanges() throws {
        let server = try PanelServer { $0.timeToFirstLine = .seconds(3_600) }
        let line = try server.connectByLine()
        let panels = try (1...60).map { _ in try server.connect() }
        for panel in panels { #expect(try panel.stream().snapshot.paths.count == 9) }
        for value in 1...5 { try line.ask("Content/Text/Size = \(20 + value)") }
        for panel in panels {
            for value in 1...5 { #expect(try panel.event()?.json["value"] as? Double == Double(20 + value)) }
        }
    }

    /// How a client sends its position.
    enum Position: CaseIterable { case header, query }

    private func resume(_ panel: PanelClient, _ id: String, _ way: Position = .header) throws -> PanelEvent {
        try way == .header
            ? panel.stream("", ["Last-Event-ID: \(id)"]).snapshot : panel.stream("?since=\(id)").snapshot
    }

    /// The position of a stream that ends after its first change, which requests make.
    private func position(after requests: [String], _ server: PanelServer, _ line: TestClient) throws -> String {
        let panel = try server.connect()
        _ = try panel.stream()
        for request in requests { try line.ask(request) }
        return try #require(try panel.event()?.id)
    }

    @Test(arguments: Position.allCases) func aResumedStreamHasTheChangesSince(_ way: Position) throws {
        let server = try PanelServer()
        let line = try server.connectByLine()
        let last = try position(after: ["Content/Text/String = once"], server, line)
        for size in [72, 73] { try line.ask("Content/Text/Size = \(size)") }
        let snapshot = try resume(try server.connect(), last, way)
        #expect(snapshot.json["resumed"] as? Bool == true && snapshot.revision == 3)
        // The last commit comes again: part of it may be missing.
        let writable = snapshot.paths.filter { $0 != "Player/Status/Frames" }
        #expect(writable == ["Content/Text/Size", "Content/Text/String"])
        #expect(snapshot.json["watching"] as? Int == 9)
    }

    @Test func theHeaderTakesPrecedenceOverTheQuery() throws {
        let (server, panel) = try PanelServer.connected()
        let instance = try #require(try server.connect().stream().hello.json["instance"] as? String)
        let (_, snapshot) = try panel.stream("?since=other-1", ["Last-Event-ID: \(instance)-0"])
        #expect(snapshot.json["resumed"] as? Bool == true)
    }

    /// A client may have received only the first change of a commit.
    @Test func anInterruptedCommitIsRepeated() throws {
        let server = try PanelServer()
        let line = try server.connectByLine()
        let commit = ["begin", "Content/Text/Size = 72", "Content/Text/Fade = 1s", "commit"]
        let last = try position(after: commit, server, line)
        #expect(try resume(try server.connect(), last).paths.contains("Content/Text/Fade"))
    }

    @Test func aResumedStreamHasTheCurrentMetrics() throws {
        let example = ExampleTweaks()
        let server = try PanelServer(registry: example.registry)
        var last: String?
        do { last = try server.connect().stream().snapshot.id }
        example.frames.value = 24
        let snapshot = try resume(try server.connect(), try #require(last))
        let tweaks = snapshot.json["tweaks"] as? [[String: Any]] ?? []
        let frames = tweaks.first { $0["path"] as? String == "Player/Status/Frames" }
        #expect(frames?["value"] as? Double == 24)
    }

    @Test(arguments: [
        "other-0", "other-1", "", "-", "INSTANCE", "INSTANCE-", "INSTANCE-x", "INSTANCE-+1", "INSTANCE--1",
        "INSTANCE-99", "INSTANCE-18446744073709551615", "INSTANCE-99999999999999999999", "INSTANCE-1 ", "1",
        "INSTANCE-1-1",
    ])
    func anInvalidPositionGetsTheWholeSnapshot(_ text: String) throws {
        let server = try PanelServer()
        try server.connectByLine().ask("Content/Text/Size = 72")
        let instance = try #require(try server.connect().stream().hello.json["instance"] as? String)
        // Spaces at the end of a header do not belong to its value.
        let id = text.replacingOccurrences(of: "INSTANCE", with: instance)
        let snapshot = try resume(try server.connect(), id)
        #expect(snapshot.json["resumed"] as? Bool == (text == "INSTANCE-1 "), "\(id)")
        #expect(snapshot.paths.count == (text == "INSTANCE-1 " ? 2 : 9))
    }

    /// The last value arrives, and the values only increase.
    @Test(arguments: 1...3) func noChangeIsLostOverManyStreams(_ round: Int) throws {
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

    @Test func aSlowReaderGetsTheNewestValuesAndACount() throws {
        let registry = TweakRegistry()
        let count = Tweak("A", "B", "Count", 0, registry: registry)
        let server = try PanelServer(registry: registry) { $0.unsentBytes = 4_096 }
        let (slow, line) = (try server.connect(), try server.connectByLine())
        _ = try slow.stream()
        // Under the sanitizer the changes may take longer than the time for a first line.
        try line.ask("ping")
        let last = quantity(60_000, few: 15_000)
        for value in 1...last { count.value = value }
        try line.ask("ping")
        #expect(try server.connect().ask("GET", "/api/tweaks/A/B/Count").json["value"] as? Int == last)
        var (received, seen, folded) = (0, 0, 0)
        while seen < last || received + folded < last {
            let event = try #require(try slow.event())
            switch event.name {
            case "change":
                let value = try #require(event.json["value"] as? Int)
                #expect(value > seen)
                (received, seen) = (received + 1, value)
            case "lagged":
                folded += event.json["count"] as? Int ?? 0
                #expect(event.id?.hasSuffix("-\(event.revision ?? 0)") == true)
            default: Issue.record("\(event)")
            }
        }
        #expect(seen == last && folded > 0 && received + folded == last)
    }

    @Test func heartbeatsAndListingChangesAreSent() throws {
        let registry = ExampleTweaks().registry
        let server = try PanelServer(.named("see", "read:Content"), registry: registry) {
            $0.heartbeatInterval = .milliseconds(5)
        }
        let (panel, other) = (try server.connect(), try server.connect("see"))
        _ = try panel.stream()
        _ = try other.stream()
        for _ in 1...3 {
            for panel in [panel, other] {
                let heartbeat = try #require(try panel.eventOrHeartbeat())
                #expect(heartbeat.name.isEmpty && heartbeat.data.isEmpty && heartbeat.id == nil)
            }
        }
        let added = Tweak("Player", "Status", "Late", 1, registry: registry)
        let event = try #require(try panel.event())
        #expect(event.name == "listing" && event.id == nil && event.data == "{\"rev\":0}")
        // A session that may not see it gets no event.
        for _ in 1...5 { #expect(try other.eventOrHeartbeat()?.name == "") }
        let another = Tweak("Content", "Text", "Late", 1, registry: registry)
        #expect(try other.event()?.name == "listing")
        #expect(added.value == 1 && another.value == 1)
        // A resumed stream may have missed one.
        let id = try #require(try server.connect().stream().snapshot.id)
        let again = try server.connect()
        _ = try again.stream("?since=\(id)")
        #expect(try again.event()?.name == "listing")
    }

    @Test func aStoppingServerEndsItsStreams() throws {
        let (server, panel) = try PanelServer.connected(hasThread: true)
        let idle = try server.connect()
        _ = try idle.ask("GET", "/api/whoami")
        _ = try panel.stream()
        server.server.stop()
        let last = try #require(try panel.event())
        #expect(last.name == "closing" && last.id == nil)
        #expect(last.data == #"{"ok":false,"error":{"code":"closing","message":"the process is shutting down"}}"#)
        #expect(try panel.event().map(\.name) == nil)
        #expect(try panel.hasEnded())
        // An idle connection gets no response, which it would take for that of its next request.
        #expect(try idle.hasEnded())
    }
}
