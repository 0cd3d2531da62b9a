// Defines the work under way for a session, which delays its next request.

import Tweaks

/// One thing at a time: replies come in the order of the requests. Only ever replaced, so that to look at it costs nothing.
indirect enum Work {
    case idle
    /// Others work on the reply.
    case running(Running)
    /// A wrong token costs time; this is the answer then.
    case penalty(TweakError)
    /// The session was ended from outside while something was under way, which has its reply now; this comes next.
    case farewell(TweakError)

    /// What others work on.
    struct Running {
        enum Kind { case request, action, reload }

        var kind = Kind.request
        /// It ends with the right to it.
        var permit: WorkPermit?
        /// The change that is being written before it takes effect.
        var proposal: Proposal?
        /// It is a change: its refusal is an event.
        var isChange = false
        /// What the session is told behind the reply, which is its last one.
        var farewell: TweakError?

        init(_ kind: Kind = .request, _ permit: WorkPermit? = nil) { (self.kind, self.permit) = (kind, permit) }
    }

    /// Whether the next request has to wait.
    var isBusy: Bool {
        switch self {
        case .idle, .farewell: false
        case .running, .penalty: true
        }
    }

    /// What is said before anything else is begun.
    var farewell: TweakError? { if case .farewell(let error) = self { error } else { nil } }

    var running: Running? { if case .running(let running) = self { running } else { nil } }

    /// What the session is told when it ends, where that was decided while something was under way.
    var closeReason: TweakError? {
        switch self {
        case .farewell(let error): error
        case .running(let running): running.farewell
        case .idle, .penalty: nil
        }
    }

    /// Whether it is a reload: what that changes is told after its reply.
    var isReload: Bool { if case .running(let running) = self { running.kind == .reload } else { false } }

    /// The same, with what is running changed, where something is.
    func updated(_ body: (inout Running) -> Void) -> Work {
        guard case .running(var running) = self else { return self }
        body(&running)
        return .running(running)
    }

    /// Something else is running, for the same request.
    func goingOn(with next: Running) -> Work { updated { ($0.kind, $0.proposal) = (next.kind, next.proposal) } }

    /// What was running has its reply.
    var ended: Work {
        guard case .running(let running) = self else { return self }
        return running.farewell.map { .farewell($0) } ?? .idle
    }
}
