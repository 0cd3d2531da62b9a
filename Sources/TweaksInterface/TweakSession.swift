// Describes a session: its identity, its state, and its events with their log lines.

public import Tweaks

/// A snapshot of one client session.
public struct TweakSession: Sendable {
    /// The kind of connection.
    public enum Transport: String, Sendable {
        /// The Unix socket.
        case unix = "unix socket"
        /// TCP, with protocol lines.
        case tcp
        /// A browser on the panel, or a client of the HTTP API.
        case http
    }

    /// The state of a session. A session passes through these once, from the first to one of the last two; it is never
    /// reopened.
    public enum State: Hashable, Sendable {
        /// Its connection was accepted.
        case created
        /// It has not authenticated yet; its requests are not executed.
        case opening
        /// Its requests are executed.
        case open
        /// It was open and has ended.
        case closed(Reason)
        /// It ended without having been open.
        case failed(Reason)
    }

    /// Why a session ended.
    public enum Reason: String, Hashable, Sendable {
        /// The client sent `quit`.
        case quit
        /// The client closed its side.
        case endOfInput = "end of input"
        /// The connection broke.
        case lost = "connection lost"
        /// No line, token or request arrived within the time limit.
        case idle
        /// A session with the right `admin`, or the program, ended it.
        case kicked
        /// A limit of the server.
        case limit
        /// The server stopped.
        case shutdown
        /// The input was not the protocol.
        case stranger
        /// It is not allowed here: another user, or wrong tokens.
        case denied
        /// Its token was revoked or has expired.
        case revoked
    }

    /// Counts up from 1; never reused in one run.
    public let id: UInt64
    /// The kind of connection.
    public let transport: Transport
    /// The peer as the system identifies it: `uid 1000 pid 4711`, `127.0.0.1:50000`, or that and the browser.
    public let peer: String
    /// The peer's user on a Unix socket.
    public let userID: UInt32?
    /// The peer's process on a Unix socket when it connected.
    public let processID: Int32?
    /// The origin of its changes: a user, a token's name, or an address.
    public let identity: TweakOrigin
    /// Its rights, as in `whoami`.
    public let scopes: [String]
    /// The current state.
    public let state: State

    package init(
        id: UInt64, transport: Transport, peer: String, userID: UInt32?, processID: Int32?, identity: TweakOrigin,
        scopes: [String], state: State
    ) {
        self.id = id
        self.transport = transport
        self.peer = peer
        self.userID = userID
        self.processID = processID
        self.identity = identity
        self.scopes = scopes
        self.state = state
    }
}

/// An event of a session.
public struct TweakSessionEvent: Sendable {
    /// The kinds of events.
    public enum Kind: Sendable {
        /// Its state changed; the session has the new state.
        case state
        /// It authenticated with the token of this name.
        case authenticated(String)
        /// It sent a wrong or expired token.
        case authenticationFailed
        /// It was denied a command: the command, and the tweak if there is one.
        case denied(command: String, path: TweakPath?)
        /// A change by the session was refused. Contains no secret values.
        case refused(TweakError)
        /// It requested more rights.
        case requested([TweakScope])
        /// Its request for rights was granted.
        case granted([TweakScope])
        /// Its request for rights was declined.
        case declined([TweakScope])
        /// It gave up rights.
        case dropped([TweakScope])
        /// It lost rights, because its token now has fewer.
        case revoked
        /// It ended another session, the one with this number.
        case kicked(UInt64)
    }

    /// The session at the time of the event.
    public let session: TweakSession
    /// What happened.
    public let kind: Kind

    package init(session: TweakSession, kind: Kind) {
        self.session = session
        self.kind = kind
    }

    // MARK: The log

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

    /// A session that begins, or ends by itself.
    var isRoutine: Bool {
        guard case .state = kind else { return false }
        return switch session.state {
        case .created, .opening, .open, .closed(.quit), .closed(.endOfInput), .closed(.lost), .closed(.idle),
            .closed(.shutdown):
            true
        case .closed, .failed: false
        }
    }

    /// A denied request, or a connection that does not speak the protocol. There can be many of these.
    var isFailure: Bool {
        switch kind {
        case .authenticationFailed, .denied: true
        case .state: if case .failed = session.state { true } else { false }
        default: false
        }
    }
}
