// Records the rights of a session with their sources, and checks them.

import Tweaks
import TweaksWire

/// The scopes granted to one session, by source, and those it has dropped. A drop does not affect scopes granted later.
struct Grants {
    enum Source: Equatable {
        /// The user as the kernel reports it, or what every client of the listener may do.
        case peer
        case token(name: String)
        case request
    }

    private struct Grant {
        let source: Source
        var scopes: [TweakScope]
        var dropped: [TweakScope] = []
    }

    private var grants: [Grant] = []
    private(set) var rights = Rights()

    mutating func add(_ scopes: [TweakScope], from source: Source) {
        grants.append(Grant(source: source, scopes: scopes))
        update()
    }

    /// Replaces the scopes of a source; dropped scopes stay dropped.
    mutating func replace(_ scopes: [TweakScope], from source: Source) {
        for index in grants.indices where grants[index].source == source { grants[index].scopes = scopes }
        update()
    }

    mutating func remove(_ source: Source) {
        grants.removeAll { $0.source == source }
        update()
    }

    /// Drops scopes permanently; only a later grant restores them.
    mutating func drop(_ scopes: [TweakScope]) {
        for index in grants.indices { grants[index].dropped += scopes.filter { !grants[index].dropped.contains($0) } }
        update()
    }

    var count: Int { grants.count }

    /// The largest number of scopes dropped from one grant.
    var droppedCount: Int { grants.reduce(0) { max($0, $1.dropped.count) } }

    private mutating func update() {
        rights = grants.reduce(Rights()) { $0.union(Rights($1.scopes, without: $1.dropped)) }
        rights.hasToken = grants.contains { if case .token = $0.source { true } else { false } }
    }
}

/// The scope requests of a session.
struct ScopeRequests {
    private(set) var granted: [TweakScope] = []
    /// Declined; the program is not asked for these again.
    private(set) var declined: [TweakScope] = []
    private(set) var waiting: [TweakScopeRequest] = []
    /// The request that the program's handler is processing.
    private var asking: TweakScopeRequest?

    mutating func note(_ scopes: [TweakScope], isGranted: Bool) {
        if isGranted {
            granted += scopes.filter { !granted.contains($0) }
            declined.removeAll(where: scopes.contains)
        } else {
            declined += scopes.filter { !declined.contains($0) }
        }
    }

    /// Forgets grants and pending requests: they belong to a token that is no longer valid.
    mutating func forgetGranted() {
        granted = []
        waiting = []
        asking = nil
    }

    mutating func ask(_ request: TweakScopeRequest) { asking = request }

    /// Records that the program's handler has returned.
    /// - Returns: False if the request was forgotten meanwhile.
    mutating func endAsking(_ request: TweakScopeRequest) -> Bool {
        defer { asking = nil }
        return asking === request
    }

    mutating func wait(for request: TweakScopeRequest) { waiting.append(request) }

    /// Removes a decided request.
    /// - Returns: False if it was not pending.
    mutating func end(_ request: TweakScopeRequest) -> Bool {
        let count = waiting.count
        waiting.removeAll { $0 === request }
        return waiting.count < count
    }
}

/// The tokens and scope requests of a session.
struct Credentials {
    /// Its lifecycle; the executor applies the steps.
    var lifecycle = SessionLifecycle()
    var needsToken = false
    var tokens: [TokenEntry] = []
    /// The SCRAM exchange whose challenge it has not answered yet.
    var exchange: Scram.Server?
    /// The key that its first message names, while its token is valid and the proof may still come.
    var expectedKey: ExpectedKey?
    var failures = 0
    var scopeRequests = ScopeRequests()
    /// The memory held by requested and dropped scopes, in bytes.
    var scopeBytes = 0
}

extension Session {
    var info: TweakSession {
        TweakSession(
            id: number, transport: identity.peer.transport, peer: identity.peer.text, userID: identity.peer.userID,
            processID: identity.peer.processID,
            identity: origin, scopes: grants.rights.words, state: credentials.lifecycle.state)
    }

    func endAuthenticationDelay() {
        if case .authenticationDelay = work { work = .idle }
    }
}

extension Rights {
    var json: JSON { .array(words.map(JSON.string)) }
}

extension [TweakScope] {
    /// Parses the scopes that a request names, without duplicates.
    init(_ words: [String]) throws(TweakError) {
        self = []
        for word in words {
            let scope = try TweakScope(word)
            if !contains(scope) { append(scope) }
        }
    }

    var text: String { map(\.token).joined(separator: " ") }

    var json: JSON { .array(map { .string($0.description) }) }
}

extension Executor {
    func authorize(_ request: Request, _ session: Session) throws(TweakError) {
        try authorize(request.permission, session, for: request.command.name)
    }

    /// - Parameter command: The name of what the client wants, for the event of a refusal.
    func authorize(_ permission: RequiredPermission, _ session: Session, for command: String) throws(TweakError) {
        if permission == .nothing { return }
        guard session.isAdmitted else {
            throw TweakError(.authRequired, "sign in with a token first: auth TOKEN; tweakctl login keeps one for you")
        }
        if session.grants.rights.meets(permission) { return }
        notify(.denied(command: command, path: nil), session)
        throw session.grants.rights.denied(permission)
    }

    /// Throws unless the session has this right on a tweak that it sees.
    func require(_ kind: TweakScope.Kind, _ node: TweakNode, _ session: Session) throws(TweakError) {
        if !session.may(kind, node.path) { throw session.grants.rights.denied(kind, node.path) }
    }

    /// The commands that a session may use.
    func commands(for session: Session) -> [Command] {
        Command.all.filter { command in
            command.permission == .nothing || session.isAdmitted && session.grants.rights.meets(command.permission)
        }
    }
}

extension Rights {
    func denied(_ permission: RequiredPermission) -> TweakError {
        let wanted =
            switch permission {
            case .nothing, .session, .visibility: "read"
            case .some(let kind): kind.rawValue
            case .whole(let kind): "\(kind.rawValue) for everything"
            }
        return denied("this needs \(wanted), and this session may \(text); request it")
    }
}
