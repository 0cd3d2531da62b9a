// Tests reloads of a child process: by SIGHUP, with systemd, and many under load.

import Foundation
import Synchronization
import Testing
import TweaksTestSupport

@Suite(.blocking, .tags(.process), .enabled(if: Child.exists)) struct ProcessReloadTests {
    private let fixture: DaemonFixture

    init() throws { fixture = try DaemonFixture() }

    private func started(_ words: [String] = [], _ environment: [String: String] = [:]) throws -> Child {
        let child = try Child(
            in: fixture.directory.path, words, ["TWEAKS_CONFIG": fixture.config].merging(environment) { $1 })
        try #require(try child.waitUntilReady(), "\(child.log.all)")
        return child
    }

    @Test func aHangupReloadsTheFile() throws {
        try fixture.save("Probe/Int/T0 = 1\n")
        let child = try started()
        let client = try child.connect()
        #expect(try client.ask("get Probe/Int/T0")[0].hasPrefix("Probe/Int/T0 = 1 "))
        // Rewritten in place, without a last line break, the file is read on request, or later.
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: fixture.config))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data("Probe/Int/T0 = 2".utf8))
        try file.close()
        try child.waitForLine(containing: "does not end with a line break")
        child.signal(SIGHUP)
        try child.waitForLine(containing: "Probe/Int/T0: file changed 1 → 2")
        #expect(try client.ask("get Probe/Int/T0")[0].hasPrefix("Probe/Int/T0 = 2 "))
        try fixture.save("Probe/Int/T0 = two\n")
        child.signal(SIGHUP)
        try child.waitForLine(containing: "\(fixture.config):1: bad-value Probe/Int/T0: ")
        #expect(try client.ask("get Probe/Int/T0")[0].hasPrefix("Probe/Int/T0 = 2 "))
        child.signal(SIGTERM)
        #expect(try client.restOfLines().last?.hasPrefix("error closing ") == true)
        client.endInput()
        #expect(try child.waitForEnd() == 0)
    }

    @Test func aHangupAtTheStartIsARequestToReload() throws {
        try fixture.save("Probe/Int/T0 = 1")
        let child = try started(["hangup"])
        try child.waitForLine(containing: "read again: nothing has changed")
        #expect(try child.connect().ask("get Probe/Int/T0")[0].hasPrefix("Probe/Int/T0 = 1 "))
    }

    @Test func aRequiredFileWithErrorsPreventsTheStart() throws {
        try fixture.save("Probe/Int/T0 = two\nProbe/Int/T9 = 1\nnonsense\n")
        let child = try Child(in: fixture.directory.path, ["config-required"], ["TWEAKS_CONFIG": fixture.config])
        #expect(try !child.waitUntilReady())
        #expect(try child.waitForEnd() != 0)
        try child.waitForLine(containing: "\(fixture.config):1: bad-value ")
        try child.waitForLine(containing: "\(fixture.config):3: ")
    }

    @Test(arguments: [true, false]) func systemdIsNotifiedOfReloads(_ isAbstract: Bool) throws {
        #if !os(Linux)
            if isAbstract { return }
        #endif
        let address =
            isAbstract ? "@tweaks-test/\(UInt64.random(in: 0 ... .max))" : fixture.directory.file("notify")
        let receiver = try BoundSocket(address, for: .datagrams)
        try fixture.save("Probe/Int/T0 = 1\n")
        let child = try started([], ["NOTIFY_SOCKET": address])
        #expect(try receiver.next().hasPrefix("READY=1\nSTATUS=probe serves "))
        child.signal(SIGHUP)
        #expect(try receiver.next().hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect(try receiver.next().hasPrefix("READY=1\nSTATUS=\(fixture.config) reloaded, "))
        // The manager waits for the end of a failed reload, too.
        try fixture.save("Probe/Int/T0 = two")
        child.signal(SIGHUP)
        #expect(try receiver.next().hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect(try receiver.next().hasPrefix("READY=1\nSTATUS=\(fixture.config) rejected: "))
        child.signal(SIGTERM)
        #expect(try receiver.next() == "STOPPING=1")
        #expect(try child.waitForEnd() == 0)
    }

    @Test func reloadsUnderLoadLoseNoSetTearNoPairAndLeakNothing() throws {
        let reloads = quantity(1_000)
        try savePair(1)
        let child = try started()
        let admin = try child.connect()
        let clients = try (0..<50).map { _ in SendableClient(try child.connect()) }
        // Lazily created threads and descriptors exist afterwards.
        #expect(try admin.ask("run Probe/Config/Reload 2 20") == ["  19 reloads", "ok"])
        for client in clients { try client.client.ask("get Probe/Pair") }
        let before = try usage(child)
        let isOver = Atomic<Bool>(false)
        let counts = Mutex([Int](repeating: 0, count: clients.count))
        let errors = LogLines()
        let load = Gate()
        Thread.detachNewThread {
            concurrently(clients.count) { number in
                do {
                    var count = 0
                    while !isOver.load(ordering: .relaxed) || count == 0 {
                        try Self.round(clients[number].client, number)
                        count += 1
                    }
                    counts.withLock { $0[number] = count }
                } catch {
                    errors.note("client \(number): \(error)")
                }
            }
            load.open()
        }
        // By calls of `daemon.reload()`, and meanwhile by the command.
        let calls = Reloads(try child.connect(), from: 21, through: 20 + reloads)
        var commands = 0
        while !calls.isOver {
            #expect(try admin.ask("reload").last?.hasPrefix("ok rev ") == true)
            commands += 1
        }
        #expect(calls.reply == "  \(reloads) reloads" && commands > 0)
        isOver.store(true, ordering: .relaxed)
        load.waitBlocking()
        #expect(errors.all.isEmpty)
        #expect(try admin.ask("get Probe/Pair/Left")[0].hasPrefix("Probe/Pair/Left = \(20 + reloads) "))
        let after = try usage(child)
        // Dispatch threads come and go; one for each reload or client would be many more.
        #expect(
            after.descriptors <= before.descriptors + 2 && after.threads <= before.threads + 24, "\(before) \(after)")
        let counted = counts.withLock { $0 }
        try check(admin, counted)
        try child.kill()
        let next = try started()
        try check(next.connect(), counted)
        try next.stop()
    }

    private func savePair(_ number: Int) throws {
        try fixture.save("Probe/Pair/Left = \(number)\nProbe/Pair/Right = \(number)\n")
    }

    /// Sets a count and expects equal values of the pair.
    private static func round(_ client: TestClient, _ number: Int) throws {
        try client.send("Load/Count/C\(number) += 1\nget Probe/Pair\n")
        let reply = try client.reply().last ?? ""
        guard reply.hasPrefix("ok rev "), !reply.contains("unsaved") else { throw ClientError.ended(reply) }
        let values = try client.reply().dropLast().map { $0.split(separator: " ").dropFirst(2).first ?? "" }
        guard values.count == 2, values[0] == values[1] else { throw ClientError.ended("torn: \(values)") }
    }

    private func check(_ client: TestClient, _ counts: [Int]) throws {
        for (number, count) in counts.enumerated() {
            let line = try client.ask("get Load/Count/C\(number)")[0]
            #expect(line.hasPrefix("Load/Count/C\(number) = \(count) "), "\(line), but \(count) replies")
        }
    }

    private func usage(_ child: Child) throws -> (descriptors: Int, threads: Int) {
        #if os(Linux)
            let path = "/proc/\(child.processID)"
            return (
                try FileManager.default.contentsOfDirectory(atPath: "\(path)/fd").count,
                try FileManager.default.contentsOfDirectory(atPath: "\(path)/task").count
            )
        #else
            return (0, 0)
        #endif
    }
}

/// Reloads that a child performs in a row.
private final class Reloads: Sendable {
    private let state = Mutex<(isOver: Bool, reply: String)>((false, ""))

    var isOver: Bool { state.withLock { $0.isOver } }
    var reply: String { state.withLock { $0.reply } }

    /// Has a child save its config file and reload it, for each number.
    init(_ client: TestClient, from first: Int, through last: Int) {
        let client = SendableClient(client)
        Thread.detachNewThread {
            let lines = (try? client.client.ask("run Probe/Config/Reload \(first) \(last)")) ?? []
            self.state.withLock { $0 = (true, lines.first ?? "") }
        }
    }
}
