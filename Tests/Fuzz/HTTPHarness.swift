// Runs a stepped server with a panel, and checks its responses.

import Tweaks
import TweaksPanel
import TweaksServer

/// One run of requests over HTTP, on a Unix socket: a fuzzer would use up the ports.
final class HTTPHarness {
    private static let path = SocketPath().path
    private static let endpoint = PanelEndpoint(.on)
    // The fuzzer has one thread; tests replay one input after the other.
    nonisolated(unsafe) private static let socket = try? SteppedServer.Socket(socketPath: path, endpoint: endpoint)

    private let samples = Samples()
    private let server: SteppedServer
    private let client: RawClient

    init() throws(Finding) {
        Samples.declareAction(samples.registry) { _ in "played" }
        do {
            guard let socket = Self.socket else { throw Finding("\(Self.path) cannot be opened") }
            var hooks = TweakServerHooks()
            hooks.presets = ListedPresets()
            server = try SteppedServer(
                at: socket, registry: samples.registry, limits: TweakServerLimits(), hooks: hooks)
            client = try RawClient(Self.path)
        } catch {
            throw Finding("\(error)")
        }
        for _ in 0..<10 where server.sessionCount < 1 { server.turn(timeout: 1_000) }
        try expect(server.sessionCount == 1, "a connection was not accepted")
    }

    /// The token of the panel, which has all rights.
    var token: String { Self.endpoint.secret }

    /// Sends bytes, and runs turns of the server until all work is done.
    func send(_ bytes: [UInt8]) throws(Finding) {
        client.send(bytes[...])
        server.turn(timeout: 0)
        var turns = 0
        while server.isBusy || client.hasUnread {
            server.turn(timeout: server.isBusy ? 100 : 0)
            client.receive()
            turns += 1
            try expect(turns < 10_000, "the server hangs")
        }
        client.receive()
    }

    /// Ends the connection, and checks that what came is HTTP, and no failure of the server's.
    func end() throws(Finding) {
        client.endInput()
        var turns = 0
        while !client.hasEnded {
            server.turn(timeout: 100)
            client.receive()
            turns += 1
            try expect(turns < 1_000, "a connection does not end")
        }
        let text = String(decoding: client.received, as: UTF8.self)
        try expect(text.isEmpty || text.hasPrefix("HTTP/1.1 "), "a response that is not HTTP: \(text.prefix(200))")
        try expect(!text.contains("HTTP/1.1 500 "), "a failure of the server: \(text)")
    }
}
