// Streams of events, and requests that come slowly.

import Tweaks
import TweaksWire

extension EventLoop {
    /// A request that does not become whole ends the connection.
    func expireRequest(_ session: Session) {
        session.input.hasRequestTimer = false
        guard let began = session.input.requestBegan, session.isOpen else { return }
        let deadline = began + limits.timeToFirstLine
        if deadline > now {
            session.input.hasRequestTimer = true
            return schedule(.request, session.id, at: deadline)
        }
        let text = "the request was not whole after \(TweakValue.duration(limits.timeToFirstLine).text); send it again"
        say(TweakError(.timeout, text, limit: .timeToFirstLine), to: session)
    }

    /// - Parameter told: What there was before the snapshot was made. What has come since is told of by the next beat.
    func beginBeating(_ session: Session, _ told: (generation: UInt64, seen: Int)?) {
        session.events.toldListing = session.dialect.isResumed ? nil : told
        schedule(.beat, for: session, in: limits.beatInterval)
    }

    /// Tells a stream that it is still there, and whether there are other tweaks than before.
    func beat(_ session: Session) {
        guard session.isOpen, session.dialect.isStreaming else { return }
        if let error = session.dialect.ending { return dismiss(session, error, .revoked) }
        schedule(.beat, for: session, in: limits.beatInterval)
        // A client that does not read has enough to read.
        guard session.replies.rest == nil, session.output.isEmpty else { return }
        let told = session.events.toldListing
        if told?.generation != registry.generation { session.events.toldListing = listing(for: session) }
        let isRelisted = told?.seen != session.events.toldListing?.seen
        let revision = registry.revision
        session.output.append { session.dialect.beat(isRelisted: isRelisted, revision: revision, to: &$0) }
        advance(session)
    }

    /// The tweaks that a session sees, as one number. Others come and go unnoticed by it.
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
