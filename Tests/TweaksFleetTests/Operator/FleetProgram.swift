// Runs tweakctl-fleet as a process with a real etcd.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

/// A running etcd, and the fleet `api` in it.
final class FleetProgramFixture: Sendable {
    let keys = FleetKeys(name: "api")
    private let server: EtcdServer
    private let etcd: EtcdClient

    /// - Parameters:
    ///   - processes: Registers as many processes, in the zones eu and us in turn, with the tweak Service/Pool/Size in
    ///     0...100; 0 declares nothing.
    ///   - revision: The revision that they have applied.
    init(processes: Int, revision: Int64 = 0) async throws {
        server = try await EtcdServer.start()
        etcd = try server.client()
        if processes > 0 { try await register(processes, revision: revision) }
    }

    /// Puts a key as a process of the fleet does.
    func put(_ key: [UInt8], _ value: [UInt8]) async throws {
        _ = try await etcd.commit(EtcdTransaction(then: [.put(key: key, value: value)]))
    }

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

    var url: String { server.url(0) }

    func start(_ line: String) throws -> RunningProgram {
        let variables = ["TWEAKS_FLEET": server.url(0), "TERM": "dumb"]
        return try RunningProgram(
            BuiltProgram.path("tweakctl-fleet"), ShellWords.split(line),
            environment: ProcessInfo.processInfo.environment.merging(variables) { $1 }, errors: .read)
    }

    /// Runs it to its end; returns the exit code and the output.
    func run(_ line: String, input: String = "") throws -> RunningProgram.Result {
        let program = try start(line)
        program.type(input)
        program.endInput()
        return try program.result()
    }

    /// Runs it and expects an exit code, and texts in the output and the errors.
    func expect(
        _ line: String, code: Int32 = 0, output: String..., errors: String..., input: String = "",
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let result = try run(line, input: input)
        #expect(result.code == code, "\(line): \(result)", sourceLocation: location)
        for text in output { #expect(result.output.contains(text), "\(line): \(result)", sourceLocation: location) }
        for text in errors { #expect(result.errors.contains(text), "\(line): \(result)", sourceLocation: location) }
    }

    /// Returns the standard output of a run.
    func output(_ line: String) throws -> String { try run(line).output }

    /// Returns the ID of the only rollout.
    func rolloutID() throws -> String {
        String(try #require(try output("api ls").split(separator: " ").first { $0.hasSuffix(":") }?.dropLast()))
    }
}

/// Splits a line as a shell does, with single quotes and without escapes.
enum ShellWords {
    static func split(_ line: String) -> [String] {
        line.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap { number, part in
            number % 2 == 1 ? [String(part)] : part.split(separator: " ").map { String($0) }
        }
    }
}
