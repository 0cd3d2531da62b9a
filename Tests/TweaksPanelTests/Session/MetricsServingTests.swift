// Tests the metrics over HTTP: on the panel's port with a token, and on their own port without one.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@testable import TweaksPanel

@Suite(.blocking) struct MetricsServingTests {
    /// A server with both ports.
    private func server(
        _ registry: TweakRegistry = TweakRegistry(), _ change: (inout TweakServerLimits) -> Void = { _ in }
    ) throws -> MetricsServer { try MetricsServer(registry, change) }

    /// Three figures, one of them exported, and a secret one.
    private func registry() -> TweakRegistry {
        let registry = ExampleTweaks().registry
        _ = Tweak(
            "Player", "Status", "Buffered", .milliseconds(500), flags: [.readOnly, .exported], registry: registry)
        _ = Tweak("Vault", "Status", "Coins", 7, flags: .readOnly, registry: registry)
        _ = Tweak("Vault", "Status", "Key", 8, flags: [.readOnly, .secret, .exported], registry: registry)
        _ = Tweak("Vault", "Limits", "Most", 9, flags: .exported, registry: registry)
        return registry
    }

    private func figures(_ answer: PanelAnswer) -> [String] {
        answer.body.split(separator: "\n").filter { $0.hasPrefix("tweaks_figure{") }.map(String.init)
    }

    private static let buffered = #"tweaks_figure{path="Player/Status/Buffered",unit="seconds"} 0.5"#
    private static let frames = #"tweaks_figure{path="Player/Status/Frames",unit=""} 0"#
    private static let coins = #"tweaks_figure{path="Vault/Status/Coins",unit=""} 7"#

    @Test func aTokenShowsWhatItsClientMaySee() throws {
        let server = try PanelServer([.named("eye", .read), .named("part", "read:Player")], registry: registry())
        let all = try server.connect("eye").ask("GET", "/metrics")
        #expect(all.status == 200 && all["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(figures(all) == [Self.frames, Self.buffered, Self.coins])
        #expect(all.body.contains("\ntweaks_server_requests_total ") && all.body.contains("tweaks_build_info{version="))
        let part = try server.connect("part").ask("GET", "/metrics")
        #expect(figures(part) == [Self.frames, Self.buffered])
        #expect(!part.body.contains("tweaks_server_requests_total") && part.body.contains("tweaks_server_tweaks "))
        #expect(try server.connect(nil).ask("GET", "/metrics").status == 401)
    }

    @Test func openMetricsEndWithTheirMark() throws {
        let panel = try PanelServer(registry: registry()).connect()
        let answer = try panel.ask("GET", "/metrics", nil, ["Accept: application/openmetrics-text; version=1.0.0"])
        #expect(answer["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
        #expect(answer.body.hasSuffix("\n# EOF\n") && !answer.body.contains("\n\n"))
        #expect(try panel.ask("HEAD", "/metrics").status == 200)
        #expect(try panel.ask("GET", "/metrics?a=b").status == 400)
    }

    @Test func aRegistryWithoutTweaksHasMetrics() throws {
        let answer = try PanelServer(registry: TweakRegistry()).connect().ask("GET", "/metrics")
        #expect(answer.status == 200 && figures(answer) == [] && answer.body.contains("tweaks_server_tweaks 0\n"))
    }

    /// Few of many tweaks are figures; the response is written in slices.
    @Test func figuresAreFoundAmongManyTweaks() throws {
        let registry = TweakRegistry.many(5_000)
        _ = Tweak("Zoo", "Status", "Last", 3, flags: [.readOnly, .exported], registry: registry)
        let last = #"tweaks_figure{path="Zoo/Status/Last",unit=""} 3"#
        #expect(figures(try PanelServer(registry: registry).connect().ask("GET", "/metrics")) == [Self.frames, last])
        #expect(figures(try server(registry).connect().ask("GET", "/metrics")) == [last])
    }

    // MARK: The port of the metrics

    @Test func withoutATokenTheExportedFiguresAreServedAlone() throws {
        let server = try server(registry())
        let client = try server.connect()
        for accept in [[], ["Accept: application/openmetrics-text"]] {
            let answer = try client.ask("GET", "/metrics", nil, accept)
            #expect(answer.status == 200 && figures(answer) == [Self.buffered])
            #expect(!answer.body.contains("tweaks_server_requests"))
            #expect(answer.body.hasSuffix("# EOF\n") == !accept.isEmpty)
        }
        #expect(try client.ask("GET", "/healthz").body == "ok")
        #expect(try client.ask("GET", "/readyz").body == "ready")
    }

