// The parent suite of tests that change settings, and helpers for conversations.

import Testing
import Tweaks

@testable import throttled

/// Serialized, as all tests share the tweaks of the process.
@Suite(.serialized) enum WithSettings {
    /// Resets all settings, and removes the greeting.
    static func reset() throws {
        try TweakRegistry.shared.commit(origin: .code) { batch in
            batch.reset(Settings.all)
            batch.set(Replies.greeting, "")
        }
    }
}

/// The time 0 of all tests.
let start = ContinuousClock.now

extension Conversation {
    /// Receives bytes of the client.
    /// - Returns: The output until `seconds`.
    mutating func receive(
        _ bytes: some Sequence<UInt8>, at seconds: Double = 0, _ handler: inout RequestHandler
    ) -> String {
        receive(Array(bytes)[...])
        return read(at: seconds, &handler)
    }

    mutating func receive(_ text: String, at seconds: Double = 0, _ handler: inout RequestHandler) -> String {
        receive(text.utf8, at: seconds, &handler)
    }

    /// The output until `seconds` for a client that reads all of it.
    mutating func read(at seconds: Double, _ handler: inout RequestHandler) -> String {
        let now = start + .seconds(seconds)
        var bytes: [UInt8] = []
        advance(to: now, with: &handler)
        while !output.isEmpty {
            bytes += output
            sent(output.count, at: now)
            advance(to: now, with: &handler)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
