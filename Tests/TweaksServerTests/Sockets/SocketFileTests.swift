// Tests that a server notices when the file of its Unix socket is removed or replaced.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksServer

@Suite(.blocking) struct SocketFileTests {
    private let server: TestServer
    private let reports = LogLines()
    private var path: String { server.path }

    init() throws {
        var hooks = TweakServerHooks()
        hooks.report = { [reports] in reports.note($0) }
        server = try TestServer(hooks: hooks)
    }

    private func check() { server.pass(EventLoop.socketCheckInterval) }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: server.directory.path).sorted()
    }

    /// What a program that cleans /tmp leaves.
    @Test(arguments: [["socket"], ["socket", "socket.lock"]])
    func aRemovedSocketIsMadeAgain(_ removed: [String]) throws {
        let client = try server.connect()
        for name in removed { try FileManager.default.removeItem(atPath: server.directory.file(name)) }
        check()
        #expect(try names() == ["socket", "socket.lock"])
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try server.connect().ask("ping") == ["ok pong"])
        // Sessions go on.
        #expect(try client.ask("ping") == ["ok pong"])
        #expect(reports.all == ["the socket \(path) was removed, and is made again; let nothing clean its directory"])
        check()
        #expect(reports.all.count == 1)
        // The lock holds for the new file, too.
        let other = TweakServer(name: "other", registry: server.registry, listeners: [.unix(path: path)])
        #expect(throws: ServerError.self) { try other.start() }
        server.server.stop(server.stepped)
        #expect(try names() == [])
    }

    @Test func aRemovedDirectoryIsMadeAgain() throws {
        try FileManager.default.removeItem(atPath: server.directory.path)
        check()
        #expect(try names() == ["socket", "socket.lock"])
        #expect(try server.connect().ask("ping") == ["ok pong"])
    }

    @Test func clientsThatConnectedBeforeTheRemovalAreServed() throws {
        let early = try TestClient(unix: path, server: server.stepped)
        try FileManager.default.removeItem(atPath: path)
        check()
        #expect(try early.ask("ping") == ["ok pong"])
    }

    @Test func aLockFileThatIsRemovedAloneIsTakenWithTheSocket() throws {
        try FileManager.default.removeItem(atPath: path + ".lock")
        check()
        #expect(try names() == ["socket", "socket.lock"] && reports.all.isEmpty)
    }

    @Test func anotherSocketInItsPlaceIsReportedOnceAndLeftAlone() throws {
        try FileManager.default.removeItem(atPath: path)
        let other = try BoundSocket(path, for: .clients)
        for _ in 1...3 { check() }
        #expect(reports.all.count == 1 && reports.all[0].hasPrefix("the socket \(path) was replaced by another file"))
        server.server.stop(server.stepped)
        #expect(try names() == ["socket"])
        withExtendedLifetime(other) {}
        try FileManager.default.removeItem(atPath: path)
    }

    @Test func aSocketThatCannotBeLookedAtIsReportedOnceAndLeftAlone() throws {
        let directory = server.directory.path
        try FileManager.default.moveItem(atPath: directory, toPath: directory + ".away")
        try FileManager.default.createSymbolicLink(atPath: directory, withDestinationPath: directory)
        for _ in 1...2 { check() }
        try FileManager.default.removeItem(atPath: directory)
        try FileManager.default.moveItem(atPath: directory + ".away", toPath: directory)
        let remedy = "clients may not reach this process there until this user can search the directories on its path"
        #expect(reports.all.count == 1 && reports.all[0].hasPrefix("the socket \(path) cannot be looked at: "))
        #expect(reports.all[0].hasSuffix("; \(remedy)"))
        #expect(try names() == ["socket", "socket.lock"])
        #expect(try server.connect().ask("ping") == ["ok pong"])
    }

    @Test func aSocketThatCannotBeMadeAgainIsReportedOnceAndMadeLater() throws {
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.removeItem(atPath: path + ".lock")
        try FileManager.default.createDirectory(atPath: path + ".lock", withIntermediateDirectories: false)
        for _ in 1...2 { check() }
        #expect(reports.all.count == 1)
        #expect(reports.all[0].hasPrefix("the socket \(path) was removed, and cannot be made again: lock "))
        try FileManager.default.removeItem(atPath: path + ".lock")
        check()
        #expect(try server.connect().ask("ping") == ["ok pong"])
    }
}
