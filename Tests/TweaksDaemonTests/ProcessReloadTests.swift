// Reloads of a process of its own: by SIGHUP, as systemd asks for them, and a thousand of them under load.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Foundation
import Synchronization
import Testing
import TweaksTestSupport

@Suite(.blocking, .tags(.process), .enabled(if: Child.exists)) struct ProcessReloadTests {
    private let station: Station

    init() throws { station = try Station() }

    private func started(_ words: [String] = [], _ environment: [String: String] = [:]) throws -> Child {
        let child = try Child(
            in: station.directory.path, words, ["TWEAKS_CONFIG": station.config].merging(environment) { $1 })
        try #require(try child.waitUntilReady(), "\(child.log.all)")
        return child
    }

    // MARK: Signals

    @Test func bySignal() throws {
        try station.save("Probe/Int/T0 = 1\n")
        let child = try started()
        let client = try child.connect()
        #expect(try client.ask("get Probe/Int/T0")[0].hasPrefix("Probe/Int/T0 = 1 "))
        // Without a last line break it is left alone, until somebody says so.
        try station.save("Probe/Int/T0 = 2")
        try child.waitForLine(containing: "does not end with a line break")
        child.signal(SIGHUP)
        try child.waitForLine(containing: "Probe/Int/T0: file changed 1 → 2")
        #expect(try client.ask("get Probe/Int/T0")[0].hasPrefix("Probe/Int/T0 = 2 "))
        try station.save("Probe/Int/T0 = two\n")
        child.signal(SIGHUP)
        try child.waitForLine(containing: "\(station.config):1: bad-value Probe/Int/T0: ")
        #expect(try client.ask("get Probe/Int/T0")[0].hasPrefix("Probe/Int/T0 = 2 "))
        child.signal(SIGTERM)
        #expect(try client.restOfLines().last?.hasPrefix("error closing ") == true)
        client.endInput()
        #expect(try child.waitForEnd() == 0)
    }

    /// A signal that comes as soon as there is a socket does not kill the process: it is a request to reload.
    @Test func hangupAtTheStart() throws {
        try station.save("Probe/Int/T0 = 1")
        let child = try started(["hangup"])
        try child.waitForLine(containing: "Probe/Int/T0: file changed 0 → 1")
        #expect(try child.connect().ask("get Probe/Int/T0")[0].hasPrefix("Probe/Int/T0 = 1 "))
    }

    @Test func aRequiredFileRefusesTheStart() throws {
        try station.save("Probe/Int/T0 = two\nProbe/Int/T9 = 1\nnonsense\n")
        let child = try Child(
            in: station.directory.path, ["config-required"], ["TWEAKS_CONFIG": station.config])
        #expect(try !child.waitUntilReady())
        #expect(try child.waitForEnd() != 0)
        try child.waitForLine(containing: "\(station.config):1: bad-value ")
        try child.waitForLine(containing: "\(station.config):3: ")
    }

    // MARK: systemd

    @Test(arguments: [true, false]) func notifyReload(_ isAbstract: Bool) throws {
        #if !os(Linux)
            if isAbstract { return }
        #endif
        let address =
            isAbstract ? "@tweaks-test/\(UInt64.random(in: 0 ... .max))" : station.directory.file("notify")
        let receiver = try BoundSocket(address, for: .datagrams)
        try station.save("Probe/Int/T0 = 1\n")
        let child = try started([], ["NOTIFY_SOCKET": address])
        #expect(try receiver.next().hasPrefix("READY=1\nSTATUS=probe serves "))
        child.signal(SIGHUP)
        let before = try receiver.next()
        #expect(before.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect(try receiver.next().hasPrefix("READY=1\nSTATUS=\(station.config) taken, "))
        // Badly or well, it ends: the manager waits for it.
        try station.save("Probe/Int/T0 = two")
        child.signal(SIGHUP)
        #expect(try receiver.next().hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect(try receiver.next().hasPrefix("READY=1\nSTATUS=\(station.config) not taken: "))
        child.signal(SIGTERM)
        #expect(try receiver.next() == "STOPPING=1")
        #expect(try child.waitForEnd() == 0)
    }

    // MARK: Under load

    /// A thousand reloads while fifty clients get and set: no set is lost, no pair is torn, nothing leaks.
    @Test func underLoad() throws {
        let reloads = quantity(1_000)
        try savePair(1)
        let child = try started()
        let admin = try child.connect()
        let clients = try (0..<50).map { _ in SentOver(try child.connect()) }
        // Whatever is made at first is there then.
        #expect(try admin.ask("run Probe/Config/Reload 2 20") == ["  19 reloads", "ok"])
        for client in clients { try client.client.ask("get Probe/Pair") }
        let before = try usage(child)
        let isOver = Atomic<Bool>(false)
        let counts = Mutex([Int](repeating: 0, count: clients.count))
        let troubles = Answered()
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
                    troubles.add("client \(number): \(error)")
                }
            }
            load.open()
        }
        // By calls of `daemon.reload()`, as fast as they go, and now and then by the command.
        let calls = Reloads(try child.connect(), from: 21, through: 20 + reloads)
        var commands = 0
        while !calls.isOver {
            #expect(try admin.ask("reload").last?.hasPrefix("ok rev ") == true)
            commands += 1
        }
        #expect(calls.answer == "  \(reloads) reloads" && commands > 0)
        isOver.store(true, ordering: .relaxed)
        load.waitBlocking()
        #expect(troubles.all.isEmpty)
        #expect(try admin.ask("get Probe/Pair/Left")[0].hasPrefix("Probe/Pair/Left = \(20 + reloads) "))
        let after = try usage(child)
        // Threads of Dispatch come and go; one for each reload, or for each client, would be many more.
        #expect(
            after.descriptors <= before.descriptors + 2 && after.threads <= before.threads + 24, "\(before) \(after)")
        let counted = counts.withLock { $0 }
        try check(admin, counted)
        try child.kill()
        // On disk, too.
        let next = try started()
        try check(next.connect(), counted)
        try next.stop()
    }

    private func savePair(_ number: Int) throws {
        try station.save("Probe/Pair/Left = \(number)\nProbe/Pair/Right = \(number)\n")
    }

    /// One set and one look at the pair.
    private static func round(_ client: TestClient, _ number: Int) throws {
        try client.send("Load/Count/C\(number) += 1\nget Probe/Pair\n")
        let answer = try client.reply().last ?? ""
        guard answer.hasPrefix("ok rev "), !answer.contains("unsaved") else { throw ClientError.ended(answer) }
        let values = try client.reply().dropLast().map { $0.split(separator: " ").dropFirst(2).first ?? "" }
        guard values.count == 2, values[0] == values[1] else { throw ClientError.ended("torn: \(values)") }
    }

    private func check(_ client: TestClient, _ counts: [Int]) throws {
        for (number, count) in counts.enumerated() {
            let line = try client.ask("get Load/Count/C\(number)")[0]
            #expect(line.hasPrefix("Load/Count/C\(number) = \(count) "), "\(line), and \(count) were answered")
        }
    }

    /// What the kernel says that a process has.
    private func usage(_ child: Child) throws -> (descriptors: Int, threads: Int) {
        #if os(Linux)
            let place = "/proc/\(child.processID)"
            return (
                try FileManager.default.contentsOfDirectory(atPath: "\(place)/fd").count,
                try FileManager.default.contentsOfDirectory(atPath: "\(place)/task").count
            )
        #else
            return (0, 0)
        #endif
    }
}

/// Reloads that a child makes by itself.
private final class Reloads: Sendable {
    private let state = Mutex<(isOver: Bool, answer: String)>((false, ""))

    var isOver: Bool { state.withLock { $0.isOver } }
    var answer: String { state.withLock { $0.answer } }

    /// Has a child save its config file and reload it, for each number.
    init(_ client: TestClient, from first: Int, through last: Int) {
        let client = SentOver(client)
        Thread.detachNewThread {
            let lines = (try? client.client.ask("run Probe/Config/Reload \(first) \(last)")) ?? []
            self.state.withLock { $0 = (true, lines.first ?? "") }
        }
    }
}
