// Runs an example service whose error rate depends on its tweaks; demo.sh starts etcd and fifty instances.
//
// Run it with TWEAKS_FLEET=http://127.0.0.1:2379 swift run fleet; `tweakctl fleet quotes …` changes all instances.

import Foundation
import TweaksDaemon
import TweaksFleet

enum Upstream {
    static let timeout = Tweak(
        "Upstream", "Quotes", "Timeout", .seconds(2), in: .milliseconds(10) ... .seconds(30),
        help: "Time limit of a request")
    static let retries = Tweak("Upstream", "Quotes", "Retries", 1, in: 0...5, help: "Number of retries")
}

enum Service {
    static let load = Tweak("Service", "Load", "Requests", 20, in: 1...1_000, unit: "1/s", help: "Simulated requests")
    static let errors = Tweak(
        "Service", "Errors", "Rate", 0.0, unit: "%", help: "Requests of the last second that failed", flags: .readOnly)
}

/// Simulates a request to a service that usually replies within 200 ms and sometimes takes more than a second.
func fails(timeout: Duration, retries: Int) -> Bool {
    (0...retries).allSatisfy { _ in
        // The negative logarithm of a uniform random number is distributed like the time between two random events.
        let answer = Duration.milliseconds(60) - .milliseconds(120) * log(Double.random(in: 0..<1).nextUp)
        return answer > timeout
    }
}

/// Simulates one second of requests and publishes how many of them failed.
func simulateSecond() {
    let (count, timeout, retries) = (Service.load.value, Upstream.timeout.value, Upstream.retries.value)
    let failed = (0..<count).count { _ in fails(timeout: timeout, retries: retries) }
    Service.errors.value = (1_000 * Double(failed) / Double(count)).rounded() / 10
}

// Without TWEAKS_FLEET the program runs as an ordinary daemon.
await TweakDaemon.main(
    "quotes", sources: [.etcd()], tweaks: Upstream.timeout, Upstream.retries, Service.load, Service.errors
) {
    while true {
        simulateSecond()
        try await Task.sleep(for: .seconds(1))
    }
}
