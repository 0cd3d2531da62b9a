// The panel of a daemon: where it listens, where its address is said, and how it ends.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksPanel
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct DaemonPanelTests {
    private let home: Home

    init() throws { home = try Home() }

    private var linkFile: String { home.directory.file("tweaks/example.sock.panel") }

    /// The parts of a link.
    private func parts(_ link: String) throws -> (host: String, port: Int, token: String) {
        let url = try #require(URLComponents(string: link))
        let token = try #require(url.fragment?.components(separatedBy: "token=").last)
        return (try #require(url.host), try #require(url.port), token)
    }

    /// What is answered to who has a link.
    private func get(_ target: String, _ link: String) throws -> TestClient {
        let (_, port, token) = try parts(link)
        let client = try TestClient(port: port)
        try client.send(
            "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAuthorization: Bearer \(token)\r\n\r\n")
        return client
    }

    private func serves(_ daemon: TweakDaemon) throws -> Bool {
        let client = try get("/api/whoami", try #require(daemon.panelAddress))
        return try client.read(through: "\"identity\":\"panel\"").hasPrefix("HTTP/1.1 200 OK\r\n")
    }

    // MARK: Whether, and where

    @Test func inOneWord() throws {
        let daemon = try home.start(panel: .on)
        #expect(try serves(daemon))
        let link = try #require(daemon.panelAddress)
        #expect(link.hasPrefix("http://127.0.0.1:") && link.contains("/#token=twk_"))
        daemon.stop()
        #expect(daemon.panelAddress == nil)
    }

    @Test func eachStartHasATokenOfItsOwn() throws {
        let first = try home.start("first", panel: .on)
        let second = try home.start("second", panel: .on)
        let links = try [first, second].map { try parts(try #require($0.panelAddress)) }
        #expect(links[0].token != links[1].token && links[0].port != links[1].port)
        first.stop()
        second.stop()
    }

    @Test func off() throws {
        let daemon = try home.start()
        #expect(daemon.panelAddress == nil && !FileManager.default.fileExists(atPath: linkFile))
        daemon.stop()
    }

    /// The environment wins, and can switch on what the program has not.
    @Test(arguments: [("0", TweakDaemon.Panel.off, true), ("off", .on, false), ("OFF", .on, false), ("", .on, true)])
    func theEnvironment(_ text: String, _ panel: TweakDaemon.Panel, _ isOn: Bool) throws {
        let daemon = try home.start(panel: panel, ["TWEAKS_PANEL_PORT": text])
        #expect((daemon.panelAddress != nil) == isOn)
        if isOn { #expect(try serves(daemon)) }
        daemon.stop()
    }

    @Test(arguments: ["x", "-1", "65536", "7780x", "0.0.0.0:7780", " "])
    func portsThatAreNone(_ text: String) {
        let error = home.refusal(panel: .on, ["TWEAKS_PANEL_PORT": text])
        #expect(error?.hasPrefix("TWEAKS_PANEL_PORT=\(text): a port is 0…65535") == true)
        #expect(!FileManager.default.fileExists(atPath: home.directory.file("tweaks/example.sock")))
    }

    @Test(arguments: [-1, 65_536]) func portsOfTheProgramThatAreNone(_ port: Int) {
        #expect(home.refusal(panel: .on(port: port))?.contains("port \(port): a port is 0…65535") == true)
        let far = TweakDaemon.Panel(TweakPanel(port: port, address: "127.0.0.1"))
        #expect(home.refusal(panel: far)?.contains("port \(port): a port is 0…65535") == true)
    }

    /// The preferred port is somebody else's: a free one. Asked for by name it is not replaced by another one.
    @Test func aTakenPort() throws {
        let first = try home.start("first", panel: .on)
        let taken = try parts(try #require(first.panelAddress)).port
        let second = try home.start("second", panel: .on(port: taken))
        #expect(try parts(try #require(second.panelAddress)).port != taken)
        #expect(try serves(second))
        #expect(home.log.lines.last?.hasPrefix("second: panel port \(taken) is taken: ") == true)
        let error = home.refusal("third", ["TWEAKS_PANEL_PORT": "\(taken)"])
        #expect(error?.contains("Address already in use") == true)
        second.stop()
        first.stop()
    }

    // MARK: Who is signed in

    /// A daemon with a panel at a port that stays, tokens, and a state directory.
    private func startAtAPort(_ tokens: String) throws -> (daemon: TweakDaemon, port: Int) {
        for port in (20_000..<32_000).shuffled().prefix(50) {
            try Data("\(signIn.line)\n".utf8).write(to: try emptyFile(port))
            if let daemon = try? start(port, tokens) { return (daemon, port) }
        }
        throw ClientError.ended("no port is free")
    }

    private func start(_ port: Int, _ tokens: String) throws -> TweakDaemon {
        try home.start(
            tokens: tokens, storage: .directory(home.directory.file("state")), ["TWEAKS_PANEL_PORT": "\(port)"])
    }

    private func emptyFile(_ port: Int) throws -> URL {
        let directory = home.directory.file("state")
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let path = "\(directory)/panel-\(port).sign-ins"
        _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        return URL(fileURLWithPath: path)
    }

    private let signIn = SignIn(
        id: "abc", keyID: ScramVerifier.id(of: "twk_ops"), key: SHA256.digest("key".utf8),
        since: Int64(Date().timeIntervalSince1970 * 1_000) - 60_000)

    private func post(_ path: String, _ body: String, _ port: Int) throws -> String {
        let client = try TestClient(port: port)
        let head = [
            "POST \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Cookie: tweaks-\(port)=abc", "Connection: close",
        ]
        let type = ["Content-Type: application/json", "Content-Length: \(body.utf8.count)", "", body]
        try client.send((head + type).joined(separator: "\r\n"))
        return try client.rest()
    }

    /// Answers a question with the browser's key; the status of that.
    private func resume(_ port: Int) throws -> String {
        let asked = try post("/login", "{}", port)
        let challenge = asked.components(separatedBy: "\"challenge\":\"").last?.prefix { $0 != "\"" } ?? ""
        let proof = Base64.encode(SHA256.code(challenge.utf8, key: signIn.key))
        let answer = try post("/login", "{\"challenge\":\"\(challenge)\",\"answer\":\"\(proof)\"}", port)
        return String(answer.prefix(12))
    }

    /// Who is signed in is so after a restart; who has signed out is not, either.
    @Test func signInsSurviveARestart() throws {
        let tokens = home.directory.file("tokens")
        let line = "ops \(ScramVerifier(token: "twk_ops").text) read\n"
        _ = FileManager.default.createFile(
            atPath: tokens, contents: Data(line.utf8), attributes: [.posixPermissions: 0o600])
        let (daemon, port) = try startAtAPort(tokens)
        #expect(try resume(port) == "HTTP/1.1 200")
        #expect(try post("/logout", "{}", port).hasPrefix("HTTP/1.1 204"))
        daemon.stop()
        let path = home.directory.file("state/panel-\(port).sign-ins")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        // A process that another test starts just now holds the port for a moment.
        var again: TweakDaemon?
        try eventually {
            again = try? start(port, tokens)
            return again != nil
        }
        #expect(try resume(port) == "HTTP/1.1 401")
        again?.stop()
    }

    // MARK: Beyond loopback

    @Test(arguments: ["0.0.0.0", "::"]) func withoutTokensThereIsNone(_ address: String) {
        let error = home.refusal(panel: TweakDaemon.Panel(TweakPanel(address: address)))
        #expect(error?.hasPrefix("panel \(address) port 0: beyond this machine a file of tokens is needed") == true)
        #expect(!FileManager.default.fileExists(atPath: home.directory.file("tweaks/example.sock")))
    }

    @Test func withTokensThereIsOne() throws {
        let file = home.directory.file("tokens")
        let digest = String(repeating: "ab", count: 32)
        try Data("ops sha256:\(digest) read\n".utf8).write(to: URL(fileURLWithPath: file))
        chmod(file, 0o600)
        let daemon = try home.start(panel: TweakDaemon.Panel(TweakPanel(address: "0.0.0.0")), tokens: file)
        #expect(try serves(daemon))
        daemon.stop()
    }

    @Test func otherAddressesOfLoopback() throws {
        let daemon = try home.start(panel: TweakDaemon.Panel(TweakPanel(address: "127.0.0.2")))
        let (host, port, token) = try parts(try #require(daemon.panelAddress))
        #expect(host == "127.0.0.2")
        let client = try TestClient(port: port, address: host)
        try client.send("GET /api/whoami HTTP/1.1\r\nHost: \(host):\(port)\r\nAuthorization: Bearer \(token)\r\n\r\n")
        #expect(try client.read(through: "\r\n") == "HTTP/1.1 200 OK\r\n")
        daemon.stop()
    }

    @Test func namesAreNoAddresses() {
        let error = home.refusal(panel: TweakDaemon.Panel(TweakPanel(address: "localhost")))
        #expect(error?.hasPrefix("panel address localhost: write it in numbers") == true)
    }

    // MARK: Where the address is said

    /// A log is read by others, and kept.
    @Test func theTokenIsInAFile() throws {
        let daemon = try home.start(panel: .on)
        let link = try #require(daemon.panelAddress)
        let (_, port, token) = try parts(link)
        #expect(try String(contentsOfFile: linkFile, encoding: .utf8) == link + "\n")
        let mode = try FileManager.default.attributesOfItem(atPath: linkFile)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(!home.log.lines.joined().contains(token))
        #expect(
            home.log.lines.joined().contains(
                "; panel http://127.0.0.1:\(port)/ (the link with its token: \(linkFile)); try: nc -U "))
        daemon.stop()
        #expect(!FileManager.default.fileExists(atPath: linkFile))
    }

    @Test func onATerminalTheTokenIsInTheLine() throws {
        let daemon = try home.start(panel: .on, isOnTerminal: true)
        let link = try #require(daemon.panelAddress)
        #expect(home.log.lines.joined().contains("; panel \(link); try: nc -U "))
        #expect(!FileManager.default.fileExists(atPath: linkFile))
        daemon.stop()
    }

    /// Without a socket there is no place of its own for a file, and without tokens no other way in.
    @Test func withoutASocket() throws {
        let daemon = try home.start(panel: .on, ["TWEAKS_SOCKET": "off"])
        let link = try #require(daemon.panelAddress)
        #expect(home.log.lines == ["example: tweaks at panel \(link)"])
        daemon.stop()
    }

    /// What lies in the file's place is replaced, and what it points to is not touched.
    @Test func whatLiesInItsPlace() throws {
        let victim = home.directory.file("victim")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: victim))
        let first = try home.start()
        first.stop()
        #expect(symlink(victim, linkFile) == 0)
        let daemon = try home.start(panel: .on)
        #expect(try String(contentsOfFile: linkFile, encoding: .utf8) == (daemon.panelAddress ?? "") + "\n")
        #expect(try FileManager.default.attributesOfItem(atPath: linkFile)[.type] as? FileAttributeType == .typeRegular)
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "mine")
        daemon.stop()
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "mine")
    }

    /// Somebody else has the name: the token is in no log for that.
    @Test func whereItCannotBeWritten() throws {
        let first = try home.start()
        first.stop()
        try FileManager.default.createDirectory(atPath: linkFile, withIntermediateDirectories: false)
        let daemon = try home.start(panel: .on)
        let link = try #require(daemon.panelAddress)
        let (_, port, token) = try parts(link)
        let log = home.log.lines.joined()
        #expect(!log.contains(token))
        #expect(
            log.contains(
                "; panel http://127.0.0.1:\(port)/ (for who shows a token; the link with its own could not be written "
                    + "to \(linkFile): free that name); try: nc -U "))
        daemon.stop()
    }

    // MARK: The end

    @Test func stoppingEndsStreams() throws {
        let daemon = try home.start(panel: .on)
        let client = try get("/api/events", try #require(daemon.panelAddress))
        _ = try client.read(through: "event: snapshot")
        client.endInput()
        daemon.stop()
        let rest = try client.rest()
        #expect(rest.hasSuffix("0\r\n\r\n"))
    }
}
