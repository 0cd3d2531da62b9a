// Tokens and other users, as a daemon serves them: where it listens, what it says, and what a deleted line does.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

import TweaksDaemon
@testable import TweaksServing

@Suite(.blocking) struct DaemonAccessTests {
    private let home: Home

    init() throws { home = try Home() }

    private var file: String { home.directory.file("tokens") }

    private func save(_ lines: String...) throws {
        let new = file + ".new"
        try Data(lines.map { "\($0)\n" }.joined().utf8).write(to: URL(fileURLWithPath: new))
        chmod(new, 0o600)
        guard rename(new, file) == 0 else { throw ClientError.system("rename", errno) }
    }

    private func line(_ name: String, _ rest: String) -> String {
        "\(name) \(ScramVerifier(token: "twk_\(name)").text) \(rest)"
    }

    private func connect(_ daemon: TweakDaemon) throws -> TestClient {
        try TestClient(port: try #require(daemon.port), owner: daemon)
    }

    // MARK: Where TCP is open

    /// With a token file it always asks for a token, whoever opened it.
    @Test(arguments: [TweakDaemon.TCP.open(port: 0), .tokens(port: 0), .off], [false, true])
    func asksForATokenWhereThereIsAFile(_ tcp: TweakDaemon.TCP, _ isNamedInCode: Bool) throws {
        try save(line("ops", "read"))
        var environment = isNamedInCode ? [:] : ["TWEAKS_TOKEN_FILE": file]
        if tcp == .off { environment["TWEAKS_PORT"] = "0" }
        let daemon = try home.start(tcp: tcp, tokens: isNamedInCode ? file : nil, environment)
        let client = try connect(daemon)
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("error auth-required "))
        #expect(try client.ask("auth twk_ops") == ["ok token ops may read"])
        #expect(try client.ask("get Content/Text/Size").last == "ok")
        let stats = try TestClient(unix: daemon.socketPath ?? "").ask("stats")
        #expect(stats.contains { $0.hasPrefix("  listeners: ") && $0.contains("127.0.0.1:\(daemon.port ?? 0) token") })
        daemon.stop()
        #expect(home.log.lines.contains("example: \(file): 1 token"))
        #expect(
            home.log.lines.contains {
                $0.contains("tweaks at 127.0.0.1:\(daemon.port ?? 0) (for who shows a token)")
                    || $0.contains("(for who shows a token)")
            })
        #expect(home.log.lines.contains { $0.contains("TCP asks for a token") } == (tcp == .open(port: 0)))
    }

    /// People go to the port that they know. With tokens in force no other one is used: not for lines, not for the page,
    /// and not where only ::1 is taken.
    @Test(arguments: [(false, 0), (false, 1), (true, 0), (true, 1)])
    func aTakenPortIsRefused(_ isPanel: Bool, _ squatter: Int) throws {
        try save(line("ops", "read"))
        let other = try BoundSocket(loopback: squatter == 0 ? .version4 : .version6)
        let port = other.port
        let error =
            isPanel
            ? home.refusal(panel: .on(port: port), ["TWEAKS_TOKEN_FILE": file])
            : home.refusal(tcp: .tokens(port: port), ["TWEAKS_TOKEN_FILE": file])
        #expect(
            error?.hasSuffix(
                "Address already in use: another program, or another instance of this one, listens there; end it, or "
                    + "choose another port") == true, "\(error ?? "started")")
        #expect(!FileManager.default.fileExists(atPath: home.directory.file("tweaks/example.sock")))
    }

    /// plain-auth off is a line of the file, and holds as soon as that is there.
    @Test func plainAuthOff() throws {
        try save("plain-auth off", line("ops", "read"), "old sha256:\(String(repeating: "0a", count: 32)) read")
        let daemon = try home.start(tcp: .tokens(port: 0), tokens: file)
        #expect(try connect(daemon).ask("auth twk_ops")[0].hasPrefix("error denied auth TOKEN is off here"))
        daemon.stop()
        #expect(
            home.log.lines.contains(
                "example: \(file): lines with sha256: are of no use while plain-auth is off (old); tweakctl token renew old "
                    + "makes a token that is never sent"))
    }

    @Test func withoutAFile() throws {
        #expect(home.refusal(tcp: .tokens(port: 7), [:])?.contains("name one in TWEAKS_TOKEN_FILE") == true)
        #expect(home.refusal(tcp: .tokens(port: 7), ["TWEAKS_TOKEN_FILE": "off"])?.hasPrefix("tcp port 7: ") == true)
        #expect(
            home.refusal(["TWEAKS_PORT": "0"])?.contains("TWEAKS_TOKEN_FILE (tweakctl token new makes one)") == true)
        #expect(home.refusal(["TWEAKS_PORT": "x", "TWEAKS_TOKEN_FILE": file])?.contains("0…65535") == true)
        let daemon = try home.start(tcp: .open(port: 0), tokens: file, ["TWEAKS_TOKEN_FILE": "OFF"])
        #expect(try connect(daemon).ask("ping") == ["ok pong"])
        #expect(try connect(daemon).ask("Content/Text/Size = 72").last == "ok rev 1")
        daemon.stop()
    }

    /// It runs, says so, and lets nobody in by it; on the Unix socket all is as ever.
    @Test(arguments: ["missing", "broken", "others may read it"]) func aBadFile(_ what: String) throws {
        if what == "broken" { try save("ops read") }
        if what == "others may read it" {
            try save(line("ops", "read"))
            chmod(file, 0o644)
        }
        let daemon = try home.start(tcp: .tokens(port: 0), tokens: file)
        let client = try connect(daemon)
        #expect(try client.ask("auth twk_ops")[0].hasPrefix("error denied "))
        #expect(try TestClient(unix: daemon.socketPath ?? "").ask("ping") == ["ok pong"])
        daemon.stop()
        let warning = home.log.events.first { $0.isProblem }
        #expect(warning?.description.hasPrefix(file) == true, "\(home.log.lines)")
    }

    // MARK: Revoking

    @Test func aDeletedLineEndsTheSession() throws {
        try save(line("ops", "write"), line("other", "read"))
        let station = try Station()
        let configuration = TweakDaemon.Configuration.test(
            station.registry, ["XDG_RUNTIME_DIR": home.directory.path]
        ) {
            ($0.tcp, $0.tokens) = (.tokens(port: 0), file)
            $0.onEvent = { [events = station.events] in events.add($0) }
        }
        let daemon = try TweakDaemon.start("example", configuration)
        let (client, other) = (try connect(daemon), try connect(daemon))
        try client.ask("auth twk_ops")
        try other.ask("auth twk_other")
        try client.ask("watch Content")
        try save(line("other", "read"))
        #expect(try client.restOfLines() == ["error closing token ops was revoked; show another one"])
        #expect(try other.ask("ping") == ["ok pong"])
        // Its token can come back; the session cannot.
        let (_, taken) = try station.events.next("one token") { $0.description == "\(file): 1 token" ? true : nil }
        try save(line("ops", "read"), line("other", "read"))
        try station.events.next(from: taken, "two tokens") { $0.description == "\(file): 2 tokens" ? true : nil }
        let again = try connect(daemon)
        try eventually { try again.ask("auth twk_ops") == ["ok token ops may read"] }
        client.endInput()
        for client in [other, again] { client.endInput() }
        daemon.stop()
        let lines = station.events.all.flatMap(\.lines)
        #expect(lines.contains("session 1 opened by token ops"))
        #expect(lines.contains { $0.hasPrefix("session 1 of 127.0.0.1:") && $0.hasSuffix(" has shown token ops") })
        #expect(lines.contains { $0.hasPrefix("session 1 of ") && $0.hasSuffix(" closed: revoked") })
        #expect(!lines.contains { $0.contains("twk_") })
    }

    // MARK: The log

    @Test func whatTheLogSays() throws {
        try save(line("ops", "read"))
        let daemon = try home.start(
            tcp: .tokens(port: 0), tokens: file, access: TweakAccess(grants: ["write:Content"]))
        let client = try connect(daemon)
        try client.ask("auth twk_wrong")
        try client.ask("auth twk_ops")
        try client.ask("run Player/Audio/Mute")
        try client.ask("request write:Content")
        try client.ask("request admin")
        try client.ask("drop read")
        let admin = try TestClient(unix: daemon.socketPath ?? "")
        try admin.ask("kick 1")
        _ = try client.rest()
        client.endInput()
        admin.endInput()
        daemon.stop()
        let events = home.log.events.filter { if case .session = $0 { !$0.lines.isEmpty } else { false } }
        let user = "uid \(geteuid())"
        let expected = [
            "session 1 of 127.0.0.1:… has shown a wrong token", "session 1 opened by token ops",
            "session 1 of 127.0.0.1:… has shown token ops", "session 1 of token ops may not run",
            "session 1 of token ops asks for write:Content", "session 1 of token ops is given write:Content",
            "session 1 of token ops asks for admin", "session 1 of token ops is not given admin",
            "session 1 of token ops has given up read", "session 2 opened by \(user)",
            "session 2 of \(user) has ended session 1", "session 1 of token ops closed: kicked",
            "session 2 of \(user) closed: …",
        ]
        #expect(events.count == expected.count, "\(events.flatMap(\.lines))")
        for (event, line) in zip(events, expected) {
            #expect(event.lines.count == 1 && Transcript.fits(event.lines[0], line), "\(event) \(line)")
        }
        #expect(events.filter(\.isProblem).count == 2)
    }
}

