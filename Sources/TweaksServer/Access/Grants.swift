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
    /// The rights that follow from all grants.
    private(set) var rights = Rights()

    /// Adds a grant.
    mutating func add(_ scopes: [TweakScope], from source: Source) {
        grants.append(Grant(source: source, scopes: scopes))
        update()
    }

    /// Replaces the scopes of a source; dropped scopes stay dropped.
    mutating func replace(_ scopes: [TweakScope], from source: Source) {
        for index in grants.indices where grants[index].source == source { grants[index].scopes = scopes }
        update()
    }

    /// Removes the grants of a source.
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
    }
}

/// The scope requests of a session.
struct ScopeRequests {
    /// Granted, in order of decision.
    private(set) var granted: [TweakScope] = []
    /// Declined; the program is not asked for these again.
    private(set) var declined: [TweakScope] = []
    /// Not decided yet.
    private(set) var waiting: [TweakScopeRequest] = []
    /// The request that the program's handler is processing.
    private var asking: TweakScopeRequest?

    /// Records a decision.
    mutating func note(_ scopes: [TweakScope], isGranted: Bool) {
        if isGranted {
            granted += scopes.filter { !granted.contains($0) }
            declined.removeAll(where: scopes.contains)
        } else {
            declined += scopes.filter { !declined.contains($0) }
        }
    }

    /// Forgets grants and pending requests: they belong to a token that is no longer valid.
    mutating func forgetGranted() { (granted, waiting, asking) = ([], [], nil) }

    /// Records that the program's handler was called.
    mutating func ask(_ request: TweakScopeRequest) { asking = request }

    /// Records that the program's handler has returned.
    /// - Returns: False if the request was forgotten meanwhile.
    mutating func endAsking(_ request: TweakScopeRequest) -> Bool {
        defer { asking = nil }
        return asking === request
    }

    /// Records that a decision is pending.
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
    /// Whether only a token admits it.
    var needsToken = false
    /// The valid tokens that it has shown, latest last.
    var tokens: [TokenEntry] = []
    /// The SCRAM exchange whose challenge it has not answered yet.
    var exchange: Scram.Server?
    /// The key that its first message names, while its token is valid and the proof may still come.
    var expectedKey: ExpectedKey?
    /// The number of wrong tokens that it has shown.
    var failures = 0
    /// Its scope requests and their decisions.
    var scopeRequests = ScopeRequests()
    /// The memory held by requested and dropped scopes, in bytes.
    var scopeBytes = 0
}

/// The accounts of a session. Used on the I/O thread only.
final class SessionAccounts {
    /// The account that is charged: the token shown last, or the peer.
    var primary = Account("") {
        didSet {
            guard isCounted, primary !== oldValue else { return }
            oldValue.sessions -= 1
            primary.sessions += 1
            oldValue.memorySize -= memorySize
            primary.memorySize += memorySize
        }
    }
    /// The accounts of its other tokens, which are charged for its commits as well.
    var others: [Account] = [] {
        didSet {
            for account in oldValue { account.secondarySessions -= 1 }
            for account in others { account.secondarySessions += 1 }
        }
    }
    /// Whether it counts as a session of its account.
    var isCounted = false {
        didSet { if isCounted != oldValue { primary.sessions += isCounted ? 1 : -1 } }
    }
    /// Whether it has ended and only waits for its peer to close.
    var isLingering = false {
        didSet { if isLingering != oldValue { primary.lingering += isLingering ? 1 : -1 } }
    }
    /// The bytes of memory that it held when last measured.
    private(set) var memorySize = 0

    /// Updates the bytes that it holds.
    /// - Returns: The growth in bytes.
    func hold(_ bytes: Int) -> Int {
        let growth = bytes - memorySize
        if growth == 0 { return 0 }
        memorySize = bytes
        primary.memorySize += growth
        return growth
    }
}

extension Session {
    /// The session as the program sees it.
    var info: TweakSession {
        TweakSession(
            id: number, transport: identity.peer.transport, peer: identity.peer.text, userID: identity.peer.userID,
            processID: identity.peer.processID,
            identity: origin, scopes: grants.rights.words, state: credentials.lifecycle.state)
    }

    /// Ends the delay that follows a wrong token.
    func endAuthenticationDelay() {
        if case .authenticationDelay = work { work = .idle }
    }
}

extension Rights {
    /// The rights in protocol syntax, on one line.
    var text: String {
        words.isEmpty ? "nothing" : words.map { Quoting.needsQuotes($0) ? Quoting.json($0) : $0 }.joined(separator: " ")
    }

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

    /// The scopes on one line.
    var text: String { map(\.token).joined(separator: " ") }

    var json: JSON { .array(map { .string($0.description) }) }
}

extension Executor {
    /// Throws unless the session has the right that the request needs.
    func authorize(_ request: Request, _ session: Session) throws(TweakError) {
        let permission = request.permission
        if permission == .nothing { return }
        guard session.isAdmitted else {
            throw TweakError(.authRequired, "sign in with a token first: auth TOKEN; tweakctl login keeps one for you")
        }
        if session.grants.rights.meets(permission) { return }
        notify(.denied(command: request.command.name, path: nil), session)
        throw session.grants.rights.denied(permission)
    }

    /// Throws unless the session has this right on a tweak that it sees.
    func require(_ kind: TweakScope.Kind, _ node: TweakNode, _ session: Session) throws(TweakError) {
        if !session.may(kind, node.path) { throw session.grants.rights.denied(kind, node.path) }
    }

    /// Returns the tweaks that a session may change. Leaves out the others; throws if none is left.
    func writable(_ nodes: [TweakNode], _ session: Session) throws(TweakError) -> [TweakNode] {
        if session.grants.rights.isWhole(.write) { return nodes }
        let writable = nodes.filter { session.may(.write, $0.path) }
        if writable.isEmpty, let first = nodes.first { throw session.grants.rights.denied(.write, first.path) }
        return writable
    }

    /// The commands that a session may use.
    func commands(for session: Session) -> [Command] {
        Command.all.filter { command in
            command.permission == .nothing || session.isAdmitted && session.grants.rights.meets(command.permission)
        }
    }
}

extension Rights {
    /// The error for a missing permission.
    func denied(_ permission: RequiredPermission) -> TweakError {
        let wanted =
            switch permission {
            case .nothing, .session, .visibility: "read"
            case .some(let kind): kind.rawValue
            case .whole(let kind): "\(kind.rawValue) for everything"
            }
        let had = words.isEmpty ? "nothing" : words.joined(separator: " ")
        return TweakError(
            .denied, "this needs \(wanted), and this session may \(had); request it, or sign in with a token")
    }
}
