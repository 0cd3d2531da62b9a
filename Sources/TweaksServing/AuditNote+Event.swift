// Converts session events to audit notes.

import TweaksInterface
import Tweaks
import TweaksServer
import TweaksStorage

extension AuditNote {
    /// An audit note for an event; nil for the mere start or end of a session.
    init?(_ event: TweakSessionEvent) {
        guard let (kind, details) = Self.words(event) else { return nil }
        let session = event.session
        self.init(
            by: session.identity.description, identity: session.identity.identity, from: session.transport.rawValue,
            peer: session.peer, session: session.id, kind: kind, isRefusal: event.isRefusal,
            hasRights: !session.scopes.isEmpty, details)
    }

    private static func words(_ event: TweakSessionEvent) -> (String, [(key: String, value: Detail)])? {
        switch event.kind {
        case .state:
            switch event.session.state {
            // A user who may not connect, and a session rejected by a limit.
            case .failed(.denied): return ("denied", [])
            case .failed(.limit): return ("turned away", [])
            default: return nil
            }
        case .authenticated(let name): return ("authenticated", [("token", .text(name))])
        case .authenticationFailed: return ("authentication failed", [])
        case .denied(let command, let path): return ("denied", [("command", .text(command))] + self.path(path))
        case .refused(let error):
            return (
                "refused",
                path(error.path) + [("code", .text(error.code.rawValue)), ("reason", .text(error.message))]
            )
        case .requested(let scopes): return ("requested", self.scopes(scopes))
        case .granted(let scopes): return ("granted", self.scopes(scopes))
        case .declined(let scopes): return ("declined", self.scopes(scopes))
        case .dropped(let scopes): return ("dropped", self.scopes(scopes))
        case .revoked: return ("revoked", [("scopes", .texts(event.session.scopes))])
        case .kicked(let session): return ("kicked", [("of", .number(session))])
        }
    }

    private static func path(_ path: TweakPath?) -> [(key: String, value: Detail)] {
        path.map { [("path", .text($0.joined))] } ?? []
    }

    private static func scopes(_ scopes: [TweakScope]) -> [(key: String, value: Detail)] {
        [("scopes", .texts(scopes.map(\.description)))]
    }
}

extension TweakSessionEvent {
    /// Whether the request was refused. Any client can cause these.
    fileprivate var isRefusal: Bool {
        switch kind {
        case .state, .authenticationFailed, .denied, .refused, .requested, .declined: true
        case .authenticated, .granted, .dropped, .revoked, .kicked: false
        }
    }
}
