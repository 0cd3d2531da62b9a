// Every route for tokens of different rights: allowed, refused, or as if there were nothing.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

/// A request, and its status for each of the tokens.
struct ScopedRequest: Sendable, CustomTestStringConvertible {
    let method: String
    let target: String
    let body: String?
    let statuses: [Int]

    /// - Parameter statuses: For no rights, `read:Content`, `write:Content`, `run` and `admin`.
    init(_ method: String, _ target: String, _ body: String? = nil, _ statuses: Int...) {
        (self.method, self.target, self.body, self.statuses) = (method, target, body, statuses)
    }

    var testDescription: String { "\(method) \(target) \(body ?? "")" }

    private static let own = PanelClient.changes([("Content/Text/Size", "44")])
    private static let others = PanelClient.changes([("Player/Audio/Token", "\"x\"")])
    private static let both = PanelClient.changes([("Content/Text/Size", "44"), ("Player/Audio/Token", "\"x\"")])

    static let all = [
        ScopedRequest("GET", "/api/whoami", nil, 200, 200, 200, 200, 200),
        ScopedRequest("GET", "/api/openapi.json", nil, 200, 200, 200, 200, 200),
        ScopedRequest("GET", "/api/tweaks", nil, 403, 200, 200, 200, 200),
        ScopedRequest("GET", "/api/tweaks?pattern=Content", nil, 403, 200, 200, 404, 200),
        ScopedRequest("GET", "/api/tweaks?pattern=Player", nil, 403, 404, 404, 200, 200),
        ScopedRequest("GET", "/api/tweaks/Content/Text/Size", nil, 403, 200, 200, 404, 200),
        ScopedRequest("GET", "/api/tweaks/Player/Status/Frames", nil, 403, 404, 404, 404, 200),
        ScopedRequest("PATCH", "/api/tweaks", own, 403, 403, 200, 403, 200),
        ScopedRequest("PATCH", "/api/tweaks", others, 403, 403, 404, 403, 200),
        ScopedRequest("PATCH", "/api/tweaks", both, 403, 403, 404, 403, 200),
        ScopedRequest("POST", "/api/check", own, 403, 403, 200, 403, 200),
        ScopedRequest("POST", "/api/check", others, 403, 403, 404, 403, 200),
        ScopedRequest("POST", "/api/reset", #"{"patterns":["Content"]}"#, 403, 403, 200, 403, 200),
        ScopedRequest("POST", "/api/reset", #"{"patterns":["Player"]}"#, 403, 403, 404, 403, 200),
        ScopedRequest("POST", "/api/actions/Player/Audio/Mute", "{}", 403, 403, 403, 200, 200),
        ScopedRequest("POST", "/api/undo", "{}", 403, 403, 200, 403, 200),
        ScopedRequest("POST", "/api/undo", #"{"force":true}"#, 403, 403, 403, 403, 200),
        ScopedRequest("POST", "/api/redo", "{}", 403, 403, 409, 403, 409),
        ScopedRequest("GET", "/api/history", nil, 403, 200, 200, 200, 200),
        ScopedRequest("GET", "/api/presets", nil, 403, 200, 200, 200, 200),
        ScopedRequest("PUT", "/api/presets/mine", #"{"pattern":"Content"}"#, 403, 403, 200, 403, 200),
        ScopedRequest("GET", "/api/explain?path=Content/Text/Size", nil, 403, 200, 200, 404, 200),
        ScopedRequest("POST", "/api/run", #"{"path":"Player/Audio/Mute"}"#, 403, 403, 403, 200, 200),
        ScopedRequest("DELETE", "/api/presets/look", nil, 403, 403, 403, 403, 200),
        ScopedRequest("POST", "/api/presets/look/load", "{}", 403, 403, 200, 403, 200),
        ScopedRequest("POST", "/api/presets/look/swap", "{}", 403, 403, 403, 403, 200),
        ScopedRequest("GET", "/api/presets/look/diff", nil, 403, 200, 200, 200, 200),
        ScopedRequest("GET", "/api/find?q=size", nil, 403, 200, 200, 200, 200),
        ScopedRequest("GET", "/api/export", nil, 403, 200, 200, 200, 200),
        ScopedRequest("GET", "/api/export?pattern=Player", nil, 403, 404, 404, 200, 200),
        ScopedRequest("POST", "/api/import", #"{"text":"Content/Text/Size = 44"}"#, 403, 403, 200, 403, 200),
        ScopedRequest("POST", "/api/import", #"{"text":"Player/Audio/Token = x"}"#, 403, 403, 404, 403, 200),
        ScopedRequest("GET", "/api/stats", nil, 403, 200, 200, 200, 200),
        ScopedRequest("GET", "/api/conflicts", nil, 403, 403, 403, 403, 200),
        ScopedRequest("GET", "/api/sessions", nil, 403, 403, 403, 403, 200),
        ScopedRequest("DELETE", "/api/sessions/4711", nil, 403, 403, 403, 403, 404),
        ScopedRequest("POST", "/api/reload", "{}", 403, 403, 403, 403, 507),
        ScopedRequest("HEAD", "/api/events", nil, 403, 200, 200, 200, 200),
        ScopedRequest("HEAD", "/api/events?pattern=Player", nil, 403, 404, 404, 200, 200),
    ]
}

@Suite(.blocking) struct ScopeServingTests {
    private static let tokens: [TokenEntry] = [
        .named("none"), .named("see", "read:Content"), .named("set", "write:Content"), .named("act", .run),
    ]

    private func server() throws -> PanelServer {
        try PanelServer(
            Self.tokens[0], Self.tokens[1], Self.tokens[2], Self.tokens[3],
            presets: ["look": ["Content/Text/Size = 72"]])
    }

    @Test(arguments: ScopedRequest.all) func theTable(_ request: ScopedRequest) throws {
        for (name, status) in zip(["none", "see", "set", "act", "admin"], request.statuses) {
            let server = try server()
            try server.connectByLine().ask("Content/Text/Size = 50")
            let panel = try server.connect(name)
            let answer = try panel.ask(request.method, request.target, request.body)
            #expect(answer.status == status, "\(name): \(answer.status) \(answer.body.prefix(300))")
            if status == 403 || status == 404 {
                #expect(server.registry.revision == 1, "\(name)")
                #expect(!answer.body.contains("72"), "\(name)")
            }
        }
    }

    /// What a token may not see is nowhere: not in lists, events, history, search, export, presets, nor in errors.
    @Test func whatIsNotToBeSeenIsNowhere() throws {
        let server = try server()
        let (panel, stream, line) = (try server.connect("set"), try server.connect("set"), try server.connectByLine())
        #expect(try stream.stream().snapshot.paths.count == 6)
        try line.ask("Player/Audio/Token = hush")
        try line.ask("save all")
        try line.ask("begin")
        try line.ask("Player/Audio/Token = hush2")
        try line.ask("Content/Text/Size = 71")
        try line.ask("commit")
        #expect(try stream.event()?.path == "Content/Text/Size")
        var texts: [String] = []
        for target in [
            "/api/tweaks", "/api/history", "/api/find?q=token", "/api/find?q=mute", "/api/export", "/api/presets",
            "/api/presets/all/diff", "/api/stats", "/api/tweaks/Player/Audio/Tokem", "/api/tweaks?pattern=Playe",
        ] {
            texts.append(try panel.ask("GET", target).body)
        }
        for path in ["Player/Audio/Token", "Player/Audio/Mute", "Player/Audio/Muse", "Content/Text/Sizes"] {
            texts.append(try panel.patch([(path, "1")]).body.replacingOccurrences(of: path, with: ""))
        }
        let hidden = texts.filter { text in
            ["Mute", "Frames", "hush", "Audio/Token", "Status"].contains { text.contains($0) }
        }
        #expect(hidden == [])
        // Even that something was registered there is not told.
        #expect(try panel.ask("GET", "/api/history").items("history").count == 1)
    }

    @Test func secretsAreNeverSaid() throws {
        let server = try server()
        let (panel, stream) = (try server.connect(), try server.connect())
        #expect(try stream.stream().snapshot.data.contains(#""value":null,"set":false"#))
        #expect(try panel.patch([("Player/Audio/Token", "\"hush\"")]).body.contains("hush") == false)
        let event = try #require(try stream.event())
        #expect(event.path == "Player/Audio/Token" && !event.data.contains("hush"))
        for target in [
            "/api/tweaks", "/api/history", "/api/export", "/api/tweaks/Player/Audio/Token", "/api/find?q=hush",
        ] {
            #expect(try !panel.ask("GET", target).body.contains("hush\""), "\(target)")
        }
        #expect(try !server.connect().stream().snapshot.data.contains("hush"))
    }
}
