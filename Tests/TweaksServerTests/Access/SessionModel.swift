// Models sessions by the server's rules in plain Swift, without sockets, threads or clocks.

/// A scope of the model: a kind, and `*` or a category.
struct ModelScope: Hashable {
    let kind: String
    let place: String

    static let kinds = ["read", "write", "run", "admin"]
    static let places = ["*", "Content", "Player"]

    var text: String { place == "*" ? kind : "\(kind):\(place)" }

    init(_ kind: String, _ place: String) { (self.kind, self.place) = (kind, place) }

    init(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", maxSplits: 1)
        self.init(String(parts[0]), parts.count > 1 ? String(parts[1]) : "*")
    }

    /// The kinds that a kind includes.
    static func implied(_ kind: String) -> [String] {
        switch kind {
        case "admin": kinds
        case "write": ["write", "read"]
        default: [kind]
        }
    }

    /// All that some scopes grant, without the dropped kinds.
    static func table(_ scopes: some Sequence<ModelScope>, without dropped: Set<String> = []) -> Set<ModelScope> {
        var cells: Set<ModelScope> = []
        for scope in scopes {
            for kind in implied(scope.kind) where dropped.isDisjoint(with: implied(kind)) {
                cells.insert(ModelScope(kind, scope.place))
            }
        }
        return folded(cells)
    }

    /// Omits cells of places that a cell of `*` covers.
    static func folded(_ cells: Set<ModelScope>) -> Set<ModelScope> {
        cells.filter { $0.place == "*" || !cells.contains(ModelScope($0.kind, "*")) }
    }

    func isCovered(by cells: Set<ModelScope>) -> Bool {
        Self.implied(kind).allSatisfy { kind in
            cells.contains(ModelScope(kind, "*")) || cells.contains(ModelScope(kind, place))
        }
    }
}

/// A token of the model.
struct ModelToken: Equatable {
    let name: String
    /// Another version is another secret.
    var version = 0
    var scopes: [ModelScope]
    var expires: Int64?

    var secret: String { "\(name)-\(version)" }
}

/// All sessions of a server, and the events that the program should receive.
struct SessionModel {
    struct Grant {
        var token: String?
        var isRequested = false
        var scopes: [ModelScope]
        var dropped: Set<String> = []
    }

    struct Session {
        let number: Int
        let isTCP: Bool
        var state = "opening"
        var grants: [Grant] = []
        var tokens: [ModelToken] = []
        var granted: [ModelScope] = []
        var declined: [ModelScope] = []
        /// By the number of the request.
        var waiting: [(number: Int, scopes: [ModelScope])] = []
        var failures = 0

        var isOver: Bool { state != "opening" && state != "open" }
        /// Its rights. A grant does not restore the kinds that were dropped of it.
        var abilities: Set<ModelScope> {
            ModelScope.folded(
                grants.reduce(into: []) { $0.formUnion(ModelScope.table($1.scopes, without: $1.dropped)) })
        }
    }

    var sessions: [Session] = []
    var table: [ModelToken] = []
    var time: Int64 = 1_000_000
    var requests = 0
    /// By session: the events since the last comparison.
    var events: [Int: [String]] = [:]
    /// The scopes that are granted without a decision of the program.
    let policy: [ModelScope]
    let mostFailures = 5

    init(policy: [ModelScope]) { self.policy = policy }

    func index(_ number: Int) -> Int { sessions.firstIndex { $0.number == number } ?? 0 }

    private mutating func emit(_ number: Int, _ text: String) { events[number, default: []].append(text) }

    // MARK: Lifecycle

    mutating func open(_ number: Int, isTCP: Bool) {
        var session = Session(number: number, isTCP: isTCP)
        for state in ["created", "opening"] { emit(number, "state \(state)") }
        if !isTCP {
            session.state = "open"
            session.grants = [Grant(token: nil, scopes: [ModelScope("admin")])]
            emit(number, "state open")
        }
        sessions.append(session)
    }

    mutating func end(_ number: Int, _ reason: String) {
        let position = index(number)
        if sessions[position].isOver { return }
        sessions[position].state = (sessions[position].state == "open" ? "closed " : "failed ") + reason
        emit(number, "state \(sessions[position].state)")
    }

    mutating func kick(_ number: Int, by admin: Int) {
        emit(admin, "kicked \(number)")
        end(number, "kicked")
    }

    // MARK: Tokens

    func isLive(_ token: ModelToken) -> Bool { token.expires.map { time < $0 } ?? true }

