// Tests over TCP that clients without rights displace no line of others from the audit.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct AuditFloodTests {
    private let fixture: DaemonFixture
    private static let strangers = quantity(5_000, few: 500)
    /// The refusals of the reader in a round, more than a queue of 1,024 held.
    private static let noise = quantity(2_000, few: 1_500)
    private static let rounds = quantity(10, few: 4)

    init() throws { fixture = try DaemonFixture(isSaving: false) }

    private func start() throws -> TweakDaemon {
        let file = fixture.directory.file("tokens")
        let lines = ["ops", "reader"].map { "\($0) \(ScramVerifier(token: "twk_\($0)").text) read write:Other\n" }
        try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: file))
        chmod(file, 0o600)
        var limits = TweakServerLimits()
        limits.unauthenticatedSessions = .max
        return try fixture.start(
            tcp: .tokens(port: 0), tokens: file, limits: limits,
            ["TWEAKS_AUDIT": fixture.directory.file("audit.log")])
    }

    private func signedIn(_ name: String, _ daemon: TweakDaemon) throws -> TestClient {
        let client = try fixture.connectTCP(daemon)
        #expect(try client.status("auth twk_\(name)").hasPrefix("ok token \(name) "))
        return client
    }

    private func auditLines(_ name: String) -> [String] {
        let bytes = FileManager.default.contents(atPath: fixture.directory.file(name)) ?? Data()
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { String($0).withoutLink }
    }

    private func lines(_ name: String, _ kind: String) -> [String] {
        auditLines(name).filter { $0.contains(#""kind":"\#(kind)""#) }
    }

    /// The number of events in lines, of which some stand for several.
    private func count(_ lines: [String]) -> Int {
        let counts = lines.compactMap { $0.firstMatch(of: /"count":(\d+)/).flatMap { Int($0.1) } }
        return counts.reduce(lines.count - counts.count) { $0 + $1 - 1 }
    }

    /// Connections with wrong tokens, and as many refusals and dropped scopes of a token that may only read as the queue
    /// of the audit holds, all in the seconds in which others are refused and kicked.
    @Test(.tags(.quantity)) func aFloodDisplacesNoRefusalAndNoKick() throws {
        for number in 0..<Self.noise { _ = try fixture.registry.register("Content", "Reader", "\(number)", 0) }
        for round in 0..<Self.rounds { _ = try fixture.registry.register("Content", "Ops", "\(round)", 0) }
        let daemon = try start()
        let admin = try fixture.connect(daemon)
        let (ops, reader) = (try signedIn("ops", daemon), try signedIn("reader", daemon))
        var (strangers, kicked): ([TestClient], [String]) = ([], [])
        for round in 0..<Self.rounds {
            for number in 0..<Self.strangers / Self.rounds {
                let stranger = try fixture.connectTCP(daemon)
                // One that comes before the server has seen others leave may be refused a place.
                try? stranger.send("auth twk_wrong\(number)\n")
                strangers.append(stranger)
                if strangers.count > 50 { strangers.removeFirst() }
            }
            try noise(reader, round)
            #expect(try ops.status("set Content/Ops/\(round) 1").hasPrefix("error denied"))
            let victim = try signedIn("ops", daemon)
            let session = try #require(
                try victim.ask("whoami").lazy.compactMap { $0.firstMatch(of: /^ *session: (\d+)$/)?.1 }.first)
            #expect(try admin.status("kick \(session)").hasPrefix("ok"))
            kicked.append(String(session))
        }
        strangers.removeAll()
        fixture.stop(daemon)
        let (refused, kicks) = (auditLines("audit-refused.log"), lines("audit.log", "kicked"))
        for round in 0..<Self.rounds {
            let own = refused.filter { $0.contains(#""path":"Content/Ops/\#(round)""#) }
            #expect(own.count == 1 && own[0].contains(#""by":"token ops""#), "\(round)")
        }
        for session in kicked { #expect(kicks.count { $0.hasSuffix(#""of":\#(session)}"#) } == 1, "\(session)") }
        #expect(count(lines("audit-refused.log", "authentication failed")) > Self.strangers / 2)
        #expect(count(lines("audit-refused.log", "denied")) == Self.rounds * (Self.noise + 1))
    }

    /// Sends requests that are refused, and drops scopes.
    private func noise(_ reader: TestClient, _ round: Int) throws {
        try reader.send((0..<Self.noise).map { "set Content/Reader/\($0) 1\n" }.joined())
        for _ in 0..<Self.noise { #expect(try reader.reply().last?.hasPrefix("error denied") == true) }
        #expect(try reader.status("drop write:Other/\(round)").hasPrefix("ok"))
    }
}

extension TestClient {
    /// The last line of the reply to a request.
    fileprivate func status(_ line: String) throws -> String { try ask(line).last ?? "" }
}