struct LogGateTests {
    @Test("a line that is held is not made: a tireless client costs the log no more than a look")
    func heldLinesAreNotMade() {
        let (gate, start) = (LogGate(delay: .seconds(3_600)) { _ in }, ContinuousClock.now)
        var made = 0
        let lines = { () -> [String] in
            made += 1
            return ["line"]
        }
        for _ in 0..<1_000 { gate.pass(lines(), count: 1, of: "uid 7", at: start) }
        #expect(made == 100)
    }

    @Test func eachOriginHasItsRate() {
        let written = Log()
        let gate = LogGate(delay: .seconds(3_600)) { line in written.add("x")(.warning(line)) }
        let start = ContinuousClock.now
        for number in 0..<125 { gate.pass(["line \(number)"], count: 1, of: "uid 7", at: start) }
        #expect(written.lines.count == 100)
        // Another one is not held up.
        gate.pass(["mine"], count: 1, of: "uid 0", at: start)
        #expect(written.lines.last == "x: mine")
        gate.pass(["later"], count: 1, of: "uid 7", at: start + .seconds(1))
        #expect(written.lines.suffix(2) == ["x: … and 25 more lines about uid 7", "x: later"])
        // Ten a second from then on, and one that came before.
        for number in 0..<30 { gate.pass(["line \(number)"], count: 1, of: "uid 7", at: start + .seconds(2)) }
        #expect(written.lines.count == 103 + 19)
        gate.end()
        #expect(written.lines.last == "x: … and 11 more lines about uid 7")
        gate.end()
        #expect(written.lines.count == 123)
    }

