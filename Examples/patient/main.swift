// patient: asks an unreliable service again and again. How patiently is one value of five parts, tuned while it runs.
//
// TWEAKS_AUDIT=patient.log swift run patient – and patient.log says who has changed what.

import Foundation
import Observation
import TweaksDaemon

enum Upstream {
    /// Five tweaks at once: attempts, base delay, factor, max delay, jitter.
    static let retry = TweakGroup(
        "Upstream", "Quotes", "Retry", TweakRetryPolicy(attempts: 4, baseDelay: .milliseconds(200)))
    static let answers = Tweak(
        "Upstream", "Quotes", "Answers", 0.4, in: 0...1, help: "How often the service, which is only played, answers")
    static let pause = Tweak(
        "Upstream", "Quotes", "Pause", .seconds(2), in: .milliseconds(10) ... .seconds(60),
        help: "How long it rests between two questions")
}

/// Asks once, and again as the policy says, which is read whole: nobody sees half of a change to it.
func ask(_ number: Int) async throws {
    let policy = Upstream.retry.value
    for attempt in 1...policy.attempts {
        try await Task.sleep(for: policy.delay(beforeAttempt: attempt))
        if Double.random(in: 0..<1) < Upstream.answers.value {
            return print("question \(number): answered at attempt \(attempt)")
        }
    }
    print("question \(number): given up after \(policy.attempts)")
}

/// Says what the policy is, and again whenever it has changed: Swift's own Observation, as a view would use it.
@Sendable func announce() {
    withObservationTracking {
        let policy = Upstream.retry.observed
        print("up to \(policy.attempts) attempts, the first pause \(policy.baseDelay)")
    } onChange: {
        // Tracking has ended with this; so it begins anew.
        Task { announce() }
    }
}

do {
    // A group is in the list like any other tweak.
    let daemon = try TweakDaemon.start(
        "patient", signals: [.reload, .stop], tweaks: Upstream.retry, Upstream.answers, Upstream.pause)
    Task {
        // Ends by SIGTERM or Ctrl-C, when all that was changed is written.
        try await daemon.run()
        exit(0)
    }
} catch {
    FileHandle.standardError.write(Data("patient: \(error)\n".utf8))
    exit(1)
}

announce()
for number in 1... {
    try await ask(number)
    try await Task.sleep(for: Upstream.pause.value)
}
