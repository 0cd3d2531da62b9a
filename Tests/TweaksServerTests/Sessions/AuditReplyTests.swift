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

        init(isRequired: Bool = false, isStored: Bool = false, hasTCP: Bool = false) throws {
            var hooks = TweakServerHooks()
            hooks.audit = audit
            server = try GatedServer(
                isRequired: isRequired, isStored: isStored, hooks: hooks, clock: ManualClock(), hasTCP: hasTCP)
        }

        var registry: TweakRegistry { server.registry }
        var store: GatedStore { server.store }

        func withTwoClients() throws -> (AuditedServer, client: TestClient, other: TestClient) {
            (self, try server.connect(), try server.connect())
        }

        /// A client that is neither the process's own user nor root, as far as the server knows.
        func connectByTCP() throws -> TestClient {
            try server.connect(.tcp4)
        }

        func pass(_ milliseconds: Int) { server.pass(.milliseconds(milliseconds)) }

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

    private let late = "unaudited: the disk of the audit does not answer"

    @Test func anAuditThatHangsDelaysOneReplyAndTheOthersSayIt() throws {
        let (server, client, other) = try AuditedServer().withTwoClients()
        try server.set(61, client)
        server.pass(199)
        #expect(!client.hasInput)
        server.pass(1)
        #expect(try client.status() == "ok rev 1 \(late)")
        // The clock stands still: these do not wait at all.
        for number in 2...9 {
            #expect(try client.status("Content/Text/Size = \(60 + number)") == "ok rev \(number) \(late)")
        }
        _ = try other.json("json")
        #expect(try other.json("Content/Text/Size = 60").contains(#""rev":10,"unaudited":"the disk of"#))
        server.audit.finish(1)
        server.pass(0)
        try server.set(80, client)
        server.pass(199)
        #expect(!client.hasInput)
        server.audit.finish(11)
        #expect(try client.status() == "ok rev 11")
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
        #expect(try client.status() == "ok rev 1 \(late)")
        try server.set(72, client)
        #expect(!client.hasInput)
        server.store.finish(2)
        #expect(try client.status() == "ok rev 2 \(late)")
    }

    @Test func aFailingAuditDelaysNothingAndTheReplySaysWhy() throws {
        let (server, client, _) = try AuditedServer(isStored: true).withTwoClients()
        server.store.finish(9)
        server.audit.finish(9, failure: "No space left on device")
        #expect(try client.status("Content/Text/Size = 72") == "ok rev 1 unaudited: No space left on device")
        server.store.finish(9, failure: "Permission denied")
        #expect(
            try client.status("Content/Text/Size = 73") == "ok rev 2 unaudited: No space left on device")
        server.audit.finish(9)
        server.pass(0)
        #expect(try client.status("Content/Text/Size = 74") == "ok rev 3")
    }

    /// The queue of the audit holds a mebibyte and drops the rest; 1,000 values of 1 kB would fill it.
    @Test func changesOfAClientWaitForTheAuditBeforeItsQueueIsFull() throws {
        let server = try AuditedServer(hasTCP: true)
        let (client, other) = (try server.connectByTCP(), try server.connectByTCP())
        let text = String(repeating: "x", count: 1_000)
        try client.send((1...1_000).map { "Content/Text/String = \($0)\(text)\n" }.joined())
        try other.ask("ping")
        let first = server.registry.revision
        #expect((50...300).contains(first))
        // Another one waits, too, and is neither lost nor stalled otherwise.
        try other.send("Content/Text/String = other\(text)\n")
        #expect(server.registry.revision == first)
        var (last, answered) = (first, 0)
        while last < 1_001 {
            server.audit.finish(last)
            server.pass(0)
            // A session whose replies are not read waits, too.
            for _ in answered..<Int(min(last, 1_000)) - 1 {
                #expect(try client.status().hasPrefix("ok rev "))
                answered += 1
            }
            try #require(server.registry.revision > last)
            last = server.registry.revision
        }
        server.audit.finish(last)
        server.pass(0)
        for _ in answered..<1_000 { #expect(try client.status().hasPrefix("ok rev ")) }
        #expect(try other.status().hasPrefix("ok rev "))
    }

    @Test func aFullQueueOfAHangingAuditRefusesClientsAndNotTheOwner() throws {
        let server = try AuditedServer(hasTCP: true)
        let (client, owner) = (try server.connectByTCP(), try server.withTwoClients().client)
        let text = String(repeating: "x", count: 50_000)
        try client.send((1...9).map { "Content/Text/String = \($0)\(text)\n" }.joined())
        server.pass(200)
        var replies: [String] = []
        for _ in 1...9 { replies.append(try client.status()) }
        let refused = "error busy nothing was changed, because the audit cannot be written and holds no more changes: "
        #expect(replies.first == "ok rev 1 \(late)" && replies.last?.hasPrefix(refused) == true, "\(replies)")
        #expect(try owner.status("Content/Text/Size = 72").hasSuffix(late))
        #expect(try client.limitsHit().contains { $0.hasPrefix("audit ") })
        server.audit.finish(server.registry.revision)
        server.pass(0)
        try client.send("Content/Text/Size = 73\n")
        server.audit.finish(server.registry.revision)
        #expect(try client.status().hasPrefix("ok rev "))
    }

    /// As soon as there is room, each waiting change has its turn, before the next ones of the client that took it all.
    @Test func noClientTakesTheRoomOfTheOthers() throws {
        let server = try AuditedServer(hasTCP: true)
        let (client, other) = (try server.connectByTCP(), try server.connectByTCP())
        let text = String(repeating: "x", count: 1_000)
        try client.send((1...1_000).map { "Content/Text/String = \($0)\(text)\n" }.joined())
        try other.ask("ping")
        let first = server.registry.revision
        try other.send("Content/Text/Size = 72\n")
        #expect(server.registry["Content/Text/Size"]?.value == .number(60))
        server.audit.finish(first)
        server.pass(0)
        #expect(server.registry["Content/Text/Size"]?.value == .number(72))
        server.audit.finish(2_000)
        server.pass(0)
        for _ in 1...1_000 { #expect(try client.status().hasPrefix("ok rev ")) }
    }

    /// Without a reply in between, nothing but the second request can have told the audit to write on.
    @Test func anAuditThatHangsAgainDelaysAReplyNoLongerThanBefore() throws {
        let (server, client, _) = try AuditedServer(isStored: true).withTwoClients()
        try server.set(71, client)
        server.pass(200)
        server.store.finish(1)
        #expect(try client.status() == "ok rev 1 \(late)")
        // Its reply waits for the disk while the audit is late.
        try server.set(72, client)
        let flushes = server.audit.flushes
        server.audit.finish(1)
        server.pass(0)
        #expect(server.audit.flushes == flushes + 1)
        server.store.finish(2)
        server.pass(199)
        #expect(!client.hasInput)
        server.pass(1)
        try #require(client.hasInput)
        #expect(try client.status() == "ok rev 2 \(late)")
    }

    /// The commits that fill the audit have been answered as late; none of their replies waits.
    @Test func aChangeWaitsForAHangingAuditNoLongerThanAReply() throws {
        let server = try AuditedServer(hasTCP: true)
        let (client, owner) = (try server.connectByTCP(), try server.withTwoClients().client)
        try server.set(71, owner)
        server.pass(200)
        #expect(try owner.status() == "ok rev 1 \(late)")
        let text = String(repeating: "x", count: 50_000)
        for number in 1...9 { #expect(try owner.status("Content/Text/String = \(number)\(text)").hasSuffix(late)) }
        server.audit.finish(1)
        server.pass(0)
        try client.send("Content/Text/Size = 73\n")
        server.pass(199)
        #expect(!client.hasInput)
        server.pass(1)
        try #require(client.hasInput)
        #expect(try client.status().hasPrefix("error busy nothing was changed, because the audit cannot be written"))
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
