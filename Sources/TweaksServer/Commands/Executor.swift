// Carries out requests: each by the function of its command.

import Dispatch
import Tweaks
import TweaksWire

/// Carries out requests on a registry for the sessions of one server. Lives on the I/O thread.
final class Executor {
    /// What comes of a request.
    enum Outcome {
        case reply(Reply)
        /// Others work on the reply.
        case running(Work.Running = .init())
        /// The reply is the last one.
        case quit(Reply)
        /// A wrong token: the reply comes when this time is over.
        case penalty(TweakError, Duration)
        /// The loop knows who is connected.
        case list
        /// This session ends.
        case kick(UInt64)
        /// The loop knows where the panel listens.
        case panel(rotate: Bool)
    }

    let registry: TweakRegistry
    let identity: ServerIdentity
    let limits: TweakServerLimits
    let hub: WatchHub
    let mailbox: Mailbox
    let hooks: TweakServerHooks
    let finder: Finder
    var figures = ServerFigures()
    /// The tokens that are taken; nil where there is no file of them.
    var tokens: TokenTable?
    /// Who has shown wrong ones.
    var failures: FailureLedger
    /// Where the program is asked what it grants, one request at a time.
    let requestQueue = DispatchQueue(label: "tweaks.requests")
    /// Where clients can connect, for `stats`.
    var places: [(String, JSON)] = []
    var commitRate: CommitRate
    /// What makes changes durable; nil: they live as long as the process.
    let store: (any TweakStore)?
    /// Commits of this round wait for its end before the disk hears of them.
    private(set) var isInRound = false
    /// How far that is, and the audit.
    let evidence: Evidence
    /// Something was committed that did not wait for it, and may wait in there for what does.
    var hasUnhurried = false
    /// Sessions with replies that wait for it.
    var owing: [SessionID] = []
    var abandoned = Abandoned()
    var accounts = Accounts()
    var windows = Windows()
    var memory: MemoryBudget
    /// The snapshot that was printed last: replies of one revision hold the same.
    private weak var lastPin: PinnedBytes?
    private var lastPinnedRevision: UInt64 = 0
    /// The sessions for which others work, and who pays for that.
    private(set) var pending: [SessionID: Account] = [:]
    /// The actions that run, by the sessions that called them; a session may have ended meanwhile.
    var runs: [SessionID: Task<Void, Never>] = [:]
    /// Presets that somebody looks at, and the way back from each. A restart forgets them.
    var swaps: [PresetName: PresetSwap] = [:] {
        didSet { swapBytes = swaps.values.reduce(0) { $0 + $1.heldBytes } }
    }
    private(set) var swapBytes = 0
    /// Where presets are read and written, one after the other: disks may be slow.
    let presetQueue = DispatchQueue(label: "tweaks.presets")

    init(
        registry: TweakRegistry, identity: ServerIdentity, limits: TweakServerLimits, hub: WatchHub, mailbox: Mailbox,
        hooks: TweakServerHooks
    ) {
        self.registry = registry
        self.identity = identity
        self.limits = limits
        self.hub = hub
        self.mailbox = mailbox
        self.hooks = hooks
        finder = Finder()
        memory = MemoryBudget(limit: limits.memoryBytes)
        registry.limitHistory(bytes: memory.historyShare)
        tokens = hooks.tokens?()
        let own = hooks.fronts.flatMap(\.tokens)
        if !own.isEmpty { tokens = (tokens ?? TokenTable()).adding(own) }
        failures = FailureLedger(delays: limits.authenticationDelay)
        commitRate = CommitRate(registry.revision, at: hooks.now)
        store = registry.store
        evidence = Evidence(store, hooks.audit, mailbox)
    }

    /// Carries out one request.
    func execute(_ request: Request, for session: Session) -> Outcome {
        do throws(TweakError) {
            return try perform(request, session)
        } catch {
            if request.command.effect == .isQueued { session.batch?.fail(error) }
            tellDenied(error, request.command.name, session)
            return .reply(.error(error))
        }
    }

