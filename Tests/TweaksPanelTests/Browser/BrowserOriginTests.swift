// Tests origins, windows and profiles of the browser, and its cleanup.

import Foundation
import Testing

@testable import TweaksTestSupport

@Suite(.browsing, .tags(.browser), .needsBrowser) struct BrowserOriginTests {
    private let server: PageServer

    init() throws {
        server = try PageServer([
            "/": .init("<title>home</title>", fields: ["Set-Cookie: hidden=1; HttpOnly; SameSite=Strict; Path=/"]),
            "/data": .init("{\"a\":1}", type: "application/json"),
        ])
    }

    @Test func windowsShareCookiesAndProfilesDoNot() throws {
        let (browser, other) = (try Browser(), try Browser())
        try browser.open(server.address("/"))
        try other.open(server.address("/data"))
        let first = browser.tabID
        try browser.openTab()
        #expect(try browser.tabIDs.count == 2)
        try browser.open(server.address("/data"))
        #expect(try browser.cookies.map { $0["name"] } == ["hidden"])
        #expect(try browser.run("return document.cookie") == "")
        #expect(try other.cookies.isEmpty)
        try browser.closeTab()
        try browser.go(to: first)
        #expect(try browser.title == "home")
    }

    @Test func theServerRecordsRequests() throws {
        let browser = try Browser()
        try browser.open(server.address("/"))
        let answer = try browser.run(
            """
            const reply = await fetch("/data?x=1", { method: "POST", body: "söme", headers: { "X-Own": "y" } });
            const missing = await fetch("/nowhere");
            return [reply.status, await reply.json(), missing.status];
            """)
        #expect(answer == [200, ["a": 1], 404])
        let request = try #require(server.request("POST", "/data?x=1"))
        #expect(request.body == "söme" && request.fields["x-own"] == "y")
        #expect(request.fields["origin"] == "http://127.0.0.1:\(server.port)")
        #expect(request.fields["sec-fetch-site"] == "same-origin")
    }

    @Test(arguments: ["evil.test", "localhost"]) func crossOriginRequestsSayTheirOrigin(_ host: String) throws {
        let other = try PageServer(["/": .init("<title>other</title>")])
        let browser = try Browser()
        try browser.open(other.address("/", host: host))
        #expect(try browser.title == "other")
        let script = "await fetch(arguments[0], { method: 'POST', body: 'x', mode: 'no-cors' }); return true"
        #expect(try browser.run(script, .string(server.address("/data"))) == true)
        let request = try #require(server.request("POST", "/data"))
        #expect(request.fields["origin"] == "http://\(host):\(other.port)")
        #expect(request.fields["sec-fetch-site"] == "cross-site")
    }

    @Test func testNamesResolveToTheLocalHost() throws {
        let browser = try Browser()
        try browser.open(server.address("/", host: "rebound.test"))
        #expect(server.request("GET", "/")?.fields["host"] == "rebound.test:\(server.port)")
        let error = try #require(throws: BrowserError.self) {
            try browser.open(server.address("/", host: "www.example.com"))
        }
        #expect(error.description.contains("ERR_NAME_NOT_RESOLVED"))
    }

    @Test func aSilentConnectionDoesNotDelayOthers() throws {
        let silent = try TestClient(port: server.port)
        let client = try TestClient(port: server.port)
        try client.send("GET /data HTTP/1.1\r\n\r\n")
        client.endInput()
        #expect(try client.rest().hasSuffix("\r\n\r\n{\"a\":1}"))
        silent.endInput()
        #expect(try silent.rest() == "")
    }
}

@Suite(.browsing, .tags(.browser), .needsBrowser) struct BrowserEndTests {
    @Test func releasingTheBrowserClosesItsTabs() throws {
        func profiles() throws -> [PageValue] {
            try Chromium.shared.get().ask("Target.getTargets")["targetInfos"].array?.map { $0["browserContextId"] }
                ?? []
        }
        var browser: Browser? = try Browser()
        let profile = PageValue.string(try #require(browser).profile)
        try browser?.openTab()
        #expect(try profiles().count { $0 == profile } == 2)
        browser = nil
        #expect(try !profiles().contains(profile))
    }

    /// A process that dies cannot clean up; the browser notices the end of its socket.
    @Test func theBrowserEndsWithTheProcess() throws {
        let chromium = try Chromium()
        #expect(FileManager.default.fileExists(atPath: "\(chromium.directory)/profile"))
        chromium.end()
        #expect(!FileManager.default.fileExists(atPath: chromium.directory))
        #expect(throws: BrowserError.self) { try chromium.ask("Browser.getVersion") }
    }

    @Test func tabsOfEarlierTestsLeaveNoState() throws {
        let server = try PageServer(["/": .init("<title>home</title>", fields: ["Set-Cookie: a=b"])])
        func used() throws {
            let browser = try Browser(width: 400, scheme: .dark, touch: true)
            try browser.open(server.address("/"))
            try browser.run("localStorage.a = 'b'; console.error('heard')")
            try browser.perform(.mouse(.moveTo(x: 5, y: 5), .press), .keyboard(.press(.shift)))
            try browser.openTab()
            try browser.openTab()
            try browser.closeTab()
        }
        for _ in 0..<3 { try used() }
        let browser = try Browser()
        #expect(try browser.tabIDs.count == 1)
        #expect(try browser.address == "about:blank")
        try browser.open(server.address("/"))
        #expect(server.requests.last { $0.target == "/" }?.fields["cookie"] == nil)
        #expect(try browser.run("return [innerWidth, navigator.maxTouchPoints, localStorage.length]") == [1_280, 0, 0])
        #expect(try browser.run("return matchMedia('(prefers-color-scheme: light)').matches") == true)
        // The server has no icon.
        #expect(try browser.console().filter { !$0.message.contains("favicon.ico") }.isEmpty)
    }
}