    /// Commits that would be held are not even made; their lines are counted with the others.
    @Test func heldCommitsAreCounted() {
        let written = Log()
        let gate = LogGate(delay: .seconds(3_600)) { line in written.add("x")(.warning(line)) }
        let (start, tireless) = (ContinuousClock.now, TweakOrigin("uid 7"))
        #expect(!gate.holds(1, of: tireless, at: Moment(start)))
        for number in 0..<105 { gate.pass(["line \(number)"], count: 1, of: "uid 7", at: start) }
        for _ in 0..<20 { #expect(gate.holds(2, of: tireless, at: Moment(start))) }
        #expect(!gate.holds(1, of: TweakOrigin("uid 0"), at: Moment(start)))
        #expect(gate.holds(1, of: tireless, at: Moment(start + .milliseconds(99))))
        #expect(!gate.holds(1, of: tireless, at: Moment(start + .milliseconds(101))))
        gate.pass(["later"], count: 1, of: "uid 7", at: start + .milliseconds(101))
        #expect(written.lines.suffix(2) == ["x: … and 46 more lines about uid 7", "x: later"])
    }

    /// An origin with many names does not have many rates.
    @Test func manyOriginsShareOne() {
        let written = Log()
        let gate = LogGate(delay: .seconds(3_600)) { line in written.add("x")(.warning(line)) }
        let start = ContinuousClock.now
        for number in 0..<10_000 { gate.pass(["line"], count: 1, of: "10.0.0.\(number)", at: start) }
        #expect(written.lines.count == 256 + 100)
        gate.end()
        #expect(written.lines.last == "x: … and 9644 more lines about others")
    }

    /// All lines of a commit are written, or none; what is left out is counted in lines.
    @Test func linesStayTogether() {
        let written = Log()
        let gate = LogGate(delay: .seconds(3_600)) { line in written.add("x")(.warning(line)) }
        let start = ContinuousClock.now
        for _ in 0..<10 { gate.pass(Array(repeating: "a", count: 21), count: 21, of: "ops", at: start) }
        #expect(written.lines.count == 105)
        gate.end()
        #expect(written.lines.last == "x: … and 105 more lines about ops")
    }
}
