// Tests whoami, as, drop, request, sessions and kick, and the events that the program receives.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksServer

@Suite(.blocking) struct SessionCommandTests {
    private let user = "uid \(geteuid())"

    @Test func whoamiDescribesTheSession() throws {
        let client = try AccessServer().connect()
        try client.ask("watch Content")
        try client.ask("Content/Text/Size = 72")
        let lines = try client.ask("whoami")
        for field in [
            "identity: \(user)", "scopes: admin", "peer: \(user) pid \(getpid())", "transport: unix socket",
            "watches: 1", "commits: 1", "session: 1",
        ] { #expect(lines.contains("  \(field)")) }
    }

    @Test func asAddsANameToTheIdentity() throws {
        let (server, ada, other) = try AccessServer().withTwoClients()
        #expect(try ada.whoami("person") == [])
        #expect(try ada.ask("as Ada") == ["ok \(user) (Ada)"])
        #expect(try ada.whoami("identity") == ["\(user) (Ada)"])
        #expect(try ada.whoami("person") == ["Ada"])
        try other.ask("watch Content")
        try ada.ask("Content/Text/Size = 72")
        #expect(try other.line().hasSuffix("by \(user) (Ada)"))
        #expect(try other.ask("sessions").contains { $0.contains("\(user) (Ada), \(user) pid") })
        // A second name replaces the first; an invalid one changes nothing.
        #expect(try ada.ask("as Bob") == ["ok \(user) (Bob)"])
        for name in ["\"root) (uid 0\"", "\"\"", String(repeating: "x", count: 41), "\"a\\u202eb\"", "\"\u{200B}\""] {
            #expect(try ada.status("as \(name)").hasPrefix("error bad-"), "\(name)")
        }
        #expect(try ada.ask("as") == ["ok \(user)"])
        let origins = server.registry.history.map(\.origin)
        #expect(origins.map(\.description) == ["\(user) (Ada)"] && origins.map(\.name) == ["Ada"])
    }

    @Test func dropGivesUpScopes() throws {
        let (server, client) = try AccessServer().withClient()
        let many = (0..<300).map { "read:a\($0)" }.joined(separator: " ")
        for (line, status) in [
            ("drop admin", "ok may write run"), ("reload", "error denied …"), ("drop write", "ok may read run"),
            ("Content/Text/Size = 72", "error denied …"), ("set Content/Text/Size 72", "error denied …"),
            ("drop nonsense", "error bad-value scope …"), ("drop \(many)", "error too-many …"),
        ] { #expect(Transcript.fits(try client.status(line), status)) }
        _ = try client.json("json")
        #expect(try client.json("drop run") == #"{"ok":true,"scopes":["read"]}"#)
        #expect(server.registry.revision == 0)
    }

    // MARK: request

    private func guestServer(_ handler: RequestHandler) throws -> AccessServer {
        try AccessServer(
            .token("guest", "read:Content"),
            access: TweakAccess(grants: ["run:Player"], onRequest: { handler.handle($0) }))
    }

    @Test func requestedScopesAreGrantedOrDeclinedForTheSession() throws {
        let handler = RequestHandler()
        let server = try guestServer(handler)
        let client = try server.connect(as: "guest")
        #expect(try client.ask("request read:Content") == ["ok granted read:Content"])
        #expect(try client.ask("request run:Player") == ["ok granted run:Player"])
        #expect(handler.requests.isEmpty)
        handler.setAnswer(false)
        #expect(try client.ask("request write:Content") == ["error denied write:Content declined"])
        let refusal = "error denied write:Content was declined; the same is not asked again in this session"
        #expect(try client.ask("request write:Content read") == [refusal])
        #expect(handler.requests.count == 1)
        handler.setAnswer(true)
        #expect(try client.ask("request read write:Player read") == ["ok granted read write:Player"])
        #expect(handler.requests.last?.scopes == [.read, "write:Player"])
        #expect(handler.requests.last?.session.identity == TweakOrigin("token guest"))
        #expect(try client.whoami("granted") == ["run:Player", "read", "write:Player"])
        #expect(try client.whoami("declined") == ["write:Content"])
        #expect(try client.whoami("scopes") == ["read", "write:Player", "run:Player"])
        #expect(
            server.events.texts.dropFirst(4) == [
                "requested run:Player", "granted run:Player", "requested write:Content", "declined write:Content",
                "requested read write:Player", "granted read write:Player",
            ])
        // Other sessions of the token do not have them.
        #expect(try server.connect(as: "guest").whoami("scopes") == ["read:Content"])
    }

    @Test func aLaterDecisionIsAnEvent() throws {
        let handler = RequestHandler()
        let client = try guestServer(handler).connect(as: "guest")
        for scope in ["write", "write", "admin"] {
            #expect(try client.ask("request \(scope)") == ["ok waiting \(scope)"])
        }
        #expect(try client.whoami("waiting") == ["write", "admin"])
        let requests = handler.requests
        #expect(requests.count == 2)
        // From another thread, and more than once: the first decision counts.
        Thread.detachNewThread {
            requests[0].allow()
            requests[0].decline()
            requests[0].allow()
        }
        #expect(try client.line() == "event 0 granted write")
        requests[1].decline()
        #expect(try client.line() == "event 0 declined admin")
        #expect(try client.status("Content/Text/Size = 72") == "ok rev 1")
        #expect(try client.whoami("waiting") == ["none"])
        #expect(try client.status("request admin").hasPrefix("error denied admin was declined"))
        _ = try client.json("json")
        #expect(try client.json("request admin:Content") == #"{"ok":true,"waiting":["admin:Content"]}"#)
        handler.requests.last?.allow()
        #expect(try client.line() == #"{"event":"granted","rev":1,"scopes":["admin:Content"]}"#)
    }

    @Test func sixteenRequestsMayWaitAndEndWithTheSession() throws {
        let handler = RequestHandler()
        let server = try guestServer(handler)
        let client = try server.connect(as: "guest")
        for number in 1...16 {
            #expect(try client.status("request write:A\(number)") == "ok waiting write:A\(number)")
        }
        #expect(try client.status("request write:A17").hasPrefix("error too-many 16 requests "))
        #expect(try client.ask("quit") == ["ok"])
        client.endInput()
        for request in handler.requests { request.allow() }
        #expect(try server.connect(as: "guest").whoami("scopes") == ["read:Content"])
    }

    @Test func withoutAHandlerARequestIsDeclined() throws {
        let client = try AccessServer(.token("guest", .read)).connect(as: "guest")
        #expect(try client.ask("request write") == ["error denied write declined"])
        #expect(try client.status("request write").contains("was declined"))
    }

    // MARK: sessions and kick

    @Test func sessionsListsAllSessionsForAdministrators() throws {
        let server = try AccessServer(.token("guest", .read))
        let (admin, guest) = (try server.connect(), try server.connect(as: "guest"))
        let unauthenticated = try server.connectTCP()
        try unauthenticated.ask("ping")
        let lines = try admin.ask("sessions")
        #expect(lines.count == 4)
        let patterns = [
            "  → 1  \(user), \(user) pid …, unix socket, open, may admin, watches 0, …",
            "    2  token guest, 127.0.0.1:…, tcp, open, may read, …",
            "    3  127.0.0.1:…, 127.0.0.1:…, tcp, opening, may nothing, …",
        ]
        #expect(zip(lines, patterns).allSatisfy { Transcript.fits($0, $1) }, "\(lines)")
        #expect(try guest.status("sessions").hasPrefix("error denied "))
        _ = try admin.json("json")
        let json = try admin.json("sessions")
        #expect(json.hasPrefix(#"{"ok":true,"sessions":[{"session":1,"identity":"\#(user)","state":"open","#))
        #expect(json.contains(#""own":true},{"session":2,"identity":"token guest","#))
    }

    @Test func kickEndsASession() throws {
        let server = try AccessServer(.token("guest", .read))
        let (admin, guest) = (try server.connect(), try server.connect(as: "guest"))
        try guest.ask("watch Content")
        #expect(try admin.ask("kick 2") == ["ok kicked 2"])
        #expect(try guest.restOfLines() == ["error closing kicked by \(user)"])
        #expect(try admin.status("kick 2").hasPrefix("error conflict session 2 is not connected; "))
        #expect(try admin.status("kick two").hasPrefix("error usage "))
        #expect(try admin.ask("sessions").count == 2)
        let events = server.events.all.suffix(2).map { "\($0.session.id) \($0.text)" }
        #expect(events == ["1 kicked 2", "2 state closed kicked"])
        try admin.send("kick 1\nContent/Text/Size = 72\n")
        #expect(try admin.restOfLines() == ["ok kicked 1", "error closing kicked by \(user)"])
        #expect(server.registry.revision == 0)
    }

    @Test func helpListsPermittedCommandsOnly() throws {
        let server = try AccessServer(.token("guest", .read), .token("root", .admin))
        func commands(_ name: String) throws -> [Substring] {
            try server.connect(as: name).ask("help").dropLast().compactMap { $0.split(separator: " ").first }
        }
        let guest = try Set(commands("guest"))
        #expect(guest.isSuperset(of: ["get", "watch", "request"]))
        #expect(guest.isDisjoint(with: ["set", "begin", "undo", "run", "reload", "kick", "delete"]))
        #expect(try commands("root").contains("kick"))
    }

    // MARK: Lifecycle

    @Test(arguments: [
        ("quit\n", "closed quit"), ("ping\n", "closed end of input"), ("GET / HTTP/1.1\n", "closed stranger"),
        ("nonsense\n", "closed stranger"), ("\u{16}\u{3}\u{1}", "closed stranger"),
    ])
    func theProgramReceivesHowASessionEnded(_ text: String, _ state: String) throws {
        let (server, client) = try AccessServer().withClient()
        _ = try client.exchange(text)
        #expect(server.events.texts == ["state created", "state opening", "state open", "state \(state)"])
        #expect(server.events.all.map(\.session.scopes) == Array(repeating: ["admin"], count: 4))
        #expect(server.events.all.last?.session.userID == geteuid())
        #expect(server.events.all.last?.session.processID == getpid())
    }

    @Test func aSessionBeyondTheLimitFails() throws {
        let (server, first) = try AccessServer { $0.sessions = 1 }.withClient()
        try first.ask("ping")
        let second = try server.connectTCP()
        #expect(try second.restOfLines().first?.hasPrefix("error too-many ") == true)
        #expect(server.events.takeAllBySession()[2] == ["state created", "state failed limit"])
    }

    @Test func aStoppedServerClosesItsSessions() throws {
        let server = try AccessServer(.token("guest", .read), hasThread: true)
        let clients = [try server.connect(), try server.connect(as: "guest"), try server.connectTCP()]
        for client in clients { try client.ask("ping") }
        for client in clients { client.endInput() }
        let open = try server.connect()
        try open.ask("ping")
        server.server.stop()
        _ = try open.rest()
        #expect(server.events.takeAllBySession()[4]?.last == "state closed shutdown")
    }

    /// The public initializer, for programs without a daemon.
    @Test func onSessionReceivesTheEvents() throws {
        let (directory, events) = (try TemporaryDirectory(), SessionEvents())
        let server = TweakServer(
            name: "x", registry: TweakRegistry(), listeners: [.unix(path: directory.file("s"))],
            onSession: { events.note($0) })
        try server.start()
        #expect(try TestClient(unix: directory.file("s")).ask("quit") == ["ok"])
        server.stop()
        #expect(events.texts == ["state created", "state opening", "state open", "state closed quit"])
    }
}
