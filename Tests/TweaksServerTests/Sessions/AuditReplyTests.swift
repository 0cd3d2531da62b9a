// Tests replies that wait for the audit: at most 200 ms without progress of the audit.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct AuditReplyTests {
    /// A server whose storage and audit complete when the test tells them to, and whose clock stands still.
    private final class AuditedServer {
        private let server: GatedServer
        /// The audit needs no more of a storage than its status.
        let audit = GatedStore(isRequired: false)
        private let clock = ManualClock()

        init(isRequired: Bool = false, isStored: Bool = false) throws {
            var hooks = TweakServerHooks()
            hooks.audit = audit
            hooks.clock = { [clock] in clock.now }
            server = try GatedServer(isRequired: isRequired, isStored: isStored, hooks: hooks)
        }

        var registry: TweakRegistry { server.registry }
        var store: GatedStore { server.store }

        func withTwoClients() throws -> (AuditedServer, client: TestClient, other: TestClient) {
            (self, try server.connect(), try server.connect())
        }

        func pass(_ milliseconds: Int) {
            clock.advance(by: .milliseconds(milliseconds))
            server.server.wake()
            server.stepped?.settle()
        }

        /// Sends a set, and expects that it is in effect.
        func set(_ value: Int, _ client: TestClient) throws {
            try client.send("Content/Text/Size = \(value)\n")
            #expect(registry["Content/Text/Size"]?.value == .number(Double(value)))
        }
    }

    /// The change is in effect; the fast path, which knows no audit, is not used.
    @Test func theReplyWaitsForTheAudit() throws {
        let (server, client, other) = try AuditedServer().withTwoClients()
        try server.set(72, client)
        #expect(try other.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 72 "))
        #expect(!client.hasInput && server.audit.flushes == 1)
        server.audit.finish(1)
        #expect(try client.reply() == ["Content/Text/Size = 72      # was 60", "ok rev 1"])
    }

    @Test func repliesAreSentInOrderAsTheAuditProceeds() throws {
        let (server, client, other) = try AuditedServer().withTwoClients()
        try client.send((61...66).map { "Content/Text/Size = \($0)\n" }.joined() + "ping\n")
        server.audit.finish(4)
        for number in 1...4 { #expect(try client.status() == "ok rev \(number)") }
        try other.ask("ping")
        #expect(!client.hasInput)
        server.audit.finish(6)
        for last in ["ok rev 5", "ok rev 6", "ok pong"] { #expect(try client.status() == last) }
    }

    @Test func anAuditThatHangsDelaysOneReply() throws {
        let (server, client, _) = try AuditedServer().withTwoClients()
        try server.set(61, client)
        server.pass(199)
        #expect(!client.hasInput)
        server.pass(1)
        #expect(try client.status() == "ok rev 1")
        // The clock stands still: these do not wait at all.
        for number in 2...9 { #expect(try client.status("Content/Text/Size = \(60 + number)") == "ok rev \(number)") }
        server.audit.finish(1)
        server.pass(0)
        try server.set(80, client)
        server.pass(199)
        #expect(!client.hasInput)
        server.audit.finish(10)
        #expect(try client.status() == "ok rev 10")
    }

    @Test func eachProgressOfTheAuditExtendsTheTimeout() throws {
        let (server, client, _) = try AuditedServer().withTwoClients()
        try client.send("Content/Text/Size = 61\nContent/Text/Size = 62\nContent/Text/Size = 63\n")
        for revision in 1...3 as ClosedRange<UInt64> {
            server.pass(150)
            #expect(!client.hasInput)
            server.audit.finish(revision)
            #expect(try client.status() == "ok rev \(revision)")
        }
    }

    /// (whether the storage finishes first, its failure)
    @Test(arguments: [(true, nil), (false, nil), (true, "No space left on device")] as [(Bool, String?)])
    func theReplyWaitsForStorageAndAudit(_ isStoreFirst: Bool, _ failure: String?) throws {
        let (server, client, other) = try AuditedServer(isStored: true).withTwoClients()
        try server.set(72, client)
        if isStoreFirst { server.store.finish(1, failure: failure) } else { server.audit.finish(1) }
        try other.ask("ping")
        #expect(!client.hasInput)
        if isStoreFirst { server.audit.finish(1) } else { server.store.finish(1) }
        #expect(try client.status() == "ok rev 1" + (failure.map { " unsaved: \($0)" } ?? ""))
    }

    @Test func onlyTheAuditTimesOut() throws {
        let (server, client, _) = try AuditedServer(isStored: true).withTwoClients()
        try server.set(71, client)
        server.pass(60_000)
        #expect(!client.hasInput)
        server.store.finish(1)
        #expect(try client.status() == "ok rev 1")
        try server.set(72, client)
        #expect(!client.hasInput)
        server.store.finish(2)
        #expect(try client.status() == "ok rev 2")
    }

    /// The time of the audit begins with the commit, however long the storage took before.
    @Test(arguments: [0, 1_000]) func aChangeThatIsWrittenFirstWaitsForTheAuditToo(_ milliseconds: Int) throws {
        let (server, client, other) = try AuditedServer(isRequired: true, isStored: true).withTwoClients()
        try client.send("Content/Text/Size = 72\n")
        #expect(server.store.proposals == 1 && server.audit.flushes == 0)
        server.pass(milliseconds)
        server.store.answerProposals()
        try other.ask("ping")
        #expect(server.registry.revision == 1)
        server.store.finish(1)
        try other.ask("ping")
        #expect(!client.hasInput)
        server.audit.finish(1)
        #expect(try client.status() == "ok rev 1")
    }
}
