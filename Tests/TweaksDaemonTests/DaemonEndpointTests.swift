// Tests the socket and the TCP port of a daemon, by the program and by the environment.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct DaemonEndpointTests {
    private let fixture: DaemonFixture

    init() throws { fixture = try DaemonFixture(isSaving: false) }

    @Test func theSocketIsInTheRuntimeDirectory() throws {
        let daemon = try fixture.start()
        #expect(daemon.socketPath == fixture.socket)
        #expect(daemon.port == nil)
        try fixture.expectPong(daemon)
        let line = "example: tweaks at unix socket \(fixture.socket); try: nc -U \(fixture.socket)"
        #expect(fixture.logLines == [line])
        daemon.stop()
        #expect(daemon.socketPath == nil)
        #expect(!FileManager.default.fileExists(atPath: fixture.socket))
    }

    @Test(arguments: ["", "relative/run", "/nonexistent/run"])
    func withoutARuntimeDirectoryTheSocketIsInTheTemporaryDirectory(_ runtime: String) throws {
        // All processes share this directory, so the name is unique.
        let name = "test-\(UInt64.random(in: 0 ... .max))"
        let daemon = try fixture.start(named: name, ["XDG_RUNTIME_DIR": runtime])
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("tweaks-\(geteuid())").path
        #expect(daemon.socketPath == "\(place)/\(name).sock")
        try fixture.expectPong(daemon)
        let mode = try FileManager.default.attributesOfItem(atPath: place)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        daemon.stop()
        #expect(try !FileManager.default.contentsOfDirectory(atPath: place).contains { $0.hasPrefix(name) })
    }

    @Test func theEnvironmentSetsAnAbsolutePath() throws {
        let path = fixture.directory.file("elsewhere/my.sock")
        let daemon = try fixture.start(["TWEAKS_SOCKET": path])
        #expect(daemon.socketPath == path)
        try fixture.expectPong(daemon)
        daemon.stop()
        #expect(fixture.startError(["TWEAKS_SOCKET": "relative"])?.contains("must be absolute") == true)
    }

    @Test func emptyVariablesAreUnset() throws {
        let daemon = try fixture.start(["TWEAKS_SOCKET": "", "TWEAKS_PORT": "", "TWEAKS_FROZEN": ""])
        #expect(daemon.socketPath == fixture.socket && daemon.port == nil)
        #expect(try fixture.connect(daemon).ask("set Content/Text/Size 72").last == "ok rev 1")
    }

    @Test func theEnvironmentTurnsTheSocketOff() throws {
        let daemon = try fixture.start(["TWEAKS_SOCKET": "off"])
        #expect(daemon.socketPath == nil && daemon.port == nil)
        #expect(fixture.logLines == ["example: tweaks are not served: TWEAKS_SOCKET is off and TCP is not open"])
    }

    @Test func anOpenPortIsLogged() throws {
        let daemon = try fixture.start(tcp: .open(port: 0))
        let port = try #require(daemon.port)
        try fixture.expectPong(daemon)
        let lines = fixture.logLines
        let address = "127.0.0.1:\(port) (open to every user and container of this network namespace)"
        #expect(lines.count == 1 && lines[0].contains(address))
        #expect(lines[0].contains("unix socket \(fixture.socket)") && lines[0].hasSuffix("try: nc 127.0.0.1 \(port)"))
    }

    @Test func aTakenPortFallsBack() throws {
        let first = try fixture.start(named: "first", tcp: .open(port: 0))
        let taken = try #require(first.port)
        let second = try fixture.start(named: "second", tcp: .open(port: taken))
        let port = try #require(second.port)
        #expect(port != taken)
        #expect(second.socketPath == fixture.directory.file("tweaks/second.sock"))
        #expect(fixture.logLines.dropLast().last?.contains("127.0.0.1:\(port) ") == true)
        let warning =
            "second: tcp port \(taken) is taken: clients there reach another program, or another instance of this one, "
            + "and not this one at \(port); end that one, or set TWEAKS_PORT"
        #expect(fixture.logLines.last == warning)
        #expect(fixture.events.all.last?.isProblem == true)
        try fixture.expectPong(first)
        try fixture.expectPong(second)
    }

    /// Without a token file the program runs, and the log says that clients of the port may reach another program.
    @Test(arguments: [false, true], [false, true])
    func aTakenPortIsAWarning(_ isPanel: Bool, _ isVersion6: Bool) throws {
        let other = try BoundSocket(loopback: isVersion6 ? .version6 : .version4)
        let daemon = try fixture.start(
            tcp: isPanel ? .off : .open(port: other.port), panel: isPanel ? .on(port: other.port) : .off)
        let (kind, port) = (isPanel ? "panel" : "tcp", other.port)
        let (used, address) = (daemon.port, daemon.panelAddress)
        let isMoved = isPanel || !isVersion6
        if !isMoved { try fixture.expectPong(daemon) }
        // Waits for the log.
        fixture.stop(daemon)
        let warning = try #require(fixture.events.all.compactMap(\.warning).last)
        if isMoved {
            #expect(warning.hasPrefix("\(kind) port \(port) is taken: clients there reach another program"))
            #expect(used != port && address?.contains(":\(port)/") != true)
        } else {
            let start = "tcp port \(port) is taken on ::1: clients of localhost may reach another program"
            #expect(warning.hasPrefix(start))
            #expect(used == port)
        }
    }

    /// A port that the operator names is not moved.
    @Test func aNamedPortThatIsTakenOnVersion6OnlyIsAWarning() throws {
        let other = try BoundSocket(loopback: .version6)
        let daemon = try fixture.start(tcp: .open(port: 0), ["TWEAKS_PORT": "\(other.port)"])
        #expect(daemon.port == other.port)
        // Waits for the log.
        fixture.stop(daemon)
        let warning = fixture.events.all.compactMap(\.warning).last
        #expect(warning?.hasPrefix("tcp port \(other.port) is taken on ::1") == true)
    }

    /// Uses a port that was free a moment ago; fails if another test has taken it.
    private func startOnAFreePort() throws -> (TweakDaemon, Int) {
        let probe = try fixture.start(named: "probe", tcp: .open(port: 0))
        let free = try #require(probe.port)
        probe.stop()
        return (try fixture.start(named: "moved", tcp: .open(port: 1), ["TWEAKS_PORT": "\(free)"]), free)
    }

    @Test func theEnvironmentMovesAnOpenPort() throws {
        var started: (TweakDaemon, Int)?
        for _ in 0..<20 where started == nil { started = try? startOnAFreePort() }
        let (moved, free) = try #require(started)
        #expect(moved.port == free)
        let error = fixture.startError(named: "other", tcp: .open(port: 0), ["TWEAKS_PORT": "\(free)"])
        #expect(error?.contains("Address already in use") == true)
        moved.stop()
        let any = try fixture.start(named: "any", tcp: .open(port: free), ["TWEAKS_PORT": "0", "TWEAKS_SOCKET": "off"])
        #expect(any.port != nil && any.socketPath == nil)
        #expect(fixture.logLines.last?.contains("127.0.0.1:\(any.port ?? 0) ") == true)
    }

    @Test(arguments: ["off", "OFF"]) func theEnvironmentClosesTCP(_ word: String) throws {
        for tcp in [TweakDaemon.TCP.open(port: 0), .tokens(port: 0), .off] {
            let daemon = try fixture.start(tcp: tcp, ["TWEAKS_PORT": word])
            #expect(daemon.port == nil)
            try fixture.expectPong(daemon)
            daemon.stop()
        }
        try fixture.start(tcp: .open(port: 0), tokens: fixture.directory.file("none.tokens"), ["TWEAKS_PORT": word])
        #expect(!fixture.logLines.contains { $0.contains("TCP asks for a token") })
    }

    @Test(arguments: ["0", "7777", "x"]) func theEnvironmentCannotOpenTCP(_ port: String) {
        let error = fixture.startError(["TWEAKS_PORT": port])
        #expect(error?.hasPrefix("TWEAKS_PORT=\(port): this program has not opened TCP") == true)
        #expect(fixture.logLines.isEmpty)
    }

    @Test(arguments: ["x", "-1", "65536", "7777x", "0.0.0.0:7777", "*:7777", "localhost:7777", " "])
    func invalidPortsAreRefused(_ port: String) {
        let error = fixture.startError(tcp: .open(port: 0), ["TWEAKS_PORT": port])
        #expect(error?.hasPrefix("TWEAKS_PORT=\(port): a port is 0…65535") == true)
        #expect(!FileManager.default.fileExists(atPath: fixture.socket))
    }
}
