// The other process of the socket benchmarks: a server with a hundred tweaks, or a Redis.

import Foundation
import Tweaks
import TweaksDaemon
import TweaksPanel
import TweaksServer

enum ServedTweaks {
    /// Serves until it is killed, and prints its port.
    /// - Parameter texts: How many long texts there are beside the numbers.
    static func serve(texts: Int = 0) throws -> Never {
        DescriptorLimit.raise()
        let tweaks = (0..<100).map { Tweak("Bench", "Wire", "Number\($0)", 0.0) }
        for number in 0..<texts {
            Tweak("Pub", "S", "T\(number)", "").value = String(repeating: "0123456789abcdef", count: 4_080)
        }
        var hooks = TweakServerHooks()
        // Sessions give up what they have, and are given what they ask for.
        hooks.access.grants = [.admin]
        let server = TweakServer(
            name: "bench", registry: .shared, listeners: [.tcp(port: 0)], limits: limits, hooks: hooks)
        try server.start()
        FileHandle.standardOutput.write(Data("\(server.port ?? 0)\n".utf8))
        while true {
            sleep(1_000)
            withExtendedLifetime(tweaks) {}
        }
    }
}

extension ServedTweaks {
    /// Nobody is turned away, and nothing ends by itself.
    static var limits: TweakServerLimits {
        var limits = TweakServerLimits()
        limits.timeToFirstLine = .seconds(3_600)
        limits.commitsPerSecond = nil
        limits.sessions = 20_000
        limits.sessionsPerPeer = 20_000
        limits.unauthenticatedSessions = 20_000
        (limits.descriptorReserve, limits.memoryBytes) = (0, 1 << 30)
        return limits
    }

    /// Serves with a panel, and prints the port and the panel's address.
    static func servePanel(tweaks count: Int) throws -> Never {
        DescriptorLimit.raise()
        let tweaks = (0..<count).map {
            Tweak("Bench", "Wire", "Number\($0)", 0.0, help: "What it is about, in a few words")
        }
        let server = TweakServer(panel: .on, name: "bench", listeners: [.tcp(port: 0)], limits: limits)
        try server.start()
        FileHandle.standardOutput.write(Data("\(server.port ?? 0) \(server.panelAddress ?? "")\n".utf8))
        while true {
            sleep(1_000)
            withExtendedLifetime(tweaks) {}
        }
    }

    /// Serves as a program does that asks for nothing special, with an observer and without files. An action is the mark
    /// of ``Counted``.
    static func serveDefault() throws -> Never {
        let tweaks = (0..<100).map { Tweak("Bench", "Wire", "Number\($0)", 0.0) }
        tweakAction("Bench", "Count", "Mark") { _ in
            Counted.mark()
            return ""
        }
        let observation = tweaks[0].observe { Measure.keep($0.new) }
        var limits = TweakServerLimits()
        limits.commitsPerSecond = nil
        let daemon = try TweakDaemon.start(
            "bench", tcp: .open(port: 0), storage: .off, limits: limits, tweaks: tweaks)
        FileHandle.standardOutput.write(Data("\(daemon.port ?? 0)\n".utf8))
        while true {
            pause()
            withExtendedLifetime(observation) {}
        }
    }

    /// Sets a number again and again between two marks of ``Counted``: without an observer, then with one.
    static func commits(_ count: Int) throws {
        for observers in [0, 1] {
            let registry = TweakRegistry()
            let tweak = Tweak("Bench", "Set", "Number", 0.0, in: 0...1e9, registry: registry)
            let observations = (0..<observers).map { _ in tweak.observe { Measure.keep($0.new) } }
            for step in 1..<count { try tweak.set(Double(step)) }
            Counted.mark()
            for step in 0..<count { try tweak.set(Double(step)) }
            Counted.mark()
            for observation in observations { observation.cancel() }
        }
    }

    /// Serves and keeps overrides in a directory.
    static func serveDurable(_ directory: String) throws -> Never {
        let tweaks = (0..<100).map { Tweak("Bench", "Wire", "Number\($0)", 0.0) }
        var limits = TweakServerLimits()
        limits.commitsPerSecond = nil
        let daemon = try TweakDaemon.start(
            "bench", tcp: .open(port: 0), storage: .directory(directory), limits: limits, tweaks: tweaks)
        FileHandle.standardOutput.write(Data("\(daemon.port ?? 0)\n".utf8))
        while true { sleep(1_000) }
    }
}

