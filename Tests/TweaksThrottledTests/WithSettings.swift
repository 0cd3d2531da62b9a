// What all tests that touch the settings share: they take turns, and each begins with the defaults.

import Testing
import Tweaks

@testable import throttled

/// Serialized, since the tweaks of the program belong to the whole process.
@Suite(.serialized) enum WithSettings {
    /// Puts every setting back, and then no greeting: most tests are about what comes after it.
    static func reset() throws {
        try TweakRegistry.shared.commit(origin: .code) { batch in
            batch.reset(Settings.all)
            batch.set(Replies.greeting, "")
        }
    }
}

/// A moment to count from; which one does not matter.
let start = ContinuousClock.now

extension Conversation {
    /// The client sends something, and time comes to be `seconds`; returns what is said until then.
    mutating func hear(_ bytes: some Sequence<UInt8>, at seconds: Double = 0, _ desk: inout Desk) -> String {
        receive(Array(bytes)[...])
        return listen(at: seconds, &desk)
    }

    /// The same with text.
    mutating func hear(_ text: String, at seconds: Double = 0, _ desk: inout Desk) -> String {
        hear(text.utf8, at: seconds, &desk)
    }

    /// What is said until then, by a client that reads all of it.
    mutating func listen(at seconds: Double, _ desk: inout Desk) -> String {
        let now = start + .seconds(seconds)
        var said: [UInt8] = []
        advance(to: now, at: &desk)
        while !output.isEmpty {
            said += output
            sent(output.count, at: now)
            advance(to: now, at: &desk)
        }
        return String(decoding: said, as: UTF8.self)
    }
}
