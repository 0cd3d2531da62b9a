// The life of a session: which step may follow which.

/// Where a session stands in its life. It opens at most once, and ends once; a step that cannot be taken from here does
/// nothing.
///
/// The socket is another matter: bytes may still be on their way when the session has ended.
struct SessionLife: Equatable, Sendable {
    /// What can happen.
    enum Step: Equatable, Sendable {
        /// Somebody looks who it is.
        case look
        /// It may be here.
        case open
        /// Nothing more is done for it.
        case end(TweakSession.Reason)
    }

    private(set) var state: TweakSession.State = .created

    /// Takes a step.
    /// - Returns: False when it cannot be taken from here; then nothing has changed.
    mutating func take(_ step: Step) -> Bool {
        switch (state, step) {
        case (.created, .look): state = .opening
        case (.opening, .open): state = .open
        case (.created, .end(let reason)), (.opening, .end(let reason)): state = .failed(reason)
        case (.open, .end(let reason)): state = .closed(reason)
        default: return false
        }
        return true
    }

    /// Its requests are carried out.
    var isOpen: Bool { state == .open }
}

extension TweakSession.State {
    /// Why it ended; nil while it has not.
    package var reason: TweakSession.Reason? {
        switch self {
        case .closed(let reason), .failed(let reason): reason
        case .created, .opening, .open: nil
        }
    }

    /// A word for it.
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
