// Formats session events as log lines.

import Tweaks

extension TweakSessionEvent {
    /// A log line; nil for events that are not logged, such as an opening session.
    var line: String? {
        let who = "session \(session.id) of \(session.identity)"
        switch kind {
        case .state: return stateLine
        case .authenticated(let token):
            return "session \(session.id) of \(session.peer) authenticated with token \(token)"
        case .authenticationFailed: return "session \(session.id) of \(session.peer) sent a wrong token"
        case .denied(let command, let path): return "\(who) may not \(command)\(path.map { " \($0.token)" } ?? "")"
        case .refused: return nil
        case .requested(let scopes): return "\(who) requests \(Self.text(scopes))"
        case .granted(let scopes): return "\(who) was granted \(Self.text(scopes))"
        case .declined(let scopes): return "\(who) was not granted \(Self.text(scopes))"
        case .dropped(let scopes): return "\(who) gave up \(Self.text(scopes))"
        case .revoked:
            let left = session.scopes.isEmpty ? "nothing" : session.scopes.joined(separator: " ")
            return "\(who) lost rights and may \(left)"
        case .kicked(let number): return "\(who) ended session \(number)"
        }
    }

    private var stateLine: String? {
        switch session.state {
        case .created, .opening: nil
        case .open: "session \(session.id) opened by \(session.identity)"
        case .closed(let reason): "session \(session.id) of \(session.identity) closed: \(Self.text(reason))"
        case .failed(let reason): "session \(session.id) of \(session.peer) was not opened: \(Self.text(reason))"
        }
    }

    /// The raw values are public; one of them needs other words in a log.
    private static func text(_ reason: TweakSession.Reason) -> String {
        reason == .stranger ? "the input is not the protocol" : reason.rawValue
    }

    private static func text(_ scopes: [TweakScope]) -> String { scopes.map(\.token).joined(separator: " ") }

    /// A denied request, or a connection that does not speak the protocol. There can be many of these.
    var isFailure: Bool {
        switch kind {
        case .authenticationFailed, .denied: true
        case .state: if case .failed = session.state { true } else { false }
        default: false
        }
    }
}
