// Describes sessions to the program: their identity, their state, and what they were refused.

public import Tweaks

/// One client of a server, as it is at a moment.
public struct TweakSession: Sendable {
    /// How it is connected.
    public enum Transport: String, Sendable {
        /// The Unix socket.
        case unix = "unix socket"
        /// TCP, with lines of the protocol.
        case tcp
        /// A browser on the panel, or a program that uses its HTTP.
        case http
    }

    /// Where it stands. A session goes through these once, from the first to one of the last two; it is never opened
    /// again.
    public enum State: Hashable, Sendable {
        /// Its connection was accepted.
        case created
        /// It is looked at: nothing is done for it before it has shown who it is.
        case opening
        /// Its requests are carried out.
        case open
        /// It was open, and has ended.
        case closed(Reason)
        /// It has ended without having been open.
        case failed(Reason)
    }

    /// Why a session ended.
    public enum Reason: String, Hashable, Sendable {
        /// The client said `quit`.
        case quit
        /// The client closed its side.
        case endOfInput = "end of input"
        /// The connection broke.
        case lost = "connection lost"
        /// Nothing came for too long: no line, no token, no request.
        case idle
        /// A session with the right `admin`, or the program, ended it.
        case kicked
        /// A limit of the server.
        case limit
        /// The server ends.
        case shutdown
        /// What came was not the protocol.
        case stranger
        /// It may not be here: another user, or wrong tokens.
        case denied
        /// Its token was revoked or has expired.
        case revoked
    }

    /// Counts up from 1; never used twice in one run.
    public let id: UInt64
    /// How it is connected.
    public let transport: Transport
    /// Who is at the other end, as far as the system knows: `uid 1000 pid 4711`, `127.0.0.1:50000`, or that and the
    /// browser.
    public let peer: String
    /// The user at the other end of a Unix socket.
    public let userID: UInt32?
    /// The process at the other end of a Unix socket, at the time it connected.
    public let processID: Int32?
    /// Whose changes it makes: a user, a token's name, or an address.
    public let identity: TweakOrigin
    /// What it may do, as in `whoami`.
    public let scopes: [String]
    /// Where it stands.
    public let state: State

    package init(
        id: UInt64, transport: Transport, peer: String, userID: UInt32?, processID: Int32?, identity: TweakOrigin,
        scopes: [String], state: State
    ) {
        (self.id, self.transport, self.peer, self.userID, self.processID) = (id, transport, peer, userID, processID)
        (self.identity, self.scopes, self.state) = (identity, scopes, state)
    }
}

/// Something that happened to a session.
public struct TweakSessionEvent: Sendable {
    /// What happened.
    public enum Kind: Sendable {
        /// It has reached the state that the session shows.
        case state
        /// It has shown a token, the one with this name.
        case authenticated(String)
        /// It has shown a wrong token, or one that has ended.
        case authenticationFailed
        /// It asked for something that it may not do: the command, and the tweak where there is one.
        case denied(command: String, path: TweakPath?)
        /// A change that it wanted was refused. Values of secrets are not in it.
        case refused(TweakError)
        /// It asks for more rights.
        case requested([TweakScope])
        /// It was given rights that it had asked for.
        case granted([TweakScope])
        /// It was not given them.
        case declined([TweakScope])
        /// It has given up rights.
        case dropped([TweakScope])
        /// It has lost rights, because its token gives less now.
        case revoked
        /// It ended another session, the one with this number.
        case kicked(UInt64)
    }

    /// The session, as it was then.
    public let session: TweakSession
    /// What happened.
    public let kind: Kind

    package init(session: TweakSession, kind: Kind) { (self.session, self.kind) = (session, kind) }
}
