// Tests every route for tokens of different rights: allowed, refused, or hidden.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

/// A request, and its status for each of the tokens.
struct ScopedRequest: Sendable, CustomTestStringConvertible {
    let method: String
    let target: String
    let body: String?
    let statuses: [Int]

    var testDescription: String { "\(method) \(target) \(body ?? "")" }

    private static let own = PanelClient.size(44)
    private static let others = PanelClient.changes([("Player/Audio/Token", "\"x\"")])
    private static let both = PanelClient.changes([("Content/Text/Size", "44"), ("Player/Audio/Token", "\"x\"")])

    /// Statuses for no rights, `read:Content`, `write:Content`, `run` and `admin`, and the requests that have them.
    private static let table: [([Int], [String])] = [
        ([200, 200, 200, 200, 200], ["GET /api/whoami", "GET /api/openapi.json"]),
        (
            [403, 200, 200, 200, 200],
            [
                "GET /api/tweaks", "GET /api/history", "GET /api/presets", "GET /api/presets/look/diff",
                "GET /api/find?q=size", "GET /api/export", "GET /api/stats", "HEAD /api/events",
            ]
        ),
        (
            [403, 200, 200, 404, 200],
            [
                "GET /api/tweaks?pattern=Content", "GET /api/tweaks/Content/Text/Size",
                "GET /api/explain?path=Content/Text/Size",
            ]
        ),
        (
            [403, 404, 404, 200, 200],
            ["GET /api/tweaks?pattern=Player", "GET /api/export?pattern=Player", "HEAD /api/events?pattern=Player"]
        ), ([403, 404, 404, 404, 200], ["GET /api/tweaks/Player/Status/Frames"]),
        (
            [403, 403, 200, 403, 200],
            [
                "PATCH /api/tweaks \(own)", "POST /api/check \(own)", #"POST /api/reset {"patterns":["Content"]}"#,
                "POST /api/undo {}", #"PUT /api/presets/mine {"pattern":"Content"}"#,
                "POST /api/presets/look/load {}", #"POST /api/import {"text":"Content/Text/Size = 44"}"#,
            ]
        ),
        (
            [403, 403, 404, 403, 200],
            [
                "PATCH /api/tweaks \(others)", "PATCH /api/tweaks \(both)", "POST /api/check \(others)",
                #"POST /api/reset {"patterns":["Player"]}"#, #"POST /api/import {"text":"Player/Audio/Token = x"}"#,
            ]
        ),
        (
            [403, 403, 403, 200, 200],
            ["POST /api/actions/Player/Audio/Mute {}", #"POST /api/run {"path":"Player/Audio/Mute"}"#]
        ),
        (
            [403, 403, 403, 403, 200],
            [
                #"POST /api/undo {"force":true}"#, "DELETE /api/presets/look", "POST /api/presets/look/swap {}",
                "GET /api/conflicts", "GET /api/sessions",
            ]
        ), ([403, 403, 409, 403, 409], ["POST /api/redo {}"]),
        ([403, 403, 403, 403, 404], ["DELETE /api/sessions/4711"]),
        ([403, 403, 403, 403, 507], ["POST /api/reload {}"]),
    ]

    static let all = table.flatMap { statuses, requests in
        requests.map { request in
            let words = request.split(separator: " ", maxSplits: 2).map(String.init)
            return ScopedRequest(
                method: words[0], target: words[1], body: words.count > 2 ? words[2] : nil, statuses: statuses)
        }
    }
}

@Suite(.blocking) struct ScopeServingTests {
    private static let tokens: [TokenEntry] = [
        .named("none"), .named("see", "read:Content"), .named("set", "write:Content"), .named("act", .run),
    ]

    private func server() throws -> PanelServer {
        try PanelServer(Self.tokens, presets: ["look": ["Content/Text/Size = 72"]])
    }

    @Test(arguments: ScopedRequest.all) func everyRequestHasTheStatusOfItsRights(_ request: ScopedRequest) throws {
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

    /// Neither in lists, events, history, search, export, presets, nor in errors.
    @Test func hiddenTweaksAreNowhere() throws {
        let server = try server()
        let (panel, stream, line) = (try server.connect("set"), try server.connect("set"), try server.connectByLine())
        #expect(try stream.stream().snapshot.paths.count == 6)
        for request in [
            "Player/Audio/Token = hush", "save all", "begin", "Player/Audio/Token = hush2", "Content/Text/Size = 71",
            "commit",
        ] {
            try line.ask(request)
        }
        #expect(try stream.event()?.path == "Content/Text/Size")
        var texts = try [
            "/api/tweaks", "/api/history", "/api/find?q=token", "/api/find?q=mute", "/api/export", "/api/presets",
            "/api/presets/all/diff", "/api/stats", "/api/tweaks/Player/Audio/Tokem", "/api/tweaks?pattern=Playe",
        ].map { try panel.ask("GET", $0).body }
        for path in ["Player/Audio/Token", "Player/Audio/Mute", "Player/Audio/Muse", "Content/Text/Sizes"] {
            texts.append(try panel.patch([(path, "1")]).body.replacingOccurrences(of: path, with: ""))
        }
        let hidden = texts.filter { text in
            ["Mute", "Frames", "hush", "Audio/Token", "Status"].contains { text.contains($0) }
        }
        #expect(hidden == [])
        // Not even the existence of hidden changes is visible.
        #expect(try panel.ask("GET", "/api/history").items("history").count == 1)
    }

    @Test func secretsAreNowhere() throws {
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
