// Serves the page of a fleet in memory, for tests of its routes and for browsers.

import Foundation
import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet
@testable import TweaksFleetOperator

/// The fleet `api` in memory with some processes, and its page.
final class FleetPanelHost: Sendable {
    /// A response: its status, and its body as JSON.
    struct Answer {
        var status = 0
        var json: [String: Any] = [:]

        var message: String { (json["error"] as? [String: Any])?["message"] as? String ?? "" }
        func items(_ name: String) -> [[String: Any]] { json[name] as? [[String: Any]] ?? [] }
        func texts(_ name: String) -> [String] { json[name] as? [String] ?? [] }
    }

    let harness = OperatorHarness()
    let panel: FleetPanel
    let fleet: FleetOperator
    static let size = "Service/Pool/Size"

    /// - Parameters:
    ///   - processes: `i0`, `i1` …, in the zones eu and us in turn.
    ///   - value: The fleet's value of Service/Pool/Size; nil for none.
    init(processes: Int = 4, value: Int64? = 64, _ declare: (TweakRegistry) throws -> Void = { _ in }) async throws {
        let build = FleetBuild(try Self.declared(declare))
        harness.etcd.put(harness.keys.build(build.hash), build.bytes)
        let (harness, hash) = (harness, build.hash)
        fleet = FleetOperator(
            harness.etcd, harness.keys, by: "alice", now: { ThisProcess.wallClock }, makeID: { "r1" })
        for number in 0..<processes {
            harness.register("i\(number)", build: hash, labels: ["zone": number % 2 == 0 ? "eu" : "us"]) {
                $0.started = 1_000
            }
        }
        if let value { _ = try await fleet.set([try harness.assignment(Self.size, .int(value))]) }
        var limits = DriverLimits()
        // The lease of the driver outlives the steps that tests end by advancing etcd's clock.
        limits.claim = 6_000
        var timing = FleetBoard.Timing()
        timing.publishing = .milliseconds(20)
        timing.sampling = .milliseconds(50)
        panel = try await FleetPanel(fleet, limits, port: 0, timing: timing) { _ in }
    }

    /// The tweaks of the processes' build.
    private static func declared(_ declare: (TweakRegistry) throws -> Void) throws -> TweakRegistry {
        let registry = TweakRegistry()
        _ = try registry.register("Service", "Pool", "Size", 32, in: 0...100, unit: "threads", help: "Worker threads")
        _ = try registry.register("Service", "Pool", "Name", "main")
        _ = try registry.register("Service", "Auth", "Key", "", flags: .secret)
        _ = try registry.register("Service", "Errors", "Rate", 0.0, flags: .readOnly)
        tweakAction("Service", "Pool", "Drain", registry: registry) { _ in "" }
        try declare(registry)
        return registry
    }

    /// Registers the processes again, with what a body changes; they have reported all that is written.
    func report(_ count: Int = 4, _ change: (Int, inout FleetStatus) -> Void = { _, _ in }) async throws {
        let hash = try #require(try await fleet.builds().hashes.first)
        let (revision, counter) = (harness.etcd.revision, try await fleet.readState().head?.value.counter ?? 0)
        for number in 0..<count {
            harness.register("i\(number)", build: hash, labels: ["zone": number % 2 == 0 ? "eu" : "us"]) { status in
                (status.revision, status.head, status.started) = (revision, counter, 1_000)
                status.at = ThisProcess.wallClock
                change(number, &status)
            }
        }
    }

    func value(_ path: String = size) async throws -> TweakValue? { try await harness.value(path) }

    /// Makes a draft, as the page does.
    func draft(_ value: TweakValue, of path: String = size) throws {
        _ = try #require(panel.board.registry[path]).set(value)
    }

    // MARK: Requests

    private var port: Int { Int(URL(string: panel.address)?.port ?? 0) }

    /// Sends a request of a program.
    /// - Parameters:
    ///   - token: Its token; empty for none, nil for the page's own.
    ///   - headers: More headers.
    func ask(
        _ method: String, _ target: String, _ body: String? = nil, token: String? = nil, headers: [String] = []
    ) throws -> Answer {
        let client = try TestClient(port: port)
        var lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"]
        let token = token ?? panel.token
        if !token.isEmpty { lines.append("Authorization: Bearer \(token)") }
        if let body { lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"] }
        try client.send((lines + headers + ["", body ?? ""]).joined(separator: "\r\n"))
        let parts = try client.rest().components(separatedBy: "\r\n\r\n")
        var answer = Answer(status: Int(parts[0].split(separator: " ").dropFirst().first ?? "") ?? 0)
        let text = parts.dropFirst().joined(separator: "\r\n\r\n")
        answer.json = (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
        return answer
    }

    func post(_ target: String, _ body: String) throws -> Answer { try ask("POST", "/api/fleet/\(target)", body) }
}
