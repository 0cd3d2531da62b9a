// Sends heartbeats to event streams, and ends requests that arrive too slowly.

import Tweaks
import TweaksWire

extension EventLoop {
    /// Ends a connection whose request is incomplete at the deadline.
    func expireRequest(_ session: Session) {
        session.input.hasRequestTimer = false
        guard let began = session.input.requestBegan, session.isOpen else { return }
        let deadline = began + limits.timeToFirstLine
        if deadline > now {
            session.input.hasRequestTimer = true
            return schedule(.request, session.id, at: deadline)
        }
        let text = "the request was incomplete after \(TweakValue.duration(limits.timeToFirstLine).text); send it again"
        sendAndClose(TweakError(.timeout, text, limit: .timeToFirstLine), to: session)
    }

    /// Starts the heartbeats of a stream.
    /// - Parameter initialListing: The listing before the snapshot. The next heartbeat reports later changes.
    func startHeartbeats(_ session: Session, _ initialListing: (generation: UInt64, seen: Int)?) {
        session.events.sentListing = session.dialect.isResumed ? nil : initialListing
        schedule(.heartbeat, for: session, in: limits.heartbeatInterval)
    }

    /// Sends a heartbeat to a stream, and reports whether its list of tweaks has changed.
    func sendHeartbeat(to session: Session) {
        guard session.isOpen, session.dialect.isStreaming else { return }
        if let error = session.dialect.streamEndReason { return dismiss(session, error, .revoked) }
        schedule(.heartbeat, for: session, in: limits.heartbeatInterval)
        // A client that does not read needs no heartbeat.
        guard session.replies.rest == nil, session.output.isEmpty else { return }
        let sent = session.events.sentListing
        if sent?.generation != registry.generation { session.events.sentListing = listing(for: session) }
        let listingChanged = sent?.seen != session.events.sentListing?.seen
        let revision = registry.revision
        session.output.append {
            session.dialect.writeHeartbeat(listingChanged: listingChanged, revision: revision, to: &$0)
        }
        advance(session)
    }

    /// Identifies the set of tweaks that a session sees. Other tweaks do not affect it.
    func listing(for session: Session) -> (generation: UInt64, seen: Int) {
        let generation = registry.generation
        var hasher = Hasher()
        if session.grants.rights.isWhole(.read) {
            hasher.combine(generation)
        } else {
            for node in executor.view(session).listing.nodes { hasher.combine(ObjectIdentifier(node)) }
        }
        return (generation, hasher.finalize())
    }
}
