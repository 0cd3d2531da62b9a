// Every route with what it comes to, and what is on no route.

import Testing
import TweaksWire

@testable import TweaksPanel

@Suite("Routes")
struct PanelRouterTests {
    private static func one(_ request: Request) -> PanelAction { .script(PanelScript([request])) }

    @Test(
        "reading",
        arguments: [
            ("GET /", .page),
            ("GET /?utm=x", .page),
            ("HEAD /", .page),
            ("GET /panel/1f/main.js", .file("main.js", version: "1f")),
            ("GET /panel/1f/styles/base.css", .file("styles/base.css", version: "1f")),
            ("GET /api/openapi.json", .openAPI),
            ("GET /api/whoami", one(Request(.whoami))),
            ("HEAD /api/whoami", one(Request(.whoami))),
            ("GET /api/tweaks", one(Request(.get, ["*"]))),
            ("GET /api/tweaks?pattern=Label&pattern=A/*/C", one(Request(.get, ["Label", "A/*/C"]))),
            ("GET /api/tweaks?pattern=", one(Request(.get, [""]))),
            (
                "GET /api/tweaks/A/B/C",
                .script(PanelScript([Request(.describe, ["A/B/C"]), Request(.explain, ["A/B/C"])], shows: .all))
            ),
            ("GET /api/history", one(Request(.history))),
            ("GET /api/history?count=5", one(Request(.history, number: 5))),
            ("GET /api/history?count=0", one(Request(.history, number: 0))),
            ("GET /api/presets", one(Request(.presets))),
            ("GET /api/presets/warm/diff", one(Request(.diff, ["warm"]))),
            ("GET /api/presets/warm/diff?with=cold", one(Request(.diff, ["warm", "cold"]))),
            ("GET /api/presets/../diff", one(Request(.diff, [".."]))),
            ("GET /api/find?q=size", one(Request(.find, ["size"]))),
            ("GET /api/find?q=\tlabel\nsize\t", one(Request(.find, ["label", "size"]))),
            (
                "GET /api/explain?path=A/../.",
                .script(PanelScript([Request(.describe, ["A/../."]), Request(.explain, ["A/../."])], shows: .all))
            ),
            ("GET /api/export", .script(PanelScript([Request(.export)], shows: .text))),
            ("GET /api/export?pattern=A", .script(PanelScript([Request(.export, ["A"])], shows: .text))),
            ("GET /api/stats", one(Request(.stats))),
            ("GET /api/sessions", one(Request(.sessions))),
            ("GET /api/conflicts", one(Request(.conflicts))),
            ("GET /api/events", .events(patterns: ["*"], lastID: nil)),
            ("GET /api/events?pattern=A&pattern=B", .events(patterns: ["A", "B"], lastID: nil)),
            ("GET /api/events?since=a6b4-43", .events(patterns: ["*"], lastID: "a6b4-43")),
        ] as [(String, PanelAction)])
    func reads(request: String, action: PanelAction) {
        #expect(PanelRouter.result(HTTPRequest(request)) == .success(action))
    }

    @Test(
        "doing",
        arguments: [
            ("POST /login {}", .login(.ask)), ("POST /login {\"scram\":\"n,,n=a,r=b\"}", .login(.begin("n,,n=a,r=b"))),
            ("POST /login {\"scram\":\"c=biws\"}", .login(.finish("c=biws"))),
            ("POST /login {\"challenge\":\"a\",\"answer\":\"AAA=\"}", .login(.answer("a", [0, 0]))),
            ("POST /logout {}", .logout),
            ("POST /api/reset {\"patterns\":[\"Label\",\"A/B/*\"]}", one(Request(.reset, ["Label", "A/B/*"]))),
            ("POST /api/actions/A/B/C {}", one(Request(.run, ["A/B/C"]))),
            ("POST /api/actions/A/B/C {\"arguments\":[]}", one(Request(.run, ["A/B/C"]))),
            (
                "POST /api/actions/A/B/C {\"arguments\":[\"a b\",\"\"]}",
                one(Request(.run, ["A/B/C", "a b", ""]))
            ),
            ("POST /api/run {\"path\":\"A/../.\"}", one(Request(.run, ["A/../."]))),
            ("POST /api/run {\"path\":\"A/B/C\",\"arguments\":[\"a\"]}", one(Request(.run, ["A/B/C", "a"]))),
            ("POST /api/undo {}", one(Request(.undo))),
            ("POST /api/undo {\"force\":true}", one(Request(.undo, [], [.force]))),
            ("POST /api/undo {\"mine\":true}", one(Request(.undo, [], [.mine]))),
            ("POST /api/redo {\"mine\":true,\"force\":true}", one(Request(.redo, [], [.force, .mine]))),
            ("POST /api/redo {\"force\":false}", one(Request(.redo))),
            ("POST /api/redo {\"force\":true}", one(Request(.redo, [], [.force]))),
            ("PUT /api/presets/warm {}", one(Request(.save, ["warm"]))),
            ("PUT /api/presets/warm {\"pattern\":\"Label\"}", one(Request(.save, ["warm", "Label"]))),
            ("DELETE /api/presets/warm", one(Request(.delete, ["warm"]))),
            ("DELETE /api/presets/warm {}", one(Request(.delete, ["warm"]))),
            ("POST /api/presets/warm/load {}", one(Request(.load, ["warm"]))),
            ("POST /api/presets/warm/load {\"only\":true}", one(Request(.load, ["warm"], [.only]))),
            ("POST /api/presets/warm/load {\"partly\":true}", one(Request(.load, ["warm"], [.partly]))),
            ("POST /api/presets/warm/swap {}", one(Request(.swap, ["warm"]))),
            ("POST /api/presets/warm/swap {\"force\":true}", one(Request(.swap, ["warm"], [.force]))),
            ("DELETE /api/sessions/7", one(Request(.kick, number: 7))),
            ("POST /api/reload {}", one(Request(.reload))),
            ("POST /api/reload {\"dry\":true}", one(Request(.reload, [], [.dry]))),
        ] as [(String, PanelAction)])
    func does(request: String, action: PanelAction) {
        #expect(PanelRouter.result(HTTPRequest(request)) == .success(action))
    }

