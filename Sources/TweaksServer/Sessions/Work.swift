// Defines the work in progress of a session, which delays its next request.

import Tweaks
import TweaksWire

/// One piece of work at a time: replies come in the order of the requests. Only replaced as a whole, so that reading it
/// is cheap.
indirect enum Work {
    case idle
    /// Background work will give the reply.
    case running(Running)
    /// The request visits many tweaks, in slices.
    case sweeping(Sweep, of: Request)
    /// A wrong token is answered with this error after a delay.
    case authenticationDelay(TweakError)
    /// The session was ended from outside during work that now has its reply; this error comes next.
    case closing(TweakError)

    /// Background work.
    struct Running {
        enum Kind { case request, action, reload }

        var kind = Kind.request
        /// Revokes the work with the rights behind it.
        var cancellation: CancellationFlag?
        /// The change that is written before it takes effect.
        var proposal: Proposal?
        /// Whether the change waits for the audit.
        var isAwaitingAudit = false
        /// Whether it is a change, whose refusal is an event.
        var isChange = false
        /// The error after the reply, which is the last one.
        var closeReason: TweakError?

        init(_ kind: Kind = .request, _ cancellation: CancellationFlag? = nil) {
            (self.kind, self.cancellation) = (kind, cancellation)
        }
    }

    /// Whether the next request has to wait.
    var isBusy: Bool {
        switch self {
        case .idle, .closing: false
        case .running, .sweeping, .authenticationDelay: true
        }
    }

    /// The error to send before anything else begins.
    var nextCloseReason: TweakError? { if case .closing(let error) = self { error } else { nil } }

    var running: Running? { if case .running(let running) = self { running } else { nil } }

    /// The error to send at the end, if the session was ended during work.
    var closeReason: TweakError? {
        switch self {
        case .closing(let error): error
        case .running(let running): running.closeReason
        case .idle, .sweeping, .authenticationDelay: nil
        }
    }

    /// Whether it proceeds in turns.
    var isSweeping: Bool { if case .sweeping = self { true } else { false } }

    /// Whether events wait for its reply: those of a reload, and those newer than the values that a watch shows.
    var delaysEvents: Bool {
        switch self {
        case .running(let running): running.kind == .reload
        case .sweeping(let sweep, _): sweep.isContinuation
        case .idle, .authenticationDelay, .closing: false
        }
    }

    /// Returns the work with its running part changed, if there is one.
    func updated(_ body: (inout Running) -> Void) -> Work {
        guard case .running(var running) = self else { return self }
        body(&running)
        return .running(running)
    }

    /// Returns the work with its next stage, for the same request.
    func continuing(with next: Running) -> Work {
        updated { ($0.kind, $0.proposal, $0.isAwaitingAudit) = (next.kind, next.proposal, next.isAwaitingAudit) }
    }

    /// Returns the work after the running part got its reply.
    var ended: Work {
        guard case .running(let running) = self else { return self }
        return running.closeReason.map { .closing($0) } ?? .idle
    }
}
