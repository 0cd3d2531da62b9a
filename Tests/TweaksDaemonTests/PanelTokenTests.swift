// The panel's own token over restarts: kept with the state, replaced on request, never another process's.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct PanelTokenTests {
    private let home: Home

    init() throws { home = try Home() }

    private var state: String { home.directory.file("state") }
    private var file: String { state + "/panel.token" }

    private func start(_ name: String = "example") throws(ServerError) -> TweakDaemon {
        try home.start(name, panel: .on, storage: .directory(state))
    }

    /// Starts it again; another test's process may hold the port for a moment, and then another one is used.
    private func startAgain(at port: Int) throws -> TweakDaemon {
        var found: TweakDaemon?
        try eventually {
            guard let daemon = try? start() else { return false }
            if try parts(daemon).port == port {
                found = daemon
                return true
            }
            daemon.stop()
            // The last port is remembered, which is not the one that is wanted.
            try write("\(try parts(daemon: file).token)\nport \(port)\n")
            return false
        }
        return try #require(found)
    }

    private func parts(daemon file: String) throws -> (token: String, port: Int) {
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
        let port = lines.last.flatMap { Int($0.dropFirst("port ".count)) }
        return (try #require(lines.first), try #require(port))
    }

    private func parts(_ daemon: TweakDaemon) throws -> (token: String, port: Int) {
        let address = try #require(daemon.panelAddress)
        let url = try #require(URLComponents(string: address))
        return (try #require(url.fragment?.components(separatedBy: "token=").last), try #require(url.port))
    }

    private func write(_ text: String, mode: mode_t = 0o600) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        #expect(chmod(file, mode) == 0)
    }

    private func post(_ port: Int, _ body: String, _ headers: [String] = []) throws -> String {
        let client = try TestClient(port: port)
        let head = ["POST /login HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"] + headers
        let type = ["Content-Type: application/json", "Content-Length: \(body.utf8.count)", "", body]
        try client.send((head + type).joined(separator: "\r\n"))
        return try client.rest()
    }

    private func value(_ name: String, _ answer: String) -> String {
        String(answer.components(separatedBy: "\"\(name)\":\"").last?.prefix { $0 != "\"" } ?? "")
    }

    /// Signs a browser in with the panel's own token; its cookie, and its key.
    private func signIn(_ token: String, _ port: Int) throws -> (cookie: String, key: [UInt8]) {
        var scram = Scram.Client(token: token)
        let last = scram.answer(value("scram", try post(port, #"{"scram":"\#(scram.first)"}"#)))
        let answer = try post(port, #"{"scram":"\#(try #require(last))"}"#)
        let cookie = try #require(
            answer.components(separatedBy: "Set-Cookie: ").dropFirst().first?.prefix { $0 != ";" })
        return ("Cookie: \(cookie)", scram.sessionKey)
    }

    /// Whether a page that is loaded anew is let in.
    private func resumes(_ browser: (cookie: String, key: [UInt8]), _ port: Int) throws -> Bool {
        let challenge = value("challenge", try post(port, "{}"))
        let answer = Base64.encode(SHA256.code(challenge.utf8, key: browser.key))
        return try post(port, #"{"challenge":"\#(challenge)","answer":"\#(answer)"}"#, [browser.cookie])
            .hasPrefix("HTTP/1.1 200")
    }

    @Test func aRestartSignsNobodyOut() throws {
        let first = try start()
        let (token, port) = try parts(first)
        let browser = try signIn(token, port)
        #expect(try resumes(browser, port))
        first.stop()
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
        #expect(try parts(daemon: file) == (token, port))
        let second = try startAgain(at: port)
        #expect(try parts(second) == (token, port))
        #expect(try resumes(browser, port))
        second.stop()
    }

    @Test func rotating() throws {
        let daemon = try start()
        let (token, port) = try parts(daemon)
        let browser = try signIn(token, port)
        let line = try TestClient(unix: try #require(daemon.socketPath))
        #expect(try line.ask("panel") == ["  address: \(try #require(daemon.panelAddress))", "ok"])
        let told = try line.ask("panel rotate")
        let (another, _) = try parts(daemon)
        #expect(another != token && told.first == "  address: http://127.0.0.1:\(port)/#token=\(another)")
        // At once, for whoever was signed in with the old one, or shows it.
        #expect(try !resumes(browser, port))
        let old = try TestClient(port: port)
        try old.send("GET /api/whoami HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token)\r\n\r\n")
        #expect(try old.read(through: "\r\n") == "HTTP/1.1 401 Unauthorized\r\n")
        #expect(try resumes(try signIn(another, port), port))
        // Where the link is written, it is so again.
        let link = try String(contentsOfFile: home.directory.file("tweaks/example.sock.panel"), encoding: .utf8)
        #expect(link == (daemon.panelAddress ?? "") + "\n")
        daemon.stop()
        #expect(try parts(daemon: file).token == another)
    }

    /// The address is told on the Unix socket alone, to an administrator.
    @Test func whoIsToldTheAddress() throws {
        let daemon = try home.start(tcp: .open(port: 0), panel: .on, storage: .directory(state))
        let far = try TestClient(port: try #require(daemon.port))
        for line in ["panel", "panel rotate"] {
            #expect(
                try far.ask(line) == ["error denied the panel's token is told on the Unix socket alone; connect there"])
        }
        let near = try TestClient(unix: try #require(daemon.socketPath))
        _ = try near.ask("drop admin")
        #expect(try near.ask("panel")[0].hasPrefix("error denied this needs admin for everything"))
        daemon.stop()
        let without = try home.start()
        let line = try TestClient(unix: try #require(without.socketPath))
        #expect(try line.ask("panel")[0].hasPrefix("error conflict this process has no panel"))
        without.stop()
    }

    /// Two that share a state directory do not share a token, and the second one leaves the file alone.
    @Test func onlyWhoHoldsTheStateKeepsIt() throws {
        let first = try start()
        let second = try home.start(
            "second", panel: .on, storage: .directory(state), registry: ExampleTweaks().registry)
        #expect(try parts(first).token != parts(second).token)
        #expect(try parts(daemon: file).token == parts(first).token)
        second.stop()
        first.stop()
    }

    /// A file that others could have written or read is no place for a token; one without a token gets another one.
    @Test(arguments: [(0o644, "chmod 600"), (0o660, "chmod 600")]) func whatOthersCanRead(
        _ mode: mode_t, _ remedy: String
    ) throws {
        try start().stop()
        let before = try parts(daemon: file)
        try write("\(before.token)\nport \(before.port)\n", mode: mode)
        let daemon = try start()
        #expect(try parts(daemon).token != before.token)
        #expect(home.log.lines.contains { $0.contains("panel.token: ") && $0.contains(remedy) })
        #expect(try parts(daemon: file) == before)
        daemon.stop()
    }

    @Test func whatIsNoToken() throws {
        try start().stop()
        try write("nonsense\n")
        let daemon = try start()
        #expect(try parts(daemon: file).token == parts(daemon).token)
        #expect(home.log.lines.contains { $0.contains("there is no token in it") })
        daemon.stop()
        let victim = home.directory.file("victim")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: victim))
        #expect(unlink(file) == 0 && symlink(victim, file) == 0)
        let again = try start()
        #expect(home.log.lines.contains { $0.contains("it is a symbolic link") })
        again.stop()
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "mine")
    }
}
