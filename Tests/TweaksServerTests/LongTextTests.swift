// Long texts are printed in parts, and others are looked at between them: what is counted is bytes, not time.

import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct LongTextTests {
    /// Lets all calls pass, and counts what is sent.
    private final class SentBytes: SystemFaults {
        let count = Atomic(0)

        func make(_ call: SystemCall, on descriptor: Int32, count most: Int, _ body: (Int) -> Int) -> Int {
            let result = body(most)
            if call == .send, result > 0 { count.wrappingAdd(result, ordering: .relaxed) }
            return result
        }
    }

    private let directory: TemporaryDirectory
    private let registry = TweakRegistry()
    private let server: SteppedServer
    private let sent = SentBytes()

    private static let length = 65_000

    init() throws {
        directory = try TemporaryDirectory()
        for number in 0..<40 {
            // Plain ones, and those that are full of what has to be looked at.
            let part = number % 2 == 0 ? "x" : "\"é\u{2028}"
            let text = String(repeating: part, count: Self.length / part.utf8.count)
            let tweak = Tweak("Pub", "S", "T\(number)", "", registry: registry)
            tweak.value = text
        }
        var (limits, hooks) = (TweakServerLimits(), TweakServerHooks())
        // The shortest turns there are: what cannot be divided.
        (limits.turn, limits.watchedTurn) = (.zero, .zero)
        hooks.faults = sent
        server = try SteppedServer(
            at: try SteppedServer.Place(socketPath: directory.file("socket")), registry: registry, limits: limits,
            hooks: hooks)
    }

    private func connect() throws -> TestClient {
        let (client, count) = (try TestClient(unix: directory.file("socket")), server.sessionCount)
        while server.sessionCount == count { server.turn(patience: 100) }
        return client
    }

    private var printed: Int { sent.count.load(ordering: .relaxed) + server.unsentBytes }

    /// A slice, and one item that is not divided: a text and what it was before, escaped.
    private static let most = 16_384 + 2 * 2 * length + 1_024

    @Test(
        arguments: [
            "get Pub/S", "get *", "modified", "watch Pub/S", "find s", "export", "history 40", "describe Pub/S/T1",
            "explain Pub/S/T1", "get Pub/S/T1\nget Pub/S/T1\nget Pub/S/T1\nget Pub/S/T1\nget Pub/S/T1",
        ], [false, true])
    func isPrintedInParts(_ request: String, _ isJSON: Bool) throws {
        let (greedy, polite) = (try connect(), try connect())
        if isJSON {
            try greedy.send("json\n")
            server.turn(patience: 100)
            _ = try greedy.line()
        }
        try greedy.send(String(repeating: request + "\n", count: 4))
        // What is looked for beside the loop comes later.
        repeat { try expectParts(polite, rounds: 10) } while printed < 10_000
    }

    /// The same for events: all forty change at once while a session watches.
    @Test func eventsComeInParts() throws {
        let (watcher, polite) = (try connect(), try connect())
        try watcher.send("watch Pub/S since \(registry.revision)\n")
        server.turn(patience: 100)
        #expect(try watcher.line().hasSuffix("watching 40"))
        let text = String(repeating: "y", count: Self.length)
        try registry.commit(origin: .code) { batch in
            for number in 0..<40 { batch.set("Pub/S/T\(number)", .string(text)) }
        }
        try expectParts(polite, rounds: 10)
    }

    /// Long replies are left unread; a session that asks for little is answered in one of the next turns, none of which prints much.
    private func expectParts(_ polite: TestClient, rounds: Int) throws {
        for round in 0..<rounds {
            try polite.send("ping\n")
            var turns = 0
            while !polite.hasInput, turns < 3 {
                let before = printed
                server.turn(patience: 100)
                #expect(printed - before <= Self.most, "round \(round)")
                turns += 1
            }
            try #require(polite.hasInput)
            #expect(try polite.line() == "ok pong")
        }
    }
}
