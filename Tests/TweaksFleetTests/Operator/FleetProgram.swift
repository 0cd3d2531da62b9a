// tweakctl-fleet as a process of its own, and an etcd for it, where this machine has one.

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
import TweaksTestSupport

@testable import TweaksFleet

/// A started etcd of one member, the executable, which is built beside the tests, and a fleet called `api`.
final class FleetSurroundings: Sendable {
    private final class Marker {}

    let keys = FleetKeys(name: "api")
    private let server: EtcdServer
    private let etcd: EtcdClient

    var endpoint: String { server.endpoints[0] }

    static var executable: URL {
        #if canImport(Darwin)
            let products = Bundle(for: Marker.self).bundleURL.deletingLastPathComponent()
        #else
            let products = Bundle.main.bundleURL
        #endif
        return products.appendingPathComponent("tweakctl-fleet")
    }

    static var exists: Bool { FileManager.default.isExecutableFile(atPath: executable.path) }

    init() async throws {
        server = try await EtcdServer.start()
        etcd = EtcdClient(try EtcdConfiguration(endpoints: server.endpoints[0]))
    }

    // MARK: Keys

    /// Puts a key, as a process of the fleet does.
    func put(_ key: [UInt8], _ value: [UInt8]) async throws {
        _ = try await etcd.commit(EtcdTransaction(then: [.put(key: key, value: value)]))
    }

    /// A build with a tweak Service/Pool/Size in 0...100, and so many processes that run it.
    func register(_ count: Int, revision: Int64 = 0) async throws {
        let registry = TweakRegistry()
        _ = Tweak("Service", "Pool", "Size", 32, in: 0...100, registry: registry)
        let build = FleetBuild(registry)
        try await put(keys.build(build.hash), build.bytes)
        for number in 0..<count {
            var status = FleetStatus(build: build.hash)
            (status.labels, status.revision) = (["zone": number % 2 == 0 ? "eu" : "us"], revision)
            try await put(keys.instance("i\(number)", start: 1), status.bytes)
        }
    }

    // MARK: The program

    /// Its exit code and what it printed, on both streams.
    func run(_ line: String, input: String = "") throws -> (code: Int32, output: String, errors: String) {
        let program = try start(line)
        program.input.fileHandleForWriting.writeUnlessBroken(input)
        try? program.input.fileHandleForWriting.close()
        return try program.result()
    }

    func start(_ line: String) throws -> RunningFleetProgram { try RunningFleetProgram(self, line) }
}

/// One run of tweakctl-fleet.
final class RunningFleetProgram {
    let process = Process()
    let (input, output, errors) = (Pipe(), Pipe(), Pipe())
    private var text = ""

    /// - Parameter line: Words as a shell has them, in single quotes where they hold blanks.
    fileprivate init(_ surroundings: FleetSurroundings, _ line: String) throws {
        process.executableURL = FleetSurroundings.executable
        process.arguments = line.split(separator: "'", omittingEmptySubsequences: false).enumerated()
            .flatMap { $0.offset % 2 == 1 ? [$0.element] : $0.element.split(separator: " ") }.map { String($0) }
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["TWEAKS_FLEET": surroundings.endpoint, "TERM": "dumb"]
        ) { $1 }
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
        // The threads of Dispatch block signals, and a program inherits that.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        try process.run()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Reads standard output up to a text.
    func wait(for wanted: String) throws {
        while !text.contains(wanted) {
            let data = try output.fileHandleForReading.readSome()
            if data.isEmpty { throw ClientError.ended("no “\(wanted)” in “\(text)”; \(try result())") }
            text += String(decoding: data, as: UTF8.self)
        }
    }

    func result() throws -> (code: Int32, output: String, errors: String) {
        text += String(decoding: try output.fileHandleForReading.readRest(), as: UTF8.self)
        let errors = String(decoding: try errors.fileHandleForReading.readRest(), as: UTF8.self)
        process.waitUntilExit()
        let code = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        return (code, text, errors)
    }
}