    private func perform(_ request: Request, _ session: Session) throws(TweakError) -> Outcome {
        try admit(request, session)
        switch request.command {
        case .help: return .reply(help(request[0], session))
        case .ls: return .reply(try list(request[0], session))
        case .get: return .reply(try get(request.words, session))
        case .set: return try set(request, session)
        case .keep: return try keep(request.words, session)
        case .reset: return try reset(request.words, session)
        case .check: return .reply(try check(request, session))
        case .find: return try find(request.words, session)
        case .modified: return .reply(try modified(request[0], session))
        case .describe: return .reply(try describe(request.word, session))
        case .explain: return .reply(try explain(request.word, session))
        case .export: return .reply(try export(request[0], session))
        case .run: return try run(request, session)
        case .import: return try takeIn(request, session)
        case .begin: return .reply(try begin(request.number, session))
        case .commit: return try commit(session)
        case .abort: return .reply(try abort(session))
        case .undo: return try travel(.undo, request, session)
        case .redo: return try travel(.redo, request, session)
        case .history: return .reply(history(request.number.map { Int(clamping: $0) } ?? 20, session))
        case .watch: return .reply(try watch(request, session))
        case .unwatch: return .reply(try unwatch(request, session))
        case .save: return try save(request.word, request[1], session)
        case .load: return try load(request, session)
        case .swap: return try swap(request.word, force: request.keywords.contains(.force), session)
        case .diff: return try diff(request.word, request[1], session)
        case .presets: return try presets(session)
        case .delete: return try delete(request.word, session)
        case .auth: return try authenticate(request.proof, session)
        case .as: return .reply(try takeName(request[0], session))
        case .whoami: return .reply(whoami(session))
        case .drop: return .reply(try drop(request.words, session))
        case .request: return try self.request(request.words, session)
        case .sessions: return .list
        case .panel: return .panel(rotate: request.keywords.contains(.rotate))
        case .kick: return .kick(request.number ?? 0)
        case .reload: return try reload(request.keywords.contains(.dry), session)
        case .conflicts: return .reply(conflicts())
        case .stats: return .reply(stats(session))
        case .hello: return .reply(hello(request.keywords.contains(.json), session))
        case .complete: return try complete(request.word, session)
        case .json: return .reply(json(!request.keywords.contains(.off), session))
        case .prompt: return .reply(prompt(!request.keywords.contains(.off), session))
        case .ping: return .reply(.ok("pong", [("pong", .bool(true))]))
        case .quit: return .quit(.ok())
        }
    }

    /// Counts a snapshot as long as replies are made from it.
    func pin(_ snapshot: TweakSnapshot) -> PinnedBytes {
        if let lastPin, lastPinnedRevision == snapshot.revision { return lastPin }
        let pin = PinnedBytes(snapshot.heldBytes, in: memory.pinned)
        (lastPin, lastPinnedRevision) = (pin, snapshot.revision)
        return pin
    }

    /// Notes that others work for a session.
    func beginPending(_ session: Session) {
        // What is written first is written together with the others', and commits have a rate.
        if session.work.running?.proposal != nil { return }
        if let earlier = pending[session.id] { earlier.pending -= 1 }
        pending[session.id] = session.account
        session.account.pending += 1
    }

    /// Notes that they have done so.
    func endPending(_ id: SessionID) { pending.removeValue(forKey: id)?.pending -= 1 }

    /// Looks at the revision now and then, for the rate of commits.
    func noteCommits(_ now: Moment) {
        if commitRate.isDue(now) { commitRate.note(registry.revision, at: now) }
    }

    /// Counts a refusal, and the limit that it comes from.
    func count(_ error: TweakError) {
        figures.refused += 1
        if let limit = error.limit { figures.hit(limit) }
    }

    /// Has commits share a write, until the round ends or one session has had its time.
    func beginRound() {
        guard let store, !isInRound else { return }
        isInRound = true
        store.beginRound()
    }

    /// Has the disk begin with what was committed in this round.
    func endRound() {
        if !isInRound { return }
        isInRound = false
        store?.endRound()
    }

    /// What a session sees of the registry.
    func view(_ session: Session) -> TweakView { TweakView(registry, session.grants.rights) }

    /// Whether an error may repeat a value that was meant for this path: never one that could be a secret.
    func mayRepeatValue(of path: String, _ session: Session) -> Bool {
        guard let tweak = view(session)[path] else { return false }
        return !tweak.flags.contains(.secret)
    }

    /// The tweak or action with this path, or `unknown-tweak`.
    func lookUp(_ path: String, _ session: Session) throws(TweakError) -> AnyTweak {
        let view = view(session)
        if let tweak = view[path] { return tweak }
        let meant = try view.resolve(path)
        let example = meant.first.map { ", such as \($0.path.token)" } ?? ""
        let many = meant.count == 1 ? "1 tweak; name it" : "\(meant.count) tweaks; name one of them"
        throw TweakError(.ambiguous, "\(Quoting.excerpt(path)) names \(many)\(example)")
    }
}

/// Who a server is.
struct ServerIdentity: Sendable {
    let name: String
    let processID: Int32
    /// Random for each start, so that clients notice a restart.
    let instance: String
    let startedAt: Moment
}

/// What a server counts.
struct ServerFigures {
    var sessions = 0
    var accepted: UInt64 = 0
    var requests: UInt64 = 0
    var refused: UInt64 = 0
    /// How often each limit was hit.
    private(set) var limitsHit: [TweakLimit: UInt64] = [:]

    /// Counts that a limit was hit.
    mutating func hit(_ limit: TweakLimit) { limitsHit[limit, default: 0] += 1 }
}
