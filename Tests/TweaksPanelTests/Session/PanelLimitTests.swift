// Tests limits of connections: refused with the right status, counted, and without effect on others.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct PanelLimitTests {
    private static let size = "/api/tweaks/Content/Text/Size"

    @Test func aSessionTooManyIsRefused() throws {
        let server = try PanelServer { $0.sessions = 4 }
        // Each session has sent a request, so that none of them yields.
        let line = try server.connectByLine()
        try line.ask("ping")
        let panels = try (1...3).map { _ in try server.connect() }
        for panel in panels { #expect(try panel.ask("GET", Self.size).status == 200) }
        let refused = try server.connect()
        let answer = try refused.read()
        #expect(answer.status == 429 && answer.code == "too-many" && answer["Connection"] == "close")
        #expect(try refused.hasEnded())
        #expect(try panels[0].ask("GET", Self.size).status == 200)
        #expect(try line.limitsHit() == ["sessions 1"])
    }

    @Test func aTokenHasItsShareOfSessions() throws {
        let server = try PanelServer { $0.sessionsPerPeer = 2 }
        let panels = try (1...2).map { _ in try server.connect() }
        for panel in panels { #expect(try panel.ask("GET", Self.size).status == 200) }
        #expect(try server.connect().ask("GET", Self.size).status == 429)
        #expect(try panels[1].ask("GET", Self.size).status == 200)
        #expect(try server.connectByLine().limitsHit() == ["sessionsPerPeer 1"])
    }

    /// The oldest connection without a token is closed.
    @Test func connectionsWithoutATokenAreLimited() throws {
        let server = try PanelServer { $0.unauthenticatedSessions = 2 }
        let (known, line) = (try server.connect(), try server.connectByLine())
        #expect(try known.ask("GET", Self.size).status == 200)
        var others: [PanelClient] = []
        for _ in 1...3 {
            others.append(try server.connect(nil))
            #expect(try others.last?.ask("GET", "/").status == 200)
        }
        #expect(try others[0].hasEnded())
        for other in others.dropFirst() { #expect(try other.ask("GET", "/").status == 200) }
        #expect(try known.ask("GET", Self.size).status == 200)
        #expect(try line.limitsHit() == ["unauthenticatedSessions 1"])
    }

    @Test func aSilentConnectionEnds() throws {
        let (server, panel, line) = try PanelServer.connectedWithLine {
            ($0.timeToFirstLine, $0.timeToAuthenticate) = (.seconds(60), .seconds(3_600))
        }
        try server.settle(line)
        server.pass(.seconds(60))
        #expect(try panel.hasEnded())
        #expect(try line.limitsHit() == ["timeToFirstLine 1"])
    }

    /// The first request, or one after others.
    @Test(arguments: [0, 1, 3]) func anUnfinishedRequestTimesOut(_ before: Int) throws {
        let (server, panel, line) = try PanelServer.connectedWithLine {
            ($0.timeToFirstLine, $0.timeToAuthenticate) = (.seconds(60), .seconds(3_600))
        }
        let change = panel.request(size: 44)
        let reading = panel.request("GET", Self.size)
        try panel.client.send(String(repeating: reading, count: before) + change.dropLast(1))
        for _ in 0..<before { #expect(try panel.read().status == 200) }
        // Its beginning has arrived by then.
        try server.settle(line)
        server.pass(.seconds(60))
        let answer = try panel.read()
        #expect(answer.status == 408 && answer.code == "timeout" && answer["Connection"] == "close")
        #expect(try panel.hasEnded())
        #expect(try line.limitsHit() == ["timeToFirstLine 1"])
        #expect(server.registry.revision == 0)
    }

    @Test func theTimeOfARequestBeginsWithItsFirstByte() throws {
        let (_, panel) = try PanelServer.connected { $0.timeToFirstLine = .seconds(3_600) }
        let request = panel.request("GET", Self.size)
        for _ in 1...50 {
            try panel.client.send(String(request.prefix(10)))
            try panel.client.send(String(request.dropFirst(10)))
            #expect(try panel.read().status == 200)
        }
    }

    @Test func aConnectionWithoutATokenEnds() throws {
        let (server, panel, line) = try PanelServer.connectedWithLine(as: nil) { $0.timeToAuthenticate = .seconds(10) }
        #expect(try panel.ask("GET", "/").status == 200)
        server.pass(.seconds(10))
        #expect(try panel.hasEnded())
        #expect(try line.limitsHit() == ["timeToAuthenticate 1"])
    }

    /// With or without requests, but not streams.
    @Test func idleConnectionsEnd() throws {
        let example = ExampleTweaks()
        let server = try PanelServer(registry: example.registry) {
            ($0.idleTime, $0.timeToFirstLine, $0.timeToAuthenticate) = (.seconds(60), .seconds(3_600), .seconds(3_600))
        }
        let (stream, silent, idle) = (try server.connect(), try server.connect(), try server.connect())
        _ = try stream.stream()
        #expect(try idle.ask("GET", "/").status == 200)
        server.pass(.seconds(60))
        #expect(try silent.hasEnded())
        #expect(try idle.hasEnded())
        #expect(try server.connectByLine().limitsHit() == ["idleTime 2"])
        example.size.value = 44
        #expect(try stream.event()?.json["value"] as? Double == 44)
    }

    @Test func theRateOfATokenIsLimited() throws {
        let (server, panel) = try PanelServer.connected(.named("slow", .write, rate: 1), as: "slow")
        var refused = 0
        for value in 20..<60 where refused == 0 {
            let answer = try panel.set(size: value)
            if answer.status == 200 { continue }
            #expect(answer.status == 429 && answer.code == "too-many")
            refused += 1
        }
        #expect(refused == 1)
        // A refused batch is not left open.
        let answer = try panel.patch([("Content/Text/Size", "99"), ("Content/Text/Fade", "\"1s\"")])
        if answer.status == 429 { #expect(try panel.ask("POST", "/api/undo", "{}").status != 400) }
        #expect(try server.connectByLine().limitsHit().first?.hasPrefix("commitsPerSecond ") == true)
    }

    @Test func tooManyArgumentsAreRefused() throws {
        let panel = try PanelServer().connect()
        let arguments = (1...65).map { "\"\($0)\"" }.joined(separator: ",")
        let answer = try panel.ask("POST", "/api/actions/Player/Audio/Mute", "{\"arguments\":[\(arguments)]}")
        #expect(answer.status == 429 && answer.code == "too-many")
    }

    /// One floods, one does not read, one sends half a request.
    @Test func misbehavingClientsDoNotDelayOthers() throws {
        let (server, good) = try PanelServer.connected(registry: .many(2_000), hasThread: true)
        let (flood, slow, half) = (try server.connect(), try server.connect(), try server.connect(nil))
        // More than is answered before the last request of the good client; the answers are never read.
        let sent = flood.client.sendMeanwhile(String(repeating: flood.request("GET", "/api/tweaks"), count: 500))
        try slow.send("GET", "/api/events")
        try half.client.send("PATCH /api/tw")
        for value in 20..<60 { #expect(try good.set(size: value).status == 200) }
        #expect(try good.ask("GET", Self.size).json["value"] as? Double == 59)
        server.server.stop()
        flood.client.reset()
        sent.waitBlocking()
    }
}
