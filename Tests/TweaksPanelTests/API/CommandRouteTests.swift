// Tests which operation of the HTTP API carries out each command, or why none does.

import Testing
import Tweaks
import TweaksWire

@testable import TweaksPanel

@Suite struct CommandRouteTests {
    /// Commands without an operation, and the reason.
    private static let without: [(Command, String)] = [
        (.help, "GET /api/openapi.json lists what there is"), (.ls, "GET /api/tweaks has every path"),
        (.modified, "GET /api/tweaks says which tweaks are modified"),
        (.abort, "a body is sent as a whole or not at all"),
        (.unwatch, "a stream of events ends with its connection"), (.as, "the header Tweaks-Name says it"),
        (.drop, "each request has the rights of its token"), (.request, "each request has the rights of its token"),
        (.panel, "who is there has the address"), (.hello, "GET /api/whoami and /api/stats say who is there"),
        (.complete, "it is about lines"), (.json, "all is JSON"), (.prompt, "it is about lines"),
        (.drag, "the header Tweaks-Drag says it"),
        (.ping, "any request shows that"), (.quit, "connections end by themselves"),
    ]

    @Test(arguments: Command.all + [.import]) func everyCommandHasAnOperationOrAReason(_ command: Command) {
        let routes = PanelRoute.all.filter { $0.commands.contains(command) }.map { "\($0.method) \($0.path)" }
        #expect(
            routes.isEmpty == Self.without.contains { $0.0 == command }, "\(command.name) is carried out by \(routes)")
    }

    /// A request for every route, with everything that adds a command.
    private static let requests = [
        "GET /", "GET /panel/1/a", "GET /panel/1/a/b", "POST /login {}", "POST /logout {}", "GET /api/openapi.json",
        "GET /healthz", "GET /readyz",
        "GET /api/events", "GET /api/tweaks", "GET /api/tweaks/A/B/C", "GET /api/explain?path=A/B/C",
        #"PATCH /api/tweaks {"changes":[{"path":"A/B/?","reset":true},{"path":"A/B/*","keep":true},{"path":"A/B/C","value":1}]}"#,
        #"POST /api/check {"changes":[{"path":"A/B/C","value":1}]}"#, #"POST /api/reset {"patterns":["A"]}"#,
        "POST /api/actions/A/B/C {}", #"POST /api/run {"path":"A/B/C"}"#, "GET /api/find?q=a",
        #"POST /api/undo {"mine":true,"force":true}"#, #"POST /api/redo {"mine":true,"force":true}"#,
        "GET /api/figures/A/B/C?seconds=60", "GET /api/figures?path=A/B/C",
        #"PUT /api/preview {"stream":1,"changes":[{"path":"A/?/C","reset":true},{"path":"A/?/C","keep":true},{"path":"A/B/C","value":1}]}"#,
        "DELETE /api/preview?stream=1",
        "GET /api/history", "GET /api/presets", "PUT /api/presets/a {}", "DELETE /api/presets/a",
        #"POST /api/presets/a/load {"only":true,"partly":true}"#, #"POST /api/presets/a/swap {"force":true}"#,
        "GET /api/presets/a/diff", "GET /api/export", #"POST /api/import {"text":"A/B/C = 1","dry":true}"#,
        "GET /metrics", #"POST /ofrep/v1/evaluate/flags/A {"context":{}}"#, "POST /ofrep/v1/evaluate/flags {}",
        "GET /api/whoami", "GET /api/stats", "GET /api/conflicts", "GET /api/sessions", "DELETE /api/sessions/7",
        #"POST /api/reload {"dry":true}"#,
    ]

    @Test func everyRouteCarriesOutExactlyTheCommandsItNames() throws {
        var routes = PanelRoute.all
        for text in Self.requests {
            let request = HTTPRequest(text)
            let position = routes.firstIndex { $0.method == request.method && $0.matches(request.path) }
            let route = routes.remove(at: try #require(position, "\(text)"))
            #expect(try Self.commands(PanelRouter.action(for: request)) == Set(route.commands.map(\.name)), "\(text)")
        }
        #expect(routes.map(\.path) == [])
    }

    private static func commands(_ action: PanelAction) -> Set<String> {
        switch action {
        case .script(let script): Set(script.requests.map(\.command.name))
        case .events: ["watch"]
        case .login: ["auth"]
        case .page, .file, .openAPI, .probe, .logout: []
        }
    }
}

extension PanelRoute {
    fileprivate func matches(_ path: [String]) -> Bool {
        let parts = self.path.split(separator: "/")
        return parts.count == path.count && zip(parts, path).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
    }
}
