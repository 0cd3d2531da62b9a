// Tests the routes of the service in process: what a user changes on the panel changes what clients get.

import Foundation
import HTTPTypes
import Hummingbird
import InMemoryLogging
import Logging
import NIOEmbedded
import QuotesSite
import Testing
import Tweaks
import TweaksPanel
import TweaksServer

@Suite(.timeLimit(.minutes(2))) struct QuotesRouterTests {
    private static let users = "ada:correct-horse-battery-staple:admin\nbob:another-long-password:read"
    private static let origin = "https://quotes.example.org"

    /// A service of its own.
    private struct Service {
        let tweaks: QuotesTweaks
        let logged = InMemoryLogHandler()
        private let server: TweakServer
        private let responder: RouterResponder<BasicRequestContext>

        init() throws {
            let registry = TweakRegistry()
            tweaks = QuotesTweaks(registry: registry)
            server = TweakServer(name: "quotes", registry: registry, listeners: [])
            try server.start()
            let panel = TweakPanelHandler(server, below: "/tweaks", origins: [QuotesRouterTests.origin])
            let users = try SiteUsers(QuotesRouterTests.users)
            responder = quotesRouter(tweaks, panel: panel, users: users).buildResponder()
        }

        func stop() { server.stop() }

        /// The answer to a request.
        func ask(
            _ method: HTTPRequest.Method, _ path: String, _ fields: HTTPFields = [:], _ body: String = ""
        ) async throws -> (status: Int, fields: HTTPFields, body: String) {
            let request = Request(
                head: HTTPRequest(
                    method: method, scheme: "http", authority: "quotes", path: path, headerFields: fields),
                body: RequestBody(buffer: ByteBuffer(string: body)))
            let logger = Logger(label: "quotes") { _ in logged }
            let context = BasicRequestContext(
                source: ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: logger))
            let response = try await responder.respond(to: request, context: context)
            let writer = Collector()
            try await response.body.write(writer)
            return (response.status.code, response.headers, await writer.text)
        }

        /// Sets a tweak as the page does.
        func set(_ path: String, _ value: String) async throws {
            let body = #"{"changes":[{"path":"\#(path)","value":\#(value)}]}"#
            let answer = try await ask(.patch, "/tweaks/api/tweaks", QuotesRouterTests.ada, body)
            #expect(answer.status == 200, "\(answer.body)")
        }

        func status(_ path: String) async throws -> Int { try await ask(.get, path).status }
    }

    /// Collects a body.
    private actor Bytes {
        var buffer = ByteBuffer()

        func append(_ part: ByteBuffer) { buffer.writeImmutableBuffer(part) }
    }

    private struct Collector: ResponseBodyWriter {
        private let bytes = Bytes()

        var text: String { get async { String(buffer: await bytes.buffer) } }

        func write(_ buffer: ByteBuffer) async throws { await bytes.append(buffer) }

        func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    private static func fields(_ user: String, origin: String? = nil) -> HTTPFields {
        var fields: HTTPFields = [
            .authorization: "Basic " + Data(user.utf8).base64EncodedString(), .contentType: "application/json",
        ]
        if let origin { fields[.origin] = origin }
        return fields
    }

    private static let ada = fields("ada:correct-horse-battery-staple")

    @Test func whatIsSetOnThePanelAppliesToTheNextRequest() async throws {
        let service = try Service()
        defer { service.stop() }
        let quote = "/quotes/SWFT"
        #expect(try await service.status(quote) == 200)
        try await service.set("HTTP/Service/Maintenance", "true")
        #expect(try await service.status(quote) == 503)
        // Neither the probes nor the panel are in maintenance.
        for probe in ["/healthz", "/readyz"] { #expect(try await service.status(probe) == 200) }
        try await service.set("HTTP/Service/Maintenance", "false")
        #expect(try await service.status(quote) == 200)
        try await service.set("Quotes/Upstream/Delay", "\"60s\"")
        try await service.set("HTTP/Limits/Timeout", "\"1ms\"")
        #expect(try await service.status(quote) == 504)
        try await service.set("Quotes/Upstream/Delay", "\"0s\"")
        try await service.set("HTTP/Limits/Timeout", "\"60s\"")
        try await service.set("HTTP/Limits/Rate", "1")
        // One place is left at most, and there is another one only after a second.
        var statuses: Set<Int> = []
        for _ in 1...1_000 where !statuses.contains(429) { statuses.insert(try await service.status(quote)) }
        #expect(statuses.contains(429))
    }

    @Test func theLevelOfTheTweakIsThatOfTheNextRequest() async throws {
        let service = try Service()
        defer { service.stop() }
        #expect(try await service.status("/quotes/SWFT") == 200)
        #expect(service.logged.entries.isEmpty)
        try await service.set("Log/Output/Level", "\"debug\"")
        #expect(try await service.status("/quotes/SWFT") == 200)
        // By the logger of the route, behind the middleware that sets its level.
        let lines = service.logged.entries.filter { $0.message == "quote" && $0.level == .debug }
        #expect(lines.map { $0.metadata["symbol"] } == ["SWFT"])
    }

    @Test(arguments: [
        ("GET", "", "", 401), ("GET", "ada:wrong-password-of-20-bytes", "", 401), ("GET", "eve:correct-horse", "", 401),
        ("GET", "bob:another-long-password", "", 200), ("PATCH", "bob:another-long-password", "", 403),
        ("PATCH", "ada:correct-horse-battery-staple", "", 200),
        ("PATCH", "ada:correct-horse-battery-staple", "https://quotes.example.org", 200),
        ("PATCH", "ada:correct-horse-battery-staple", "https://evil.test", 403),
    ])
    func thePanelIsBehindTheSitesAuthentication(
        _ method: String, _ user: String, _ origin: String, _ status: Int
    ) async throws {
        let service = try Service()
        defer { service.stop() }
        let fields = user.isEmpty ? [:] : Self.fields(user, origin: origin.isEmpty ? nil : origin)
        let isChange = method == "PATCH"
        let body = isChange ? #"{"changes":[{"path":"HTTP/Service/Maintenance","value":true}]}"# : ""
        let answer = try await service.ask(isChange ? .patch : .get, "/tweaks/api/tweaks", fields, body)
        #expect(answer.status == status, "\(answer.body)")
        #expect((answer.fields[.wwwAuthenticate] != nil) == (status == 401))
        #expect(service.tweaks.maintenance.value == (isChange && status == 200))
    }

    @Test func thePageIsBelowItsPath() async throws {
        let service = try Service()
        defer { service.stop() }
        let redirect = try await service.ask(.get, "/tweaks", Self.ada)
        #expect(redirect.status == 308 && redirect.fields[.location] == "tweaks/")
        let page = try await service.ask(.get, "/tweaks/", Self.ada)
        #expect(page.status == 200 && page.body.contains("data-mounted") && page.body.contains("src=\"panel/"))
        #expect(page.fields[.contentLength] == "\(page.body.utf8.count)")
        #expect(page.fields[values: .contentSecurityPolicy].count == 1)
        #expect(try await service.status("/elsewhere") == 404)
    }

    @Test(arguments: ["ada", "ada:short:admin", "ada:long-enough-password:fly"])
    func aWrongTableOfUsersIsRefused(_ table: String) {
        #expect(throws: (any Error).self) { try SiteUsers(table) }
    }
}
