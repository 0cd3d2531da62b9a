// Serves a site whose router has the panel below a path.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksPanel

@testable import TweaksTestSupport

/// A site on a port of 127.0.0.1. Deallocation stops it.
final class MountedSite: Sendable {
    private final class State: Sendable {
        let targets = Mutex<[String]>([])
        let hasStopped = Mutex(false)
        let refusal = Mutex<Int?>(nil)
    }

    let port: Int
    private let state = State()

    init(_ panel: PanelHost) throws {
        let listener = try BoundSocket(loopback: .version4, backlog: 64)
        port = listener.port
        let handler = panel.mounted(below: "/ops/tweaks", origins: ["http://127.0.0.1:\(port)"])
        let state = state
        Thread.detachNewThread {
            while true {
                let accepted: Int32
                do {
                    accepted = try listener.accepted()
                } catch ClientError.system(_, let code) where code == ECONNABORTED || code == EAGAIN {
                    continue
                } catch {
                    break
                }
                if state.hasStopped.withLock({ $0 }) {
                    _ = systemClose(accepted)
                    break
                }
                // Each connection blocks a thread of its own.
                Task.detached(executorPreference: ThreadExecutor.shared) {
                    let client = TestClient(accepted: accepted)
                    try? await Self.serve(client, handler, state)
                    client.endInput()
                    _ = try? client.rest()
                }
            }
        }
    }

    deinit {
        state.hasStopped.withLock { $0 = true }
        // Wakes the accepting thread.
        _ = try? TestClient(port: port)
    }

    /// The targets of all requests so far.
    var targets: [String] { state.targets.withLock { $0 } }

    /// The status of all requests from now on, in place of the panel's answer: the site wants its user to sign in again.
    func refuse(_ status: Int?) { state.refusal.withLock { $0 = status } }

    /// The address of the panel, without its last slash.
    var address: String { "http://127.0.0.1:\(port)/ops/tweaks" }

    // MARK: Serving

    private static func serve(_ client: TestClient, _ handler: TweakPanelHandler, _ state: State) async throws {
        let lines = try client.read(through: "\r\n\r\n").split(separator: "\r\n")
        let words = lines[0].split(separator: " ").map(String.init)
        let headers = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (name: String(parts[0]), value: parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
        }
        let length = headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
        let request = TweakPanelRequest(
            method: words[0], target: words[1], headers: headers, body: try client.bytes(length))
        state.targets.withLock { $0.append(words[1]) }
        if let status = state.refusal.withLock({ $0 }) {
            return try client.send(head(status, [("Content-Type", "text/plain"), ("Content-Length", "0")]))
        }
        let response = await handler.respond(to: request, as: TweakPanelCaller(name: "ada", scopes: [.admin]))
        try client.send(head(response.status, response.headers))
        for try await part in response.body { try client.send(part) }
    }

    private static func head(_ status: Int, _ headers: [(name: String, value: String)]) -> [UInt8] {
        let lines = headers.map { "\($0.name): \($0.value)" }
        return Array(
            (["HTTP/1.1 \(status) Site"] + lines + ["Connection: close", "", ""]).joined(separator: "\r\n").utf8)
    }
}
