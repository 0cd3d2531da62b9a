// Tests of the list of running processes, and of the removal of stale sockets.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.exists)) struct ListingTests {
    private let fixture: TweakctlFixture

    init() throws { fixture = try TweakctlFixture() }

    private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test func runningProcessesAreListed() throws {
        let tweaks = ExampleTweaks()
        try fixture.server("bounce", registry: tweaks.registry)
        try fixture.server("a b")
        tweaks.size.value = 72
        let pid = ProcessInfo.processInfo.processIdentifier
        // A busy process may not answer within a second.
        try eventually { try fixture.run() == .init(output: "a b     \(pid)  9  0\nbounce  \(pid)  9  1\n") }
        let socket = fixture.socket("bounce")
        let object = "{\"name\":\"bounce\",\"pid\":\(pid),\"tweaks\":9,\"modified\":1,\"socket\":\"\(socket)\"}"
        try eventually { try fixture.run("--json").output.splitLines()[1] == object }
    }

    @Test func anEmptyListIsNoFailure() throws {
        let result = try fixture.run()
        let directory = fixture.directory.file("run/tweaks")
        #expect(result.code == 0 && result.output == "")
        #expect(result.errors.hasPrefix("tweakctl: no process of yours offers tweaks in \(directory) or "))
    }

    /// A process that listens may not know of a run directory.
    @Test func processesInTheTemporaryDirectoryAreListed() throws {
        let directory = fixture.directory.file("tweaks-\(geteuid())")
        let server = try fixture.server("cron", path: directory + "/cron.sock")
        #expect(try fixture.run().output.hasPrefix("cron "))
        // If others can write to the directory, the socket may be theirs.
        try #require(chmod(directory, 0o777) == 0)
        #expect(try fixture.run().output == "")
        #expect(exists(directory + "/cron.sock"))
        try #require(chmod(directory, 0o700) == 0)
        server.stop()
    }

    @Test func aStaleSocketIsRemoved() throws {
        let path = fixture.socket("dead")
        _ = try FakeServer(path, isListening: false)
        try Data().write(to: URL(fileURLWithPath: path + ".lock"))
        try fixture.server("live")
        #expect(try fixture.run().output.hasPrefix("live "))
        #expect(!exists(path) && !exists(path + ".lock") && exists(fixture.socket("live")))
    }

    /// Its process is starting.
    @Test func aLockedSocketIsKept() throws {
        let path = fixture.socket("starting")
        _ = try FakeServer(path, isListening: false)
        let lock = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(flock(lock, LOCK_EX | LOCK_NB) == 0)
        #expect(try fixture.run().output == "")
        #expect(exists(path) && exists(path + ".lock"))
        close(lock)
    }

    @Test func silentServersAndOtherFilesAreKept() throws {
        let (silent, file) = (fixture.socket("silent"), fixture.socket("file"))
        let server = try FakeServer(silent)
        try Data("x".utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.createSymbolicLink(atPath: fixture.socket("link"), withDestinationPath: silent)
        let result = try fixture.run()
        #expect(result.code == 0 && result.output == "silent  -  -  -  does not answer\n")
        #expect(exists(server.address) && exists(file))
    }
}