    @Test(
        arguments: [
            ("GET", "/", 404), ("GET", "/api/tweaks", 404), ("GET", "/api/whoami", 404), ("GET", "/metrics/a", 404),
            ("POST", "/login", 404), ("POST", "/metrics", 405), ("POST", "/healthz", 405), ("HEAD", "/metrics", 200),
        ])
    func nothingElseIsServed(_ method: String, _ target: String, _ status: Int) throws {
        let client = try server(registry()).connect()
        let length = method == "POST" ? ["Content-Length: 0"] : []
        #expect(try client.ask(method, target, nil, length).status == status)
    }

    @Test func aTokenChangesNothing() throws {
        let server = try server(registry())
        let client = try server.connect()
        client.token = PanelServer.token("admin")
        #expect(figures(try client.ask("GET", "/metrics")) == [Self.buffered])
        #expect(try client.ask("GET", "/api/tweaks").status == 404)
    }

    /// A header Host, and the status. A tunnel has another port.
    @Test(arguments: [
        ("rebound.example", 421), ("rebound.example:PORT", 421), ("127.0.0.1.example", 421), ("localhost:a", 421),
        ("127.0.0.1", 200), ("localhost:9999", 200), ("LOCALHOST:PORT", 200), ("[::1]", 200), ("[::1]:80", 200),
    ])
    func aNameOfAnotherSiteIsRefusedOnLoopback(_ host: String, _ status: Int) throws {
        let client = try server(registry()).connect()
        for (target, expected) in [("/metrics", status), ("/readyz", 200)] {
            let named = host.replacing("PORT", with: "\(client.port)")
            try client.client.send("GET \(target) HTTP/1.1\r\nHost: \(named)\r\n\r\n")
            #expect(try client.read().status == expected)
        }
    }

    @Test func aBodyIsRefused() throws {
        let client = try server(registry()).connect()
        #expect(try client.ask("POST", "/metrics", "{}").status == 413)
        #expect(try client.hasEnded())
    }

    @Test func aConnectionOfHTTP10EndsWithItsResponse() throws {
        let client = try server(registry()).connect()
        try client.client.send("GET /metrics HTTP/1.0\r\nHost: 127.0.0.1:\(client.port)\r\n\r\n")
        let answer = try client.read()
        #expect(answer.status == 200 && figures(answer) == [Self.buffered])
    }

    /// Requests that arrive together are answered in order; so are bytes that arrive one by one.
    @Test func requestsAreAnsweredInOrder() throws {
        let client = try server(registry()).connect()
        let requests = ["/healthz", "/metrics", "/readyz"].map { client.request("GET", $0) }.joined()
        try client.client.send(requests)
        for _ in 1...2 {
            #expect(try client.read().body == "ok")
            #expect(figures(try client.read()) == [Self.buffered])
            #expect(try client.read().body == "ready")
            try client.client.sendBytewise(Array(requests.utf8))
        }
    }

    /// It has the places and the time of clients that have not signed in.
    @Test func itsClientsTakeNoPlacesFromOthers() throws {
        let server = try server(registry()) { $0.unauthenticatedSessions = 1 }
        let (first, second) = (try server.connect(), try server.connect())
        #expect(try second.ask("GET", "/healthz").body == "ok")
        #expect(try first.read().status == 429)
        server.base.pass(.seconds(61))
        #expect(try second.hasEnded())
    }

    /// A probe that was refused would have the process restarted.
    @Test func probesHaveAFewPlacesOfTheirOwn() throws {
        let server = try server(registry()) { ($0.sessions, $0.refusedSessions) = (1, 0) }
        let line = try server.base.connect()
        try line.ask("ping")
        let probes = try (1...8).map { _ in try server.connect() }
        for probe in probes { #expect(try probe.ask("GET", "/healthz").body == "ok") }
        #expect(try server.connect().read().status == 429)
        #expect(try line.ask("ping").last?.hasPrefix("ok") == true)
    }

    /// It prints what it finds, and its end.
    @Test(.enabled(if: Tool.promtool.exists, "install prometheus")) func promtoolFindsNoFault() throws {
        for text in [
            try PanelServer(registry: registry()).connect().ask("GET", "/metrics").body,
            try server(registry()).connect().ask("GET", "/metrics").body,
        ] {
            let run = try RunningProgram(Tool.promtool.path, ["check", "metrics"], errors: .read)
            run.type(text)
            run.endInput()
            #expect(try run.result() == RunningProgram.Result())
        }
    }
}

/// A server with a socket, and the port of the metrics.
private final class MetricsServer {
    let base: TestServer

    init(_ registry: TweakRegistry, _ change: (inout TweakServerLimits) -> Void) throws {
        var limits = TweakServerLimits()
        change(&limits)
        var hooks = TweakServerHooks()
        hooks.serverEndpoints = [MetricsEndpoint(registry, port: 0)]
        base = try TestServer(registry: registry, limits: limits, hooks: hooks, port: .none)
    }

    func connect() throws -> PanelClient {
        let port = base.server.metricsPort ?? 0
        return PanelClient(try TestClient(port: port, owner: base, server: base.stepped), port: port, token: nil)
    }
}
