// Schedules deadlines and heartbeats, and handles those that pass.

import Tweaks
import TweaksWire

extension EventLoop {
    func schedule(_ kind: Timers.Kind, for session: Session? = nil, in time: Duration) {
        schedule(kind, session?.id ?? .server, at: now + time)
    }

    func schedule(_ kind: Timers.Kind, _ session: SessionID, at deadline: Moment) {
        timers.add(.init(deadline: deadline, session: session, kind: kind))
        nextDeadline = min(nextDeadline ?? deadline, deadline)
    }

    /// Handles the deadlines that have passed, and records the next one.
    func handleTimers() {
        while let entry = timers.popDue(now) {
            if entry.session == .server {
                expire(entry.kind)
            } else if let session = session(entry.session) {
                expire(session, entry.kind)
            }
        }
        nextDeadline = timers.next
    }

    private func expire(_ kind: Timers.Kind) {
        switch kind {
        case .accepting: if admission.isPaused { resumeAccepting() }
        case .tokens: if let time = expiry.reviewedAt, time <= now { reviewTokens() }
        case .sockets: checkSockets()
        case .stopping: closeAll()
        case .preview:
            hasPreviewTimer = false
            expirePreview()
        default: break
        }
    }

    /// Looks whether the preview of a client is over, now or when its time has come.
    func expirePreview() {
        guard let next = executor.expirePreview(now), !hasPreviewTimer else { return }
        hasPreviewTimer = true
        schedule(.preview, .server, at: next)
    }

    private func expire(_ session: Session, _ kind: Timers.Kind) {
        switch kind {
        case .firstLine:
            if session.input.hasSentLine || !session.isOpen { return }
            let time = seconds(limits.timeToFirstLine)
            timeOut(session, .timeToFirstLine, "no line came in \(time); connect again")
        case .authentication:
            if session.credentials.lifecycle.state != .opening || !session.isOpen { return }
            let time = seconds(limits.timeToAuthenticate)
            timeOut(session, .timeToAuthenticate, "no token came in \(time); connect again, then auth TOKEN")
        case .request: expireRequest(session)
        case .heartbeat: sendHeartbeat(to: session)
        case .authenticationDelay: endAuthenticationDelay(session)
        case .closeReason: endDismissal(session)
        case .idle: expireIdle(session)
        case .drain:
            // A caller of the program reads the end of its answer as it read the begin: at its own speed.
            if session.identity.peer.caller != nil, session.credentials.lifecycle.state.reason == .quit,
                !session.output.isEmpty
            {
                return
            }
            // The disk is slow, not the client.
            if session.replies.queueIsEmpty || isStopping { return close(session, isOverdue: true) }
            schedule(.drain, for: session, in: max(limits.lingerTime, .milliseconds(100)))
        case .accepting, .tokens, .sockets, .stopping, .preview: break
        }
    }

    private func expireIdle(_ session: Session) {
        guard let idle = idleTime(session), session.isOpen else { return }
        let isBusy = !session.watches.isEmpty || session.work.isBusy || session.replies.rest != nil
        let last = isBusy ? max(session.input.lastActivity, now) : session.input.lastActivity
        if isBusy || last + idle > now {
            return schedule(.idle, session.id, at: last + idle)
        }
        timeOut(session, .idleTime, "nothing came for \(seconds(idle)); connect again")
    }

    func idleTime(_ session: Session) -> Duration? {
        [limits.idleTime, session.dialect.idleTime].compactMap(\.self).min()
    }

    private func timeOut(_ session: Session, _ limit: TweakLimit, _ text: String) {
        sendAndClose(TweakError(.timeout, text, limit: limit), to: session)
    }

    private func seconds(_ duration: Duration) -> String { TweakValue.duration(duration).text }

    // MARK: - Heartbeats

    /// Ends a connection whose request is incomplete at the deadline.
    private func expireRequest(_ session: Session) {
        session.input.hasRequestTimer = false
        guard let began = session.input.requestBegan, session.isOpen else { return }
        let deadline = began + limits.timeToFirstLine
        if deadline > now {
            session.input.hasRequestTimer = true
            return schedule(.request, session.id, at: deadline)
        }
        let time = seconds(limits.timeToFirstLine)
        timeOut(session, .timeToFirstLine, "the request was incomplete after \(time); send it again")
    }

    /// Starts the heartbeats of a stream.
    /// - Parameter initialListing: The listing before the snapshot. The next heartbeat reports later changes.
    func startHeartbeats(_ session: Session, _ initialListing: (generation: UInt64, seen: Int)?) {
        session.events.sentListing = session.dialect.isResumed ? nil : initialListing
        schedule(.heartbeat, for: session, in: limits.heartbeatInterval)
    }

    /// Sends a heartbeat to a stream, and reports whether its list of tweaks has changed.
    private func sendHeartbeat(to session: Session) {
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

/// A heap of deadlines. The handler checks whether a deadline still matters.
struct Timers {
    enum Kind {
        case firstLine, request, authentication, authenticationDelay, idle, heartbeat, closeReason, drain
        /// Deadlines of the server.
        case accepting, tokens, sockets, stopping, preview
    }

    struct Entry {
        let deadline: Moment
        let session: SessionID
        let kind: Kind
    }

    private var heap: [Entry] = []

    var next: Moment? { heap.first?.deadline }

    var count: Int { heap.count }

    /// Removes the entries of ended sessions once these are the majority: each session leaves some behind, and there
    /// may be thousands of sessions per second. Fewer entries stay than are removed, so the amortized cost is constant.
    mutating func compact(limit: Int, isAlive: (SessionID) -> Bool) {
        if heap.count <= limit { return }
        let alive = heap.filter { $0.session == .server || isAlive($0.session) }
        heap = []
        for entry in alive { add(entry) }
    }

    mutating func add(_ entry: Entry) {
        heap.append(entry)
        var child = heap.count - 1
        while child > 0, heap[child].deadline < heap[(child - 1) / 2].deadline {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Removes and returns the earliest entry if it is due.
    mutating func popDue(_ now: Moment) -> Entry? {
        guard let first = heap.first, first.deadline <= now else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while let child = smallestChild(parent), heap[child].deadline < heap[parent].deadline {
            heap.swapAt(child, parent)
            parent = child
        }
        return first
    }

    private func smallestChild(_ parent: Int) -> Int? {
        let left = 2 * parent + 1
        let right = left + 1
        guard left < heap.count else { return nil }
        return right < heap.count && heap[right].deadline < heap[left].deadline ? right : left
    }
}
