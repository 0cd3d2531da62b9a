// Tests that commands that visit many tweaks do so in slices, and that their replies show one revision.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct SweepTests {
    private let registry = TweakRegistry()
    private let server: TurnByTurnServer

    init() throws {
        for number in 0..<6_000 { _ = Tweak("Many", "Of\(number % 3)", "T\(number)", 0, registry: registry) }
        server = try TurnByTurnServer(registry: registry)
    }

    /// Sends a request and runs a few turns, which are not enough to answer it.
    private func begin(_ request: String) throws -> TestClient {
        let client = try server.connect()
        try client.send("\(request)\n")
        server.turn(5)
        #expect(!client.hasInput)
        return client
    }

    private func reply(_ client: TestClient) throws -> [String] {
        for _ in 0..<1_000 where !client.hasInput { server.turn() }
        try #require(client.hasInput)
        return try client.reply()
    }

    @Test(
        arguments: [
            "stats", "ls", "ls Many", "modified", "get **/T77", "get Many/*/T77?", "export **/T7", "reset **/T77",
            "watch **/T77", "watch modified", "watch Many since 0", "keep **/T77", "get **/Missing",
        ])
    func othersAreServedBetweenTheSlices(_ request: String) throws {
        let other = try server.connect()
        let client = try begin(request)
        for _ in 0..<3 {
            try other.send("ping\n")
            server.turn(2)
            try #require(other.hasInput)
            #expect(try other.line() == "ok pong")
        }
        #expect(!client.hasInput)
        let status = try #require(try reply(client).last)
        let errors = ["get **/Missing": "error unknown-tweak", "keep **/T77": "error conflict"]
        #expect(status.hasPrefix(errors[request] ?? "ok"))
    }

    @Test func theReplyShowsOneRevision() throws {
        let (modified, stats, list) = (try begin("modified"), try begin("stats"), try begin("ls"))
        try registry.commit(origin: .code) { batch in
            for number in 0..<6_000 { batch.set("Many/Of\(number % 3)/T\(number)", .int(1)) }
        }
        #expect(try reply(modified) == ["ok"])
        let fields = try reply(stats)
        #expect(fields.contains("  rev: 0") && fields.contains("  modified: 0"))
        #expect(try reply(list) == ["  Many  6000 tweaks", "ok"])
    }

    @Test func rightsThatAreLostMeanwhileShowNothing() throws {
        let client = try begin("get **/T77")
        server.stepped.limitNewest(to: [])
        #expect(try reply(client) == ["error denied your rights have changed"])
    }

    @Test func laterRequestsWait() throws {
        let client = try begin("get **/T77\nping")
        #expect(try reply(client).count == 2)
        #expect(try reply(client) == ["ok pong"])
    }

    @Test func whatASessionWatchesIsCountedInSlices() throws {
        let client = try server.connect()
        try client.send("watch Many/Of0/T0\n")
        #expect(try reply(client).last == "ok rev 0 watching 1")
        for (request, status) in [
            ("watch Many/Of1 since 0", "ok rev 0 watching 2001"), ("watch modified", "ok rev 0 watching 2001"),
            ("unwatch modified", "ok watching 2001"), ("unwatch Many/Of0/T0", "ok watching 2000"),
        ] {
            try client.send("\(request)\n")
            server.turn(5)
            try #require(!client.hasInput, "\(request)")
            #expect(try reply(client).last == status)
        }
    }

    @Test func eventsWaitForTheValuesThatAWatchShows() throws {
        let client = try server.connect()
        try client.send("watch Many/Of0/T0\n")
        _ = try reply(client)
        try client.send("watch modified\n")
        server.turn(5)
        try registry.commit(origin: .code) { $0.set("Many/Of0/T0", .int(1)) }
        #expect(try reply(client) == ["ok rev 0 watching 1"])
        try client.send("ping\n")
        while !client.hasInput { server.turn() }
        #expect(try client.line().hasPrefix("event 1 Many/Of0/T0 = 1 "))
    }

    @Test(arguments: ["describe", "explain", "check", "set", "run"])
    func aPatternInsteadOfAPathIsNotCompletelyResolved(_ command: String) throws {
        let client = try server.connect()
        let value = ["check", "set"].contains(command) ? " 1" : ""
        try client.send("\(command) **/T5999\(value)\n")
        #expect(
            try reply(client) == [
                "error ambiguous “**/T5999” is a pattern; name one of the tweaks that it matches"
            ])
    }
}
