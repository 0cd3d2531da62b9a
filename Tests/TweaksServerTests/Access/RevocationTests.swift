// Tests the loss of rights, in every way, while a session watches, changes, runs or waits for something.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

/// A way to lose rights.
enum Revocation: String, CaseIterable, Sendable {
    case deleted, replaced, narrowed, expired, kicked, dropped

    var endsSession: Bool { self != .narrowed && self != .dropped }

    /// The last line of a session that ends.
    var closeReason: String {
        switch self {
        case .kicked: "error closing kicked by uid \(geteuid())"
        case .expired: "error closing token ops has expired; sign in with another one"
        default: "error closing token ops was revoked; sign in with another one"
        }
    }

    /// A token whose rights each way revokes.
    static let entry = TokenEntry.token("ops", "write:Content", "write:Many", "run:Player", expires: 2_000_000)
}

@Suite(.blocking) struct RevocationTests {
    /// Revokes the rights of session 2, and returns when that is done. The reply to `drop` is left to read.
    private func revoke(_ way: Revocation, _ server: AccessServer, _ admin: TestClient, _ client: TestClient) throws {
        switch way {
        case .deleted: try server.replaceTokens([], admin)
        case .replaced: try server.replaceTokens([.token("ops", "write:Content", secret: "other")], admin)
        case .narrowed: try server.replaceTokens([.token("ops", "read:Player")], admin)
        case .expired:
            server.time = 2_000_000
            try server.settle(admin)
        case .kicked: try admin.ask("kick 2")
        case .dropped: try client.send("drop write run read\n")
        }
    }

