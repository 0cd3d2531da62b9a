// Tests the panel of a daemon: its addresses, sign-ins over restarts, and where its link is written.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport
import TweaksWire

@testable import TweaksPanel

@Suite(.blocking) struct DaemonPanelTests {
    private let fixture: DaemonFixture

    init() throws { fixture = try DaemonFixture(isSaving: false) }

    private var linkFile: String { "\(fixture.socket).panel" }

    private func content(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func expectServed(_ daemon: TweakDaemon) throws {
        let reply = try PanelAddress(daemon).get("/api/whoami").read(through: "\"identity\":\"panel\"")
        #expect(reply.hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test func aPanelIsServedAtALinkWithAToken() throws {
        let daemon = try fixture.start(panel: .on)
        try expectServed(daemon)
        let link = try #require(daemon.panelAddress)
        let page = /http:\/\/[a-z2-7]{26}\.localhost:\d+\/#code=[A-Za-z0-9_-]{22}/
        #expect(try page.wholeMatch(in: link) != nil, "\(link)")
        #expect(daemon.panelToken?.hasPrefix("twk_") == true)
        daemon.stop()
        #expect(daemon.panelAddress == nil && daemon.panelToken == nil)
    }

    /// Setting, token file, environment, on a terminal, whether a restart keeps the address of the page.
    @Test(
        arguments: [
            (.kept, false, [:], false, true), (.kept, true, ["NOTIFY_SOCKET": "/x"], false, true),
            (.perStart, false, [:], true, false), (.automatic, true, [:], true, false),
            (.automatic, false, ["NOTIFY_SOCKET": "/x"], true, false),
            (.automatic, false, ["INVOCATION_ID": "ab"], false, false),
            (.automatic, false, ["INVOCATION_ID": "ab"], true, geteuid() != 0),
            (.automatic, false, [:], false, geteuid() != 0),
        ] as [(TweakPanel.Origin, Bool, [String: String], Bool, Bool)])
    func theAddressIsKeptOnlyOnADevelopersMachine(
        _ origin: TweakPanel.Origin, _ hasTokens: Bool, _ environment: [String: String], _ isOnTerminal: Bool,
        _ isKept: Bool
    ) throws {
        let tokens = hasTokens ? try saveTokens("ops \(ScramVerifier(token: "twk_ops").text) read") : nil
        var hosts: [String] = []
        for _ in 1...2 {
            let daemon = try fixture.start(
                panel: TweakDaemon.Panel(TweakPanel(origin: origin)), tokens: tokens,
                storage: .directory(fixture.state), registry: ExampleTweaks().registry, isOnTerminal: isOnTerminal,
                environment)
            hosts.append(try PanelAddress(daemon).host)
            fixture.stop(daemon)
        }
        #expect((hosts[0] == hosts[1]) == isKept)
    }

    /// The file has the next code as soon as the sign-in is answered; nothing of it is in the log.
    @Test func aUsedCodeIsReplacedInTheFile() throws {
        let daemon = try fixture.start(panel: .on)
        let address = try PanelAddress(daemon)
        _ = try PanelBrowser(signingInWith: address.code, address.port)
        let next = try PanelAddress(daemon)
        #expect(next.code != address.code && next.host == address.host)
        PanelEndpoint.finishWriting()
        #expect(try content(linkFile) == (daemon.panelAddress ?? "") + "\n" && mode(linkFile) == 0o600)
        for text in [address.code, next.code, next.host] { #expect(!fixture.logLines.joined().contains(text)) }
    }

    /// There is no file and no command that shows it.
    @Test func withoutASocketTheNextCodeIsInTheLog() throws {
        let daemon = try fixture.start(panel: .on, ["TWEAKS_SOCKET": "off"])
        let address = try PanelAddress(daemon)
        _ = try PanelBrowser(signingInWith: address.code, address.port)
        fixture.stop(daemon)
        let link = try #require(fixture.logLines.first { $0.contains("the next sign-in to the panel: http://") })
        #expect(link.contains("\(address.host):\(address.port)/#code=") && !link.contains(address.code))
    }

    @Test func eachStartHasItsOwnTokenAndPort() throws {
        let first = try PanelAddress(fixture.start(named: "first", panel: .on))
        let second = try PanelAddress(fixture.start(named: "second", panel: .on))
        #expect(first.token != second.token && first.port != second.port)
    }

    @Test func thePanelIsOffByDefault() throws {
        #expect(try fixture.start().panelAddress == nil)
        #expect(!FileManager.default.fileExists(atPath: linkFile))
    }

    @Test(arguments: [("0", TweakDaemon.Panel.off, true), ("off", .on, false), ("OFF", .on, false), ("", .on, true)])
    func theEnvironmentOverridesTheProgram(_ text: String, _ panel: TweakDaemon.Panel, _ isOn: Bool) throws {
        let daemon = try fixture.start(panel: panel, ["TWEAKS_PANEL_PORT": text])
        #expect((daemon.panelAddress != nil) == isOn)
        if isOn { try expectServed(daemon) }
    }

    @Test(arguments: ["x", "-1", "65536", "7780x", "0.0.0.0:7780", " "])
    func invalidPortsOfTheEnvironmentAreRefused(_ text: String) {
        let error = fixture.startError(panel: .on, ["TWEAKS_PANEL_PORT": text])
        #expect(error?.hasPrefix("TWEAKS_PANEL_PORT=\(text): a port is 0…65535") == true)
        #expect(!FileManager.default.fileExists(atPath: fixture.socket))
    }

    @Test(arguments: [-1, 65_536]) func invalidPortsOfTheProgramAreRefused(_ port: Int) {
        for panel in [.on(port: port), TweakDaemon.Panel(TweakPanel(port: port, address: "127.0.0.1"))] {
            #expect(fixture.startError(panel: panel)?.contains("port \(port): a port is 0…65535") == true)
        }
    }

    @Test func onlyATakenPortOfTheEnvironmentIsAnError() throws {
        let taken = try PanelAddress(fixture.start(named: "first", panel: .on)).port
        let second = try fixture.start(named: "second", panel: .on(port: taken))
        #expect(try PanelAddress(second).port != taken)
        try expectServed(second)
        #expect(fixture.logLines.last?.hasPrefix("second: panel port \(taken) is taken: ") == true)
        let error = fixture.startError(named: "third", ["TWEAKS_PANEL_PORT": "\(taken)"])
        #expect(error?.contains("Address already in use") == true)
    }

    private func saveTokens(_ line: String) throws -> String {
        let path = fixture.directory.file("tokens")
        try Data("\(line)\n".utf8).write(to: URL(fileURLWithPath: path))
        #expect(chmod(path, 0o600) == 0)
        return path
    }

    private let signIn = SignIn(
        id: "abc", keyID: ScramVerifier.id(of: "twk_ops"), key: SHA256.digest("key".utf8),
        since: Int64(Date().timeIntervalSince1970 * 1_000) - 60_000)

    private func start(_ port: Int, _ tokens: String) throws -> TweakDaemon {
        try fixture.start(tokens: tokens, storage: .directory(fixture.state), ["TWEAKS_PANEL_PORT": "\(port)"])
    }

    private func signInFile(_ port: Int) -> String { "\(fixture.state)/panel-\(port).sign-ins" }

    /// Starts a daemon at a fixed port, whose state directory has a sign-in.
    private func startAtAFreePort(_ tokens: String) throws -> (daemon: TweakDaemon, port: Int) {
        try fixture.directory.makeFolder("state")
        for port in (20_000..<32_000).shuffled().prefix(50) {
            try Data("\(signIn.line)\n".utf8).write(to: URL(fileURLWithPath: signInFile(port)))
            chmod(signInFile(port), 0o600)
            if let daemon = try? start(port, tokens) { return (daemon, port) }
        }
        throw ClientError.ended("no port is free")
    }

    @Test func signInsAndLogoutsSurviveARestart() throws {
        let tokens = try saveTokens("ops \(ScramVerifier(token: "twk_ops").text) read")
        let (daemon, port) = try startAtAFreePort(tokens)
        let browser = PanelBrowser(port: port, cookie: "tweaks-\(port)=abc", key: signIn.key)
        #expect(try browser.resume() == "HTTP/1.1 200")
        #expect(try browser.post("/logout", "{}").hasPrefix("HTTP/1.1 204"))
        daemon.stop()
        #expect(try content(signInFile(port)) == "" && mode(signInFile(port)) == 0o600)
        // A process that another test starts may hold the port for a moment.
        try eventually { (try? start(port, tokens)) != nil }
        #expect(try browser.resume() == "HTTP/1.1 401")
    }

    @Test(arguments: [
        ("0.0.0.0", "panel 0.0.0.0 port 0: listening beyond this machine needs a token file"),
        ("::", "panel :: port 0: listening beyond this machine needs a token file"),
        ("localhost", "panel address localhost: write it in numbers"),
    ])
    func addressesBeyondThisMachineNeedTokensAndNamesAreRefused(_ address: String, _ problem: String) {
        let error = fixture.startError(panel: TweakDaemon.Panel(TweakPanel(address: address)))
        #expect(error?.hasPrefix(problem) == true)
        #expect(!FileManager.default.fileExists(atPath: fixture.socket))
    }

    @Test func withTokensThePanelListensBeyondThisMachine() throws {
        let tokens = try saveTokens("ops sha256:\(String(repeating: "ab", count: 32)) read")
        let panel = TweakDaemon.Panel(TweakPanel(address: "0.0.0.0"))
        try expectServed(fixture.start(panel: panel, tokens: tokens))
    }

    @Test func otherLoopbackAddressesNeedNoTokens() throws {
        let panel = TweakDaemon.Panel(TweakPanel(address: "127.0.0.2"))
        let address = try PanelAddress(fixture.start(panel: panel))
        #expect(address.host == "127.0.0.2")
        #expect(try address.get("/api/whoami", host: "127.0.0.2").read(through: "\r\n") == "HTTP/1.1 200 OK\r\n")
    }

    @Test func theCodeIsInAFileAndNotInTheLog() throws {
        let daemon = try fixture.start(panel: .on)
        let address = try PanelAddress(daemon)
        #expect(try content(linkFile) == (daemon.panelAddress ?? "") + "\n" && mode(linkFile) == 0o600)
        let log = fixture.logLines.joined()
        #expect(!log.contains(address.token) && !log.contains(address.code) && !log.contains(address.host))
        #expect(
            log.contains(
                "; panel http://127.0.0.1:\(address.port)/ (the link with its code: \(linkFile)); try: nc -U "))
        daemon.stop()
        #expect(!FileManager.default.fileExists(atPath: linkFile))
    }

    @Test func onATerminalTheCodeIsInTheLine() throws {
        let link = try #require(try fixture.start(panel: .on, isOnTerminal: true).panelAddress)
        #expect(fixture.logLines.joined().contains("; panel \(link); try: nc -U "))
        #expect(!FileManager.default.fileExists(atPath: linkFile))
    }

    /// There is no path for the file and, without tokens, no other way to sign in.
    @Test func withoutASocketTheCodeIsInTheLine() throws {
        let link = try #require(try fixture.start(panel: .on, ["TWEAKS_SOCKET": "off"]).panelAddress)
        #expect(fixture.logLines == ["example: tweaks at panel \(link)"])
    }

    @Test func aSymbolicLinkAtTheFilesPathIsReplaced() throws {
        let victim = fixture.directory.file("victim")
        try Data("mine".utf8).write(to: URL(fileURLWithPath: victim))
        try fixture.start().stop()
        #expect(symlink(victim, linkFile) == 0)
        let daemon = try fixture.start(panel: .on)
        #expect(try content(linkFile) == (daemon.panelAddress ?? "") + "\n")
        #expect(try FileManager.default.attributesOfItem(atPath: linkFile)[.type] as? FileAttributeType == .typeRegular)
        #expect(try content(victim) == "mine")
        daemon.stop()
        #expect(try content(victim) == "mine")
    }

    @Test func whereTheFileCannotBeWrittenTheCodeIsNotLogged() throws {
        try fixture.start().stop()
        try FileManager.default.createDirectory(atPath: linkFile, withIntermediateDirectories: false)
        let address = try PanelAddress(fixture.start(panel: .on))
        let log = fixture.logLines.joined()
        #expect(!log.contains(address.token) && !log.contains(address.code) && !log.contains(address.host))
        #expect(
            log.contains(
                "; panel http://127.0.0.1:\(address.port)/ (requires a token; the link with its code could not be "
                    + "written to \(linkFile): free that name); try: nc -U "))
    }

    @Test func stoppingEndsStreams() throws {
        let daemon = try fixture.start(panel: .on)
        let client = try PanelAddress(daemon).get("/api/events")
        _ = try client.read(through: "event: snapshot")
        client.endInput()
        daemon.stop()
        #expect(try client.rest().hasSuffix("0\r\n\r\n"))
    }
}
