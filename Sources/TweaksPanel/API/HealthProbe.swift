// Answers the probes of load balancers and Kubernetes with one word, the same for all.

import TweaksServer

/// A probe: it needs neither a token nor a known host, and its answer is the same for all.
enum HealthProbe: String, Equatable, Sendable {
    /// Whether the process answers at all.
    case health = "healthz"
    /// Whether its state is loaded, and it is not stopping.
    case readiness = "readyz"

    /// Whether a request is for one, with any method.
    static func isNamed(by request: HTTPRequest) -> Bool {
        request.path.count == 1 && HealthProbe(rawValue: request.path[0]) != nil
    }

    func response(_ readiness: Readiness) -> HTTPResponse {
        let state = readiness.state
        let isFine = self == .health || state == .ready
        let word = self == .health ? "ok" : state.rawValue
        return HTTPResponse(
            isFine ? .ok : .serviceUnavailable, [HTTPField("Content-Type", "text/plain; charset=utf-8")],
            body: Array(word.utf8))
    }
}