    /// Expects the end of the session, or that it goes on without the right to write.
    private func expectRevoked(_ way: Revocation, _ client: TestClient) throws {
        if way.endsSession { return #expect(try client.restOfLines() == [way.closeReason]) }
        if way == .dropped { #expect(try client.reply() == ["ok may nothing"]) }
        #expect(try client.ask("ping") == ["ok pong"])
        #expect(try client.status("Content/Text/Size = 99").hasPrefix("error "))
    }

    private func setUp(
        _ registry: TweakRegistry = ExampleTweaks().registry, store: GatedStore? = nil, hasThread: Bool = false,
        _ change: (inout TweakServerLimits) -> Void = { _ in }
    ) throws -> (AccessServer, TestClient, TestClient) {
        let server = try AccessServer(
            Revocation.entry, store: store, registry: registry, hasThread: hasThread, change)
        let admin = try server.connect()
        // The sessions get their numbers in this order.
        try admin.ask("ping")
        return (server, admin, try server.connect(as: "ops"))
    }

    // MARK: Every way

    @Test(arguments: Revocation.allCases) func noEventFollows(_ way: Revocation) throws {
        let (server, admin, client) = try setUp()
        try client.ask("watch Content")
        try admin.ask("Content/Text/Size = 70")
        #expect(try client.line().hasPrefix("event 1 Content/Text/Size = 70 "))
        try revoke(way, server, admin, client)
        if way == .dropped { #expect(try client.reply() == ["ok may nothing"]) }
        for value in [71, 72] { try admin.ask("Content/Text/Size = \(value)") }
        if way.endsSession {
            #expect(try client.restOfLines() == [way.closeReason])
        } else {
            #expect(try client.ask("ping") == ["ok pong"])
        }
        let event = way == .kicked ? "kicked 2" : way == .dropped ? "dropped write run read" : "revoked"
        #expect(server.events.texts.contains(event))
    }

    @Test(arguments: Revocation.allCases) func anOpenBatchIsNotCommitted(_ way: Revocation) throws {
        let (server, admin, client) = try setUp()
        try client.ask("begin")
        #expect(try client.ask("Content/Text/Size = 72") == ["ok queued"])
        try revoke(way, server, admin, client)
        if way == .dropped { #expect(try client.reply() == ["ok may nothing"]) }
        if way.endsSession {
            #expect(try client.restOfLines() == [way.closeReason])
        } else {
            #expect(try client.status("commit").hasPrefix("error denied "))
        }
        #expect(server.registry.revision == 0)
        #expect(server.registry["Content/Text/Size"]?.value == .number(60))
    }

    @Test(arguments: Revocation.allCases) func aRunningActionEndsAndIsTheLastReply(_ way: Revocation) throws {
        let registry = ExampleTweaks().registry
        let action = BlockedAction("Player/Audio/Long", in: registry)
        let (server, admin, client) = try setUp(registry) { $0.lingerTime = .seconds(3_600) }
        try client.send("run Player/Audio/Long\n")
        action.began.waitBlocking()
        try revoke(way, server, admin, client)
        action.released.open()
        #expect(try client.lines(2) == ["  done", "ok"])
        try expectRevoked(way, client)
        #expect(registry.revision == 0)
    }

    @Test(arguments: [Revocation.deleted, .kicked])
    func anActionThatHangsDoesNotKeepTheSession(_ way: Revocation) throws {
        let registry = ExampleTweaks().registry
        let action = BlockedAction("Player/Audio/Long", in: registry)
        let (server, admin, client) = try setUp(registry, hasThread: true) { $0.lingerTime = .milliseconds(20) }
        try client.send("run Player/Audio/Long\nContent/Text/Size = 72\n")
        action.began.waitBlocking()
        try revoke(way, server, admin, client)
        #expect(try client.restOfLines() == [way.closeReason])
        action.released.open()
        #expect(try admin.ask("ping") == ["ok pong"])
        #expect(registry.revision == 0)
    }

    /// A slider sends set after set, without an end.
    @Test(arguments: Revocation.allCases) func aStreamOfSetsStops(_ way: Revocation) throws {
        let (server, admin, client) = try setUp(hasThread: true)
        let (ended, number) = (Gate(), client.number)
        // Replies are read, else the server would stop reading.
        Thread.detachNewThread {
            var bytes = [UInt8](repeating: 0, count: 65_536)
            while recv(number, &bytes, bytes.count, 0) > 0 {}
            ended.open()
        }
        let sets = (0..<quantity(8_000, few: 4_000)).map { "Content/Text/Size = \(20 + $0 % 60)\n" }
        // `drop` is part of the stream: sent by another thread, it could come in the middle of a line.
        let between = way == .dropped ? ["drop write run read\n"] : []
        let sent = client.sendMeanwhile((sets[..<1_000] + between + sets[1_000...]).joined())
        try eventually {
            try admin.ask("ping")
            return server.registry.revision >= 5
        }
        if way == .dropped {
            try eventually {
                try admin.ask("ping")
                return server.events.texts.contains { $0.hasPrefix("dropped") }
            }
        } else {
            try revoke(way, server, admin, client)
        }
        let revision = server.registry.revision
        for _ in 1...50 { try admin.ask("ping") }
        #expect(server.registry.revision == revision)
        sent.waitBlocking()
        client.endInput()
        ended.waitBlocking()
        #expect(server.registry.revision == revision)
    }

    /// The reply is cut at the current line, and nothing that became invisible follows.
    @Test(arguments: [Revocation.deleted, .narrowed, .expired, .kicked], [false, true])
    func whileALongReplyIsSentItIsCut(_ way: Revocation, _ json: Bool) throws {
        let (server, admin, client) = try setUp(LongListing.registry, hasThread: true) {
            $0.lingerTime = .seconds(3_600)
        }
        if json { _ = try client.json("json") }
        try client.send("get Many\nping\n")
        // The reply has begun, and cannot end before it is read.
        let first = try client.read(through: "Number 0\"")
        #expect(!first.isEmpty)
        try revoke(way, server, admin, client)
        if !way.endsSession { client.endInput() }
        var rest = try client.restOfLines()
        if !way.endsSession { #expect(rest.removeLast() == (json ? #"{"ok":true,"pong":true}"# : "ok pong")) }
        let closing = String(way.closeReason.dropFirst("error closing ".count))
        // The loss of rights is reported first; a kick needs one line only.
        let cut = way == .kicked ? ("closing", closing) : ("denied", "your rights have changed")
        if way.endsSession, way != .kicked {
            let object = #"{"ok":false,"error":{"code":"closing","message":"\#(closing)"}}"#
            #expect(rest.removeLast() == (json ? object : way.closeReason))
        }
        let last = try #require(rest.last)
        if json {
            #expect(rest.count == 1 && last.hasSuffix(#"],"error":{"code":"\#(cut.0)","message":"\#(cut.1)"}}"#))
            let object = try JSONSerialization.jsonObject(with: Data((first + last).utf8)) as? [String: Any]
            #expect(object?["error"] != nil)
        } else {
            #expect(last == "error \(cut.0) \(cut.1)")
            #expect(rest.count < LongListing.count)
        }
    }

    @Test(arguments: Revocation.allCases.filter { $0 != .dropped })
    func aChangeThatIsBeingWrittenIsWithdrawn(_ way: Revocation) throws {
        let store = GatedStore(isRequired: true)
        let (server, admin, client) = try setUp(store: store)
        try client.send("Content/Text/Size = 72\n")
        #expect(store.proposals >= 1)
        try revoke(way, server, admin, client)
        store.answerProposals()
        // The tweak is invisible to the session now, although it named it before.
        #expect(try client.line().hasPrefix("error unknown-tweak there is no tweak “Content/Text/Size”"))
        try expectRevoked(way, client)
        #expect(server.registry.revision == 0 && store.withdrawn == 1)
    }

    // MARK: Other rights

    @Test func onAUnixSocketTheRightsOfTheUserRemain() throws {
        let (server, admin, client) = try AccessServer(.token("ops", .write)).withTwoClients()
        try client.ask("drop admin run")
        #expect(try client.status("auth twk_ops") == "ok token ops may write")
        try server.replaceTokens([], admin)
        #expect(try client.whoami("identity") == ["uid \(geteuid())"])
        #expect(try client.whoami("tokens") == ["none"])
        #expect(try client.status("Content/Text/Size = 72") == "ok rev 1")
    }

    @Test func requestedScopesEndWithTheToken() throws {
        let (server, admin, client) = try AccessServer(
            .token("ops", "read:Content"), access: TweakAccess(grants: [.run])
        ).withTwoClients()
        try client.ask("drop read run")
        try client.ask("auth twk_ops")
        #expect(try client.status("request run") == "ok granted run")
        #expect(try client.whoami("scopes") == ["read:Content", "run"])
        try server.replaceTokens([], admin)
        #expect(try client.whoami("scopes") == ["none"])
        #expect(try client.whoami("granted") == ["none"])
    }

    @Test(arguments: [true, false]) func aPendingRequestEndsWithTheToken(isDecidedAtOnce: Bool) throws {
        let (asked, released) = (Gate(), Gate())
        let late = Mutex<TweakScopeRequest?>(nil)
        let access = TweakAccess(onRequest: { request in
            asked.open()
            released.waitBlocking()
            if isDecidedAtOnce { request.allow() } else { late.withLock { $0 = request } }
        })
        let (server, admin, client) = try AccessServer(.token("ops", "read:Content"), access: access).withTwoClients()
        try client.ask("drop admin run write read")
        try client.ask("auth twk_ops")
        try client.send("request run\n")
        asked.waitBlocking()
        try server.replaceTokens([], admin)
        released.open()
        #expect(try client.reply() == ["error denied your rights have changed; request it again"])
        late.withLock { $0 }?.allow()
        try server.settle(admin)
        #expect(try client.whoami("granted") == ["none"])
        #expect(try client.whoami("scopes") == ["none"])
    }

    @Test func theRightsOfAnotherTokenRemain() throws {
        let see = TokenEntry.token("see", .read)
        let server = try AccessServer(see, .token("act", .write))
        let (admin, client) = (try server.connect(), try server.connect(as: "see"))
        try client.ask("auth twk_act")
        try server.replaceTokens([see], admin)
        #expect(try client.whoami("scopes") == ["read"])
        #expect(try client.whoami("identity") == ["token see"])
        try server.replaceTokens([], admin)
        #expect(try client.restOfLines() == ["error closing token see was revoked; sign in with another one"])
    }

    @Test func furtherScopesOfATokenAreGrantedAtOnceExceptDroppedOnes() throws {
        let server = try AccessServer(.token("ops", "read:Content"))
        let (admin, client) = (try server.connect(), try server.connect(as: "ops"))
        try client.ask("drop run")
        try server.replaceTokens([.token("ops", .write, .run)], admin)
        #expect(try client.whoami("scopes") == ["write"])
        #expect(!server.events.texts.contains("revoked"))
    }

    // MARK: A slow disk

    /// A server whose presets wait for the gate, and three sessions of it.
    private func presetServer(
        _ gate: (reached: Gate, goOn: Gate), _ presets: [String: [String]] = ["warm": ["Content/Text/Size = 72"]]
    ) throws -> (AccessServer, MemoryPresets, admin: TestClient, client: TestClient, other: TestClient) {
        let presets = try MemoryPresets(presets, gate: gate)
        let server = try AccessServer(.token("ops", .write, .admin), presets: presets) {
            $0.lingerTime = .seconds(3_600)
        }
        return (server, presets, try server.connect(), try server.connect(as: "ops"), try server.connect())
    }

    private func kickOps(_ admin: TestClient) throws {
        let sessions = try admin.ask("sessions").filter { $0.contains("token ops") }
        let number = try #require(sessions.first?.split(separator: " ").first)
        try admin.ask("kick \(number)")
    }

    /// A request with revoked rights is not begun, and its result is not sent.
    @Test(
        arguments: [
            ("diff warm", true), ("load warm", true), ("presets", true), ("diff warm", false), ("load warm", false),
            ("presets", false), ("delete warm", false), ("save cold", false),
        ])
    func aRequestThatWaitsForADiskIsDenied(_ line: String, isBegun: Bool) throws {
        let gate = (reached: Gate(), goOn: Gate())
        let (server, presets, admin, client, other) = try presetServer(gate)
        // Else the disk is busy with a request of another session.
        if !isBegun { try admin.send("presets\n") }
        if !isBegun { gate.reached.waitBlocking() }
        try client.send("ping\n\(line)\nping\n")
        #expect(try client.reply() == ["ok pong"])
        if isBegun { gate.reached.waitBlocking() }
        try server.settle(other)
        try server.replaceTokens([.token("ops", "write:Player")], other)
        gate.goOn.open()
        #expect(try client.status().hasPrefix("error denied your rights have changed while"))
        #expect(try client.reply() == ["ok pong"])
        #expect(presets.names() == ["warm"] && server.registry.revision == 0)
    }

    @Test(arguments: ["delete warm", "save cold"]) func aKickedSessionsWaitingRequestIsNotBegun(_ line: String) throws {
        let gate = (reached: Gate(), goOn: Gate())
        defer { gate.goOn.open() }
        let (server, presets, admin, client, other) = try presetServer(gate)
        try admin.send("presets\n")
        gate.reached.waitBlocking()
        try client.send("ping\n\(line)\n")
        #expect(try client.reply() == ["ok pong"])
        try server.settle(other)
        try kickOps(other)
        gate.goOn.open()
        #expect(
            try client.restOfLines() == [
                "error closing the session was ended before this began", "error closing kicked by uid \(geteuid())",
            ])
        // Requests are done in order, so the kicked one would have been done by now.
        #expect(try other.status("presets").hasPrefix("ok"))
        #expect(presets.names() == ["warm"])
    }

    @Test func aKickedSessionsRunningRequestIsFinishedAndAnswered() throws {
        let gate = (reached: Gate(), goOn: Gate())
        defer { gate.goOn.open() }
        let (_, presets, admin, client, _) = try presetServer(gate, [:])
        try client.send("save cold\n")
        gate.reached.waitBlocking()
        try kickOps(admin)
        gate.goOn.open()
        let lines = try client.restOfLines()
        #expect(lines.contains { $0.hasPrefix("ok") } && lines.last == "error closing kicked by uid \(geteuid())")
        #expect(presets.names() == ["cold"])
    }

    // MARK: Expiry

    @Test func aClockThatJumpsForwardEndsTokensAndBackRevivesNoSession() throws {
        let server = try AccessServer(Revocation.entry, .token("forever", .read))
        let admin = try server.connect()
        let (client, other) = (try server.connect(as: "ops"), try server.connect(as: "forever"))
        server.time = 500
        #expect(try client.ask("ping") == ["ok pong"])
        server.time = .max
        try client.send("Content/Text/Size = 72\n")
        #expect(try client.restOfLines() == ["error closing token ops has expired; sign in with another one"])
        server.time = 1_000_000
        #expect(try other.ask("ping") == ["ok pong"])
        let again = try server.connect(as: "ops")
        #expect(try again.ask("ping") == ["ok pong"])
        #expect(try admin.ask("sessions").count == 4)
        #expect(server.registry.revision == 0)
    }

    @Test func aTokenExpiresByTheTimerWithoutRequests() throws {
        let server = try AccessServer(.token("brief", .read, expires: 1_000_200))
        let client = try server.connect(as: "brief")
        server.time = 1_000_200
        #expect(try client.restOfLines() == ["error closing token brief has expired; sign in with another one"])
        #expect(server.events.texts.last == "state closed revoked")
    }
}