/// A process that serves on a port and is killed with this object.
final class Peer {
    let port: UInt16
    /// The address of its panel, where it has one.
    let panel: String
    private let process: Process

    private init(_ process: Process, port: UInt16, panel: String = "") {
        self.process = process
        self.port = port
        self.panel = panel
    }

    deinit { end() }

    /// Ends it, and waits until it has.
    func end() {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
    }

    /// Its number among the processes.
    var processID: Int32 { process.processIdentifier }

    /// How often its threads have gone to sleep, or were put to sleep.
    var switches: Int { Self.switches(of: processID) }

    static func switches(of process: Int32) -> Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        return tasks.reduce(0) { sum, task in
            let status = (try? String(contentsOfFile: "/proc/\(process)/task/\(task)/status", encoding: .utf8)) ?? ""
            let lines = status.split(separator: "\n").filter { $0.contains("ctxt_switches:") }
            return lines.reduce(sum) { $0 + (Int($1.split(separator: "\t").last ?? "") ?? 0) }
        }
    }

    /// This very program, as clients that flood and clients that stall.
    static func crowd(of port: UInt16) throws -> Peer { try tweaks(["crowd", "\(port)"]) }

    /// This very program, serving.
    static func tweaks() throws -> Peer { try tweaks(["serve"]) }

    /// The same, with forty texts of 65 kB.
    static func texts() throws -> Peer { try tweaks(["serve-texts"]) }

    /// This very program, as clients that read these texts, again and again.
    static func readers(of port: UInt16) throws -> Peer { try tweaks(["readers", "\(port)"]) }

    /// The same, with a panel.
    static func panel(tweaks count: Int) throws -> Peer { try tweaks(["serve-panel", "\(count)"]) }

    /// The same, with a disk.
    static func durableTweaks(in directory: String) throws -> Peer { try tweaks(["serve-durable", directory]) }

    /// A process that is not started yet, in an environment that makes each run the same: no settings of tweaks, no Unix
    /// socket, and tables that are hashed alike.
    static func process(_ words: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst())
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TWEAKS_") }.merging(
            ["TWEAKS_SOCKET": "off", "SWIFT_DETERMINISTIC_HASHING": "1"]) { $1 }
        process.standardError = FileHandle.nullDevice
        return process
    }

    /// This very program, with these arguments.
    /// - Parameter wrapper: A program that runs it, with its arguments.
    static func tweaks(_ arguments: [String], under wrapper: [String] = []) throws -> Peer {
        let process = process(wrapper + [CommandLine.arguments[0]] + arguments)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let words = line.split { $0.isWhitespace }
        return Peer(
            process, port: words.first.flatMap { UInt16($0) } ?? 0, panel: words.count > 1 ? String(words[1]) : "")
    }

    /// A Redis without persistence; nil where none is installed.
    /// - Parameters:
    ///   - arguments: What else is said to it; the first may be a file that it can rewrite.
    ///   - wrapper: A program that runs it, with its arguments.
    static func redis(_ arguments: [String] = [], under wrapper: [String] = []) throws -> Peer? {
        try installed("redis-server", under: wrapper) { port in
            arguments + [
                "--port", "\(port)", "--save", "", "--appendonly", "no", "--bind", "127.0.0.1", "--daemonize", "no",
            ]
        }
    }

    /// An etcd of one node; nil where none is installed.
    static func etcd(in directory: String) throws -> Peer? {
        try installed("etcd") { port in
            [
                "--data-dir", directory, "--listen-client-urls", "http://127.0.0.1:\(port)", "--advertise-client-urls",
                "http://127.0.0.1:\(port)", "--listen-peer-urls", "http://127.0.0.1:\(port + 1)",
            ]
        }
    }

    /// Where a program is installed.
    static func path(of name: String) -> String? {
        ["/usr/bin/\(name)", "/usr/local/bin/\(name)"].first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private static func installed(
        _ name: String, under wrapper: [String] = [], _ arguments: (UInt16) -> [String]
    ) throws -> Peer? {
        guard let path = path(of: name) else { return nil }
        let port = UInt16.random(in: 20_000...32_000)
        let process = process(wrapper + [path] + arguments(port))
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        // Under callgrind, on a busy machine, a start takes seconds.
        for _ in 0..<3_000 where process.isRunning {
            if let probe = try? Connection(port: port) {
                withExtendedLifetime(probe) {}
                return Peer(process, port: port)
            }
            usleep(20_000)
        }
        if process.isRunning { process.terminate() }
        return nil
    }
}
