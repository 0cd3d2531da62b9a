// Tests every route over a socket: the status, the JSON, and the effect on the registry.

import Testing
import Tweaks
import TweaksPanel
import TweaksTestSupport

/// A request, its status, and parts of its response.
struct Served: Sendable, CustomTestStringConvertible {
    let method: String
    let target: String
    let body: String?
    let status: Int
    /// Parts of the response's body.
    let holds: [String]

    /// - Parameter request: The method, the target, and a body where there is one.
    init(_ request: String, _ status: Int, _ holds: String...) {
        let words = request.split(separator: " ", maxSplits: 2).map(String.init)
        (method, target, body) = (words[0], words[1], words.count > 2 ? words[2] : nil)
        (self.status, self.holds) = (status, holds)
    }

    var testDescription: String { "\(method) \(target) \(body ?? "")".prefix(100).description }

    /// In this order, because requests depend on earlier ones.
    static let conversation = [
        Served("GET /", 200, "<!doctype html>"), Served("GET /api/openapi.json", 200, "\"openapi\""),
        Served("GET /api/whoami", 200, #""identity":"token admin""#, #""scopes":["admin"]"#),
        Served("GET /api/tweaks", 200, #"{"ok":true,"rev":0,"tweaks":[{"path":"Content/Text/Size""#),
        Served("GET /api/tweaks?pattern=Player", 200, #""path":"Player/Status/Frames""#),
        Served(
            "GET /api/tweaks/Content/Text/Font%20Name", 200, #""path":"Content/Text/Font Name""#,
            #""value":"Avenir Next""#, #""layers":[{"layer":"default""#),
        Served(
            #"PATCH /api/tweaks {"changes":[{"path":"Content/Text/Size","value":72}]}"#, 200, #""rev":1"#,
            #""value":72,"#, #""was":60"#),
        Served(
            #"PATCH /api/tweaks {"baseRevision":1,"changes":[{"path":"Content/Text/Size","add":2},{"path":"Content/Text/Fade","value":"1s"}]}"#,
            200, #""rev":2"#, #""value":74,"#, #""value":"1s""#),
        Served(
            #"POST /api/check {"changes":[{"path":"Content/Text/Size","value":20}]}"#, 200, #""rev":2"#,
            #""value":20,"#, #""was":74"#),
        Served("GET /api/export?pattern=Content", 200, "Content/Text/Size = 74\n"),
        Served("GET /api/find?q=fade", 200, #""path":"Content/Text/Fade""#),
        Served("POST /api/undo {}", 200, #""rev":3"#, #""undid":2"#, #""of":"token admin""#),
        Served(#"POST /api/redo {"force":true}"#, 200, #""rev":4"#, #""redid":"#),
        Served(
            "GET /api/history?count=1", 200, #"{"ok":true,"undo":true,"redo":false,"undoes":2,"history":[{"rev":4"#,
            #""by":"token admin""#),
        Served(#"PUT /api/presets/look {"pattern":"Content"}"#, 200, #""ok":true"#),
        Served("GET /api/presets", 200, #""name":"look""#),
        Served(#"POST /api/reset {"patterns":["Content"]}"#, 200, #""rev":5"#),
        Served("GET /api/presets/look/diff", 200, #""path":"Content/Text/Size""#),
        Served("POST /api/presets/look/load {}", 200, #""rev":6"#),
        Served("POST /api/presets/look/swap {}", 200, #""ok":true"#),
        Served("DELETE /api/presets/look", 200, #""ok":true"#),
        Served(#"POST /api/import {"text":"Content/Text/Size = 30\n","dry":true}"#, 200, #""value":30,"#),
        Served(##"POST /api/import {"text":"# mine\nContent/Text/Size = 30\n"}"##, 200, #""value":30,"#),
        Served("POST /api/actions/Player/Audio/Mute {}", 200, #""output":"muted""#),
        Served(#"POST /api/actions/Player/Audio/Mute {"arguments":["a","b"]}"#, 200, #""output":"muted""#),
        Served(#"POST /api/run {"path":"Player/Audio/Mute"}"#, 200, #""output":"muted""#),
        Served(
            "GET /api/explain?path=Content/Text/Font+Name", 200, #""path":"Content/Text/Font Name""#,
            #""layers":[{"layer":"default""#),
        Served("GET /api/stats", 200, #""ok":true"#), Served("GET /api/sessions", 200, #""transport":"http""#),
        Served("GET /api/conflicts", 200, #""ok":true"#), Served("POST /login {}", 200, #""challenge":""#),
        Served(#"POST /login {"scram":"n,,n=a,r=b"}"#, 200, #""scram":"r=b"#, #",s=YQ==,i=1""#),
    ]

    /// A refusal for each error code of HTTP.
    static let refusals = [
        Served("GET /api/tweaks?pattern=Nothing", 404, "unknown-tweak"),
        Served("GET /api/tweaks/A/B/C", 404, "unknown-tweak"), Served("GET /api/nothing", 404, "unknown-command"),
        Served("GET /api/presets/none/diff", 404, "bad-value", "there is no preset"),
        Served("POST /api/presets/none/load {}", 404, "bad-value", "there is no preset"),
        Served("POST /api/presets/none/swap {}", 404, "bad-value", "there is no preset"),
        Served("DELETE /api/presets/none", 404, "bad-value", "there is no preset"),
        Served("PUT /api/presets/none%2F {}", 400, "bad-value"), Served("PUT /api/tweaks {}", 405, "unknown-command"),
        Served("PATCH /api/tweaks {}", 400, "usage"), Served("PATCH /api/tweaks [", 400, "usage"),
        Served(
            #"PATCH /api/tweaks {"changes":[{"path":"Content/Text/Size","value":"x"}]}"#, 400, "bad-value",
            #""path":"Content/Text/Size""#),
        Served(
            #"PATCH /api/tweaks {"changes":[{"path":"Content/Text/String","value":null}]}"#, 400, "bad-value",
            "“null” is not a string"),
        Served(#"PATCH /api/tweaks {"changes":[{"path":"Content/Text/String","value":["a"]}]}"#, 400, "bad-value"),
        Served(#"PATCH /api/tweaks {"changes":[{"path":"Content/Text/Size","value":500}]}"#, 422, "out-of-range"),
        Served(#"PATCH /api/tweaks {"changes":[{"path":"Content/Text/Alignment","value":"up"}]}"#, 422, "not-a-choice"),
        Served(#"PATCH /api/tweaks {"changes":[{"path":"Player/Status/Frames","value":1}]}"#, 403, "read-only"),
        Served(
            #"PATCH /api/tweaks {"baseRevision":0,"changes":[{"path":"Content/Text/Size","value":50}]}"#, 409,
            "conflict"),
        Served(
            #"PATCH /api/tweaks {"changes":[{"path":"Content/Text/Size","value":50},{"path":"Content/Text/Size","value":5000}]}"#,
            422, "out-of-range"),
        Served(
            #"POST /api/import {"text":"Content/Text/Fade = 2s\nContent/Text/Size = 5000\n"}"#, 422, "out-of-range",
            "line 2: "),
        Served(#"POST /api/import {"text":"Content/Text/Size = 5000\n"}"#, 422, "line 1: "),
        Served("POST /api/actions/Content/Text/Size {}", 422, "not-an-action"),
        Served("POST /api/actions/A/B/C {}", 404, "unknown-tweak"),
        Served(#"POST /api/run {"path":"../../.."}"#, 404, "unknown-tweak"),
        Served(#"POST /api/run {"path":"a"}"#, 400, "usage"),
        Served("GET /api/explain?path=./../.", 404, "unknown-tweak"),
        Served("POST /api/actions/Player/Audio/Fail {}", 422, "action-failed", "no sound card"),
        Served("POST /api/redo {}", 409, "conflict"), Served("POST /api/reload {}", 507, "io"),
        Served("DELETE /api/sessions/4711", 404, "conflict"), Served("DELETE /api/sessions/x", 400, "usage"),
        Served("GET /api/find?q=", 400, "usage"), Served("GET /api/find", 400, "usage"),
    ]
}

/// The error of an action.
struct NoSoundCard: Error, CustomStringConvertible {
    let description = "no sound card"
}

@Suite(.blocking) struct RouteServingTests {
    /// How a request is sent.
    enum Pieces: CaseIterable { case whole, byByte }

    private func server() throws -> PanelServer {
        let registry = ExampleTweaks().registry
        tweakAction("Player", "Audio", "Fail", registry: registry) { _ -> String in throw NoSoundCard() }
        return try PanelServer(registry: registry)
    }

    private func send(_ requests: String, _ pieces: Pieces, _ panel: PanelClient) throws {
        switch pieces {
        case .whole: try panel.client.send(requests)
        case .byByte: try panel.client.sendBytewise(Array(requests.utf8))
        }
    }

    private func check(_ served: Served, _ pieces: Pieces, _ panel: PanelClient) throws -> PanelAnswer {
        try send(panel.request(served.method, served.target, served.body), pieces, panel)
        let answer = try panel.read()
        #expect(answer.status == served.status, "\(served.testDescription): \(answer.body)")
        for text in served.holds {
            #expect(answer.body.contains(text), "\(served.testDescription): \(answer.body.prefix(400))")
        }
        return answer
    }

    @Test(arguments: Pieces.allCases) func everyRouteIsServed(_ pieces: Pieces) throws {
        let panel = try server().connect()
        for served in Served.conversation {
            let answer = try check(served, pieces, panel)
            #expect(answer["Content-Security-Policy"]?.contains("frame-ancestors 'none'") == true)
            #expect(answer["Cache-Control"] == "no-store" && answer["X-Content-Type-Options"] == "nosniff")
        }
        #expect(try panel.ask("POST", "/logout", "{}").status == 204)
    }

    @Test(arguments: Pieces.allCases) func everyRefusalHasItsStatusAndCode(_ pieces: Pieces) throws {
        let server = try server()
        let panel = try server.connect()
        try panel.set(size: 40)
        for served in Served.refusals {
            let answer = try check(served, pieces, panel)
            #expect(answer.json["ok"] as? Bool == false && answer["Content-Type"] == "application/json")
            #expect(server.registry.revision == 1, "\(served.testDescription)")
        }
        #expect(server.number("Content/Text/Size") == 40)
    }

    @Test func aRefusedBatchChangesNothing() throws {
        let server = try server()
        let panel = try server.connect()
        let wrong = [("Content/Text/Size", "50"), ("Content/Text/Nothing", "1"), ("Content/Text/Fade", "\"1s\"")]
        for _ in 1...3 { #expect(try panel.patch(wrong).status == 404) }
        #expect(server.registry.revision == 0)
        #expect(try panel.patch([("Content/Text/Size", "50"), ("Content/Text/Fade", "\"1s\"")]).revision == 1)
        #expect(try panel.ask("POST", "/api/undo", "{}").revision == 2)
        #expect(server.number("Content/Text/Size") == 60)
    }

    /// Browsers cache the files as long as the markup names their version.
    @Test func theFilesOfThePageMayBeCached() throws {
        let server = try server()
        let panel = try server.connect()
        panel.host = PanelID.host(server.endpoint.id)
        let markup = try panel.ask("GET", "/").body
        let names = markup.matches(of: /"(panel\/[^"]+)"/).map { "/\($0.1)" }
        #expect(names.count > 30)
        let types = ["css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"]
        for name in names {
            let answer = try panel.ask("GET", name)
            let type = types[name.split(separator: ".").last.map(String.init) ?? ""] ?? "none"
            #expect(answer.status == 200 && answer["Content-Type"]?.hasPrefix(type) == true, "\(name)")
            #expect(answer["Cache-Control"] == "public, max-age=31536000, immutable", "\(name)")
            #expect(answer["Content-Security-Policy"]?.contains("unsafe") == false, "\(name)")
        }
        let main = try #require(names.first { $0.hasSuffix("/main.js") })
        #expect(try panel.ask("HEAD", main).status == 200)
        // Other versions, files and hosts are refused.
        #expect(try panel.ask("GET", "/panel/0/main.js").status == 404)
        #expect(try panel.ask("GET", main.replacing("main.js", with: "none.js")).status == 404)
        try panel.client.send("GET \(main) HTTP/1.1\r\nHost: elsewhere:80\r\n\r\n")
        #expect(try panel.read().status == 421)
        panel.host = "127.0.0.1"
        #expect(try panel.ask("GET", main).status == 421)
    }

    @Test func otherMethodsAreListed() throws {
        let panel = try server().connect()
        #expect(try panel.ask("DELETE", "/api/tweaks")["Allow"] == "GET, HEAD, PATCH")
        #expect(try panel.ask("GET", "/login")["Allow"] == "POST")
    }

    @Test func sessionsCanBeEnded() throws {
        let server = try server()
        let (panel, other) = (try server.connect(), try server.connect())
        let session = try #require(try other.ask("GET", "/api/whoami").json["session"] as? Int)
        let kicked = try panel.ask("DELETE", "/api/sessions/\(session)")
        #expect(kicked.status == 200 && kicked.body == "{\"ok\":true,\"kicked\":\(session)}\n")
        #expect(try other.hasEnded())
        let own = try #require(try panel.ask("GET", "/api/whoami").json["session"] as? Int)
        #expect(try panel.ask("DELETE", "/api/sessions/\(own)").status == 200)
        #expect(try panel.hasEnded())
    }

    @Test(arguments: Pieces.allCases) func pipelinedRequestsAreAnsweredInOrder(_ pieces: Pieces) throws {
        let panel = try server().connect()
        let reading = panel.request("GET", "/api/tweaks/Content/Text/Size")
        let requests = reading + panel.request(size: 33) + reading
        try send(requests, pieces, panel)
        #expect(try panel.read().json["value"] as? Double == 60)
        #expect(try panel.read().revision == 1)
        #expect(try panel.read().json["value"] as? Double == 33)
    }

    /// A request after the change waits, too.
    @Test func aPipelinedChangeWaitsForTheDisk() throws {
        let store = GatedStore(isRequired: false)
        let (server, panel, line) = try PanelServer.connectedWithLine(store: store)
        let reading = panel.request("GET", "/api/tweaks/Content/Text/Size")
        try panel.client.send(reading + panel.request(size: 33) + reading)
        #expect(try panel.read().json["value"] as? Double == 60)
        #expect(server.registry.revision >= 1)
        try server.settle(line)
        #expect(!panel.client.hasInput)
        store.finish(1)
        #expect(try panel.read().revision == 1)
        #expect(try panel.read().json["value"] as? Double == 33)
    }

    @Test func aDiskErrorIsReported() throws {
        let store = GatedStore(isRequired: false)
        let (server, panel) = try PanelServer.connected(store: store)
        try panel.send(size: 33)
        #expect(server.registry.revision >= 1)
        store.finish(1, failure: "disk full")
        let answer = try panel.read()
        #expect(answer.status == 200 && answer.json["unsaved"] as? String == "disk full")
    }
}
