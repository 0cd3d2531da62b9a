// Runs the peer processes of the socket benchmarks: servers with tweaks, Redis and etcd.

import Foundation
import Tweaks
import TweaksDaemon
import TweaksPanel
import TweaksServer

enum ServedTweaks {
    /// Serves until it is killed, and prints its port.
    /// - Parameter texts: The number of long texts besides the numbers.
    static func serve(texts: Int = 0) throws -> Never {
        DescriptorLimit.raise()
        let tweaks = (0..<100).map { Tweak("Bench", "Wire", "Number\($0)", 0.0) }
        for number in 0..<texts {
            Tweak("Pub", "S", "T\(number)", "").value = String(repeating: "0123456789abcdef", count: 4_080)
        }
        var hooks = TweakServerHooks()
        // Sessions drop their scopes and are granted those they request.
        hooks.access.grants = [.admin]
        let server = TweakServer(
            name: "bench", registry: .shared, listeners: [.tcp(port: 0)], limits: limits, hooks: hooks)
        try server.start()
        Peer.serve("\(server.port ?? 0)", keeping: server, tweaks)
    }
}

extension ServedTweaks {
    /// Limits that no benchmark reaches.
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
        Peer.serve("\(server.port ?? 0) \(server.addressWithToken)", keeping: server, tweaks)
    }

    /// Serves with default settings, an observer, and no files. An action sets the mark of ``CountedProcess``.
    /// - Parameter socket: The path of its Unix socket; nil for none.
    static func serveDefault(_ socket: String?) throws -> Never {
        if let socket { setenv("TWEAKS_SOCKET", socket, 1) }
        let tweaks = (0..<100).map { Tweak("Bench", "Wire", "Number\($0)", 0.0) }
        tweakAction("Bench", "Count", "Mark") { _ in
            CountedProcess.mark()
            return ""
        }
        let observation = tweaks[0].observe { Measure.keep($0.new) }
        var limits = TweakServerLimits()
        limits.commitsPerSecond = nil
        let daemon = try TweakDaemon.start(
            "bench", tcp: .open(port: 0), storage: .off, limits: limits, tweaks: tweaks)
        Peer.serve("\(daemon.port ?? 0)", keeping: daemon, observation)
    }

    /// Sets a number repeatedly between two marks of ``CountedProcess``: without an observer, then with one.
    static func commits(_ count: Int) throws {
        for observers in [0, 1] {
            let registry = TweakRegistry()
            let tweak = Tweak("Bench", "Set", "Number", 0.0, in: 0...1e9, registry: registry)
            let observations = (0..<observers).map { _ in tweak.observe { Measure.keep($0.new) } }
            for step in 1..<count { try tweak.set(Double(step)) }
            CountedProcess.mark()
            for step in 0..<count { try tweak.set(Double(step)) }
            CountedProcess.mark()
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
        Peer.serve("\(daemon.port ?? 0)", keeping: daemon)
    }
}

/// A process that serves on a port and is terminated with this object.
final class Peer {
    let port: UInt16
    /// The address of its panel; empty without one.
    let panel: String
    private let process: Process

    private init(_ process: Process, port: UInt16, panel: String = "") {
        self.process = process
        self.port = port
        self.panel = panel
    }

    deinit { end() }

    /// Terminates the process and waits for its end.
    func end() {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
    }

    /// Prints a line that tells the parent process that this one is ready, and waits until it is killed.
    ///
    /// It uses pause(2), because ``CountedProcess`` takes nanosleep(2) for a mark.
    static func serve(_ line: String, keeping objects: Any...) -> Never {
        writeLine(line)
        keepRunning(objects)
    }

    /// Waits until this process is killed.
    static func keepRunning(_ objects: Any...) -> Never {
        while true {
            pause()
            withExtendedLifetime(objects) {}
        }
    }

    var residentBytes: Int { ProcessMetrics.residentBytes(of: "\(processID)") }

    var processID: Int32 { process.processIdentifier }

    /// The context switches of its threads.
    var switches: Int { Self.switches(of: processID) }

    static func switches(of process: Int32) -> Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        return tasks.reduce(0) { sum, task in
            let status = (try? String(contentsOfFile: "/proc/\(process)/task/\(task)/status", encoding: .utf8)) ?? ""
            let lines = status.split(separator: "\n").filter { $0.contains("ctxt_switches:") }
            return lines.reduce(sum) { $0 + (Int($1.split(separator: "\t").last ?? "") ?? 0) }
        }
    }

    /// This program, as clients that flood and clients that stall.
    static func crowd(of port: UInt16) throws -> Peer { try tweaks(["crowd", "\(port)"]) }

    /// This program, serving.
    static func tweaks() throws -> Peer { try tweaks(["serve"]) }

    /// The same, with forty texts of 65 kB.
    static func texts() throws -> Peer { try tweaks(["serve-texts"]) }

    /// This program, as clients that read these texts repeatedly.
    static func readers(of port: UInt16) throws -> Peer { try tweaks(["readers", "\(port)"]) }

    /// The same, with a panel.
    static func panel(tweaks count: Int) throws -> Peer { try tweaks(["serve-panel", "\(count)"]) }

    /// The same, with many tweaks, and default limits.
    static func manyTweaks(_ count: Int) throws -> Peer { try tweaks(["serve-many", "\(count)"]) }

    /// This program, as watchers of these tweaks that do not read.
    static func deafWatchers(of port: UInt16, count: Int) throws -> Peer {
        try tweaks(["deaf-watchers", "\(port)", "\(count)"])
    }

    /// The same, with stored overrides.
    static func durableTweaks(in directory: String) throws -> Peer { try tweaks(["serve-durable", directory]) }

    /// A process that is not started yet, in a reproducible environment: no tweak settings, no Unix socket, and
    /// deterministic hashing.
    static func process(_ command: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TWEAKS_") }.merging(
            ["TWEAKS_SOCKET": "off", "SWIFT_DETERMINISTIC_HASHING": "1"]) { $1 }
        process.standardError = FileHandle.nullDevice
        return process
    }

    /// This program, with these arguments.
    /// - Parameter wrapper: A program that runs it, with its arguments.
    static func tweaks(_ arguments: [String], under wrapper: [String] = []) throws -> Peer {
        let process = process(wrapper + [CommandLine.arguments[0]] + arguments)
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.readAvailable(), as: UTF8.self)
        let words = line.split { $0.isWhitespace }
        return Peer(
            process, port: words.first.flatMap { UInt16($0) } ?? 0, panel: words.count > 1 ? String(words[1]) : "")
    }

    /// A Redis without persistence; nil where none is installed.
    /// - Parameters:
    ///   - arguments: Additional arguments; the first may be a config file that it can rewrite.
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

    /// The path of an installed program.
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

extension FileHandle {
    /// Waits for bytes and reads what is there; empty at the end. `availableData` ends the process when a signal
    /// interrupts it.
    func readAvailable() -> Data { available(from: fileDescriptor) }
}

/// Outside the extension, in which `read` is another function.
private func available(from descriptor: Int32) -> Data {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = read(descriptor, &bytes, bytes.count)
        if count < 0, errno == EINTR { continue }
        return Data(bytes.prefix(max(count, 0)))
    }
}
