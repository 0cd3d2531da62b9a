// Tests the panel's own token: kept over restarts, replaced on request, never shared with another process.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

@testable import TweaksPanel

@Suite(.blocking) struct PanelTokenTests {
    private let fixture: DaemonFixture

    init() throws { fixture = try DaemonFixture() }

    private var file: String { fixture.state + "/panel.token" }

    private func parts(_ daemon: TweakDaemon) throws -> (token: String, port: Int) {
        let address = try PanelAddress(daemon)
        return (address.token, address.port)
    }

    private func stored() throws -> (token: String, port: Int) {
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
        let port = lines.dropFirst().first.flatMap { Int($0.dropFirst("port ".count)) }
        return (try #require(lines.first), try #require(port))
    }

    private func write(_ text: String, mode: mode_t = 0o600) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        #expect(chmod(file, mode) == 0)
    }

    /// Starts a daemon at the port of the previous one, which a process of another test may hold for a moment.
    private func restart(at port: Int) throws -> TweakDaemon {
        var found: TweakDaemon?
        try eventually {
            guard let daemon = try? fixture.start(panel: .on) else { return false }
            if try parts(daemon).port == port {
                found = daemon
                return true
            }
            daemon.stop()
            // The file now has the port that was used instead.
            try write("\(try stored().token)\nport \(port)\n")
            return false
        }
        return try #require(found)
    }

    @Test func aRestartKeepsSignIns() throws {
        let first = try fixture.start(panel: .on)
        let (token, port) = try parts(first)
        let browser = try PanelBrowser(signingInWith: token, port)
        #expect(try browser.resume() == "HTTP/1.1 200")
        first.stop()
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
        #expect(try stored() == (token, port))
        let second = try restart(at: port)
        #expect(try parts(second) == (token, port))
        #expect(try browser.resume() == "HTTP/1.1 200")
    }

    @Test func rotatingReplacesTheTokenAndEndsItsSignIns() throws {
        let daemon = try fixture.start(panel: .on)
        let old = try PanelAddress(daemon)
        let browser = try PanelBrowser(signingInWith: old.token, old.port)
        let client = try fixture.connect(daemon)
        #expect(try client.ask("panel") == ["  address: \(try #require(daemon.panelAddress))", "ok"])
        let reply = try client.ask("panel rotate")
        let token = try parts(daemon).token
        #expect(token != old.token && reply.first == "  address: \(daemon.panelAddress ?? "")")
        let new = try PanelAddress(daemon)
        #expect(new.host != old.host && new.code != old.code && new.port == old.port)
        #expect(try client.ask("panel token") == ["  token: \(token)", "ok"])
        #expect(try browser.resume() != "HTTP/1.1 200")
        #expect(try old.get("/api/whoami").read(through: "\r\n") == "HTTP/1.1 401 Unauthorized\r\n")
        #expect(try PanelBrowser(signingInWith: token, old.port).resume() == "HTTP/1.1 200")
        PanelEndpoint.finishWriting()
        let link = try String(contentsOfFile: fixture.socket + ".panel", encoding: .utf8)
        #expect(link == (daemon.panelAddress ?? "") + "\n")
        fixture.stop(daemon)
        #expect(try stored().token == token)
    }

    @Test func onlyAnAdministratorOnTheUnixSocketSeesTheAddress() throws {
        let daemon = try fixture.start(tcp: .open(port: 0), panel: .on)
        let remote = try fixture.connectTCP(daemon)
        for line in ["panel", "panel rotate", "panel token"] {
            let refusal = "error denied the panel's address and token are shown only on the Unix socket; connect there"
            #expect(try remote.ask(line) == [refusal])
        }
        let local = try fixture.connect(daemon)
        try local.ask("drop admin")
        #expect(try local.ask("panel")[0].hasPrefix("error denied this needs admin for everything"))
        fixture.stop(daemon)
        let client = try fixture.connect(fixture.start(storage: .off))
        #expect(try client.ask("panel")[0].hasPrefix("error conflict this process has no panel"))
    }

    @Test func onlyTheOwnerOfTheStateDirectoryStoresItsToken() throws {
        let first = try fixture.start(panel: .on)
        let second = try fixture.start(named: "second", panel: .on, registry: ExampleTweaks().registry)
        #expect(try parts(first).token != parts(second).token)
        #expect(try stored().token == parts(first).token)
        second.stop()
    }

    @Test(arguments: [0o644 as mode_t, 0o660]) func aFileThatOthersCanReadOrWriteIsIgnored(_ mode: mode_t) throws {
        try fixture.start(panel: .on).stop()
        let before = try stored()
        try write("\(before.token)\nport \(before.port)\n", mode: mode)
        #expect(try parts(fixture.start(panel: .on)).token != before.token)
        #expect(fixture.logLines.contains { $0.contains("panel.token: ") && $0.contains("chmod 600") })
        #expect(try stored() == before)
    }

    @Test func aFileWithoutATokenIsReplacedAndASymbolicLinkIsNot() throws {
        try fixture.start(panel: .on).stop()
        try write("nonsense\n")
        let daemon = try fixture.start(panel: .on)
        #expect(try stored().token == parts(daemon).token)
        #expect(fixture.logLines.contains { $0.contains("the file has no token") })
        daemon.stop()
        let victim = fixture.directory.file("victim")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: victim))
        #expect(unlink(file) == 0 && symlink(victim, file) == 0)
        try fixture.start(panel: .on).stop()
        #expect(fixture.logLines.contains { $0.contains("it is a symbolic link") })
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "mine")
    }
}
