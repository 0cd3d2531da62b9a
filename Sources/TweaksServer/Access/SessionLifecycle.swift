// Defines the states of a session and the valid transitions.

/// The state of a session. It opens at most once and ends once; an invalid step has no effect.
///
/// The socket is separate: bytes may still be in transit after the session has ended.
struct SessionLifecycle: Equatable, Sendable {
    /// A transition.
    enum Transition: Equatable, Sendable {
        /// Its identity is being checked.
        case identify
        /// It is admitted.
        case open
        /// It ends, for this reason.
        case end(TweakSession.Reason)
    }

    private(set) var state: TweakSession.State = .created

    /// Applies a step.
    /// - Returns: False if the step is invalid in this state; then nothing has changed.
    mutating func apply(_ transition: Transition) -> Bool {
        switch (state, transition) {
        case (.created, .identify): state = .opening
        case (.opening, .open): state = .open
        case (.created, .end(let reason)), (.opening, .end(let reason)): state = .failed(reason)
        case (.open, .end(let reason)): state = .closed(reason)
        default: return false
        }
        return true
    }

    /// Whether its requests are carried out.
    var isOpen: Bool { state == .open }
}

extension TweakSession.State {
    /// The reason it ended; nil while it has not.
    package var reason: TweakSession.Reason? {
        switch self {
        case .closed(let reason), .failed(let reason): reason
        case .created, .opening, .open: nil
        }
    }

    /// The state's name in replies.
    var word: String {
        switch self {
        case .created: "created"
        case .opening: "opening"
        case .open: "open"
        case .closed: "closed"
        case .failed: "failed"
        }
    }
}
