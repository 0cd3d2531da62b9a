// What the service counts, and how operators get to see it.

import TweaksDaemon

/// Figures are tweaks that only the program sets: `watch Service/Figures` is a live display.
enum Figures {
    static let connections = figure("Connections", help: "Open now")
    static let accepted = figure("Accepted", help: "Connections that were let in")
    static let rejected = figure("Rejected", help: "Connections beyond the limit")
    static let requests = figure("Requests", help: "Requests carried out")
    static let refused = figure("Refused", help: "Requests beyond the rate, or during maintenance")
    static let busiest = Tweak(
        "Service", "Figures", "Busiest", "", help: "The address with the most requests", flags: .readOnly)

    static let all: [any TweakHandle] = [connections, accepted, rejected, requests, refused, busiest]

    private static func figure(_ name: String, help: String) -> Tweak<Int> {
        Tweak("Service", "Figures", name, 0, help: help, flags: .readOnly)
    }
}

/// The numbers behind the figures: plain ones, since they are counted on one thread.
struct Counts: Equatable {
    var connections = 0
    var accepted = 0
    var rejected = 0
    var requests = 0
    var refused = 0
    var busiest = Busiest()

    /// Sets the figures, those that `published` does not show yet.
    func publish(after published: Counts) {
        if connections != published.connections { Figures.connections.value = connections }
        if accepted != published.accepted { Figures.accepted.value = accepted }
        if rejected != published.rejected { Figures.rejected.value = rejected }
        if requests != published.requests { Figures.requests.value = requests }
        if refused != published.refused { Figures.refused.value = refused }
        if busiest != published.busiest {
            Figures.busiest.value = busiest.requests == 0 ? "" : "\(busiest.client) with \(busiest.requests) requests"
        }
    }
}
