// Tokens on the wire: what is done before one is shown, what a right one gives, and what wrong ones cost.

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
    func nothingIsDoneForAStranger(_ line: String) throws {
        let server = try AccessServer(ops)
        let client = try server.connectTCP()
        #expect(
            try client.ask(line) == [
                "error auth-required show a token first: auth TOKEN; tweakctl login keeps one for you"
            ])
        #expect(try client.ask("ping") == ["ok pong"])
        #expect(server.registry.revision == 0)
    }

    /// The short ways of the server ask for a token, too.
    @Test(arguments: ["get Content/Text/Size", "set Content/Text/Size 72", "Content/Text/Size = 72"])
    func evenThePlainest(_ line: String) throws {
        let server = try AccessServer(ops)
        let client = try server.connectTCP()
        #expect(try client.ask(line)[0].hasPrefix("error auth-required "))
        #expect(try client.ask("auth twk_ops") == ["ok token ops may write run"])
        #expect(try client.ask(line).last?.hasPrefix("ok") == true)
    }

    @Test func whatAStrangerIsTold() throws {
        let server = try AccessServer(ops)
        let client = try server.connectTCP()
        try client.send("\n")
        let banner = try client.read(through: "\n> ")
        #expect(
            Transcript.fits(banner, "  example, pid …; auth TOKEN first\n> ") || banner.contains(", auth TOKEN first"))
        #expect(!banner.contains("tweak"))
        try client.send("prompt off\n")
        #expect(try client.line() == "ok")
        let hello = try client.ask("hello 1")
        #expect(hello.contains("  auth: required") && !hello.contains { $0.hasPrefix("  rev") })
        let commands = try client.ask("help").dropLast().compactMap {
            $0.split(separator: " ").first.map { String($0) }
        }
        #expect(commands == ["help", "auth", "whoami", "drop", "hello", "json", "prompt", "ping", "quit"])
        #expect(try client.ask("help set").last == "ok")
        #expect(try client.whoami("state") == ["opening"])
        #expect(try client.whoami("scopes") == ["none"])
    }

    @Test func aStrangersLinesAreShort() throws {
        let server = try AccessServer(ops)
        let client = try server.connectTCP()
        try client.send("# \(String(repeating: "x", count: 2_046))\nping\n")
        #expect(try client.reply() == ["ok pong"])
        try client.send("# \(String(repeating: "x", count: 2_047))\n")
        #expect(try client.restOfLines() == ["error too-long a line holds at most 2048 bytes"])
        let known = try server.connect(as: "ops")
        try known.send("# \(String(repeating: "x", count: 60_000))\nping\n")
        #expect(try known.reply() == ["ok pong"])
        #expect(server.events.all.last { $0.session.id == 1 }?.text == "state failed limit")
    }

    @Test func aStrangersTimeIsShort() throws {
        let server = try AccessServer(ops) { $0.timeToAuthenticate = .seconds(3_600) }
        let client = try server.connectTCP()
        #expect(try client.ask("ping") == ["ok pong"])
        server.pass(.seconds(3_600))
        #expect(
            try client.restOfLines() == ["error timeout no token came in 1h; connect again, then auth TOKEN"])
        #expect(server.events.all.map(\.text) == ["state created", "state opening", "state failed idle"])
        #expect(try server.connect().ask("ping") == ["ok pong"])
    }

    // MARK: Right

    @Test func opensTheSession() throws {
        let server = try AccessServer(ops)
        let client = try server.connect(as: "ops")
        #expect(try client.whoami("identity") == ["token ops"])
        #expect(try client.whoami("scopes") == ["write", "run"])
        #expect(try client.whoami("tokens") == ["name ops"])
        #expect(try client.ask("Content/Text/Size = 72").last == "ok rev 1")
        #expect(try client.ask("history")[0].hasSuffix("  token ops: Content/Text/Size 60 → 72"))
        #expect(try client.ask("run Player/Audio/Mute") == ["  muted", "ok"])
        #expect(
            try client.ask("reload")[0].hasPrefix("error denied this needs admin for everything, and this session may ")
        )
        #expect(
            server.events.all.map(\.text) == [
                "state created", "state opening", "state open", "authenticated ops", "denied reload",
            ])
        #expect(server.events.all.last?.session.identity == TweakOrigin("token ops"))
    }

    @Test func programs() throws {
        let server = try AccessServer(.token("brief", .read, "write:Content/Text", expires: 1_800_000_000_000))
        let client = try server.connectTCP()
        try client.send("json\nget *\nauth twk_brief\nauth nonsense\n")
        #expect(try client.line() == #"{"ok":true}"#)
        #expect(try client.line().hasPrefix(#"{"ok":false,"error":{"code":"auth-required","#))
        #expect(
            try client.line()
                == #"{"ok":true,"token":"brief","scopes":["read","write:Content/Text"],"expires":"2027-01-15T08:00:00Z"}"#
        )
        #expect(try client.line().hasPrefix(#"{"ok":false,"error":{"code":"denied","#))
    }

    /// On a Unix socket it adds to what the user has; a second one adds to the first.
    @Test func addsUp() throws {
        let server = try AccessServer(.token("see", "read:Content"), .token("act", "run:Player"))
        let client = try server.connect()
        #expect(try client.ask("drop admin write run read") == ["ok may nothing"])
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("error denied "))
        #expect(try client.ask("auth twk_see") == ["ok token see may read:Content"])
        #expect(try client.ask("auth twk_act") == ["ok token act may run:Player"])
        #expect(try client.whoami("scopes") == ["read:Content", "run:Player"])
        #expect(try client.whoami("identity") == ["token act"])
        #expect(try client.ask("drop run") == ["ok may read:Content"])
        // Only a token brings it back.
        #expect(try client.ask("auth twk_act").last == "ok token act may run:Player")
        #expect(try client.whoami("scopes") == ["read:Content", "run:Player"])
    }

    @Test func aTokensRateHoldsForItsSession() throws {
        let server = try AccessServer(.token("slow", .write, rate: 2))
        let client = try server.connect(as: "slow")
        try client.send("begin\nContent/Text/Size = 70\n" + (71...80).map { "Content/Text/Size = \($0)\n" }.joined())
        for _ in 0..<12 { _ = try client.reply() }
        #expect(try client.ask("commit").last == "ok rev 1")
        var codes: [String] = []
        for value in 20..<60 { codes.append(try client.ask("Content/Text/Size = \(value)").last ?? "") }
        #expect(
            codes.contains(
                "error too-many token slow makes at most 2 commits a second, all its sessions together; wait, nothing was "
                    + "changed"))
        #expect(server.registry.revision < 20)
        // A batch that came too soon need not be typed again.
        try client.ask("begin")
        try client.ask("Content/Text/Size = 99")
        server.pass(.seconds(1))
        #expect(try client.ask("commit").last?.hasPrefix("ok rev ") == true)
        #expect(server.registry["Content/Text/Size"]?.value == .number(99))
    }

    // MARK: Wrong

    /// A token that never was, one that has expired, and one that was cut are answered alike.
    @Test(arguments: ["twk_none", "twk_old", "twk_op", "x", "TWK_OPS"]) func saysNotWhatIsWrong(_ token: String) throws
    {
        let server = try AccessServer(ops, .token("old", .admin, expires: 10))
        let client = try server.connectTCP()
        #expect(try client.ask("auth \(token)") == ["error denied that is no token of this process, or it has ended"])
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("error auth-required "))
        #expect(try client.ask("auth twk_ops").last == "ok token ops may write run")
    }

    @Test func severalEndTheConnection() throws {
        let server = try AccessServer(ops) { $0.authenticationFailures = 3 }
        let client = try server.connectTCP()
        try client.send(String(repeating: "auth twk_wrong\n", count: 9))
        let lines = try client.restOfLines()
        #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("error denied ") })
        let own = server.events.all.map(\.text)
        #expect(own.filter { $0 == "authentication failed" }.count == 3)
        #expect(own.last == "state failed denied")
    }

    /// Nobody else waits, nor does a right one of the same peer; and what was sent meanwhile waits.
    @Test func costTime() throws {
        let server = try AccessServer(ops) { $0.authenticationDelay = .seconds(3_600) ... .seconds(3_600) }
        let admin = try server.connect()
        let client = try server.connectTCP()
        try client.send("auth twk_wrong\nping\n")
        let other = try server.connect(as: "ops")
        #expect(try other.ask("ping") == ["ok pong"])
        #expect(server.events.all.contains(where: { $0.text == "authentication failed" }))
        #expect(!client.hasInput)
        #expect(try admin.ask("kick 2") == ["ok kicked 2"])
        #expect(try client.restOfLines() == ["error closing kicked by uid \(geteuid())"])
    }

    /// Each of late doubles it; the times are measured from below, so no clock can fail this.
    @Test func costMoreEachTime() throws {
        let server = try AccessServer(ops) { $0.authenticationDelay = .milliseconds(20) ... .milliseconds(80) }
        let client = try server.connectTCP()
        for expected in [20, 40, 80, 80] {
            let start = ContinuousClock.now
            try client.ask("auth twk_wrong")
            #expect(ContinuousClock.now - start >= .milliseconds(expected))
        }
    }

    @Test func withoutAFileThereAreNone() throws {
        let client = try TestServer().connect()
        #expect(try client.ask("auth twk_ops")[0].hasPrefix("error denied this process takes no tokens; "))
        #expect(try client.ask("stats").contains("  tokens: off"))
        let server = TweakServer(name: "x", registry: TweakRegistry(), listeners: [.tcpWithTokens(port: 0)])
        #expect(throws: ServerError.self) { try server.start() }
    }

    /// However it comes, it is repeated nowhere: not in replies, events, `sessions`, or the history.
    @Test func isNeverRepeated() throws {
        let secret = "twk_5ecret-5ecret-5ecret"
        let server = try AccessServer(.token("ops", .admin, secret: "5ecret-5ecret-5ecret"))
        var said = ""
        let lines = [
            "auth \(secret)", "auth \(secret)x", "auth \(secret) now", "auth \"\(secret)", "auth", "help auth",
            "complete \"auth \(secret)\"", "whoami", "sessions", "history", "stats", "json", "auth \(secret)",
            "auth \(secret)y", "\(secret)",
        ]
        let client = try server.connectTCP()
        try client.send(lines.map { "\($0)\n" }.joined())
        client.endInput()
        said += try client.rest()
        for line in [secret, "\(secret) x", "\"\(secret)", "auth\t\(secret)\u{7}"] {
            let stranger = try server.connectTCP()
            try stranger.send("\(line)\n")
            stranger.endInput()
            said += try stranger.rest()
        }
        said += server.events.all.map { "\($0)" }.joined()
        #expect(said.contains("token ops may admin"))
        #expect(!said.contains("5ecret"), "\(said)")
    }
}