    @Test func theHeaderOfABrowserIsNewerThanTheAddress() {
        var request = HTTPRequest("GET /api/events?since=old-1")
        request.headers = [HTTPField("last-event-id", "new-2")]
        #expect(PanelRouter.result(request) == .success(.events(patterns: ["*"], lastID: "new-2")))
    }

    // MARK: What there is not

    @Test(
        "unknown paths",
        arguments: [
            "GET /api", "GET /api/", "GET /api/tweak", "GET /api/tweaks/", "GET /api/tweaks/A", "GET /api/tweaks/A/B",
            "GET /api/tweaks/A/B/C/D", "GET /API/tweaks", "GET /api/presets/a/b/diff", "GET /index.html",
            "GET /favicon.ico", "GET //", "POST /api/presets/a/save {}", "PATCH /tweaks {}", "GET /api/%74weaks",
        ])
    func unknownPath(request: String) throws {
        let failure = try #require(throws: HTTPFailure.self) { try PanelRouter.action(for: HTTPRequest(request)) }
        #expect(failure.status == .notFound)
        #expect(failure.code == "unknown-command")
        #expect(failure.message.hasSuffix("is no path of this server; GET /api/openapi.json lists what there is"))
        #expect(failure.headers.isEmpty)
    }

    @Test func theRootHasNoParts() throws {
        let failure = try #require(throws: HTTPFailure.self) {
            try PanelRouter.action(for: HTTPRequest(method: "GET", path: [""]))
        }
        #expect(failure.status == .notFound)
    }

    @Test(
        "other methods",
        arguments: [
            ("POST /", "GET, HEAD"),
            ("GET /login", "POST"),
            ("HEAD /login", "POST"),
            ("POST /api/tweaks {}", "GET, HEAD, PATCH"),
            ("DELETE /api/tweaks", "GET, HEAD, PATCH"),
            ("PUT /api/tweaks/A/B/C {}", "GET, HEAD"),
            ("GET /api/presets/warm", "PUT, DELETE"),
            ("OPTIONS /api/tweaks", "GET, HEAD, PATCH"),
            ("TRACE /api/events", "GET, HEAD"),
            ("patch /api/tweaks {}", "GET, HEAD, PATCH"),
            ("GET /api/actions/A/B/C", "POST"),
            ("PUT /api/sessions/7 {}", "DELETE"),
        ])
    func otherMethod(request: String, allowed: String) throws {
        let failure = try #require(throws: HTTPFailure.self) { try PanelRouter.action(for: HTTPRequest(request)) }
        #expect(failure.status == .methodNotAllowed)
        #expect(failure.code == "unknown-command")
        #expect(failure.headers == [HTTPField("Allow", allowed)])
        #expect(failure.message.hasSuffix("use \(allowed)"))
    }

    @Test func aPathIsSaidWithoutWhatTerminalsObey() {
        let request = HTTPRequest(method: "GET", path: ["api", "\u{1B}[2J\u{202E}"])
        guard case .failure(let failure) = PanelRouter.result(request) else {
            Issue.record("no failure")
            return
        }
        #expect(!failure.message.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" })
    }

    /// No request decides between two.
    @Test func noTwoRoutesAreTheSame() {
        let shapes = PanelRoute.all.map { route in
            route.method + " "
                + route.path.split(separator: "/").map { $0.hasPrefix("{") ? "{}" : $0 }.joined(separator: "/")
        }
        #expect(Set(shapes).count == shapes.count)
    }
}
