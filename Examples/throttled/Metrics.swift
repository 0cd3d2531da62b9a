// Declares the service's metrics and publishes its counts as their values.

import TweaksDaemon

/// Metrics are tweaks that only the program sets: `watch Service/Figures` is a live display.
enum Metrics {
    static let connections = metric("Connections", help: "Open connections")
    static let accepted = metric("Accepted", help: "Accepted connections")
    static let rejected = metric("Rejected", help: "Connections beyond the limit")
    static let requests = metric("Requests", help: "Executed requests")
    static let refused = metric("Refused", help: "Requests beyond the rate, or during maintenance")
    static let busiest = Tweak(
        "Service", "Figures", "Busiest", "", help: "The address with the most requests", flags: .readOnly)

    static let all: [any TweakHandle] = [connections, accepted, rejected, requests, refused, busiest]

    private static func metric(_ name: String, help: String) -> Tweak<Int> {
        Tweak("Service", "Figures", name, 0, help: help, flags: .readOnly)
    }
}

/// The counts behind the metrics; not atomic, since only the service's thread changes them.
struct Counts: Equatable {
    var connections = 0
    var accepted = 0
    var rejected = 0
    var requests = 0
    var refused = 0
    var busiest = BusiestClient()

    /// Sets the metrics that differ from `published`.
    func publish(after published: Counts) {
        if connections != published.connections { Metrics.connections.value = connections }
        if accepted != published.accepted { Metrics.accepted.value = accepted }
        if rejected != published.rejected { Metrics.rejected.value = rejected }
        if requests != published.requests { Metrics.requests.value = requests }
        if refused != published.refused { Metrics.refused.value = refused }
        if busiest != published.busiest {
            Metrics.busiest.value = busiest.requests == 0 ? "" : "\(busiest.client) with \(busiest.requests) requests"
        }
    }
}
