// Tests what a program adds to its panel: files of the page, and routes whose answers come later.

import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@testable import TweaksPanel

@Suite(.blocking) struct ExtensionServingTests {
    /// The requests that wait for an answer.
    private final class Calls: Sendable {
        let waiting = Mutex<[(request: HTTPRequest, reply: @Sendable (Reply) -> Void)]>([])

        var addition: PanelExtension {
            let main = Array("// Does nothing.\n".utf8)
            return PanelExtension("more", files: [("page/more/main.js", main)]) { [self] request, reply in
                waiting.withLock { $0.append((request, reply)) }
            }
        }

        func answer(_ reply: Reply) { waiting.withLock { $0.removeFirst().reply }(reply) }
    }

    private let calls = Calls()

    private func connect(_ tokens: TokenEntry..., as name: String? = "admin") throws -> PanelClient {
        try PanelServer(tokens, addition: calls.addition).connect(name)
    }

    @Test func aRequestIsAnsweredLaterAndTheConnectionGoesOn() throws {
        let panel = try connect()
        try panel.send("POST", "/api/more/things/7?a=b", #"{"x":[1]}"#)
        let request = try #require(calls.waiting.withLock { $0.first?.request })
        #expect(request.method == "POST" && request.path == ["api", "more", "things", "7"])
        #expect(request.values("a") == ["b"] && request.body == Array(#"{"x":[1]}"#.utf8))
        calls.answer(.ok("", [("done", .bool(true))]))
        let answer = try panel.read()
        #expect(answer.status == 200 && answer.json["ok"] as? Bool == true && answer.json["done"] as? Bool == true)
        try panel.send("GET", "/api/more")
        calls.answer(.error(TweakError(.conflict, "the fleet is frozen; wait")))
        let refused = try panel.read()
        #expect(refused.status == 409 && refused.message == "the fleet is frozen; wait")
        #expect(try panel.ask("GET", "/api/whoami").status == 200)
        try panel.send("HEAD", "/api/more")
        calls.answer(.ok())
        #expect(try panel.read(isHead: true).status == 200)
    }

    @Test(arguments: [
        ("reader", "GET", true), ("reader", "POST", false), ("writer", "POST", true), ("narrow", "POST", false),
        ("narrow", "GET", false), ("runner", "GET", false), ("reader", "DELETE", false), ("writer", "DELETE", true),
    ])
    func requestsNeedTheirScopeForEverything(_ name: String, _ method: String, _ isAllowed: Bool) throws {
        let panel = try connect(
            .named("reader", .read), .named("writer", .write), .named("narrow", "write:Content"),
            .named("runner", .run), as: name)
        try panel.send(method, "/api/more", method == "POST" ? "{}" : nil)
        #expect(calls.waiting.withLock { $0.count } == (isAllowed ? 1 : 0))
        if isAllowed { calls.answer(.ok()) }
        let answer = try panel.read()
        #expect(answer.status == (isAllowed ? 200 : 403) && answer.code == (isAllowed ? nil : "denied"), "\(answer)")
    }

    @Test func theProgramIsAskedForItsOwnRoutesAlone() throws {
        let panel = try connect()
        #expect(try panel.ask("POST", "/api/more", "{}", ["Origin: http://evil.test"]).status == 403)
        #expect(try panel.ask("GET", "/api/moreover").status == 404)
        panel.token = nil
        #expect(try panel.ask("GET", "/api/more").status == 401)
        #expect(calls.waiting.withLock { $0.isEmpty })
    }

    @Test func aClientThatHasLeftGetsNoAnswer() throws {
        let server = try PanelServer([], addition: calls.addition)
        let panel = try server.connect()
        try panel.send("GET", "/api/more")
        panel.client.reset()
        server.stepped?.settle()
        calls.answer(.ok())
        server.stepped?.settle()
        #expect(try server.connect().ask("GET", "/api/whoami").status == 200)
    }

    @Test func thePageStartsItsModule() throws {
        let page = PanelPage(calls.addition)
        let markup = String(decoding: page.markup.body, as: UTF8.self)
        #expect(page.version != PanelPage.plain.version)
        #expect(markup.contains("<script type=\"module\" src=\"panel/\(page.version)/more/main.js\"></script>"))
        #expect(page.file("more/main.js", version: page.version) != nil)
        #expect(page.file("more/main.js", version: PanelPage.plain.version) == nil)
        #expect(PanelPage.plain.file("more/main.js", version: PanelPage.plain.version) == nil)
    }
}
