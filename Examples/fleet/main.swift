// fleet: a service to be run many times, whose errors depend on its tweaks. demo.sh starts etcd and fifty of it.
//
// TWEAKS_FLEET=http://127.0.0.1:2379 swift run fleet – and `tweakctl fleet quotes …` changes all that run.

import Foundation
import TweaksDaemon
import TweaksFleet

enum Upstream {
    static let timeout = Tweak(
        "Upstream", "Quotes", "Timeout", .seconds(2), in: .milliseconds(10) ... .seconds(30),
        help: "How long a question may take")
    static let retries = Tweak("Upstream", "Quotes", "Retries", 1, in: 0...5, help: "How often it is asked again")
}

enum Service {
    static let load = Tweak("Service", "Load", "Requests", 20, in: 1...1_000, unit: "1/s", help: "Played requests")
    static let errors = Tweak(
        "Service", "Errors", "Rate", 0.0, unit: "%", help: "Requests of the last second that failed", flags: .readOnly)
}

/// Plays a request to a service that mostly answers within 200 ms, and sometimes not within a second.
func fails(timeout: Duration, retries: Int) -> Bool {
    (0...retries).allSatisfy { _ in
        // The negative logarithm of chance is distributed like the time between two events.
        let answer = Duration.milliseconds(60) - .milliseconds(120) * log(Double.random(in: 0..<1).nextUp)
        return answer > timeout
    }
}

/// Plays one second of requests, and publishes how many of them failed.
func playSecond() {
    let (count, timeout, retries) = (Service.load.value, Upstream.timeout.value, Upstream.retries.value)
    let failed = (0..<count).count { _ in fails(timeout: timeout, retries: retries) }
    Service.errors.value = (1_000 * Double(failed) / Double(count)).rounded() / 10
}

do {
    // Where TWEAKS_FLEET names no etcd this is a daemon like any other.
    let daemon = try TweakDaemon.start(
        "quotes", sources: [.etcd()], signals: [.reload, .stop],
        tweaks: Upstream.timeout, Upstream.retries, Service.load, Service.errors)
    let load = Task {
        while !Task.isCancelled {
            playSecond()
            try await Task.sleep(for: .seconds(1))
        }
    }
    try await daemon.run()
    load.cancel()
} catch {
    FileHandle.standardError.write(Data("fleet: \(error)\n".utf8))
    exit(1)
}
