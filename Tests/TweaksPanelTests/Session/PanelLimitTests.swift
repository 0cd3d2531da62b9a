// What one connection may take, and all together: refused with the right status, counted, and without harm to others.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct PanelLimitTests {
    private static let size = "/api/tweaks/Content/Text/Size"

    // MARK: Connections

    /// All have asked something, so that none of them yields.
    @Test func sessions() throws {
        let server = try PanelServer { $0.sessions = 4 }
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

    /// From wherever they come; an address has as many on which no token was shown.
    @Test func sessionsOfOneToken() throws {
        let server = try PanelServer { $0.sessionsPerPeer = 2 }
        let panels = try (1...2).map { _ in try server.connect() }
        for panel in panels { #expect(try panel.ask("GET", Self.size).status == 200) }
        #expect(try server.connect().ask("GET", Self.size).status == 429)
        #expect(try panels[1].ask("GET", Self.size).status == 200)
        #expect(try server.connectByLine().limitsHit() == ["sessionsPerPeer 1"])
    }

    /// The oldest that has shown no token yields.
    @Test func unauthenticated() throws {
        let server = try PanelServer { $0.unauthenticatedSessions = 2 }
        let (known, line) = (try server.connect(), try server.connectByLine())
        #expect(try known.ask("GET", Self.size).status == 200)
        var strangers: [PanelClient] = []
        for _ in 1...3 {
            strangers.append(try server.connect(nil))
            #expect(try strangers.last?.ask("GET", "/").status == 200)
        }
        #expect(try strangers[0].hasEnded())
        #expect(try strangers[1].ask("GET", "/").status == 200)
        #expect(try strangers[2].ask("GET", "/").status == 200)
        #expect(try known.ask("GET", Self.size).status == 200)
        #expect(try line.limitsHit() == ["unauthenticatedSessions 1"])
    }

    // MARK: Time

    @Test func nothingCame() throws {
        let server = try PanelServer {
            ($0.timeToFirstLine, $0.timeToAuthenticate) = (.seconds(60), .seconds(3_600))
        }
        let (panel, line) = (try server.connect(), try server.connectByLine())
        try server.settle(line)
        server.pass(.seconds(60))
        #expect(try panel.hasEnded())
        #expect(try line.limitsHit() == ["timeToFirstLine 1"])
    }

    /// Half a request, whether it is the first one or comes behind others.
    @Test(arguments: [0, 1, 3]) func aRequestThatDrips(_ before: Int) throws {
        let server = try PanelServer {
            ($0.timeToFirstLine, $0.timeToAuthenticate) = (.seconds(60), .seconds(3_600))
        }
        let (panel, line) = (try server.connect(), try server.connectByLine())
        let change = panel.request("PATCH", "/api/tweaks", PanelClient.changes([("Content/Text/Size", "44")]))
        let reading = panel.request("GET", Self.size)
        try panel.client.send(String(repeating: reading, count: before) + change.dropLast(1))
        for _ in 0..<before { #expect(try panel.read().status == 200) }
        // Its beginning has come by then.
        try server.settle(line)
        server.pass(.seconds(60))
        let answer = try panel.read()
        #expect(answer.status == 408 && answer.code == "timeout" && answer["Connection"] == "close")
        #expect(try panel.hasEnded())
        #expect(try line.limitsHit() == ["timeToFirstLine 1"])
        #expect(server.registry.revision == 0)
    }

    /// What belongs to a request that came in pieces is no mark against the next one.
    @Test func manyRequestsInPieces() throws {
        let server = try PanelServer { $0.timeToFirstLine = .seconds(3_600) }
        let panel = try server.connect()
        let request = panel.request("GET", Self.size)
        for _ in 1...50 {
            try panel.client.send(String(request.prefix(10)))
            try panel.client.send(String(request.dropFirst(10)))
            #expect(try panel.read().status == 200)
        }
    }

    @Test func withoutATokenInTime() throws {
        let server = try PanelServer { $0.timeToAuthenticate = .seconds(10) }
        let (panel, line) = (try server.connect(nil), try server.connectByLine())
        #expect(try panel.ask("GET", "/").status == 200)
        server.pass(.seconds(10))
        #expect(try panel.hasEnded())
        #expect(try line.limitsHit() == ["timeToAuthenticate 1"])
    }

    /// One that has asked something is as idle as one that has not; whoever watches is not.
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

    // MARK: Commits

    @Test func commitsInASecond() throws {
        let server = try PanelServer(.named("slow", .write, rate: 1))
        let panel = try server.connect("slow")
        var refused = 0
        for value in 20..<60 where refused == 0 {
            let answer = try panel.patch([("Content/Text/Size", "\(value)")])
            if answer.status == 200 { continue }
            #expect(answer.status == 429 && answer.code == "too-many")
            refused += 1
        }
        #expect(refused == 1)
        // A batch that comes too soon is not left open.
        let both = [("Content/Text/Size", "99"), ("Content/Text/Fade", "\"1s\"")]
        let answer = try panel.patch(both)
        if answer.status == 429 { #expect(try panel.ask("POST", "/api/undo", "{}").status != 400) }
        #expect(try server.connectByLine().limitsHit().first?.hasPrefix("commitsPerSecond ") == true)
    }

    @Test func actionsThatSayTooMuchOrTakeTooMuch() throws {
        let panel = try PanelServer().connect()
        let arguments = (1...65).map { "\"\($0)\"" }.joined(separator: ",")
        let answer = try panel.ask("POST", "/api/actions/Player/Audio/Mute", "{\"arguments\":[\(arguments)]}")
        #expect(answer.status == 429 && answer.code == "too-many")
    }

    // MARK: Others

    /// One floods, one does not read, one says half a word: whoever is there beside them is served.
    @Test func othersAreServed() throws {
        let registry = ExampleTweaks().registry
        for number in 0..<2_000 { _ = Tweak("Many", "Tweaks", "Number \(number)", number, registry: registry) }
        let server = try PanelServer(registry: registry, hasThread: true)
        let (flood, deaf, half, good) = (
            try server.connect(), try server.connect(), try server.connect(nil), try server.connect()
        )
        // More than is answered before the other one is done, and never read.
        let sent = flood.client.sendMeanwhile(
            String(repeating: flood.request("GET", "/api/tweaks"), count: 500))
        try deaf.send("GET", "/api/events")
        try half.client.send("PATCH /api/tw")
        for value in 20..<60 {
            #expect(try good.patch([("Content/Text/Size", "\(value)")]).status == 200)
        }
        #expect(try good.ask("GET", Self.size).json["value"] as? Double == 59)
        server.server.stop()
        flood.client.reset()
        sent.waitBlocking()
    }
}
