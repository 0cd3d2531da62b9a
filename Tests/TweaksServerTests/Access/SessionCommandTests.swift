// whoami, drop, request, sessions and kick, and what the program is told.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksServer

@Suite(.blocking) struct SessionCommandTests {
    private let user = "uid \(geteuid())"

    @Test func whoami() throws {
        let server = try AccessServer()
        let client = try server.connect()
        try client.ask("watch Content")
        try client.ask("Content/Text/Size = 72")
        let lines = try client.ask("whoami").filter { !$0.hasPrefix("event ") }
        #expect(lines.contains("  identity: \(user)") && lines.contains("  scopes: admin"))
        #expect(lines.contains("  peer: \(user) pid \(getpid())") && lines.contains("  transport: unix socket"))
        #expect(lines.contains("  watches: 1") && lines.contains("  commits: 1") && lines.contains("  session: 1"))
    }

    @Test func names() throws {
        let server = try AccessServer()
        let (ada, other) = (try server.connect(), try server.connect())
        #expect(try ada.whoami("person") == [])
        #expect(try ada.ask("as Ada") == ["ok \(user) (Ada)"])
        #expect(try ada.whoami("identity") == ["\(user) (Ada)"])
        #expect(try ada.whoami("person") == ["Ada"])
        try other.ask("watch Content")
        try ada.ask("Content/Text/Size = 72")
        #expect(try other.line().hasSuffix("by \(user) (Ada)"))
        #expect(try other.ask("sessions").contains { $0.contains("\(user) (Ada), \(user) pid") })
        // Another one is no second one behind the first; what cannot be a name changes nothing.
        #expect(try ada.ask("as Bob") == ["ok \(user) (Bob)"])
        for name in ["\"root) (uid 0\"", "\"\"", String(repeating: "x", count: 41), "\"a\\u202eb\"", "\"\u{200B}\""] {
            #expect(try ada.ask("as \(name)")[0].hasPrefix("error bad-"), "\(name)")
        }
        #expect(try ada.ask("as") == ["ok \(user)"])
        let told = server.registry.history.map(\.origin)
        #expect(told.map(\.description) == ["\(user) (Ada)"])
        #expect(told.map(\.name) == ["Ada"])
    }

    @Test func dropping() throws {
        let server = try AccessServer()
        let client = try server.connect()
        #expect(try client.ask("drop admin") == ["ok may write run"])
        #expect(try client.ask("reload")[0].hasPrefix("error denied "))
        #expect(try client.ask("drop write").last == "ok may read run")
        #expect(try client.ask("Content/Text/Size = 72")[0].hasPrefix("error denied "))
        #expect(try client.ask("set Content/Text/Size 72")[0].hasPrefix("error denied "))
        #expect(try client.ask("drop nonsense")[0].hasPrefix("error bad-value scope "))
        let many = (0..<300).map { "read:a\($0)" }.joined(separator: " ")
        #expect(try client.ask("drop \(many)")[0].hasPrefix("error too-many "))
        try client.send("json\ndrop run\n")
        _ = try client.line()
        #expect(try client.line() == #"{"ok":true,"scopes":["read"]}"#)
        #expect(server.registry.revision == 0)
    }

    // MARK: request

    /// What the program answers, when it is asked.
    private final class Desk: Sendable {
        enum Mode: Sendable { case allow, decline, wait }
        let state = Mutex<(mode: Mode, requests: [TweakScopeRequest])>((.wait, []))

        func take(_ request: TweakScopeRequest) {
            let mode = state.withLock { state in
                state.requests.append(request)
                return state.mode
            }
            if mode == .allow { request.allow() }
            if mode == .decline { request.decline() }
        }

        var requests: [TweakScopeRequest] { state.withLock { $0.requests } }
        func answers(_ mode: Mode) { state.withLock { $0.mode = mode } }
    }

    private func deskServer(_ desk: Desk) throws -> AccessServer {
        try AccessServer(
            .token("guest", "read:Content"),
            access: TweakAccess(grants: ["run:Player"], onRequest: { desk.take($0) }))
    }

