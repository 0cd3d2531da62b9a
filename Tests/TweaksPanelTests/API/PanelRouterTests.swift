// Tests the action of every route, and requests that fit no route.

import Testing
import TweaksWire

@testable import TweaksPanel

@Suite struct PanelRouterTests {
    private static func one(
        _ command: Command, _ arguments: [String] = [], _ keywords: [Keyword] = [], number: UInt64? = nil
    ) -> PanelAction { .script(PanelScript([Request(command, arguments, keywords, number: number)])) }

    private static func explanation(_ path: String) -> PanelAction {
        .script(PanelScript([Request(.describe, [path]), Request(.explain, [path])], output: .all))
    }

    @Test(
        arguments: [
            ("GET /", .page), ("GET /?utm=x", .page), ("HEAD /", .page),
            ("GET /panel/1f/main.js", .file("main.js", version: "1f")),
            ("GET /panel/1f/styles/base.css", .file("styles/base.css", version: "1f")),
            ("GET /api/openapi.json", .openAPI), ("GET /api/whoami", one(.whoami)), ("HEAD /api/whoami", one(.whoami)),
            ("GET /api/tweaks", one(.get, ["*"])),
            ("GET /api/tweaks?pattern=Label&pattern=A/*/C", one(.get, ["Label", "A/*/C"])),
            ("GET /api/tweaks?pattern=", one(.get, [""])), ("GET /api/tweaks/A/B/C", explanation("A/B/C")),
            ("GET /api/history", one(.history)), ("GET /api/history?count=5", one(.history, number: 5)),
            ("GET /api/history?count=0", one(.history, number: 0)), ("GET /api/presets", one(.presets)),
            ("GET /api/presets/warm/diff", one(.diff, ["warm"])),
            ("GET /api/presets/warm/diff?with=cold", one(.diff, ["warm", "cold"])),
            ("GET /api/presets/../diff", one(.diff, [".."])), ("GET /api/find?q=size", one(.find, ["size"])),
            ("GET /api/find?q=\tlabel\nsize\t", one(.find, ["label", "size"])),
            ("GET /api/explain?path=A/../.", explanation("A/../.")),
            ("GET /api/export", .script(PanelScript([Request(.export)], output: .text))),
            ("GET /api/export?pattern=A", .script(PanelScript([Request(.export, ["A"])], output: .text))),
            ("GET /api/export?modified", .script(PanelScript([Request(.export, [], [.onlyModified])], output: .text))),
            (
                "GET /api/export?modified=true&pattern=A",
                .script(PanelScript([Request(.export, ["A"], [.onlyModified])], output: .text))
            ),
            ("GET /api/export?modified=false", .script(PanelScript([Request(.export)], output: .text))),
            ("GET /api/stats", one(.stats)), ("GET /api/sessions", one(.sessions)),
            ("GET /api/conflicts", one(.conflicts)), ("GET /api/events", .events(patterns: ["*"], lastID: nil)),
            ("GET /api/events?pattern=A&pattern=B", .events(patterns: ["A", "B"], lastID: nil)),
            ("GET /api/events?since=a6b4-43", .events(patterns: ["*"], lastID: "a6b4-43")),
            ("POST /login {}", .login(.challenge)), ("POST /logout {}", .logout),
            (#"POST /login {"scram":"n,,n=a,r=b"}"#, .login(.begin("n,,n=a,r=b"))),
            (#"POST /login {"scram":"c=biws"}"#, .login(.finish("c=biws"))),
            (#"POST /login {"challenge":"a","answer":"AAA="}"#, .login(.answer("a", [0, 0]))),
            (#"POST /api/reset {"patterns":["Label","A/B/*"]}"#, one(.reset, ["Label", "A/B/*"])),
            ("POST /api/actions/A/B/C {}", one(.run, ["A/B/C"])),
            (#"POST /api/actions/A/B/C {"arguments":[]}"#, one(.run, ["A/B/C"])),
            (#"POST /api/actions/A/B/C {"arguments":["a b",""]}"#, one(.run, ["A/B/C", "a b", ""])),
            (#"POST /api/run {"path":"A/../."}"#, one(.run, ["A/../."])),
            (#"POST /api/run {"path":"A/B/C","arguments":["a"]}"#, one(.run, ["A/B/C", "a"])),
            ("POST /api/undo {}", one(.undo)), (#"POST /api/undo {"force":true}"#, one(.undo, [], [.force])),
            (#"POST /api/undo {"mine":true}"#, one(.undo, [], [.mine])),
            (#"POST /api/redo {"mine":true,"force":true}"#, one(.redo, [], [.force, .mine])),
            (#"POST /api/redo {"force":false}"#, one(.redo)),
            (#"POST /api/redo {"force":true}"#, one(.redo, [], [.force])),
            ("PUT /api/presets/warm {}", one(.save, ["warm"])),
            (#"PUT /api/presets/warm {"pattern":"Label"}"#, one(.save, ["warm", "Label"])),
            ("DELETE /api/presets/warm", one(.delete, ["warm"])),
            ("DELETE /api/presets/warm {}", one(.delete, ["warm"])),
            ("POST /api/presets/warm/load {}", one(.load, ["warm"])),
            (#"POST /api/presets/warm/load {"only":true}"#, one(.load, ["warm"], [.only])),
            (#"POST /api/presets/warm/load {"partly":true}"#, one(.load, ["warm"], [.partly])),
            ("POST /api/presets/warm/swap {}", one(.swap, ["warm"])),
            (#"POST /api/presets/warm/swap {"force":true}"#, one(.swap, ["warm"], [.force])),
            ("DELETE /api/sessions/7", one(.kick, number: 7)), ("POST /api/reload {}", one(.reload)),
            (#"POST /api/reload {"dry":true}"#, one(.reload, [], [.dry])),
        ] as [(String, PanelAction)])
    func everyRequestHasItsAction(request: String, action: PanelAction) {
        #expect(PanelRouter.result(HTTPRequest(request)) == .success(action))
    }

    @Test func theLastEventIDHeaderTakesPrecedence() {
        var request = HTTPRequest("GET /api/events?since=old-1")
        request.headers = [HTTPField("last-event-id", "new-2")]
        #expect(PanelRouter.result(request) == .success(.events(patterns: ["*"], lastID: "new-2")))
    }

    @Test(
        arguments: [
            "GET /api", "GET /api/", "GET /api/tweak", "GET /api/tweaks/", "GET /api/tweaks/A", "GET /api/tweaks/A/B",
            "GET /api/tweaks/A/B/C/D", "GET /API/tweaks", "GET /api/presets/a/b/diff", "GET /index.html",
            "GET /favicon.ico", "GET //", "POST /api/presets/a/save {}", "PATCH /tweaks {}", "GET /api/%74weaks",
        ])
    func anUnknownPathIsNotFound(request: String) throws {
        let failure = try PanelRouter.failure(HTTPRequest(request))
        #expect(failure.status == .notFound && failure.code == "unknown-command" && failure.headers.isEmpty)
        #expect(failure.message.hasSuffix("is not a path of this server; GET /api/openapi.json lists all paths"))
    }

    @Test func anEmptyPathComponentIsNotTheRoot() throws {
        #expect(try PanelRouter.failure(HTTPRequest(method: "GET", path: [""])).status == .notFound)
    }

    @Test(
        arguments: [
            ("POST /", "GET, HEAD"), ("GET /login", "POST"), ("HEAD /login", "POST"),
            ("POST /api/tweaks {}", "GET, HEAD, PATCH"), ("DELETE /api/tweaks", "GET, HEAD, PATCH"),
            ("PUT /api/tweaks/A/B/C {}", "GET, HEAD"), ("GET /api/presets/warm", "PUT, DELETE"),
            ("OPTIONS /api/tweaks", "GET, HEAD, PATCH"), ("TRACE /api/events", "GET, HEAD"),
            ("patch /api/tweaks {}", "GET, HEAD, PATCH"), ("GET /api/actions/A/B/C", "POST"),
            ("PUT /api/sessions/7 {}", "DELETE"),
        ])
    func anotherMethodListsTheAllowedOnes(request: String, allowed: String) throws {
        let failure = try PanelRouter.failure(HTTPRequest(request))
        #expect(failure.status == .methodNotAllowed && failure.code == "unknown-command")
        #expect(failure.headers == [HTTPField("Allow", allowed)])
        #expect(failure.message.hasSuffix("use \(allowed)"))
    }

    @Test func controlCharactersOfAPathAreEscapedInTheMessage() throws {
        let failure = try PanelRouter.failure(HTTPRequest(method: "GET", path: ["api", "\u{1B}[2J\u{202E}"]))
        #expect(!failure.message.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" })
    }

    @Test func noTwoRoutesFitTheSameRequest() {
        let shapes = PanelRoute.all.map { route in
            route.method + " "
                + route.path.split(separator: "/").map { $0.hasPrefix("{") ? "{}" : $0 }.joined(separator: "/")
        }
        #expect(Set(shapes).count == shapes.count)
    }
}
