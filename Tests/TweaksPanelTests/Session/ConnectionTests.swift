// Tests the life of a connection: kept, ended, half closed, reset.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct ConnectionTests {
    private static let size = "/api/tweaks/Content/Text/Size"

    /// Version, header, whether the connection is kept, and the header of the response.
    @Test(arguments: [
        ("HTTP/1.1", "", true, nil), ("HTTP/1.1", "Connection: close", false, "close"),
        ("HTTP/1.1", "Connection: Keep-Alive", true, nil), ("HTTP/1.0", "", false, "close"),
        ("HTTP/1.0", "Connection: keep-alive", true, "keep-alive"),
    ])
    func versionAndHeaderDecideIfItIsKept(
        _ version: String, _ header: String, _ isKept: Bool, _ reply: String?
    ) throws {
        let panel = try PanelServer().connect()
        let request = panel.request("GET", Self.size, nil, header.isEmpty ? [] : [header])
            .replacingOccurrences(of: "HTTP/1.1", with: version)
        // A second request after one that ends the connection is not answered.
        try panel.client.send(request + request)
        let answer = try panel.read()
        #expect(answer.status == 200 && answer["Connection"] == reply)
        if isKept {
            #expect(try panel.read().status == 200)
        } else {
            #expect(try panel.hasEnded())
        }
    }

    @Test func aLongListToHTTP10EndsWithTheConnection() throws {
        let panel = try PanelServer(registry: .many(4_000)).connect()
        let request = panel.request("GET", "/api/tweaks", nil, ["Connection: keep-alive"])
        try panel.client.send(request.replacingOccurrences(of: "HTTP/1.1", with: "HTTP/1.0"))
        let answer = try panel.read()
        #expect(answer["Transfer-Encoding"] == nil && answer["Content-Length"] == nil)
        #expect(answer["Connection"] == "close")
        #expect(answer.paths.count == 4_009)
    }

    @Test(arguments: ["/", "/api/tweaks", "/api/tweaks/Content/Text/Size", "/api/export", "/api/nothing", "/login"])
    func headHasTheSameHeadersAndNoBody(_ target: String) throws {
        let panel = try PanelServer(registry: .many(4_000)).connect()
        let (get, head) = (try panel.ask("GET", target), try panel.ask("HEAD", target))
        #expect(get.status == head.status && get.headers.map(\.name) == head.headers.map(\.name))
        #expect(target == "/login" || get.headers.map(\.value) == head.headers.map(\.value))
        #expect(!get.body.isEmpty && head.body.isEmpty)
        #expect(try panel.ask("GET", Self.size).status == 200)
    }

    /// No stream follows, and nothing is watched.
    @Test func aHeadRequestForEventsStartsNoStream() throws {
        let (_, panel, line) = try PanelServer.connectedWithLine()
        for _ in 1...3 {
            let head = try panel.ask("HEAD", "/api/events?pattern=Player")
            #expect(head.status == 200 && head["Content-Type"] == "text/event-stream")
        }
        #expect(try panel.ask("GET", "/api/whoami").json["watches"] as? Int == 0)
        try line.ask("Content/Text/Size = 70")
        #expect(try panel.stream("?pattern=Content").snapshot.paths.allSatisfy { $0.hasPrefix("Content/") })
    }

    @Test func aBodyIsSentAfter100Continue() throws {
        let (server, panel) = try PanelServer.connected()
        let body = PanelClient.size(44)
        let request = panel.request("PATCH", "/api/tweaks", body, ["Expect: 100-continue"])
        let head = String(request.dropLast(body.count))
        try panel.client.send(head)
        #expect(try panel.read().status == 100)
        #expect(server.registry.revision == 0)
        try panel.client.send(body)
        #expect(try panel.read().revision == 1)
        // A body that is too long is refused before it is sent.
        try panel.client.send(head.replacingOccurrences(of: "\(body.utf8.count)\r\n", with: "99999999\r\n"))
        #expect(try panel.read().status == 413)
        #expect(try panel.hasEnded())
    }

    @Test func othersAreServedDuringALongList() throws {
        let server = try PanelServer(registry: .many(4_000))
        let (panel, other, line) = (try server.connect(), try server.connect(), try server.connectByLine())
        try panel.send("GET", "/api/tweaks")
        let head = try panel.readHead()
        #expect(head["Transfer-Encoding"] == "chunked" && head["Content-Length"] == nil)
        // The list is not read meanwhile, so it cannot end.
        for value in 20..<40 {
            #expect(try other.set(size: value).status == 200)
            #expect(try line.ask("ping") == ["ok pong"])
        }
        var body = ""
        while let chunk = try panel.readChunk() { body += chunk }
        #expect(PanelAnswer(body: body).paths.count == 4_009)
        #expect(try panel.ask("GET", Self.size).json["value"] as? Double == 39)
    }

    @Test func aLongExportCanBeImported() throws {
        let (_, panel) = try PanelServer.connected(registry: .many(4_000))
        try panel.ask("POST", "/api/import", #"{"text":"Content/Text/Size = 33\n"}"#)
        let answer = try panel.ask("GET", "/api/export")
        #expect(answer["Content-Type"] == "text/plain; charset=utf-8")
        #expect(answer.body.hasPrefix("Content/Text/Size = 33\n"))
        #expect(!answer.body.contains("\nok"))
        let again = try JSONSerialization.data(withJSONObject: ["text": answer.body, "dry": true])
        #expect(try panel.ask("POST", "/api/import", String(decoding: again, as: UTF8.self)).status == 200)
    }

    @Test func allRequestsBeforeTheEndOfInputAreAnswered() throws {
        let (_, panel) = try PanelServer.connected(registry: .many(4_000))
        let action = panel.request("POST", "/api/actions/Player/Audio/Mute", "{}")
        try panel.client.send(panel.request(size: 44) + action + panel.request("GET", "/api/tweaks"))
        panel.client.endInput()
        #expect(try panel.read().revision == 1)
        #expect(try panel.read().json["output"] as? String == "muted")
        #expect(try panel.read().paths.count == 4_009)
        #expect(try panel.hasEnded())
    }

    @Test func halfARequestIsNotCarriedOut() throws {
        let (server, panel) = try PanelServer.connected()
        try panel.client.send(String(panel.request(size: 44).dropLast(1)))
        panel.client.endInput()
        #expect(try panel.hasEnded())
        #expect(server.registry.revision == 0)
    }

    /// As `nc -N` reads it: the current values, and the end.
    @Test func aStreamEndsAfterTheSnapshotIfTheInputHasEnded() throws {
        let panel = try PanelServer(registry: .many(4_000)).connect()
        try panel.send("GET", "/api/events")
        panel.client.endInput()
        #expect(try panel.readHead().status == 200)
        #expect(try panel.event()?.name == "hello")
        #expect(try panel.event()?.paths.count == 4_009)
        #expect(try panel.event().map(\.name) == nil)
        #expect(try panel.hasEnded())
    }

    @Test func resetConnectionsDoNotDisturbOthers() throws {
        let registry = TweakRegistry.many(4_000)
        let long = BlockedAction("Player/Audio/Long", in: registry)
        let server = try PanelServer(registry: registry)
        let line = try server.connectByLine()
        do {
            let (list, events, action) = (try server.connect(), try server.connect(), try server.connect())
            try list.send("GET", "/api/tweaks")
            _ = try list.readHead()
            try events.send("GET", "/api/events")
            _ = try events.readHead()
            try action.send("POST", "/api/actions/Player/Audio/Long", "{}")
            long.began.waitBlocking()
            list.client.reset()
        }
        // Others are served. The caller of the action may still want to read its result.
        try eventually(turning: server.stepped) {
            try line.ask("Content/Text/Size = 70")
            return try line.ask("sessions").count <= 3
        }
        long.released.open()
        try eventually(turning: server.stepped) { try line.ask("sessions").count <= 2 }
        let panel = try server.connect()
        #expect(try panel.ask("GET", Self.size).json["value"] as? Double == 70)
    }
}
