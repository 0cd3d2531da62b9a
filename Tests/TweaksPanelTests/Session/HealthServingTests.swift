// Tests the probes: their words, who may ask, and what they cost.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@testable import TweaksPanel

@Suite(.blocking) struct HealthServingTests {
    @Test(
        arguments: [
            (.health, .starting, .ok, "ok"), (.health, .ready, .ok, "ok"), (.health, .stopping, .ok, "ok"),
            (.readiness, .starting, .serviceUnavailable, "starting"), (.readiness, .ready, .ok, "ready"),
            (.readiness, .stopping, .serviceUnavailable, "stopping"),
        ] as [(HealthProbe, Readiness.State, HTTPStatus, String)])
    func aProbeIsAnsweredWithOneWord(
        _ probe: HealthProbe, _ state: Readiness.State, _ status: HTTPStatus, _ word: String
    ) {
        let response = probe.response(Readiness(state))
        #expect(response.status == status && String(decoding: response.body, as: UTF8.self) == word)
    }

    @Test func aStateIsNeverLeftForAnEarlierOne() {
        let readiness = Readiness(.starting)
        readiness.reach(.stopping)
        readiness.reach(.ready)
        #expect(readiness.state == .stopping)
    }

    /// The address of a container, a load balancer, another server's; with headers of pages, and none.
    @Test(arguments: [
        ["Host: 10.1.2.3:8080"], ["Host: bounce.example"], ["Host: 127.0.0.1:PORT", "Origin: http://a.example"],
        ["Host: a", "Sec-Fetch-Site: cross-site"], ["Host: a", "Authorization: Bearer nonsense"],
    ])
    func probesNeedNeitherATokenNorAKnownHost(_ headers: [String]) throws {
        let server = try PanelServer()
        let panel = try server.connect(nil)
        for (path, word) in [("/healthz", "ok"), ("/readyz?verbose", "ready")] {
            let lines = ["GET \(path) HTTP/1.1"] + headers.map { $0.replacing("PORT", with: "\(server.port)") }
            try panel.client.send((lines + ["", ""]).joined(separator: "\r\n"))
            let answer = try panel.read()
            #expect(answer.status == 200 && answer.body == word)
            #expect(answer["Content-Type"] == "text/plain; charset=utf-8")
        }
        panel.host = "elsewhere.example"
        #expect(try panel.ask("HEAD", "/readyz").status == 200)
        #expect(try panel.ask("GET", "/api/openapi.json").status == 421)
    }

    @Test func otherMethodsAndPathsAreRefused() throws {
        let panel = try PanelServer().connect(nil)
        let answer = try panel.ask("POST", "/healthz", "{}")
        #expect(answer.status == 405 && answer["Allow"] == "GET, HEAD")
        panel.host = "elsewhere.example"
        #expect(try panel.ask("GET", "/healthz/more").status == 421)
    }

    /// A connection that only probes takes a place of those without a token, and no other one.
    @Test func aProbeKeepsNoPlaceFromOthers() throws {
        let server = try PanelServer { $0.unauthenticatedSessions = 1 }
        let (first, second) = (try server.connect(nil), try server.connect(nil))
        #expect(try second.ask("GET", "/healthz").body == "ok")
        #expect(try first.read().status == 429)
        server.pass(.seconds(61))
        #expect(try second.hasEnded())
    }
}
