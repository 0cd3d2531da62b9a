// Connections on which nobody has shown who it is: few, and the oldest yields.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

/// A connection of another user, as long as it is kept.
private final class OtherUser {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())

    init(_ path: String, user: Int = 65_534) throws {
        process.executableURL = URL(fileURLWithPath: Tool.setpriv.path)
        process.arguments = ["--reuid=\(user)", "--regid=65534", "--clear-groups", Tool.nc.path, "-U", path]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
    }

    deinit { process.terminate() }

    /// What it is told first.
    func answer() throws -> String { String(decoding: try output.fileHandleForReading.readSome(), as: UTF8.self) }

    func say(_ text: String) { input.fileHandleForWriting.writeUnlessBroken(text) }
}

@Suite(
    .blocking, .enabled(if: geteuid() == 0, "only root can become somebody else"),
    .enabled(if: Tool.setpriv.exists && Tool.nc.exists, "install util-linux and netcat-openbsd"))
struct UnauthenticatedTests {
    @Test func theOldestYields() throws {
        var limits = TweakServerLimits()
        limits.unauthenticatedSessions = 2
        let server = try TestServer(limits: limits, hasThread: true)
        try #require(chmod(server.directory.path, 0o755) == 0 && chmod(server.path, 0o666) == 0)
        let known = try server.connect()
        try known.ask("ping")
        var strangers: [OtherUser] = []
        for number in 1...3 {
            strangers.append(try OtherUser(server.path))
            // One after the other: which of them is the oldest must be certain.
            try eventually { try known.ask("stats").contains("  connections: \(number + 1)") }
        }
        #expect(try strangers[0].answer().hasPrefix("error too-many others are waiting"))
        #expect(try LimitTableTests.figures(known) == ["unauthenticatedSessions 1"])
        strangers[2].say("ping\n")
        #expect(try strangers[2].answer().hasPrefix("error denied uid 65534"))
        // Whoever may be here does not count.
        for _ in 1...5 { #expect(try server.connect().ask("ping") == ["ok pong"]) }
        #expect(try LimitTableTests.figures(known) == ["unauthenticatedSessions 1"])
    }

    /// Who has most of the places takes from itself, be the others as silent.
    @Test func eachPeerHasAShare() throws {
        var limits = TweakServerLimits()
        limits.unauthenticatedSessions = 4
        let server = try TestServer(limits: limits, hasThread: true)
        try #require(chmod(server.directory.path, 0o755) == 0 && chmod(server.path, 0o666) == 0)
        let known = try server.connect()
        try known.ask("ping")
        var all: [OtherUser] = []
        for (number, user) in ([12_345] + Array(repeating: 65_534, count: 6)).enumerated() {
            all.append(try OtherUser(server.path, user: user))
            try eventually { try known.ask("stats").contains("  connections: \(number + 2)") }
        }
        for index in 1...3 { #expect(try all[index].answer().hasPrefix("error too-many others are waiting")) }
        all[0].say("ping\n")
        #expect(try all[0].answer().hasPrefix("error denied uid 12345"))
    }
}