    /// - Returns: The beginning of the reply.
    mutating func authenticate(_ number: Int, secret: String) -> String {
        let position = index(number)
        guard let token = table.first(where: { $0.secret == secret }), isLive(token) else {
            sessions[position].failures += 1
            emit(number, "authentication failed")
            if sessions[position].failures >= mostFailures { end(number, "denied") }
            return "error denied "
        }
        sessions[position].grants.removeAll { $0.token == token.name }
        sessions[position].grants.append(Grant(token: token.name, scopes: token.scopes))
        sessions[position].tokens.removeAll { $0.name == token.name }
        sessions[position].tokens.append(token)
        if sessions[position].state == "opening" {
            sessions[position].state = "open"
            emit(number, "state open")
        }
        emit(number, "authenticated \(token.name)")
        return "ok token \(token.name) may \(token.scopes.map(\.text).joined(separator: " "))"
    }

    /// Applies another table or another time.
    mutating func review() {
        for position in sessions.indices where !sessions[position].isOver && !sessions[position].tokens.isEmpty {
            var (isLess, hasEnded) = (false, false)
            for token in sessions[position].tokens {
                if let entry = table.first(where: { $0.secret == token.secret }), isLive(entry) {
                    isLess = replace(token, by: entry, position) || isLess
                } else {
                    hasEnded = true
                    sessions[position].tokens.removeAll { $0.name == token.name }
                    sessions[position].grants.removeAll { $0.token == token.name }
                }
            }
            if hasEnded {
                sessions[position].grants.removeAll(where: \.isRequested)
                (sessions[position].granted, sessions[position].waiting) = ([], [])
            }
            if isLess || hasEnded { emit(sessions[position].number, "revoked") }
            if hasEnded, sessions[position].isTCP, sessions[position].tokens.isEmpty {
                end(sessions[position].number, "revoked")
            }
        }
    }

    private mutating func replace(_ token: ModelToken, by entry: ModelToken, _ position: Int) -> Bool {
        sessions[position].tokens = sessions[position].tokens.map { $0.name == entry.name ? entry : $0 }
        for grant in sessions[position].grants.indices where sessions[position].grants[grant].token == entry.name {
            sessions[position].grants[grant].scopes = entry.scopes
        }
        let now = ModelScope.table(entry.scopes)
        return !token.scopes.allSatisfy { $0.isCovered(by: now) }
    }

    // MARK: Scopes

    mutating func drop(_ number: Int, _ kind: String) {
        let position = index(number)
        let before = sessions[position].abilities
        for grant in sessions[position].grants.indices { sessions[position].grants[grant].dropped.insert(kind) }
        if sessions[position].abilities != before { emit(number, "dropped \(kind)") }
    }

    /// - Parameter answer: The decision of the program; nil: it decides later.
    /// - Returns: The beginning of the reply, and whether the program is asked.
    mutating func request(_ number: Int, _ scopes: [ModelScope], answer: Bool?) -> (reply: String, asks: Bool) {
        let position = index(number)
        let session = sessions[position]
        let text = { (scopes: [ModelScope]) in scopes.map(\.text).joined(separator: " ") }
        guard session.state == "open" else { return ("error auth-required ", false) }
        let missing = scopes.filter { !$0.isCovered(by: session.abilities) }
        if missing.isEmpty { return ("ok granted \(text(scopes))", false) }
        let given = ModelScope.table(policy)
        if missing.allSatisfy({ $0.isCovered(by: given) }) {
            emit(number, "requested \(text(missing))")
            decide(number, missing, true)
            return ("ok granted \(text(missing))", false)
        }
        if let scope = missing.first(where: session.declined.contains) {
            return ("error denied \(scope.text) was declined", false)
        }
        if let waiting = session.waiting.first(where: { Set($0.scopes) == Set(missing) }) {
            return ("ok waiting \(text(waiting.scopes))", false)
        }
        emit(number, "requested \(text(missing))")
        requests += 1
        guard let answer else {
            sessions[position].waiting.append((requests - 1, missing))
            return ("ok waiting \(text(missing))", true)
        }
        decide(number, missing, answer)
        return (answer ? "ok granted \(text(missing))" : "error denied \(text(missing)) declined", true)
    }

    private mutating func decide(_ number: Int, _ scopes: [ModelScope], _ isGranted: Bool) {
        let position = index(number)
        emit(number, "\(isGranted ? "granted" : "declined") \(scopes.map(\.text).joined(separator: " "))")
        if isGranted {
            sessions[position].grants.append(Grant(token: nil, isRequested: true, scopes: scopes))
            sessions[position].granted += scopes.filter { !sessions[position].granted.contains($0) }
            sessions[position].declined.removeAll(where: scopes.contains)
        } else {
            sessions[position].declined += scopes.filter { !sessions[position].declined.contains($0) }
        }
    }

    /// Applies the program's decision on a waiting request.
    mutating func decide(_ number: Int, request: Int, _ isGranted: Bool) -> [ModelScope] {
        let position = index(number)
        guard let found = sessions[position].waiting.firstIndex(where: { $0.number == request }) else { return [] }
        let scopes = sessions[position].waiting.remove(at: found).scopes
        decide(number, scopes, isGranted)
        return scopes
    }
}
