// Tests that clients cannot use up the descriptors, the commit rate or the memory of a real process.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@Suite(.blocking, .enabled(if: Child.exists && Tool.sh.exists, "build TweaksCrashProbe")) struct BudgetTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Starts a probe with tokens on TCP.
    private func child(
        _ tokens: [String], _ scope: TweakScope = .read, rate: Int? = nil, limit: String
    ) throws -> (child: Child, port: Int) {
        let lines = tokens.map { name in
            TokenText.line(TokenEntry(name: name, token: "twk_\(name)", scopes: [scope], commitsPerSecond: rate))
        }
        let file = directory.file("tokens")
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(fileURLWithPath: file))
        try #require(chmod(file, 0o600) == 0)
        let child = try Child(
            in: directory.path, [], ["TWEAKS_TOKEN_FILE": file, "TWEAKS_PORT": "0"], through: Child.limited(limit))
        try #require(try child.waitUntilReady(), "\(child.log.all)")
        let found = try child.waitForLine(containing: "tweaks at 127.0.0.1:")
        let line = child.log.all[found]
        let digits = line.components(separatedBy: "127.0.0.1:").last?.prefix { $0.isNumber } ?? ""
        return (child, try #require(Int(digits)))
    }

    /// Of 1,024 descriptors, the usual limit, five read-only tokens take as many sessions as they can.
    @Test func theProgramKeepsItsDescriptors() throws {
        _ = raiseDescriptorLimit()
        let names = (1...5).map { "reader\($0)" }
        let (child, port) = try child(names, limit: "-n 1024")
        try child.waitForLine(containing: "at most 432 sessions, 108 of one user, token or address")
        var (crowd, admitted) = ([TestClient](), [String: Int]())
        for name in names {
            for _ in 1...110 {
                let client = try TestClient(port: port)
                // A refused connection gets its reply before the request.
                let reply = try? client.ask("auth twk_\(name)").last
                if reply?.hasPrefix("ok ") == true { admitted[name, default: 0] += 1 }
                crowd.append(client)
            }
        }
        #expect(admitted["reader1"] == 108)
        #expect(admitted.values.reduce(0, +) <= 432)
        // The program's user is admitted, and the program can open files.
        let admin = try child.connect()
        #expect(try admin.ask("run Probe/Descriptors/Open 400") == ["  400 opened", "ok"])
        #expect(try admin.ask("stats").contains { $0.hasPrefix("  limits: sessions 432, sessionsPerPeer 108,") })
        #expect(try admin.ask("set Probe/Int/T0 1").last?.hasPrefix("ok rev 1") == true)
        #expect(try admin.ask("set Probe/Int/T0 2").last?.contains("unsaved") == false)
        #expect(try crowd[0].ask("ping") == ["ok pong"])
        crowd = []
        try child.stop()
    }

    /// A hundred sets over twenty connections of a token with a rate of five a second.
    @Test func allConnectionsOfATokenShareItsRate() throws {
        let (child, port) = try child(["designer"], .write, rate: 5, limit: "-n 1024")
        let crowd = try (0..<20).map { _ in try TestClient(port: port) }
        for client in crowd { #expect(try client.ask("auth twk_designer").last?.hasPrefix("ok ") == true) }
        let start = ContinuousClock.now
        for (number, client) in crowd.enumerated() {
            try client.send((0..<5).map { "set Load/Count/C\(number) \($0 + 1)\n" }.joined())
        }
        let replies = try crowd.flatMap { client in try (0..<5).map { _ in try client.reply().last ?? "" } }
        // The capacity of the bucket, and the tokens added since.
        let most = 5 + Int((ContinuousClock.now - start) / .milliseconds(200)) + 1
        let made = replies.count { $0.hasPrefix("ok rev ") }
        #expect(made >= 5 && made <= most, "\(made) of \(replies.count)")
        #expect(replies.count { $0.hasPrefix("error too-many ") } == 100 - made)
        try child.stop()
    }

    /// Clients that do not read, of a process with 16 MiB for them in an address space of 1 GiB.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status"), "there is no /proc"))
    func memoryHasABudget() throws {
        let child = try Child(in: directory.path, ["lean"], through: Child.limited("-v 1048576"))
        try #require(try child.waitUntilReady())
        let reader = try child.connect()
        try reader.ask("ping")
        let before = try residentBytes(child)
        // Quotes take twice as many bytes when they are printed.
        let text = String(repeating: "\"", count: 60_000)
        for number in 0..<3 {
            #expect(try reader.ask("Probe/String/T\(number) = '\(text)'").last?.hasPrefix("ok") == true)
        }
        var crowd: [TestClient] = []
        for _ in 0..<150 {
            let client = try child.connect()
            // More than socket buffers hold; some connections are closed while they still send.
            try? client.send(String(repeating: "get Probe/String\n", count: 20))
            crowd.append(client)
        }
        try eventually { try reader.ask("stats").contains("  connections: 151") }
        #expect(try reader.ask("ping") == ["ok pong"])
        let stats = try reader.ask("stats")
        #expect(stats.contains { $0.hasPrefix("  limitsHit: ") && $0.contains("memoryBytes ") })
        let held = stats.first { $0.hasPrefix("  heldBytes: ") }.flatMap { Int($0.dropFirst("  heldBytes: ".count)) }
        #expect(try #require(held) <= 16_777_216)
        // Allocators and socket buffers add to it.
        #expect(try residentBytes(child) - before <= 3 * 16_777_216)
        crowd = []
        try child.stop()
    }

    /// A file for another program, or a mistake: each of its lines stays pending.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status"), "there is no /proc"))
    func unknownLinesOfAConfigFileTakeLittleMemory() throws {
        func peak(_ count: Int) throws -> Int {
            let config = directory.file("\(count).conf")
            let text = (0..<count).map { "A/B/n\($0) = 1\n" }.joined()
            try Data(text.utf8).write(to: URL(fileURLWithPath: config))
            let child = try Child(in: directory.path, [], ["TWEAKS_CONFIG": config])
            try #require(try child.waitUntilReady(), "\(child.log.all)")
            let bytes = try residentBytes(child)
            try child.stop()
            return bytes
        }
        // 276 MB, with an error, an origin and places for all layers for each of them.
        #expect(try peak(100_000) - peak(1) < 100 << 20)
    }

    private func residentBytes(_ child: Child) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(child.processID)/status", encoding: .utf8)
        let line = try #require(status.splitLines().first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.filter(\.isNumber))) * 1_024
    }
}
