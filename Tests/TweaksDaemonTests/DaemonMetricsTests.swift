// Tests the port of a daemon's metrics: its settings, readiness, and Prometheus, which scrapes it as the guide says.

import Foundation
import Testing
import TweaksDaemon
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct DaemonMetricsTests {
    private let fixture: DaemonFixture

    init() throws {
        let registry = ExampleTweaks().registry
        _ = Tweak("Player", "Status", "Lag", .milliseconds(250), flags: [.readOnly, .exported], registry: registry)
        fixture = try DaemonFixture(registry: registry, isSaving: false)
    }

    /// The status and the body of a response on a port.
    private func get(_ port: Int?, _ path: String, _ more: String...) throws -> (status: Substring, body: String) {
        let url = "http://127.0.0.1:\(try #require(port))\(path)"
        let text = try Tool.curl.run(["-sS", "-w", "\n%{http_code}"] + more + [url])
        let end = try #require(text.lastIndex(of: "\n"))
        return (text[text.index(after: end)...], String(text[..<end]))
    }

    private static let lag = "tweaks_figure{path=\"Player/Status/Lag\",unit=\"seconds\"} 0.25\n"

    @Test func theyAreOffByDefault() throws {
        let daemon = try fixture.start(panel: .on)
        #expect(daemon.metricsPort == nil && daemon.panelAddress != nil)
    }

    /// The panel keeps its own port, address and token beside it.
    @Test func theyHaveAPortOfTheirOwn() throws {
        let daemon = try fixture.start(panel: .on, metrics: .on(port: 0))
        let port = try #require(daemon.metricsPort)
        let answer = try get(port, "/metrics")
        #expect(answer.status == "200" && answer.body.contains(Self.lag) && !answer.body.contains("Frames"))
        #expect(try get(port, "/api/tweaks").status == "404")
        let panel = try PanelAddress(daemon)
        #expect(panel.port != port)
        let all = try get(panel.port, "/metrics", "--oauth2-bearer", panel.token)
        #expect(all.body.contains(Self.lag) && all.body.contains("Player/Status/Frames"))
        #expect(fixture.logLines.contains { $0.contains("; metrics http://127.0.0.1:\(port)/metrics") })
        let line = try TestClient(unix: fixture.socket)
        #expect(try line.ask("stats").contains { $0.contains("127.0.0.1:\(port) open (metrics)") })
        #expect(try line.ask("panel token") == ["  token: \(panel.token)", "ok"])
        fixture.stop(daemon)
        #expect(daemon.metricsPort == nil)
    }

    /// Setting, variable, whether it is on.
    @Test(
        arguments: [
            (.off, "0", true), (.on(port: 0), "off", false), (.on(port: 1), "0", true), (.off, "off", false),
        ] as [(TweakDaemon.Metrics, String, Bool)])
    func theEnvironmentTakesPrecedence(_ metrics: TweakDaemon.Metrics, _ variable: String, _ isOn: Bool) throws {
        let daemon = try fixture.start(metrics: metrics, ["TWEAKS_METRICS_PORT": variable])
        #expect((daemon.metricsPort != nil) == isOn)
    }

    @Test func aTakenPortEndsTheStart() throws {
        let taken = try BoundSocket(loopback: .version4)
        let error = fixture.startError(["TWEAKS_METRICS_PORT": "\(taken.port)"])
        #expect(error?.hasPrefix("metrics 127.0.0.1:\(taken.port): ") == true, "\(error ?? "")")
    }

    /// No token file is needed, as no token crosses the network; any name leads there.
    @Test func anAddressBeyondLoopbackIsServed() throws {
        let daemon = try fixture.start(metrics: .on(port: 0, address: "0.0.0.0"))
        #expect(try get(daemon.metricsPort, "/metrics", "-H", "Host: bounce.example").body.contains(Self.lag))
    }

    // MARK: Readiness

    /// A source whose stop a test delays.
    private final class SlowSource: TweakValueSource {
        let layer = TweakLayer("slow", rank: 500)
        let stopping = Gate()
        let goOn = Gate()

        func start(_ sink: TweakSourceSink) throws {}

        func stop() {
            stopping.open()
            goOn.waitBlocking()
        }
    }

    @Test func aDaemonIsReadyFromItsStartToItsStop() throws {
        let source = SlowSource()
        let daemon = try fixture.start(metrics: .on(port: 0), sources: [.init(source)])
        let port = daemon.metricsPort
        #expect(try get(port, "/readyz") == ("200", "ready"))
        let stopped = Gate()
        Thread.detachNewThread {
            daemon.stop()
            stopped.open()
        }
        defer {
            source.goOn.open()
            stopped.waitBlocking()
        }
        source.stopping.waitBlocking()
        #expect(try get(port, "/readyz") == ("503", "stopping"))
        #expect(try get(port, "/healthz") == ("200", "ok"))
    }

    // MARK: Prometheus

    /// The configuration of the guide, with other ports and another file.
    private func configuration(_ daemon: TweakDaemon, token: String) throws -> String {
        let guide = "Sources/TweaksDaemon/TweaksDaemon.docc/RunningInProduction.md"
        let block = try #require(DocumentedBlock.all("yaml", of: guide).first)
        return "global: {scrape_interval: 100ms}\n"
            + block.text.replacing("127.0.0.1:9464", with: "127.0.0.1:\(try #require(daemon.metricsPort))")
            .replacing("127.0.0.1:7780", with: "127.0.0.1:\(try PanelAddress(daemon).port)")
            .replacing("/etc/prometheus/bounce.token", with: token)
    }

    @Test(
        .tags(.process), .enabled(if: Tool.prometheus.exists, "install prometheus"),
        .enabled(if: Tool.curl.exists, "install curl"))
    func prometheusScrapesBothPorts() throws {
        let tokens = fixture.directory.file("tokens")
        let token = "twk_" + String(repeating: "E", count: 43)
        try "eye \(ScramVerifier(token: token).text) read:Player\n".write(
            toFile: tokens, atomically: true, encoding: .utf8)
        chmod(tokens, 0o600)
        let daemon = try fixture.start(panel: .on, metrics: .on(port: 0), tokens: tokens)
        try fixture.directory.write(token, to: "scrape.token")
        try fixture.directory.write(
            configuration(daemon, token: fixture.directory.file("scrape.token")), to: "prometheus.yml")
        let prometheus = try RunningProgram(
            Tool.prometheus.path,
            [
                "--config.file=\(fixture.directory.file("prometheus.yml"))",
                "--storage.tsdb.path=\(fixture.directory.file("data"))", "--web.listen-address=127.0.0.1:0",
            ], output: .dropped, errors: .logged)
        let line = try prometheus.waitForLine(containing: "msg=\"Listening on\"")
        let port = try #require(Int(prometheus.log.all[line].split(separator: ":").last ?? ""))
        try prometheus.waitForLine(containing: "Server is ready to receive web requests")
        func answers(_ query: String, _ wanted: String) throws -> Bool {
            let url = "http://127.0.0.1:\(port)/api/v1/query"
            let answer = try Tool.curl.run(["-sS", "--get", "--data-urlencode", "query=\(query)", url])
            return answer.contains("\"\(wanted)\"]")
        }
        for (query, wanted) in [
            ("up{job=\"bounce\"}", "1"), ("up{job=\"bounce-panel\"}", "1"),
            ("tweaks_figure{job=\"bounce\",path=\"Player/Status/Lag\",unit=\"seconds\"}", "0.25"),
            ("count(tweaks_figure{job=\"bounce\"})", "1"), ("count(tweaks_figure{job=\"bounce-panel\"})", "2"),
            ("tweaks_server_tweaks{job=\"bounce-panel\"}", "4"), ("tweaks_build_info{job=\"bounce\"}", "1"),
        ] { try eventually { try answers(query, wanted) } }
        // A new value is scraped, too.
        try #require(fixture.registry["Player/Status/Lag"]).set(.duration(.seconds(2)))
        try eventually { try answers("tweaks_figure{job=\"bounce\"}", "2") }
        try prometheus.kill()
    }
}
