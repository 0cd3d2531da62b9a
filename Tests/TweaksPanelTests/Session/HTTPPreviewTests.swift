// Tests previews over HTTP: they belong to a stream of events of the same client, and end with it.

import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct HTTPPreviewTests {
    private let server: PanelServer
    private let panel: PanelClient
    private let events: PanelClient
    private let stream: Int

    init() throws {
        server = try PanelServer(.named("ops", .write), .named("guest", .read))
        panel = try server.connect("admin")
        events = try server.connect("admin")
        stream = try #require(try events.stream().hello.json["stream"] as? Int)
        #expect(try panel.set(size: 72).status == 200)
    }

    private var size: Double? { server.number("Content/Text/Size") }

    private func preview(_ more: String, _ client: PanelClient? = nil) throws -> PanelAnswer {
        try (client ?? panel).ask("PUT", "/api/preview", "{\"stream\":\(stream)\(more)}")
    }

    private static let reset = #","changes":[{"path":"Content/Text/Size","reset":true}]"#

    @Test func itIsShownRenewedAndEnded() throws {
        let shown = try preview(Self.reset)
        #expect(shown.status == 200 && shown.revision == 2)
        #expect(shown.items("tweaks").first?["value"] as? Double == 60 && size == 60)
        #expect(try events.event()?.json["layer"] as? String == "override")
        let start = try #require(try events.event())
        #expect(start.json["layer"] as? String == "preview" && start.json["was"] as? Double == 72)
        let tweak = try panel.ask("GET", "/api/tweaks?pattern=Content/Text/Size").items("tweaks").first
        #expect(tweak?["settled"] as? Double == 72 && tweak?["value"] as? Double == 60)
        let renewed = try preview("")
        #expect(renewed.status == 200 && renewed.json["unchanged"] as? Bool == true)
        #expect(try panel.ask("DELETE", "/api/preview?stream=\(stream)").revision == 3 && size == 72)
        #expect(try events.event()?.json["overridden"] as? Bool == true)
        #expect(try preview("").status == 404)
    }

    @Test func itEndsWithTheStream() throws {
        #expect(try preview(Self.reset).status == 200 && size == 60)
        events.client.endInput()
        #expect(size == 72)
        #expect(try preview(Self.reset).status == 404 && size == 72)
    }

    @Test func oneTypedValueOfManyIsWrong() throws {
        let wrong = #","changes":[{"path":"Content/Text/Size","value":70},{"path":"Content/Text/Fade","value":"x"}]"#
        #expect(try preview(wrong).status == 400 && size == 72)
        // The batch is closed: the connection goes on.
        #expect(try panel.set(size: 73).status == 200)
    }

    /// Requests that show nothing, by the client `admin`, and their status.
    @Test(arguments: [
        (#"{"changes":[{"path":"Content/Text/Size","reset":true}]}"#, 400), (#"{"stream":"1"}"#, 400),
        (#"{"stream":99999}"#, 404), (#"{"stream":1,"changes":[]}"#, 400), (#"{"stream":-1}"#, 400),
        (#"{"stream":1,"dry":1}"#, 400), (#"{"dry":true}"#, 404),
    ]) func otherBodiesAreRefused(body: String, status: Int) throws {
        #expect(try panel.ask("PUT", "/api/preview", body).status == status)
        #expect(size == 72)
    }

    @Test func theStreamOfAnotherClientIsRefused() throws {
        let ops = try server.connect("ops")
        let answer = try preview(Self.reset, ops)
        #expect(answer.status == 404 && size == 72)
        #expect(answer.message?.hasPrefix("you have no event stream") == true)
        #expect(try preview(Self.reset, server.connect("guest")).status == 403)
    }

    /// A refusal leaves no open batch on the connection, which would swallow later changes.
    @Test(arguments: [false, true]) func theConnectionGoesOnAfterARefusal(isBusy: Bool) throws {
        let line = try server.connectByLine()
        if isBusy { #expect(try line.ask("preview Content").last?.hasPrefix("ok") == true) }
        let body = "{\"stream\":\(isBusy ? stream : 99_999)\(Self.reset)}"
        #expect(try panel.ask("PUT", "/api/preview", body).status == (isBusy ? 429 : 404))
        let answer = try panel.set(size: 73)
        #expect(answer.status == 200 && answer.revision != nil && size == 73)
        #expect(try panel.patch([("Content/Text/Size", "74"), ("Content/Text/Fade", "\"1s\"")]).status == 200)
    }

    @Test func aDryOneNeedsNoStream() throws {
        let body = #"{"dry":true,"changes":[{"path":"Content/Text/Size","reset":true}]}"#
        let answer = try panel.ask("PUT", "/api/preview", body)
        #expect(answer.status == 200 && answer.json["unchanged"] as? Bool == true && size == 72)
        #expect(answer.items("tweaks").first?["value"] as? Double == 60)
    }

    @Test func theStreamOfAnotherWindowIsRefused() throws {
        let own = try panel.ask(
            "PUT", "/api/preview", "{\"stream\":\(stream)\(Self.reset)}", ["Tweaks-Window: abcdefghijklmnop"])
        #expect(own.status == 404 && size == 72)
    }
}
