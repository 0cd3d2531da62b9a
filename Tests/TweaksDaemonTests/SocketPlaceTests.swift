// Tests where the socket is if the usual places cannot be used, and that a program runs where none can.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct SocketPlaceTests {
    private let fixture: DaemonFixture
    private let log = LogLines()
    /// Nothing can be made there, even by root.
    private static let unusable = "/proc/self/none"

    init() throws { fixture = try DaemonFixture(isSaving: false) }

    private func start(
        _ environment: [String: String], temporary: [String], tcp: TweakDaemon.TCP = .off,
        storage: TweakDaemon.Storage = .off
    ) throws -> TweakDaemon {
        let configuration = TweakDaemon.Configuration.test(fixture.registry, environment) {
            ($0.tcp, $0.storage) = (tcp, storage)
            $0.onEvent = { [log] in for line in $0.lines { log.note(line) } }
        }
        return try TweakDaemon(serving: "example", configuration, temporary: temporary)
    }

    /// Too long for a socket, not writable, missing.
    @Test(arguments: [
        ["XDG_RUNTIME_DIR": "long"], ["XDG_RUNTIME_DIR": unusable], ["TMPDIR": unusable],
        ["XDG_RUNTIME_DIR": "/proc/self", "TMPDIR": unusable], ["TMPDIR": "/dev/null"], [:],
    ])
    func theNextPlaceIsUsed(_ variables: [String: String]) throws {
        let long = fixture.directory.file(String(repeating: "x", count: 120))
        try FileManager.default.createDirectory(atPath: long, withIntermediateDirectories: false)
        let place = fixture.directory.file("tmp")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        let daemon = try start(variables.mapValues { $0 == "long" ? long : $0 }, temporary: [Self.unusable, place])
        #expect(daemon.socketPath == "\(place)/tweaks-\(geteuid())/example.sock")
        try fixture.expectPong(daemon)
        #expect(log.all.first?.hasPrefix("tweaks at unix socket ") == true)
        daemon.stop()
    }

    @Test func withoutAPlaceTheProgramRunsAndIsServedByTCP() throws {
        let daemon = try start(["TMPDIR": Self.unusable], temporary: [], tcp: .open(port: 0), storage: .standard)
        #expect(daemon.socketPath == nil)
        try fixture.expectPong(daemon)
        let warning = try #require(log.all.first { $0.contains("there is no place for a Unix socket") })
        #expect(warning.contains("set TWEAKS_SOCKET to a path in a directory that this user can write to, or to off"))
        // The storage has no place either.
        #expect(log.all.contains { $0.contains("HOME is not set") && $0.contains("TWEAKS_STATE_DIR") })
        daemon.stop()
    }

    @Test func withoutAnyPlaceTheProgramRunsUnserved() throws {
        let daemon = try start(["TMPDIR": Self.unusable], temporary: [])
        #expect(daemon.socketPath == nil && daemon.port == nil)
        #expect(log.all.last == "tweaks are not served: there is no socket, and TCP is not open")
        daemon.stop()
    }

    @Test(arguments: ["/proc/self/none/example.sock", "/tmp/" + String(repeating: "x", count: 200)])
    func aNamedSocketThatCannotBeMadeIsAnError(_ path: String) throws {
        do {
            try start(["TWEAKS_SOCKET": path], temporary: []).stop()
            Issue.record("it starts")
        } catch {
            #expect("\(error)".contains("set TWEAKS_SOCKET to "), "\(error)")
        }
    }

    @Test func anUnsafePlaceIsAnError() throws {
        let place = fixture.directory.file("tweaks-\(geteuid())")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        try #require(chmod(place, 0o777) == 0)
        let other = fixture.directory.file("other")
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        #expect(throws: ServerError.self) {
            try start(["TMPDIR": fixture.directory.path], temporary: [other])
        }
    }
}
