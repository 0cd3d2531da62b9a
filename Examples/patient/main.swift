// Queries an unreliable service with retries; the retry policy is a group of five tweaks.
//
// Run it with an audit log: TWEAKS_AUDIT=patient.log swift run patient

import Foundation
import Observation
import TweaksDaemon
import TweaksFoundation

enum Upstream {
    /// Five tweaks at once: attempts, base delay, factor, max delay, jitter.
    static let retry = TweakGroup(
        "Upstream", "Quotes", "Retry", TweakRetryPolicy(attempts: 4, baseDelay: .milliseconds(200)))
    static let answers = Tweak(
        "Upstream", "Quotes", "Answers", 0.4, in: 0...1, help: "How often the simulated service answers")
    static let pause = Tweak(
        "Upstream", "Quotes", "Pause", .seconds(2), in: .milliseconds(10) ... .seconds(60),
        help: "The pause between two queries")
    static let until = Tweak(
        "Upstream", "Quotes", "Until", Date(timeIntervalSince1970: 4_102_444_800),
        help: "When the simulated service closes")
}

/// Sends a query, with retries by the policy. The policy is read once, so all of its five values are consistent.
func query(_ number: Int) async throws {
    let policy = Upstream.retry.value
    for attempt in 1...policy.attempts {
        try await Task.sleep(for: policy.delay(beforeAttempt: attempt))
        if Double.random(in: 0..<1) < Upstream.answers.value {
            return print("query \(number): answered at attempt \(attempt)")
        }
    }
    print("query \(number): given up after \(policy.attempts) attempts")
}

/// Prints the policy, and again after each change, by Swift's Observation, as a view would use it.
@Sendable func printPolicy() {
    withObservationTracking {
        let policy = Upstream.retry.observed
        print("up to \(policy.attempts) attempts, the first pause \(policy.baseDelay)")
    } onChange: {
        // Tracking ends with the first change, so it is started again.
        Task { printPolicy() }
    }
}

// A group is passed like any other tweak. SIGTERM and Ctrl-C end this when all changes are on disk.
await TweakDaemon.main("patient", tweaks: Upstream.retry, Upstream.answers, Upstream.pause, Upstream.until) {
    printPolicy()
    for number in 1... {
        if Date.now < Upstream.until.value { try await query(number) }
        try await Task.sleep(for: Upstream.pause.value)
    }
}
