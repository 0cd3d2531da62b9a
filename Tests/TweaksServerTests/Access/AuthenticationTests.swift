// Tests tokens on the wire: what is possible before one is shown, what a right one gives, and what wrong ones cost.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct AuthenticationTests {
    private let ops = TokenEntry.token("ops", .write, .run)

    // MARK: Before

    @Test(
        arguments: Command.all.filter { $0.permission != .nothing }.map(\.example) + [
            "A/B/C = 1", "Content/Text/Size += 1",
        ])
    func noCommandRunsWithoutAToken(_ line: String) throws {
        let server = try AccessServer(ops)
        let client = try server.connectTCP()
        let refusal = "error auth-required sign in with a token first: auth TOKEN; tweakctl login keeps one for you"
        #expect(try client.ask(line) == [refusal])
        #expect(try client.ask("ping") == ["ok pong"])
        #expect(server.registry.revision == 0)
    }

    @Test(arguments: ["get Content/Text/Size", "set Content/Text/Size 72", "Content/Text/Size = 72"])
    func theFastPathRequiresATokenToo(_ line: String) throws {
        let client = try AccessServer(ops).connectTCP()
        #expect(try client.status(line).hasPrefix("error auth-required "))
        #expect(try client.ask("auth twk_ops") == ["ok token ops may write run"])
        #expect(try client.status(line).hasPrefix("ok"))
    }

    @Test func anUnauthenticatedSessionSeesNoTweaks() throws {
        let client = try AccessServer(ops).connectTCP()
        try client.send("\n")
        let banner = try client.read(through: "\n> ")
        #expect(
            Transcript.fits(banner, "  example, pid …; auth TOKEN first\n> ") || banner.contains(", auth TOKEN first"))
        #expect(!banner.contains("tweak"))
        try client.send("prompt off\n")
        #expect(try client.line() == "ok")
        let hello = try client.ask("hello 1")
        #expect(hello.contains("  auth: required") && !hello.contains { $0.hasPrefix("  rev") })
        let commands = try client.ask("help").dropLast().compactMap { $0.split(separator: " ").first }
        #expect(commands == ["help", "auth", "whoami", "drop", "hello", "json", "prompt", "ping", "quit"])
        #expect(try client.status("help set") == "ok")
        #expect(try client.whoami("state") == ["opening"])
        #expect(try client.whoami("scopes") == ["none"])
    }

    @Test func linesAreShortUntilATokenIsShown() throws {
        let server = try AccessServer(ops)
        let client = try server.connectTCP()
        try client.send("# \(String(repeating: "x", count: 2_046))\nping\n")
        #expect(try client.reply() == ["ok pong"])
        try client.send("# \(String(repeating: "x", count: 2_047))\n")
        #expect(try client.restOfLines() == ["error too-long a line holds at most 2048 bytes"])
        let authenticated = try server.connect(as: "ops")
        try authenticated.send("# \(String(repeating: "x", count: 60_000))\nping\n")
        #expect(try authenticated.reply() == ["ok pong"])
        #expect(server.events.all.last { $0.session.id == 1 }?.text == "state failed limit")
    }

    @Test func aSessionWithoutATokenEndsInTime() throws {
        let server = try AccessServer(ops) { $0.timeToAuthenticate = .seconds(3_600) }
        let client = try server.connectTCP()
        #expect(try client.ask("ping") == ["ok pong"])
        server.pass(.seconds(3_600))
        #expect(try client.restOfLines() == ["error timeout no token came in 1h; connect again, then auth TOKEN"])
        #expect(server.events.texts == ["state created", "state opening", "state failed idle"])
        #expect(try server.connect().ask("ping") == ["ok pong"])
    }

    // MARK: Right

    @Test func aTokenOpensTheSession() throws {
        let server = try AccessServer(ops)
        let client = try server.connect(as: "ops")
        #expect(try client.whoami("identity") == ["token ops"])
        #expect(try client.whoami("scopes") == ["write", "run"])
        #expect(try client.whoami("tokens") == ["name ops"])
        #expect(try client.status("Content/Text/Size = 72") == "ok rev 1")
        #expect(try client.ask("history")[0].hasSuffix("  token ops: Content/Text/Size 60 → 72"))
        #expect(try client.ask("run Player/Audio/Mute") == ["  muted", "ok"])
        // It has signed in already.
        let refusal = "error denied this needs admin for everything, and this session may write run; request it"
        #expect(try client.status("reload") == refusal)
        #expect(
            server.events.texts == [
                "state created", "state opening", "state open", "authenticated ops", "denied reload",
            ])
        #expect(server.events.all.last?.session.identity == TweakOrigin("token ops"))
    }

    @Test func authenticationIsReportedInJSON() throws {
        let client = try AccessServer(.token("brief", .read, "write:Content/Text", expires: 1_800_000_000_000))
            .connectTCP()
        try client.send("json\nget *\nauth twk_brief\nauth nonsense\n")
        let lines = try client.lines(4)
        #expect(lines[0] == #"{"ok":true}"# && lines[1].hasPrefix(#"{"ok":false,"error":{"code":"auth-required","#))
        let scopes = #""scopes":["read","write:Content/Text"],"expires":"2027-01-15T08:00:00Z"}"#
        #expect(lines[2] == #"{"ok":true,"token":"brief",\#(scopes)"#)
        #expect(lines[3].hasPrefix(#"{"ok":false,"error":{"code":"denied","#))
    }

    /// On a Unix socket a token adds to the rights of the user.
    @Test func tokensAddUp() throws {
        let client = try AccessServer(.token("see", "read:Content"), .token("act", "run:Player")).connect()
        #expect(try client.ask("drop admin write run read") == ["ok may nothing"])
        #expect(try client.status("get Content/Text/Size").hasPrefix("error denied "))
        #expect(try client.ask("auth twk_see") == ["ok token see may read:Content"])
        #expect(try client.ask("auth twk_act") == ["ok token act may run:Player"])
        #expect(try client.whoami("scopes") == ["read:Content", "run:Player"])
        #expect(try client.whoami("identity") == ["token act"])
        #expect(try client.ask("drop run") == ["ok may read:Content"])
        // Only a token restores it.
        #expect(try client.status("auth twk_act") == "ok token act may run:Player")
        #expect(try client.whoami("scopes") == ["read:Content", "run:Player"])
    }

    @Test func theRateOfATokenLimitsItsSession() throws {
        let server = try AccessServer(.token("slow", .write, rate: 2), clock: ManualClock(wall: 1_000_000))
        let client = try server.connect(as: "slow")
        try client.send("begin\nContent/Text/Size = 70\n" + (71...80).map { "Content/Text/Size = \($0)\n" }.joined())
        for _ in 0..<12 { _ = try client.reply() }
        #expect(try client.status("commit") == "ok rev 1")
        let refusal =
            "error too-many token slow makes at most 2 commits a second, all its sessions together; wait, nothing was "
            + "changed"
        #expect(try (20..<60).map { try client.status("Content/Text/Size = \($0)") }.contains(refusal))
        #expect(server.registry.revision < 20)
        // A refused batch stays open.
        try client.ask("begin")
        try client.ask("Content/Text/Size = 99")
        server.pass(.seconds(1))
        #expect(try client.status("commit").hasPrefix("ok rev "))
        #expect(server.registry["Content/Text/Size"]?.value == .number(99))
    }

    // MARK: Wrong

    /// Unknown, expired and truncated tokens get the same reply.
    @Test(arguments: ["twk_none", "twk_old", "twk_op", "x", "TWK_OPS"])
    func theRefusalDoesNotSayWhatIsWrong(_ token: String) throws {
        let client = try AccessServer(ops, .token("old", .admin, expires: 10)).connectTCP()
        #expect(try client.ask("auth \(token)") == ["error denied the token is wrong, expired or revoked"])
        #expect(try client.status("get Content/Text/Size").hasPrefix("error auth-required "))
        #expect(try client.status("auth twk_ops") == "ok token ops may write run")
    }

    @Test func severalWrongTokensEndTheConnection() throws {
        let server = try AccessServer(ops) { $0.authenticationFailures = 3 }
        let client = try server.connectTCP()
        try client.send(String(repeating: "auth twk_wrong\n", count: 9))
        let lines = try client.restOfLines()
        #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("error denied ") })
        #expect(server.events.texts.count { $0 == "authentication failed" } == 3)
        #expect(server.events.texts.last == "state failed denied")
    }

    /// Neither other sessions nor a right token of the same peer wait; further requests of the session do.
    @Test func aWrongTokenDelaysItsSessionOnly() throws {
        let server = try AccessServer(ops) { $0.authenticationDelay = .seconds(3_600) ... .seconds(3_600) }
        let (admin, client) = (try server.connect(), try server.connectTCP())
        try client.send("auth twk_wrong\nping\n")
        #expect(try server.connect(as: "ops").ask("ping") == ["ok pong"])
        #expect(server.events.texts.contains("authentication failed"))
        #expect(!client.hasInput)
        #expect(try admin.ask("kick 2") == ["ok kicked 2"])
        #expect(try client.restOfLines() == ["error closing kicked by uid \(geteuid())"])
    }

    @Test func eachWrongTokenDoublesTheDelay() throws {
        let server = try AccessServer(ops, clock: ManualClock(wall: 1_000_000)) {
            $0.authenticationDelay = .milliseconds(20) ... .milliseconds(80)
        }
        let client = try server.connectTCP()
        for expected in [20, 40, 80, 80] {
            try client.send("auth twk_wrong\n")
            server.settle()
            server.pass(.milliseconds(expected - 1))
            #expect(!client.hasInput)
            server.pass(.milliseconds(1))
            #expect(try client.status().hasPrefix("error denied "))
        }
    }

    /// The session sets and watches a tweak at the end of a round; nothing else wakes the server.
    @Test func aDelayedSessionStillNotifiesWatchers() throws {
        let server = try AccessServer(.token("ops", .read), hasThread: true) {
            $0.authenticationDelay = .seconds(60) ... .seconds(60)
        }
        let (watcher, other) = (try server.connect(), try server.connect())
        try watcher.ask("watch Content/Text/Size")
        try other.send("auth twk_wrong\nContent/Text/Size = 72\nwatch Content/Text/Size\n")
        // The delay begins before the clock is advanced.
        try eventually { server.events.texts.contains("authentication failed") }
        try server.settle(watcher)
        server.pass(.seconds(60))
        #expect(try watcher.line().hasPrefix("event 1 Content/Text/Size = 72 "))
    }

    @Test func withoutATokenFileNoTokenIsAccepted() throws {
        let client = try TestServer().connect()
        #expect(try client.status("auth twk_ops").hasPrefix("error denied this process accepts no tokens; "))
        #expect(try client.stats("tokens") == "off")
        let server = TweakServer(name: "x", registry: TweakRegistry(), listeners: [.tcpWithTokens(port: 0)])
        #expect(throws: ServerError.self) { try server.start() }
    }

    @Test func aTokenIsNeverRepeatedInRepliesOrEvents() throws {
        let secret = "twk_5ecret-5ecret-5ecret"
        let server = try AccessServer(.token("ops", .admin, secret: "5ecret-5ecret-5ecret"))
        let lines = [
            "auth \(secret)", "auth \(secret)x", "auth \(secret) now", "auth \"\(secret)", "auth", "help auth",
            "complete \"auth \(secret)\"", "whoami", "sessions", "history", "stats", "json", "auth \(secret)",
            "auth \(secret)y", "\(secret)",
        ]
        var output = try server.connectTCP().exchange(lines.map { "\($0)\n" }.joined())
        for line in [secret, "\(secret) x", "\"\(secret)", "auth\t\(secret)\u{7}"] {
            output += try server.connectTCP().exchange("\(line)\n")
        }
        output += server.events.all.map { "\($0)" }
        let text = output.joined(separator: "\n")
        #expect(text.contains("token ops may admin"))
        #expect(!text.contains("5ecret"), "\(text)")
    }
}
