// Replies that wait for the audit: as long as it can be expected, and not for one that hangs.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct AuditReplyTests {
    /// A server whose disk and audit do what a test says, and whose clock stands still.
    private final class AuditedServer {
        let registry = ExampleTweaks().registry
        let store: GatedStore?
        /// Of a storage it is only what every witness is.
        let audit = GatedStore(isRequired: false)
        private let clock = ManualClock()
        private let directory: TemporaryDirectory
        private let server: TweakServer
        let stepped: SteppedServer?

        init(store: GatedStore? = nil) throws {
            self.store = store
            directory = try TemporaryDirectory()
            store?.attach(to: registry, overrides: [], revision: 0)
            var hooks = TweakServerHooks()
            hooks.audit = audit
            hooks.clock = { [clock] in clock.now }
            server = TweakServer(
                name: "example", registry: registry, listeners: [.unix(path: directory.file("socket"))],
                limits: TweakServerLimits(), hooks: hooks)
            stepped = try server.started(hasThread: false)
        }

        deinit { server.stop(stepped) }

        func connect() throws -> TestClient {
            try TestClient(unix: directory.file("socket"), owner: self, server: stepped)
        }

        func pass(_ milliseconds: Int) {
            clock.advance(by: .milliseconds(milliseconds))
            server.wake()
            stepped?.settle()
        }

        /// Sends a set, which takes effect.
        func set(_ value: Int, _ client: TestClient) throws {
            try client.send("Content/Text/Size = \(value)\n")
            #expect(registry["Content/Text/Size"]?.value == .number(Double(value)))
        }
    }

    /// It is in effect, and others see it; nor is it answered the short way, which knows no audit.
    @Test func theReplyWaitsForTheAudit() throws {
        let server = try AuditedServer()
        let (client, other) = (try server.connect(), try server.connect())
        try server.set(72, client)
        #expect(try other.ask("get Content/Text/Size")[0].hasPrefix("Content/Text/Size = 72 "))
        #expect(!client.hasInput && server.audit.hurries == 1)
        server.audit.finish(1)
        #expect(try client.reply() == ["Content/Text/Size = 72      # was 60", "ok rev 1"])
    }

    @Test func inOrder() throws {
        let server = try AuditedServer()
        let (client, other) = (try server.connect(), try server.connect())
        try client.send((61...66).map { "Content/Text/Size = \($0)\n" }.joined() + "ping\n")
        server.audit.finish(4)
        for number in 1...4 { #expect(try client.reply().last == "ok rev \(number)") }
        try other.ask("ping")
        #expect(!client.hasInput)
        server.audit.finish(6)
        for last in ["ok rev 5", "ok rev 6", "ok pong"] { #expect(try client.reply().last == last) }
    }

    @Test func anAuditThatHangsDelaysOneReply() throws {
        let server = try AuditedServer()
        let client = try server.connect()
        try server.set(61, client)
        server.pass(199)
        #expect(!client.hasInput)
        server.pass(1)
        #expect(try client.reply().last == "ok rev 1")
        // The clock stands still: these do not wait at all.
        for number in 2...9 { #expect(try client.ask("Content/Text/Size = \(60 + number)").last == "ok rev \(number)") }
        server.audit.finish(1)
        server.pass(0)
        try server.set(80, client)
        server.pass(199)
        #expect(!client.hasInput)
        server.audit.finish(10)
        #expect(try client.reply().last == "ok rev 10")
    }

    /// One that is slow is heard of: each time it has its 200 milliseconds more.
    @Test func anAuditThatIsSlowIsWaitedFor() throws {
        let server = try AuditedServer()
        let client = try server.connect()
        try client.send("Content/Text/Size = 61\nContent/Text/Size = 62\nContent/Text/Size = 63\n")
        for revision in 1...3 as ClosedRange<UInt64> {
            server.pass(150)
            #expect(!client.hasInput)
            server.audit.finish(revision)
            #expect(try client.reply().last == "ok rev \(revision)")
        }
    }

    @Test(arguments: [true, false]) func bothAreWaitedFor(_ isStoreFirst: Bool) throws {
        let store = GatedStore(isRequired: false)
        let server = try AuditedServer(store: store)
        let (client, other) = (try server.connect(), try server.connect())
        try server.set(72, client)
        let witnesses = isStoreFirst ? [store, server.audit] : [server.audit, store]
        witnesses[0].finish(1)
        try other.ask("ping")
        #expect(!client.hasInput)
        witnesses[1].finish(1)
        #expect(try client.reply().last == "ok rev 1")
    }

    @Test func whatTheDiskRefusesIsSaidWhenTheAuditHasIt() throws {
        let store = GatedStore(isRequired: false)
        let server = try AuditedServer(store: store)
        let (client, other) = (try server.connect(), try server.connect())
        try server.set(72, client)
        store.finish(1, failure: "No space left on device")
        try other.ask("ping")
        #expect(!client.hasInput)
        server.audit.finish(1)
        #expect(try client.reply().last == "ok rev 1 unsaved: No space left on device")
    }

    /// The disk is waited for as long as it takes, whatever the audit does.
    @Test func onlyTheAuditIsGivenUp() throws {
        let store = GatedStore(isRequired: false)
        let server = try AuditedServer(store: store)
        let client = try server.connect()
        try server.set(71, client)
        server.pass(60_000)
        #expect(!client.hasInput)
        store.finish(1)
        #expect(try client.reply().last == "ok rev 1")
        try server.set(72, client)
        #expect(!client.hasInput)
        store.finish(2)
        #expect(try client.reply().last == "ok rev 2")
    }

    /// Written first, applied then; and who did it is in the audit before that is said.
    @Test func whereTheDiskComesFirst() throws {
        let store = GatedStore(isRequired: true)
        let server = try AuditedServer(store: store)
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("Content/Text/Size = 72\n")
        #expect(store.proposals == 1 && server.audit.hurries == 0)
        store.answerProposals()
        try other.ask("ping")
        #expect(server.registry.revision == 1)
        store.finish(1)
        try other.ask("ping")
        #expect(!client.hasInput)
        server.audit.finish(1)
        #expect(try client.reply().last == "ok rev 1")
    }

    /// The audit has its time from the commit on, however long the disk took before that.
    @Test func aSlowDiskLeavesTheAuditItsTime() throws {
        let store = GatedStore(isRequired: true)
        let server = try AuditedServer(store: store)
        let (client, other) = (try server.connect(), try server.connect())
        try client.send("Content/Text/Size = 72\n")
        server.pass(1_000)
        store.answerProposals()
        try other.ask("ping")
        store.finish(1)
        try other.ask("ping")
        #expect(server.registry.revision == 1 && !client.hasInput)
        server.audit.finish(1)
        #expect(try client.reply().last == "ok rev 1")
    }
}
