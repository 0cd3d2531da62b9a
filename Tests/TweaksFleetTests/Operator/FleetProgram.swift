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
final class FleetSurroundings {
    private final class Marker {}

    let directory: TemporaryDirectory
    let endpoint: String
    let keys = FleetKeys(name: "api")
    private let etcd = Process()

    static let etcdPath = ["/usr/bin/etcd", "/usr/local/bin/etcd", "/opt/homebrew/bin/etcd"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    static var exists: Bool {
        etcdPath != nil && Tool.curl.exists && FileManager.default.isExecutableFile(atPath: executable.path)
    }

    static var executable: URL {
        #if canImport(Darwin)
            let products = Bundle(for: Marker.self).bundleURL.deletingLastPathComponent()
        #else
            let products = Bundle.main.bundleURL
        #endif
        return products.appendingPathComponent("tweakctl-fleet")
    }

    init() throws {
        directory = try TemporaryDirectory()
        let (client, peer) = ("http://127.0.0.1:\(try Self.freePort())", "http://127.0.0.1:\(try Self.freePort())")
        endpoint = client
        let errors = Pipe()
        etcd.executableURL = URL(fileURLWithPath: Self.etcdPath ?? "etcd")
        etcd.arguments = [
            "--name", "e", "--data-dir", directory.file("etcd"), "--listen-client-urls", client,
            "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", "e=\(peer)", "--unsafe-no-fsync",
        ]
        (etcd.standardError, etcd.standardOutput) = (errors, FileHandle.nullDevice)
        try etcd.run()
        var log = ""
        while !log.contains("ready to serve client requests") {
            let data = try errors.fileHandleForReading.readSome()
            if data.isEmpty { throw ClientError.ended("etcd did not start: \(log)") }
            log += String(decoding: data, as: UTF8.self)
        }
        // It goes on to write, and must not wait for a reader.
        Thread.detachNewThread { while let data = try? errors.fileHandleForReading.readSome(), !data.isEmpty {} }
    }

    deinit { if etcd.isRunning { kill(etcd.processIdentifier, SIGKILL) } }

    /// A port that was free just now.
    private static func freePort() throws -> UInt16 {
        #if canImport(Glibc)
            let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let number = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        defer { close(number) }
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &place) { pointer in
            // A sockaddr_in begins like a sockaddr: that is the contract of the socket calls.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, length) == 0 && getsockname(number, $0, &length) == 0
            }
        }
        if !isBound { throw ClientError.system("bind", errno) }
        return UInt16(bigEndian: place.sin_port)
    }

    // MARK: Keys

    /// Puts a key, as a process of the fleet does.
    func put(_ key: [UInt8], _ value: [UInt8]) throws {
        let body = "{\"key\":\"\(Data(key).base64EncodedString())\",\"value\":\"\(Data(value).base64EncodedString())\"}"
        let answer = try Tool.curl.run(["-s", "--fail", "-d", "@-", "\(endpoint)/v3/kv/put"], input: body)
        if !answer.contains("revision") { throw ClientError.ended("etcd took no put: \(answer)") }
    }

    /// A build with a tweak Service/Pool/Size in 0...100, and so many processes that run it.
    func register(_ count: Int, revision: Int64 = 0) throws {
        let registry = TweakRegistry()
        _ = Tweak("Service", "Pool", "Size", 32, in: 0...100, registry: registry)
        let build = FleetBuild(registry)
        try put(keys.build(build.hash), build.bytes)
        for number in 0..<count {
            var status = FleetStatus(build: build.hash)
            (status.labels, status.revision) = (["zone": number % 2 == 0 ? "eu" : "us"], revision)
            try put(keys.instance("i\(number)", start: 1), status.bytes)
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
