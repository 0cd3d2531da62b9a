// Who is listed, and what is cleared away: live processes, dead ones, and strangers.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTerminal
import TweaksTestSupport

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: Surroundings.exists)) struct ListingTests {
    private let surroundings: Surroundings

    init() throws { surroundings = try Surroundings() }

    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test func liveOnes() throws {
        let tweaks = ExampleTweaks()
        let (first, second) = (
            try surroundings.server("bounce", registry: tweaks.registry), try surroundings.server("a b")
        )
        defer {
            first.stop()
            second.stop()
        }
        tweaks.size.value = 72
        let pid = ProcessInfo.processInfo.processIdentifier
        let result = try surroundings.run()
        #expect(result.code == 0 && result.errors == "")
        #expect(result.output == "a b     \(pid)  9  0\nbounce  \(pid)  9  1\n")
        let objects = try surroundings.run("--json").output.splitLines()
        #expect(
            objects[1]
                == "{\"name\":\"bounce\",\"pid\":\(pid),\"tweaks\":9,\"modified\":1,\"socket\":\"\(surroundings.socket("bounce"))\"}"
        )
    }

    @Test func nobody() throws {
        let result = try surroundings.run()
        #expect(result.code == 0 && result.output == "")
        #expect(
            result.errors.hasPrefix(
                "tweakctl: no process of yours offers tweaks in \(surroundings.directory.path)/run/tweaks or "))
    }

    /// Also where no run directory is known to the process that listens.
    @Test func inTheTemporaryDirectory() throws {
        let directory = surroundings.directory.file("tweaks-\(geteuid())")
        let server = TweakServer(
            name: "cron", registry: ExampleTweaks().registry, listeners: [.unix(path: directory + "/cron.sock")])
        try server.start()
        #expect(try surroundings.run().output.hasPrefix("cron "))
        // In a directory where others can write, it could be anybody's.
        try #require(chmod(directory, 0o777) == 0)
        #expect(try surroundings.run().output == "")
        #expect(exists(directory + "/cron.sock"))
        try #require(chmod(directory, 0o700) == 0)
        server.stop()
    }

    @Test func deadOnesAreCleared() throws {
        let path = surroundings.socket("dead")
        _ = try FakeServer(path, isListening: false)
        try Data().write(to: URL(fileURLWithPath: path + ".lock"))
        let live = try surroundings.server("live")
        #expect(try surroundings.run().output.hasPrefix("live "))
        #expect(!exists(path) && !exists(path + ".lock") && exists(surroundings.socket("live")))
        live.stop()
    }

    @Test func lockedOnesStay() throws {
        let path = surroundings.socket("starting")
        _ = try FakeServer(path, isListening: false)
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(flock(lock, LOCK_EX | LOCK_NB) == 0)
        #expect(try surroundings.run().output == "")
        #expect(exists(path) && exists(path + ".lock"))
        close(lock)
    }

    @Test func strangersStay() throws {
        let (mute, file) = (surroundings.socket("mute"), surroundings.socket("file"))
        let server = try FakeServer(mute)
        try Data("x".utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.createSymbolicLink(atPath: surroundings.socket("link"), withDestinationPath: mute)
        let result = try surroundings.run()
        #expect(result.code == 0 && result.output == "mute  -  -  -  does not answer\n")
        #expect(exists(mute) && exists(file))
        _ = server
    }
}
