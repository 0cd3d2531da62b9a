// What becomes of a connection: kept, ended, half closed, broken off.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct ConnectionTests {
    private static let size = "/api/tweaks/Content/Text/Size"

    /// So many that their list is sent in parts.
    private func manyTweaks() -> TweakRegistry {
        let registry = ExampleTweaks().registry
        for number in 0..<4_000 { _ = Tweak("Many", "Tweaks", "Number \(number)", number, registry: registry) }
        return registry
    }

    // MARK: Keeping

    /// (version, header, whether the connection is kept, what the response says)
    @Test(arguments: [
        ("HTTP/1.1", "", true, nil), ("HTTP/1.1", "Connection: close", false, "close"),
        ("HTTP/1.1", "Connection: Keep-Alive", true, nil), ("HTTP/1.0", "", false, "close"),
        ("HTTP/1.0", "Connection: keep-alive", true, "keep-alive"),
    ])
    func keeping(_ version: String, _ header: String, _ isKept: Bool, _ says: String?) throws {
        let panel = try PanelServer().connect()
        let request = panel.request("GET", Self.size, nil, header.isEmpty ? [] : [header])
            .replacingOccurrences(of: "HTTP/1.1", with: version)
        // What stands behind a request that ends the connection is not answered.
        try panel.client.send(request + request)
        let answer = try panel.read()
        #expect(answer.status == 200 && answer["Connection"] == says)
        if isKept {
            #expect(try panel.read().status == 200)
        } else {
            #expect(try panel.hasEnded())
        }
    }

    @Test func aLongListToHTTP10EndsWithTheConnection() throws {
        let panel = try PanelServer(registry: manyTweaks()).connect()
        let request = panel.request("GET", "/api/tweaks", nil, ["Connection: keep-alive"])
        try panel.client.send(request.replacingOccurrences(of: "HTTP/1.1", with: "HTTP/1.0"))
        let answer = try panel.read()
        #expect(answer["Transfer-Encoding"] == nil && answer["Content-Length"] == nil)
        #expect(answer["Connection"] == "close")
        #expect(answer.paths.count == 4_009)
    }

    @Test(arguments: ["/", "/api/tweaks", "/api/tweaks/Content/Text/Size", "/api/export", "/api/nothing", "/login"])
    func headHasTheSameHeadersAndNoBody(_ target: String) throws {
        let panel = try PanelServer(registry: manyTweaks()).connect()
        let (get, head) = (try panel.ask("GET", target), try panel.ask("HEAD", target))
        #expect(get.status == head.status && get.headers.map(\.name) == head.headers.map(\.name))
        #expect(target == "/login" || get.headers.map(\.value) == head.headers.map(\.value))
        #expect(!get.body.isEmpty && head.body.isEmpty)
        // Nothing of a body is in the way of the next response.
        #expect(try panel.ask("GET", Self.size).status == 200)
    }

    /// The head of a stream says what it is; there is no stream behind it, and nothing is watched.
    @Test func headOfTheEvents() throws {
        let server = try PanelServer()
        let (panel, line) = (try server.connect(), try server.connectByLine())
        for _ in 1...3 {
            let head = try panel.ask("HEAD", "/api/events?pattern=Player")
            #expect(head.status == 200 && head["Content-Type"] == "text/event-stream")
        }
        #expect(try panel.ask("GET", "/api/whoami").json["watches"] as? Int == 0)
        try line.ask("Content/Text/Size = 70")
        #expect(try panel.stream("?pattern=Content").snapshot.paths.allSatisfy { $0.hasPrefix("Content/") })
    }

    @Test func expecting100() throws {
        let server = try PanelServer()
        let panel = try server.connect()
        let body = PanelClient.changes([("Content/Text/Size", "44")])
        let request = panel.request("PATCH", "/api/tweaks", body, ["Expect: 100-continue"])
        let head = String(request.dropLast(body.count))
        try panel.client.send(head)
        #expect(try panel.read().status == 100)
        #expect(server.registry.revision == 0)
        try panel.client.send(body)
        #expect(try panel.read().revision == 1)
        // A body that is too long is not asked for.
        try panel.client.send(head.replacingOccurrences(of: "\(body.utf8.count)\r\n", with: "99999999\r\n"))
        #expect(try panel.read().status == 413)
        #expect(try panel.hasEnded())
    }

    // MARK: Others are served meanwhile

    @Test func aLongListInChunks() throws {
        let server = try PanelServer(registry: manyTweaks())
        let (panel, other, line) = (try server.connect(), try server.connect(), try server.connectByLine())
        try panel.send("GET", "/api/tweaks")
        let head = try panel.readHead()
        #expect(head["Transfer-Encoding"] == "chunked" && head["Content-Length"] == nil)
        // It is not read on, and cannot end before it is.
        for value in 20..<40 {
            #expect(try other.patch([("Content/Text/Size", "\(value)")]).status == 200)
            #expect(try line.ask("ping") == ["ok pong"])
        }
        var body = ""
        while let chunk = try panel.readChunk() { body += chunk }
        #expect(PanelAnswer(body: body).paths.count == 4_009)
        #expect(try panel.ask("GET", Self.size).json["value"] as? Double == 39)
    }

    @Test func aLongExport() throws {
        let server = try PanelServer(registry: manyTweaks())
        let panel = try server.connect()
        try panel.ask("POST", "/api/import", #"{"text":"Content/Text/Size = 33\n"}"#)
        let answer = try panel.ask("GET", "/api/export")
        #expect(answer["Content-Type"] == "text/plain; charset=utf-8")
        #expect(answer.body.hasPrefix("Content/Text/Size = 33\n"))
        #expect(!answer.body.contains("\nok"))
        let again = try JSONSerialization.data(withJSONObject: ["text": answer.body, "dry": true])
        #expect(try panel.ask("POST", "/api/import", String(decoding: again, as: UTF8.self)).status == 200)
    }

    // MARK: Half closed

    @Test func everythingIsAnsweredAfterTheInputHasEnded() throws {
        let server = try PanelServer(registry: manyTweaks())
        let panel = try server.connect()
        try panel.client.send(
            panel.request("PATCH", "/api/tweaks", PanelClient.changes([("Content/Text/Size", "44")]))
                + panel.request("POST", "/api/actions/Player/Audio/Mute", "{}") + panel.request("GET", "/api/tweaks"))
        panel.client.endInput()
        #expect(try panel.read().revision == 1)
        #expect(try panel.read().json["output"] as? String == "muted")
        #expect(try panel.read().paths.count == 4_009)
        #expect(try panel.hasEnded())
    }

    /// Half a request is not carried out.
    @Test func halfARequest() throws {
        let server = try PanelServer()
        let panel = try server.connect()
        let request = panel.request("PATCH", "/api/tweaks", PanelClient.changes([("Content/Text/Size", "44")]))
        try panel.client.send(String(request.dropLast(1)))
        panel.client.endInput()
        #expect(try panel.hasEnded())
        #expect(server.registry.revision == 0)
    }

    /// As `nc -N` asks: everything as it is now, and that is all.
    @Test func aStreamToWhoHasSaidAll() throws {
        let panel = try PanelServer(registry: manyTweaks()).connect()
        try panel.send("GET", "/api/events")
        panel.client.endInput()
        let head = try panel.readHead()
        #expect(head.status == 200)
        #expect(try panel.event()?.name == "hello")
        #expect(try panel.event()?.paths.count == 4_009)
        #expect(try panel.event().map(\.name) == nil)
        #expect(try panel.hasEnded())
    }

    // MARK: Gone

    @Test func goneInTheMiddleOfAnything() throws {
        let registry = manyTweaks()
        let (began, gate) = (Gate(), Gate())
        tweakAction("Player", "Audio", "Long", registry: registry) { _ in
            began.open()
            await gate.wait()
            return "done"
        }
        let server = try PanelServer(registry: registry)
        let line = try server.connectByLine()
        do {
            let (list, events, action) = (try server.connect(), try server.connect(), try server.connect())
            try list.send("GET", "/api/tweaks")
            _ = try list.readHead()
            try events.send("GET", "/api/events")
            _ = try events.readHead()
            try action.send("POST", "/api/actions/Player/Audio/Long", "{}")
            began.waitBlocking()
            list.client.reset()
        }
        // Whoever is there is served. Who has asked for an action may still want to read what it says.
        try eventually(turning: server.stepped) {
            try line.ask("Content/Text/Size = 70")
            return try line.ask("sessions").count <= 3
        }
        gate.open()
        try eventually(turning: server.stepped) { try line.ask("sessions").count <= 2 }
        let panel = try server.connect()
        #expect(try panel.ask("GET", Self.size).json["value"] as? Double == 70)
    }
}
