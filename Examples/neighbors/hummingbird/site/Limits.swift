// Limits the rate and the time of requests, by tweaks that are read for each of them.

import Hummingbird
import Synchronization
import Tweaks

/// A bucket of one second, which requests of all clients empty.
final class RateLimit: Sendable {
    private let rate: Tweak<Double>
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<(left: Double, at: ContinuousClock.Instant)>

    init(_ rate: Tweak<Double>, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        (self.rate, self.now) = (rate, now)
        state = Mutex((rate.value, now()))
    }

    /// Whether one more request has a place.
    func admits() -> Bool {
        let (rate, now) = (rate.value, now())
        return state.withLock { state in
            state.left = min(rate, state.left + rate * ((now - state.at) / .seconds(1)))
            state.at = now
            guard state.left >= 1 else { return false }
            state.left -= 1
            return true
        }
    }
}

/// Refuses requests in maintenance, and above the rate.
struct AdmissionMiddleware<Context: RequestContext>: RouterMiddleware {
    let tweaks: QuotesTweaks
    let rate: RateLimit

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        if tweaks.maintenance.value {
            throw HTTPError(.serviceUnavailable, headers: [.retryAfter: "60"], message: "in maintenance")
        }
        guard rate.admits() else { throw HTTPError(.tooManyRequests, headers: [.retryAfter: "1"]) }
        return try await next(request, context)
    }
}

/// Returns the result of a body that takes no longer than a time; it is canceled then.
func within<Result: Sendable>(
    _ time: Duration, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: time)
            return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let result = first else { throw HTTPError(.gatewayTimeout) }
        return result
    }
}
