// Rights that are taken away, in every way, while something is under way.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

/// How a session loses what it had.
enum Revocation: String, CaseIterable, Sendable {
    case deleted, replaced, narrowed, expired, kicked, dropped

    /// Whether the session ends with it.
    var endsIt: Bool { self != .narrowed && self != .dropped }

    /// What it is told then.
    var farewell: String {
        switch self {
        case .kicked: "error closing kicked by uid \(geteuid())"
        case .expired: "error closing token ops has expired; show another one"
        default: "error closing token ops was revoked; show another one"
        }
    }

    /// A token with rights that this takes away.
    static let entry = TokenEntry.token("ops", "write:Content", "write:Many", "run:Player", expires: 2_000_000)
}

@Suite(.blocking) struct RevocationTests {
    /// Takes the rights of session 2, and returns when that is done. Who drops them has to read the reply.
    private func take(_ way: Revocation, _ server: AccessServer, _ admin: TestClient, _ client: TestClient) throws {
        switch way {
        case .deleted: try server.take([], admin)
        case .replaced: try server.take([.token("ops", "write:Content", secret: "other")], admin)
        case .narrowed: try server.take([.token("ops", "read:Player")], admin)
        case .expired:
            server.time = 2_000_000
            try server.settle(admin)
        case .kicked: try admin.ask("kick 2")
        case .dropped: try client.send("drop write run read\n")
        }
    }