    @Test func requesting() throws {
        let desk = Desk()
        let server = try deskServer(desk)
        let client = try server.connect(as: "guest")
        #expect(try client.ask("request read:Content") == ["ok granted read:Content"])
        #expect(try client.ask("request run:Player") == ["ok granted run:Player"])
        #expect(desk.requests.isEmpty)
        desk.answers(.decline)
        #expect(try client.ask("request write:Content") == ["error denied write:Content declined"])
        #expect(
            try client.ask("request write:Content read") == [
                "error denied write:Content was declined; the same is not asked again in this session"
            ])
        #expect(desk.requests.count == 1)
        desk.answers(.allow)
        #expect(try client.ask("request read write:Player read") == ["ok granted read write:Player"])
        #expect(desk.requests.last?.scopes == [.read, "write:Player"])
        #expect(desk.requests.last?.session.identity == TweakOrigin("token guest"))
        #expect(try client.whoami("granted") == ["run:Player", "read", "write:Player"])
        #expect(try client.whoami("declined") == ["write:Content"])
        #expect(try client.whoami("scopes") == ["read", "write:Player", "run:Player"])
        #expect(
            server.events.all.map(\.text).dropFirst(4) == [
                "requested run:Player", "granted run:Player", "requested write:Content", "declined write:Content",
                "requested read write:Player", "granted read write:Player",
            ])
        // Nobody else has it.
        #expect(try server.connect(as: "guest").whoami("scopes") == ["read:Content"])
    }

    @Test func decidedLater() throws {
        let desk = Desk()
        let server = try deskServer(desk)
        let client = try server.connect(as: "guest")
        #expect(try client.ask("request write") == ["ok waiting write"])
        #expect(try client.ask("request write") == ["ok waiting write"])
        #expect(try client.ask("request admin") == ["ok waiting admin"])
        #expect(desk.requests.count == 2)
        #expect(try client.whoami("waiting") == ["write", "admin"])
        let requests = desk.requests
        // From another thread, more than once; the first time counts.
        Thread.detachNewThread {
            requests[0].allow()
            requests[0].decline()
            requests[0].allow()
        }
        #expect(try client.line() == "event 0 granted write")
        requests[1].decline()
        #expect(try client.line() == "event 0 declined admin")
        #expect(try client.ask("Content/Text/Size = 72").last == "ok rev 1")
        #expect(try client.whoami("waiting") == ["none"])
        #expect(try client.ask("request admin")[0].hasPrefix("error denied admin was declined"))
        try client.send("json\nrequest admin:Content\n")
        _ = try client.line()
        #expect(try client.line() == #"{"ok":true,"waiting":["admin:Content"]}"#)
        desk.requests.last?.allow()
        #expect(try client.line() == #"{"event":"granted","rev":1,"scopes":["admin:Content"]}"#)
    }

    /// Whoever is gone is no trouble, and so many may wait and no more.
    @Test func limitsOfWaiting() throws {
        let desk = Desk()
        let server = try deskServer(desk)
        let client = try server.connect(as: "guest")
        for number in 1...16 {
            #expect(try client.ask("request write:A\(number)").last == "ok waiting write:A\(number)")
        }
        #expect(try client.ask("request write:A17")[0].hasPrefix("error too-many 16 requests "))
        #expect(try client.ask("quit") == ["ok"])
        client.endInput()
        for request in desk.requests { request.allow() }
        let next = try server.connect(as: "guest")
        #expect(try next.whoami("scopes") == ["read:Content"])
    }

    @Test func withoutAHandlerItIsDeclined() throws {
        let server = try AccessServer(.token("guest", .read))
        let client = try server.connect(as: "guest")
        #expect(try client.ask("request write") == ["error denied write declined"])
        #expect(try client.ask("request write")[0].contains("was declined"))
    }

    // MARK: sessions and kick

    @Test func sessions() throws {
        let server = try AccessServer(.token("guest", .read))
        let admin = try server.connect()
        let guest = try server.connect(as: "guest")
        let stranger = try server.connectTCP()
        try stranger.ask("ping")
        let lines = try admin.ask("sessions")
        #expect(lines.count == 4)
        #expect(Transcript.fits(lines[0], "  → 1  \(user), \(user) pid …, unix socket, open, may admin, watches 0, …"))
        #expect(Transcript.fits(lines[1], "    2  token guest, 127.0.0.1:…, tcp, open, may read, …"))
        #expect(Transcript.fits(lines[2], "    3  127.0.0.1:…, 127.0.0.1:…, tcp, opening, may nothing, …"))
        #expect(try guest.ask("sessions")[0].hasPrefix("error denied "))
        try admin.send("json\nsessions\n")
        _ = try admin.line()
        let json = try admin.line()
        #expect(json.hasPrefix(#"{"ok":true,"sessions":[{"session":1,"identity":"\#(user)","state":"open","#))
        #expect(json.contains(#""own":true},{"session":2,"identity":"token guest","#))
    }

    @Test func kicking() throws {
        let server = try AccessServer(.token("guest", .read))
        let admin = try server.connect()
        let guest = try server.connect(as: "guest")
        try guest.ask("watch Content")
        #expect(try admin.ask("kick 2") == ["ok kicked 2"])
        #expect(try guest.restOfLines() == ["error closing kicked by \(user)"])
        #expect(try admin.ask("kick 2")[0].hasPrefix("error conflict session 2 is not connected; "))
        #expect(try admin.ask("kick two")[0].hasPrefix("error usage "))
        #expect(try admin.ask("sessions").count == 2)
        #expect(
            server.events.all.suffix(2).map { "\($0.session.id) \($0.text)" } == [
                "1 kicked 2", "2 state closed kicked",
            ])
        try admin.send("kick 1\nContent/Text/Size = 72\n")
        #expect(try admin.restOfLines() == ["ok kicked 1", "error closing kicked by \(user)"])
        #expect(server.registry.revision == 0)
    }

    @Test func helpShowsWhatMayBeDone() throws {
        let server = try AccessServer(.token("guest", .read), .token("root", .admin))
        func commands(_ name: String) throws -> [String] {
            try server.connect(as: name).ask("help").dropLast().compactMap {
                $0.split(separator: " ").first.map { "\($0)" }
            }
        }
        let guest = try commands("guest")
        #expect(guest.contains("get") && guest.contains("watch") && guest.contains("request"))
        for hidden in ["set", "begin", "undo", "run", "reload", "kick", "delete"] { #expect(!guest.contains(hidden)) }
        #expect(try commands("root").contains("kick"))
    }

    // MARK: Lives

    /// How sessions end, and what the program is told of it.
    @Test(arguments: [
        ("quit\n", "closed quit"), ("ping\n", "closed end of input"), ("GET / HTTP/1.1\n", "closed stranger"),
        ("nonsense\n", "closed stranger"), ("\u{16}\u{3}\u{1}", "closed stranger"),
    ])
    func endings(_ text: String, _ state: String) throws {
        let server = try AccessServer()
        let client = try server.connect()
        try client.send(text)
        client.endInput()
        _ = try client.rest()
        #expect(server.events.all.map(\.text) == ["state created", "state opening", "state open", "state \(state)"])
        #expect(server.events.all.map(\.session.scopes) == Array(repeating: ["admin"], count: 4))
        #expect(server.events.all.last?.session.userID == geteuid())
        #expect(server.events.all.last?.session.processID == getpid())
    }

    @Test func beyondTheLimit() throws {
        let server = try AccessServer { $0.sessions = 1 }
        let first = try server.connect()
        try first.ask("ping")
        let second = try server.connectTCP()
        #expect(try second.restOfLines().first?.hasPrefix("error too-many ") == true)
        #expect(server.events.all.filter { $0.session.id == 2 }.map(\.text) == ["state created", "state failed limit"])
    }

    @Test func shutdown() throws {
        let server = try AccessServer(.token("guest", .read), hasThread: true)
        let clients = [try server.connect(), try server.connect(as: "guest"), try server.connectTCP()]
        for client in clients { try client.ask("ping") }
        for client in clients { client.endInput() }
        let open = try server.connect()
        try open.ask("ping")
        server.server.stop()
        _ = try open.rest()
        #expect(server.events.all.last { $0.session.id == 4 }?.text == "state closed shutdown")
    }

    /// Public, for who has no daemon.
    @Test func theProgramWatches() throws {
        let (directory, events) = (try TemporaryDirectory(), SessionEvents())
        let server = TweakServer(
            name: "x", registry: TweakRegistry(), listeners: [.unix(path: directory.file("s"))],
            onSession: { events.add($0) })
        try server.start()
        #expect(try TestClient(unix: directory.file("s")).ask("quit") == ["ok"])
        server.stop()
        #expect(events.all.map(\.text) == ["state created", "state opening", "state open", "state closed quit"])
    }
}
