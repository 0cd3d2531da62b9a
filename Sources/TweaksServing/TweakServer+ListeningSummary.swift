// Formats the log line with the addresses that clients connect to.

import TweaksServer

extension TweakServer {
    /// The log line with the addresses.
    func listeningSummary(_ settings: DaemonSettings) -> String {
        let frozen = settings.isFrozen ? ", frozen" : ""
        let panel = settings.panel.flatMap { panel in
            panel.text(for: self, isOnTerminal: settings.isOnTerminal, hasTokens: settings.tokenFile != nil)
        }
        var places: [String] = []
        if let port {
            let access =
                wantsTokens ? "requires a token" : "open to every user and container of this network namespace"
            places.append("127.0.0.1:\(port) (\(access))")
        }
        places += socketPaths.map { "unix socket \($0)\(isShared ? " (for named users, too)" : "")" }
        if places.isEmpty, let panel { return "tweaks at \(panel)\(frozen)" }
        if places.isEmpty {
            if case .anywhere = settings.socket {
                return "tweaks are not served: there is no socket, and TCP is not open"
            }
            return "tweaks are not served: TWEAKS_SOCKET is off and TCP is not open"
        }
        let command = port.map { "nc 127.0.0.1 \($0)" } ?? "nc -U \(socketPaths.first ?? "")"
        return
            "tweaks at \(places.joined(separator: " and "))\(frozen); \(panel.map { "\($0); " } ?? "")try: \(command)"
    }
}
