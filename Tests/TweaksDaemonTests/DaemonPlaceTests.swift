// Where a daemon listens: what the program says, and how the environment moves or closes it.

import Foundation
import Testing
import Tweaks
import TweaksDaemon
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct DaemonPlaceTests {
    private let home: Home

    init() throws { home = try Home() }

    // MARK: Where

    @Test func theRuntimeDirectory() throws {
        let daemon = try home.start()
        #expect(daemon.socketPath == home.directory.file("tweaks/example.sock"))
        #expect(daemon.port == nil)
        try home.pings(daemon)
        #expect(
            home.log.lines == [
                "example: tweaks at unix socket \(home.directory.path)/tweaks/example.sock; try: nc -U \(home.directory.path)/tweaks/example.sock"
            ])
        daemon.stop()
        #expect(daemon.socketPath == nil)
        #expect(!FileManager.default.fileExists(atPath: home.directory.file("tweaks/example.sock")))
    }

    @Test(arguments: ["", "relative/run", "/nonexistent/run"])
    func withoutOneTheTemporaryDirectory(_ runtime: String) throws {
        // A name that no other process has, as this place is everybody's.
        let name = "test-\(UInt64.random(in: 0 ... .max))"
        let daemon = try home.start(name, ["XDG_RUNTIME_DIR": runtime])
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("tweaks-\(geteuid())").path
        #expect(daemon.socketPath == "\(place)/\(name).sock")
        try home.pings(daemon)
        let mode = try FileManager.default.attributesOfItem(atPath: place)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        daemon.stop()
        #expect(try !FileManager.default.contentsOfDirectory(atPath: place).contains { $0.hasPrefix(name) })
    }

    @Test func aPathFromTheEnvironment() throws {
        let daemon = try home.start(["TWEAKS_SOCKET": home.directory.file("elsewhere/my.sock")])
        #expect(daemon.socketPath == home.directory.file("elsewhere/my.sock"))
        try home.pings(daemon)
        daemon.stop()
        #expect(home.refusal(["TWEAKS_SOCKET": "relative"])?.contains("must be absolute") == true)
    }

    @Test func emptyIsAsIfUnset() throws {
        let daemon = try home.start(["TWEAKS_SOCKET": "", "TWEAKS_PORT": "", "TWEAKS_FROZEN": ""])
        #expect(daemon.socketPath == home.directory.file("tweaks/example.sock") && daemon.port == nil)
        #expect(try TestClient(unix: daemon.socketPath ?? "").ask("set Content/Text/Size 72").last == "ok rev 1")
        daemon.stop()
    }

    @Test func theSocketOff() throws {
        let daemon = try home.start(["TWEAKS_SOCKET": "off"])
        #expect(daemon.socketPath == nil && daemon.port == nil)
        #expect(home.log.lines == ["example: tweaks are not served: TWEAKS_SOCKET is off and TCP is not open"])
        daemon.stop()
    }

    // MARK: TCP

    @Test func anOpenPort() throws {
        let daemon = try home.start(tcp: .open(port: 0))
        let port = try #require(daemon.port)
        try home.pings(daemon)
        #expect(
            home.log.lines.count == 1
                && home.log.lines[0].contains(
                    "127.0.0.1:\(port) (open to every user and container of this network namespace)")
        )
        #expect(home.log.lines[0].contains("unix socket \(home.directory.path)/tweaks/example.sock"))
        #expect(home.log.lines[0].hasSuffix("try: nc 127.0.0.1 \(port)"))
        daemon.stop()
    }

    /// The preferred port is somebody else's: a free one, and it is said which.
    @Test func aTakenPortFallsBack() throws {
        let first = try home.start("first", tcp: .open(port: 0))
        let taken = try #require(first.port)
        let second = try home.start("second", tcp: .open(port: taken))
        let port = try #require(second.port)
        #expect(port != taken)
        #expect(second.socketPath == home.directory.file("tweaks/second.sock"))
        #expect(home.log.lines.dropLast().last?.contains("127.0.0.1:\(port) ") == true)
        #expect(
            home.log.lines.last == "second: tcp port \(taken) is taken: who goes there comes to another program, or to "
                + "another instance of this one, and not to this one at \(port); end that one, or set TWEAKS_PORT")
        #expect(home.log.events.last?.isProblem == true)
        try home.pings(first)
        try home.pings(second)
        second.stop()
        first.stop()
    }

    /// A port that was free a moment ago; another test may take it in between, then this fails.
    private func startOnAFreePort() throws -> (TweakDaemon, Int) {
        let probe = try home.start("probe", tcp: .open(port: 0))
        let free = try #require(probe.port)
        probe.stop()
        return (try home.start("moved", tcp: .open(port: 1), ["TWEAKS_PORT": "\(free)"]), free)
    }

    @Test func theEnvironmentMovesAnOpenPort() throws {
        var started: (TweakDaemon, Int)?
        for _ in 0..<20 where started == nil { started = try? startOnAFreePort() }
        let (moved, free) = try #require(started)
        #expect(moved.port == free)
        // Asked for by name it is not replaced by another one.
        #expect(
            home.refusal("other", tcp: .open(port: 0), ["TWEAKS_PORT": "\(free)"])?.contains("Address already in use")
                == true)
        moved.stop()
        let any = try home.start("any", tcp: .open(port: free), ["TWEAKS_PORT": "0", "TWEAKS_SOCKET": "off"])
        #expect(any.port != nil && any.socketPath == nil)
        #expect(home.log.lines.last?.contains("127.0.0.1:\(any.port ?? 0) ") == true)
        any.stop()
    }

    @Test(arguments: ["off", "OFF"]) func theEnvironmentClosesTCP(_ word: String) throws {
        for tcp in [TweakDaemon.TCP.open(port: 0), .tokens(port: 0), .off] {
            let daemon = try home.start(tcp: tcp, ["TWEAKS_PORT": word])
            #expect(daemon.port == nil)
            try home.pings(daemon)
            daemon.stop()
        }
        let warned = try home.start(
            tcp: .open(port: 0), tokens: home.directory.file("none.tokens"), ["TWEAKS_PORT": word])
        #expect(!home.log.lines.contains { $0.contains("TCP asks for a token") })
        warned.stop()
    }

    /// What the program has not opened the environment cannot open.
    @Test(arguments: ["0", "7777", "x"]) func theEnvironmentOpensNone(_ port: String) {
        let error = home.refusal(["TWEAKS_PORT": port])
        #expect(error?.hasPrefix("TWEAKS_PORT=\(port): this program has not opened TCP") == true)
        #expect(home.log.lines.isEmpty)
    }

    @Test(arguments: ["x", "-1", "65536", "7777x", "0.0.0.0:7777", "*:7777", "localhost:7777", " "])
    func portsThatAreNone(_ port: String) {
        let error = home.refusal("example", tcp: .open(port: 0), ["TWEAKS_PORT": port])
        #expect(error?.hasPrefix("TWEAKS_PORT=\(port): a port is 0…65535") == true)
        #expect(!FileManager.default.fileExists(atPath: home.directory.file("tweaks/example.sock")))
    }
}
