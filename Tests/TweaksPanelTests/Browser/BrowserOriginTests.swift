// Several origins, windows and profiles, and the end of all of them.

import Foundation
import Testing

@testable import TweaksTestSupport

/// Who shares what with whom.
@Suite(.browsing, .needsBrowser) struct BrowserOriginTests {
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
        let first = try browser.window
        try browser.openTab()
        #expect(try browser.windows.count == 2)
        try browser.open(server.address("/data"))
        #expect(try browser.cookies.map { $0["name"] } == ["hidden"])
        #expect(try browser.run("return document.cookie") == "")
        #expect(try other.cookies.isEmpty)
        try browser.closeWindow()
        try browser.go(to: first)
        #expect(try browser.title == "home")
    }

    @Test func aServerNotesWhoComes() throws {
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
        #expect(request.body == "söme")
        #expect(request.fields["x-own"] == "y")
        #expect(request.fields["origin"] == "http://127.0.0.1:\(server.port)")
        #expect(request.fields["sec-fetch-site"] == "same-origin")
    }

    /// A page of one origin reaches another, and what its requests say is what the browser says of them.
    @Test(arguments: ["evil.test", "localhost"]) func strangersReachOthers(_ host: String) throws {
        let stranger = try PageServer(["/": .init("<title>stranger</title>")])
        let browser = try Browser()
        try browser.open(stranger.address("/", host: host))
        #expect(try browser.title == "stranger")
        let script = "await fetch(arguments[0], { method: 'POST', body: 'x', mode: 'no-cors' }); return true"
        #expect(try browser.run(script, .string(server.address("/data"))) == true)
        let request = try #require(server.request("POST", "/data"))
        #expect(request.fields["origin"] == "http://\(host):\(stranger.port)")
        #expect(request.fields["sec-fetch-site"] == "cross-site")
    }

    /// What rebinding comes to: a stranger's name, and our address behind it.
    @Test func aNameMayLeadHere() throws {
        let browser = try Browser()
        try browser.open(server.address("/", host: "rebound.test"))
        #expect(server.request("GET", "/")?.fields["host"] == "rebound.test:\(server.port)")
        let error = try #require(throws: BrowserError.self) {
            try browser.open(server.address("/", host: "www.example.com"))
        }
        #expect(error.description.contains("ERR_NAME_NOT_RESOLVED"))
    }

    @Test func aGuestWhoSaysNothingHoldsNobodyUp() throws {
        let silent = try TestClient(port: server.port)
        let client = try TestClient(port: server.port)
        try client.send("GET /data HTTP/1.1\r\n\r\n")
        client.endInput()
        #expect(try client.rest().hasSuffix("\r\n\r\n{\"a\":1}"))
        silent.endInput()
        #expect(try silent.rest() == "")
    }
}

/// Nothing is left behind.
@Suite(.browsing, .needsBrowser) struct BrowserEndTests {
    private func port(of browser: Browser) throws -> Int {
        let address = browser.details["goog:chromeOptions"]["debuggerAddress"].string ?? ""
        return try #require(Int(address.split(separator: ":").last ?? ""))
    }

    private func profile(of browser: Browser) throws -> String {
        try #require(browser.details["chrome"]["userDataDir"].string)
    }

    @Test func aBrowserEndsWhenItIsLetGoOf() throws {
        var browser: Browser? = try Browser()
        let (port, profile) = try (port(of: #require(browser)), profile(of: #require(browser)))
        #expect(throws: Never.self) { try TestClient(port: port) }
        browser = nil
        #expect(throws: ClientError.self) { try TestClient(port: port) }
        #expect(!FileManager.default.fileExists(atPath: profile))
    }

    /// When tests die they cannot tidy up.
    @Test func browsersEndWithTheProcess() throws {
        let driver = try WebDriver()
        let browser = try Browser(of: driver)
        let (port, profile) = try (port(of: browser), profile(of: browser))
        #expect(throws: Never.self) { try TestClient(port: port) }
        driver.letGo()
        #expect(throws: ClientError.self) { try TestClient(port: port) }
        #expect(!FileManager.default.fileExists(atPath: profile))
        #expect(throws: (any Error).self) { try browser.title }
    }
}
