// Tests tokens of a daemon: where they are required, revocation, and log lines.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct DaemonAccessTests {
    private let fixture: DaemonFixture

    init() throws { fixture = try DaemonFixture(isSaving: false) }

    private var file: String { fixture.directory.file("tokens") }

    private func save(_ lines: String...) throws {
        let new = file + ".new"
        try Data(lines.map { "\($0)\n" }.joined().utf8).write(to: URL(fileURLWithPath: new))
        chmod(new, 0o600)
        guard rename(new, file) == 0 else { throw ClientError.system("rename", errno) }
    }

    private func line(_ name: String, _ rest: String) -> String {
        "\(name) \(ScramVerifier(token: "twk_\(name)").text) \(rest)"
    }

    @Test(arguments: [TweakDaemon.TCP.open(port: 0), .tokens(port: 0), .off], [false, true])
    func withATokenFileTCPRequiresAToken(_ tcp: TweakDaemon.TCP, _ isNamedInCode: Bool) throws {
        try save(line("ops", "read"))
        var environment = isNamedInCode ? [:] : ["TWEAKS_TOKEN_FILE": file]
        if tcp == .off { environment["TWEAKS_PORT"] = "0" }
        let daemon = try fixture.start(tcp: tcp, tokens: isNamedInCode ? file : nil, environment)
        let client = try fixture.connectTCP(daemon)
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("error auth-required "))
        #expect(try client.ask("auth twk_ops") == ["ok token ops may read"])
        #expect(try client.ask("get Content/Text/Size").last == "ok")
        let stats = try fixture.connect(daemon).ask("stats")
        #expect(stats.contains { $0.hasPrefix("  listeners: ") && $0.contains("127.0.0.1:\(daemon.port ?? 0) token") })
        daemon.stop()
        #expect(fixture.logLines.contains("example: \(file): 1 token"))
        #expect(fixture.logLines.contains { $0.contains("(requires a token)") })
        #expect(fixture.logLines.contains { $0.contains("TCP asks for a token") } == (tcp == .open(port: 0)))
    }

    /// Clients with tokens use the known port, so no other is chosen, also where only ::1 is taken.
    @Test(arguments: [false, true], [false, true])
    func aTakenPortIsRefused(_ isPanel: Bool, _ isVersion6: Bool) throws {
        try save(line("ops", "read"))
        let other = try BoundSocket(loopback: isVersion6 ? .version6 : .version4)
        let error = fixture.startError(
            tcp: isPanel ? .off : .tokens(port: other.port), panel: isPanel ? .on(port: other.port) : .off,
            ["TWEAKS_TOKEN_FILE": file])
        let problem = "Address already in use: another program, or another instance of this one, listens there"
        #expect(error?.hasSuffix("\(problem); end it, or choose another port") == true, "\(error ?? "started")")
        #expect(!FileManager.default.fileExists(atPath: fixture.socket))
    }

    @Test func plainAuthOff() throws {
        try save("plain-auth off", line("ops", "read"), "old sha256:\(String(repeating: "0a", count: 32)) read")
        let daemon = try fixture.start(tcp: .tokens(port: 0), tokens: file)
        #expect(try fixture.connectTCP(daemon).ask("auth twk_ops")[0].hasPrefix("error denied auth TOKEN is off here"))
        daemon.stop()
        let problem = "lines with sha256: are of no use while plain-auth is off (old)"
        let remedy = "tweakctl token renew old makes a token that is never sent"
        #expect(fixture.logLines.contains("example: \(file): \(problem); \(remedy)"))
    }

    /// Deleted lines are revoked all the same.
    @Test(arguments: [
        "plain-auth of", "plain_auth off", "Plain-Auth off", "plain-auth=off", "ops2 scram-sha-256:x read",
    ])
    func aMistypedLineTurnsPlainOff(_ typed: String) throws {
        try save(typed, line("ops", "read"))
        let daemon = try fixture.start(tcp: .tokens(port: 0), tokens: file)
        #expect(try fixture.connectTCP(daemon).ask("auth twk_ops")[0].hasPrefix("error denied auth TOKEN is off here"))
        daemon.stop()
        let warnings = fixture.events.all.compactMap(\.warning)
        #expect(warnings.contains { $0.hasPrefix("\(file):1: ignored: ") }, "\(warnings)")
        #expect(warnings.contains { $0.hasPrefix("\(file): plain sign-in (auth TOKEN, Authorization: Bearer) is off") })
        #expect(fixture.logLines.contains("example: \(file): 1 token"))
    }

    @Test func withoutATokenFileOnlyOpenTCPStarts() throws {
        for (tcp, environment, problem) in [
            (TweakDaemon.TCP.tokens(port: 7), [:], #/.*name one in TWEAKS_TOKEN_FILE.*/#),
            (.tokens(port: 7), ["TWEAKS_TOKEN_FILE": "off"], #/tcp port 7: .*/#),
            (.off, ["TWEAKS_PORT": "0"], #/.*TWEAKS_TOKEN_FILE \(tweakctl token new makes one\).*/#),
            (.off, ["TWEAKS_PORT": "x", "TWEAKS_TOKEN_FILE": file], #/.*0…65535.*/#),
        ] {
            let error = fixture.startError(tcp: tcp, environment) ?? "started"
            #expect(error.wholeMatch(of: problem.dotMatchesNewlines()) != nil, "\(error)")
        }
        let daemon = try fixture.start(tcp: .open(port: 0), tokens: file, ["TWEAKS_TOKEN_FILE": "OFF"])
        #expect(try fixture.connectTCP(daemon).ask("ping") == ["ok pong"])
        #expect(try fixture.connectTCP(daemon).ask("Content/Text/Size = 72").last == "ok rev 1")
    }

    @Test(arguments: ["missing", "broken", "others may read it"])
    func withAnInvalidTokenFileOnlyTheUnixSocketAdmits(_ what: String) throws {
        if what == "broken" { try save("ops read") }
        if what == "others may read it" {
            try save(line("ops", "read"))
            chmod(file, 0o644)
        }
        let daemon = try fixture.start(tcp: .tokens(port: 0), tokens: file)
        let client = try fixture.connectTCP(daemon)
        #expect(try client.ask("auth twk_ops")[0].hasPrefix("error denied "))
        #expect(try fixture.connect(daemon).ask("ping") == ["ok pong"])
        daemon.stop()
        let warning = fixture.events.all.first { $0.isProblem }
        #expect(warning?.description.hasPrefix(file) == true, "\(fixture.logLines)")
    }

    @Test func aDeletedLineEndsTheSession() throws {
        try save(line("ops", "write"), line("other", "read"))
        let daemon = try fixture.start(tcp: .tokens(port: 0), tokens: file)
        let (client, other) = (try fixture.connectTCP(daemon), try fixture.connectTCP(daemon))
        try client.ask("auth twk_ops")
        try other.ask("auth twk_other")
        try client.ask("watch Content")
        try save(line("other", "read"))
        #expect(try client.restOfLines() == ["error closing token ops was revoked; sign in with another one"])
        #expect(try other.ask("ping") == ["ok pong"])
        // The token can be added again; the session stays closed.
        let (_, removed) = try fixture.events.next("one token") { $0.description == "\(file): 1 token" ? true : nil }
        try save(line("ops", "read"), line("other", "read"))
        try fixture.events.next(from: removed, "two tokens") { $0.description == "\(file): 2 tokens" ? true : nil }
        let again = try fixture.connectTCP(daemon)
        try eventually { try again.ask("auth twk_ops") == ["ok token ops may read"] }
        for client in [client, other, again] { client.endInput() }
        daemon.stop()
        let lines = fixture.events.all.flatMap(\.lines)
        for pattern in [
            "session 1 opened by token ops", "session 1 of 127.0.0.1:… authenticated with token ops",
            "session 1 of … closed: revoked",
        ] { #expect(lines.contains { Transcript.fits($0, pattern) }, "\(pattern)") }
        #expect(!lines.contains { $0.contains("twk_") })
    }

    @Test func theLogNamesSignInsRequestsAndKicks() throws {
        try save(line("ops", "read"))
        let daemon = try fixture.start(
            tcp: .tokens(port: 0), tokens: file, access: TweakAccess(grants: ["write:Content"]))
        let client = try fixture.connectTCP(daemon)
        for line in [
            "auth twk_wrong", "auth twk_ops", "run Player/Audio/Mute", "request write:Content", "request admin",
            "drop read",
        ] { try client.ask(line) }
        let admin = try fixture.connect(daemon)
        try admin.ask("kick 1")
        _ = try client.rest()
        client.endInput()
        admin.endInput()
        daemon.stop()
        let events = fixture.events.all.filter { if case .session = $0 { !$0.lines.isEmpty } else { false } }
        let user = "uid \(geteuid())"
        let expected = [
            "session 1 of 127.0.0.1:… sent a wrong token", "session 1 opened by token ops",
            "session 1 of 127.0.0.1:… authenticated with token ops", "session 1 of token ops may not run",
            "session 1 of token ops requests write:Content", "session 1 of token ops was granted write:Content",
            "session 1 of token ops requests admin", "session 1 of token ops was not granted admin",
            "session 1 of token ops gave up read", "session 2 opened by \(user)",
            "session 2 of \(user) ended session 1", "session 1 of token ops closed: kicked",
            "session 2 of \(user) closed: …",
        ]
        #expect(events.count == expected.count, "\(events.flatMap(\.lines))")
        for (event, line) in zip(events, expected) {
            #expect(event.lines.count == 1 && Transcript.fits(event.lines[0], line), "\(event) \(line)")
        }
        #expect(events.filter(\.isProblem).count == 2)
    }
}