    private func afterwards(_ way: Revocation, _ client: TestClient) throws {
        if way.endsIt {
            #expect(try client.restOfLines() == [way.farewell])
        } else {
            if way == .dropped { #expect(try client.reply() == ["ok may nothing"]) }
            #expect(try client.ask("ping") == ["ok pong"])
            #expect(try client.ask("Content/Text/Size = 99")[0].hasPrefix("error "))
        }
    }

    private func setUp(
        _ registry: TweakRegistry = ExampleTweaks().registry, hasThread: Bool = false
    ) throws -> (AccessServer, TestClient, TestClient) {
        let server = try AccessServer(Revocation.entry, registry: registry, hasThread: hasThread)
        let admin = try server.connect()
        // The numbers are those of the order.
        try admin.ask("ping")
        return (server, admin, try server.connect(as: "ops"))
    }

    @Test(arguments: Revocation.allCases) func whileItWatches(_ way: Revocation) throws {
        let (server, admin, client) = try setUp()
        try client.ask("watch Content")
        try admin.ask("Content/Text/Size = 70")
        #expect(try client.line().hasPrefix("event 1 Content/Text/Size = 70 "))
        try take(way, server, admin, client)
        if way == .dropped { #expect(try client.reply() == ["ok may nothing"]) }
        try admin.ask("Content/Text/Size = 71")
        try admin.ask("Content/Text/Size = 72")
        if way.endsIt {
            #expect(try client.restOfLines() == [way.farewell])
        } else {
            // No event before it.
            #expect(try client.ask("ping") == ["ok pong"])
        }
        #expect(
            server.events.all.contains {
                $0.text == (way == .kicked ? "kicked 2" : way == .dropped ? "dropped write run read" : "revoked")
            })
    }

    @Test(arguments: Revocation.allCases) func whileABatchIsOpen(_ way: Revocation) throws {
        let (server, admin, client) = try setUp()
        try client.ask("begin")
        #expect(try client.ask("Content/Text/Size = 72") == ["ok queued"])
        try take(way, server, admin, client)
        if way == .dropped { #expect(try client.reply() == ["ok may nothing"]) }
        if way.endsIt {
            #expect(try client.restOfLines() == [way.farewell])
        } else {
            #expect(try client.ask("commit")[0].hasPrefix("error denied "))
        }
        #expect(server.registry.revision == 0)
        #expect(server.registry["Content/Text/Size"]?.value == .number(60))
    }

    /// The action ends, and its reply is sent; then nothing more.
    @Test(arguments: Revocation.allCases) func whileAnActionRuns(_ way: Revocation) throws {
        let registry = ExampleTweaks().registry
        let (began, gate) = (Gate(), Gate())
        tweakAction("Player", "Audio", "Long", registry: registry) { _ in
            began.open()
            await gate.wait()
            return "done"
        }
        let (server, admin, client) = try setUp(registry)
        try client.send("run Player/Audio/Long\n")
        began.waitBlocking()
        try take(way, server, admin, client)
        gate.open()
        #expect(try client.lines(2) == ["  done", "ok"])
        try afterwards(way, client)
        #expect(registry.revision == 0)
    }

    /// An action that never ends does not keep a session that was ended.
    @Test(arguments: [Revocation.deleted, .kicked]) func whileAnActionHangs(_ way: Revocation) throws {
        let registry = ExampleTweaks().registry
        let (began, gate) = (Gate(), Gate())
        tweakAction("Player", "Audio", "Long", registry: registry) { _ in
            began.open()
            await gate.wait()
            return "done"
        }
        let server = try AccessServer(Revocation.entry, registry: registry, hasThread: true) {
            $0.lingerTime = .milliseconds(20)
        }
        let admin = try server.connect()
        try admin.ask("ping")
        let client = try server.connect(as: "ops")
        try client.send("run Player/Audio/Long\nContent/Text/Size = 72\n")
        began.waitBlocking()
        try take(way, server, admin, client)
        #expect(try client.restOfLines() == [way.farewell])
        gate.open()
        #expect(try admin.ask("ping") == ["ok pong"])
        #expect(registry.revision == 0)
    }

    /// Somebody holds a slider and moves it: set after set, without an end.
    @Test(arguments: Revocation.allCases) func whileASliderIsDragged(_ way: Revocation) throws {
        let (server, admin, client) = try setUp()
        let ended = Gate()
        let number = client.number
        // What it is answered is read, or the server would rightly stop reading.
        Thread.detachNewThread {
            var bytes = [UInt8](repeating: 0, count: 65_536)
            while recv(number, &bytes, bytes.count, 0) > 0 {}
            ended.open()
        }
        let drags = (0..<quantity(8_000, few: 4_000)).map { "Content/Text/Size = \(20 + $0 % 60)\n" }
        // Who drops rights does so in between: sent by another thread, it could come in the middle of a line.
        let between = way == .dropped ? ["drop write run read\n"] : []
        let sent = client.sendMeanwhile((drags[..<1_000] + between + drags[1_000...]).joined())
        try eventually {
            try admin.ask("ping")
            return server.registry.revision >= 5
        }
        if way == .dropped {
            try eventually {
                try admin.ask("ping")
                return server.events.all.contains(where: { $0.text.hasPrefix("dropped") })
            }
        } else {
            try take(way, server, admin, client)
        }
        let revision = server.registry.revision
        for _ in 1...50 { try admin.ask("ping") }
        #expect(server.registry.revision == revision)
        sent.waitBlocking()
        client.endInput()
        ended.waitBlocking()
        #expect(server.registry.revision == revision)
    }

    /// A long reply is cut where it stands, and nothing that is not to be seen follows.
    @Test(arguments: [Revocation.deleted, .narrowed, .expired, .kicked], [false, true])
    func whileALongReplyIsSent(_ way: Revocation, _ json: Bool) throws {
        let (server, admin, client) = try setUp(LongListing.registry, hasThread: true)
        if json {
            try client.send("json\n")
            _ = try client.line()
        }
        try client.send("get Many\nping\n")
        // It has begun, and cannot end before it is read.
        let first = try client.read(through: "Number 0\"")
        #expect(!first.isEmpty)
        try take(way, server, admin, client)
        var rest: [String] = []
        if way.endsIt {
            rest = try client.restOfLines()
        } else {
            client.endInput()
            rest = try client.restOfLines()
            #expect(rest.removeLast() == (json ? #"{"ok":true,"pong":true}"# : "ok pong"))
        }
        let closing = String(way.farewell.dropFirst("error closing ".count))
        // Who loses rights is told that first; a kick needs but one line.
        let cut = way == .kicked ? ("closing", closing) : ("denied", "your rights have changed")
        if way.endsIt, way != .kicked {
            let last = rest.removeLast()
            #expect(last == (json ? #"{"ok":false,"error":{"code":"closing","message":"\#(closing)"}}"# : way.farewell))
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

    /// What was being written is taken back, and never in effect.
    @Test(arguments: Revocation.allCases.filter { $0 != .dropped }) func whileAChangeIsWritten(_ way: Revocation) throws
    {
        let store = GatedStore(isRequired: true)
        let server = try AccessServer(Revocation.entry, store: store)
        let admin = try server.connect()
        try admin.ask("ping")
        let client = try server.connect(as: "ops")
        try client.send("Content/Text/Size = 72\n")
        #expect(store.proposals >= 1)
        try take(way, server, admin, client)
        store.answerProposals()
        // What it sees no more is not there for it, even if it named it before.
        #expect(try client.line().hasPrefix("error unknown-tweak there is no tweak “Content/Text/Size”"))
        try afterwards(way, client)
        #expect(server.registry.revision == 0 && store.withdrawn == 1)
    }

    /// On a Unix socket what the user has stays.
    @Test func onAUnixSocket() throws {
        let server = try AccessServer(.token("ops", .write))
        let (admin, client) = (try server.connect(), try server.connect())
        try client.ask("drop admin run")
        #expect(try client.ask("auth twk_ops").last == "ok token ops may write")
        try server.take([], admin)
        #expect(try client.whoami("identity") == ["uid \(geteuid())"])
        #expect(try client.whoami("tokens") == ["none"])
        #expect(try client.ask("Content/Text/Size = 72").last == "ok rev 1")
    }

    /// What was given at the request of a token's holder ends with the token, though the user stays.
    @Test func whatWasRequestedEndsToo() throws {
        let server = try AccessServer(.token("ops", "read:Content"), access: TweakAccess(grants: [.run]))
        let (admin, client) = (try server.connect(), try server.connect())
        try client.ask("drop read run")
        try client.ask("auth twk_ops")
        #expect(try client.ask("request run").last == "ok granted run")
        #expect(try client.whoami("scopes") == ["read:Content", "run"])
        try server.take([], admin)
        #expect(try client.whoami("scopes") == ["none"])
        #expect(try client.whoami("granted") == ["none"])
    }

    /// The program is still being asked when the token ends: what it says then is for nobody.
    @Test(arguments: [true, false]) func whileSomebodyIsAsked(isDecidedAtOnce: Bool) throws {
        let (asked, goOn) = (Gate(), Gate())
        let late = Mutex<TweakScopeRequest?>(nil)
        let access = TweakAccess(onRequest: { request in
            asked.open()
            goOn.waitBlocking()
            if isDecidedAtOnce { request.allow() } else { late.withLock { $0 = request } }
        })
        let server = try AccessServer(.token("ops", "read:Content"), access: access)
        let (admin, client) = (try server.connect(), try server.connect())
        try client.ask("drop admin run write read")
        try client.ask("auth twk_ops")
        try client.send("request run\n")
        asked.waitBlocking()
        try server.take([], admin)
        goOn.open()
        #expect(try client.reply() == ["error denied your rights have changed; request it again"])
        late.withLock { $0 }?.allow()
        try server.settle(admin)
        #expect(try client.whoami("granted") == ["none"])
        #expect(try client.whoami("scopes") == ["none"])
    }

    /// A slow disk: what was asked for under other rights is not begun any more, and not told.
    @Test(
        arguments: [
            ("diff warm", true), ("load warm", true), ("presets", true), ("diff warm", false), ("load warm", false),
            ("presets", false), ("delete warm", false), ("save cold", false),
        ])
    func whileADiskIsAtIt(_ line: String, isBegun: Bool) throws {
        let gate = (reached: Gate(), goOn: Gate())
        let presets = try MemoryPresets(["warm": ["Content/Text/Size = 72"]], gate: gate)
        let server = try AccessServer(.token("ops", .write, .admin), presets: presets)
        let (admin, client, other) = (try server.connect(), try server.connect(as: "ops"), try server.connect())
        // Somebody else's comes first.
        if !isBegun { try admin.send("presets\n") }
        if !isBegun { gate.reached.waitBlocking() }
        try client.send("ping\n\(line)\nping\n")
        #expect(try client.reply() == ["ok pong"])
        if isBegun { gate.reached.waitBlocking() }
        try server.settle(other)
        try server.take([.token("ops", "write:Player")], other)
        gate.goOn.open()
        #expect(try client.reply().last?.hasPrefix("error denied your rights have changed while") == true)
        #expect(try client.reply() == ["ok pong"])
        #expect(presets.names() == ["warm"] && server.registry.revision == 0)
    }

    /// What a session waits for that somebody kicks is not done behind its back.
    @Test(arguments: ["delete warm", "save cold"]) func kickedBeforeADiskIsAtIt(_ line: String) throws {
        let gate = (reached: Gate(), goOn: Gate())
        defer { gate.goOn.open() }
        let presets = try MemoryPresets(["warm": ["Content/Text/Size = 72"]], gate: gate)
        let server = try AccessServer(.token("ops", .write, .admin), presets: presets)
        let (admin, client, other) = (try server.connect(), try server.connect(as: "ops"), try server.connect())
        try admin.send("presets\n")
        gate.reached.waitBlocking()
        try client.send("ping\n\(line)\n")
        #expect(try client.reply() == ["ok pong"])
        try server.settle(other)
        let sessions = try other.ask("sessions").filter { $0.contains("token ops") }
        let number = try #require(sessions.first?.split(separator: " ").first)
        try other.ask("kick \(number)")
        gate.goOn.open()
        #expect(
            try client.restOfLines() == [
                "error closing the session was ended before this began", "error closing kicked by uid \(geteuid())",
            ])
        // What came before it has been done by now, and this would have been.
        #expect(try other.ask("presets").last?.hasPrefix("ok") == true)
        #expect(presets.names() == ["warm"])
    }

    /// What has begun is done, and who is kicked meanwhile is told what came of it.
    @Test func kickedWhileADiskIsAtIt() throws {
        let gate = (reached: Gate(), goOn: Gate())
        defer { gate.goOn.open() }
        let presets = try MemoryPresets(gate: gate)
        let server = try AccessServer(.token("ops", .write, .admin), presets: presets)
        let (admin, client) = (try server.connect(), try server.connect(as: "ops"))
        try client.send("save cold\n")
        gate.reached.waitBlocking()
        let sessions = try admin.ask("sessions").filter { $0.contains("token ops") }
        let number = try #require(sessions.first?.split(separator: " ").first)
        try admin.ask("kick \(number)")
        gate.goOn.open()
        let lines = try client.restOfLines()
        #expect(lines.contains { $0.hasPrefix("ok") } && lines.last == "error closing kicked by uid \(geteuid())")
        #expect(presets.names() == ["cold"])
    }

    /// Whoever has shown two keeps what the other one gives.
    @Test func oneOfTwo() throws {
        let (see, act) = (TokenEntry.token("see", .read), TokenEntry.token("act", .write))
        let server = try AccessServer(see, act)
        let admin = try server.connect()
        let client = try server.connect(as: "see")
        try client.ask("auth twk_act")
        try server.take([see], admin)
        #expect(try client.whoami("scopes") == ["read"])
        #expect(try client.whoami("identity") == ["token see"])
        try server.take([], admin)
        #expect(try client.restOfLines() == ["error closing token see was revoked; show another one"])
    }

    /// More is given at once, too; what was given up stays so.
    @Test func widened() throws {
        let server = try AccessServer(.token("ops", "read:Content"))
        let admin = try server.connect()
        let client = try server.connect(as: "ops")
        try client.ask("drop run")
        try server.take([.token("ops", .write, .run)], admin)
        #expect(try client.whoami("scopes") == ["write"])
        #expect(!server.events.all.contains { $0.text == "revoked" })
    }

    /// A clock that jumps does no harm: forward ends what has ended by it; back lets nobody in again.
    @Test func clocksThatJump() throws {
        let server = try AccessServer(Revocation.entry, .token("forever", .read))
        let admin = try server.connect()
        let (client, other) = (try server.connect(as: "ops"), try server.connect(as: "forever"))
        server.time = 500
        #expect(try client.ask("ping") == ["ok pong"])
        server.time = .max
        try client.send("Content/Text/Size = 72\n")
        #expect(try client.restOfLines() == ["error closing token ops has expired; show another one"])
        server.time = 1_000_000
        #expect(try other.ask("ping") == ["ok pong"])
        let again = try server.connect(as: "ops")
        #expect(try again.ask("ping") == ["ok pong"])
        #expect(try admin.ask("sessions").count == 4)
        #expect(server.registry.revision == 0)
    }

    /// Without anybody doing anything, by the timer.
    @Test func expiresBesideTheClock() throws {
        let server = try AccessServer(.token("brief", .read, expires: 1_000_200))
        let client = try server.connect(as: "brief")
        // Its time has come when the timer looks.
        server.time = 1_000_200
        #expect(try client.restOfLines() == ["error closing token brief has expired; show another one"])
        #expect(server.events.all.last?.text == "state closed revoked")
    }
}
