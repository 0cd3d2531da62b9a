// Tests that long texts are sent in parts of bounded size, with other sessions served in between.

import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct LongTextTests {
    /// Passes all calls on, and counts the bytes sent.
    private final class SentBytes: FaultInjector {
        let count = Atomic(0)

        func make(_ call: SystemCall, on descriptor: Int32, count most: Int, _ body: (Int) -> Int) -> Int {
            let result = body(most)
            if call == .send, result > 0 { count.wrappingAdd(result, ordering: .relaxed) }
            return result
        }
    }

    private let registry = TweakRegistry()
    private let server: TurnByTurnServer
    private let sent = SentBytes()
    private static let length = 65_000

    init() throws {
        for number in 0..<40 {
            // Plain texts, and texts of characters that need escapes.
            let part = number % 2 == 0 ? "x" : "\"é\u{2028}"
            let tweak = Tweak("Pub", "S", "T\(number)", "", registry: registry)
            tweak.value = String(repeating: part, count: Self.length / part.utf8.count)
        }
        server = try TurnByTurnServer(registry: registry, faults: sent)
    }

    private var bytesWritten: Int { sent.count.load(ordering: .relaxed) + server.stepped.unsentBytes }

    /// A slice, and one item that is not divided: a text and its previous value, escaped.
    private static let mostBytesOfATurn = 16_384 + 2 * 2 * length + 1_024

    @Test(
        arguments: [
            "get Pub/S", "get *", "modified", "watch Pub/S", "find s", "export", "history 40", "describe Pub/S/T1",
            "explain Pub/S/T1", "get Pub/S/T1\nget Pub/S/T1\nget Pub/S/T1\nget Pub/S/T1\nget Pub/S/T1",
        ], [false, true])
    func repliesAreSentInParts(_ request: String, _ isJSON: Bool) throws {
        let (client, other) = (try server.connect(), try server.connect())
        if isJSON {
            try client.send("json\n")
            server.stepped.turn(timeout: 100)
            _ = try client.line()
        }
        try client.send(String(repeating: request + "\n", count: 4))
        // `find` runs on another thread, and its reply comes later.
        repeat { try expectParts(other, rounds: 10) } while bytesWritten < 10_000
    }

    @Test func eventsComeInParts() throws {
        let (watcher, other) = (try server.connect(), try server.connect())
        try watcher.send("watch Pub/S since \(registry.revision)\n")
        server.stepped.turn(timeout: 100)
        #expect(try watcher.line().hasSuffix("watching 40"))
        let text = String(repeating: "y", count: Self.length)
        try registry.commit(origin: .code) { batch in
            for number in 0..<40 { batch.set("Pub/S/T\(number)", .string(text)) }
        }
        try expectParts(other, rounds: 10)
    }

    /// Expects a reply to a short request within three turns, none of which writes much. Long replies stay unread.
    private func expectParts(_ other: TestClient, rounds: Int) throws {
        for round in 0..<rounds {
            try other.send("ping\n")
            var turns = 0
            while !other.hasInput, turns < 3 {
                let before = bytesWritten
                server.stepped.turn(timeout: 100)
                #expect(bytesWritten - before <= Self.mostBytesOfATurn, "round \(round)")
                turns += 1
            }
            try #require(other.hasInput)
            #expect(try other.line() == "ok pong")
        }
    }
}
