// Dispatches each request to the method of its command.

import Dispatch
import Tweaks
import TweaksWire

/// Carries out requests on a registry for the sessions of one server. Used on the I/O thread only.
final class Executor {
    enum Outcome {
        case reply(Reply)
        case running(Work.Running = .init())
        /// The event loop continues it in slices.
        case sweep(Sweep)
        /// The reply is the last one of the session.
        case quit(Reply)
        /// A wrong token: the reply is sent after this delay.
        case authenticationDelay(TweakError, Duration)
        case list
        case kick(UInt64)
        /// The event loop knows the panel's address.
        case panel(Keyword?)
    }

    let registry: TweakRegistry
    let identity: ServerIdentity
    let limits: TweakServerLimits
    let hub: WatchHub
    let mailbox: Mailbox
    let hooks: TweakServerHooks
    let finder: Finder
    var metrics = ServerMetrics()
    /// The accepted tokens; nil without a token file.
    var tokens: TokenTable?
    var loginThrottle: LoginThrottle
    /// The queue on which the program's handler decides scope requests, one at a time.
    let requestQueue = DispatchQueue(label: "tweaks.requests")
    /// The addresses where clients can connect, for `stats`.
    var listenerInfo: [(String, JSON)] = []
    var commitRate: CommitRate
    /// The store that makes changes durable; nil if they last only as long as the process.
    let store: (any TweakStore)?
    /// Whether commits of this round are collected before the disk is notified.
    var isInRound = false
    /// The revision that disk and audit have reached.
    let durability: DurabilityTracker
    /// Whether there were commits that did not wait for the disk, and may delay later ones that do.
    var hasUnflushedCommits = false
    /// The sessions whose replies wait for disk or audit.
    var awaitingDurability: [SessionID] = []
    /// The sessions whose changes wait for the audit.
    var awaitingAudit: [SessionID] = []
    var orphaned = OrphanedRequests()
    var accounts = Accounts()
    var windows = BrowserWindows()
    /// The preview that a client of this server holds.
    var held: HeldPreview?
    var memory: MemoryAccount
    /// The pin of the last printed snapshot: replies of one revision share it.
    weak var lastPin: PinnedBytes?
    var lastPinnedRevision: UInt64 = 0
    /// The sessions with background work, and the account that is charged.
    var pending: [SessionID: Account] = [:]
    /// The running actions, by the session that called them; that session may have ended.
    var runs: [SessionID: Task<Void, Never>] = [:]
    /// The swapped presets, each with the revision that switched to it. A restart forgets them.
    var swaps: [PresetName: UInt64] = [:]
    /// The serial queue that reads and writes presets, since disks may be slow.
    let presetQueue = DispatchQueue(label: "tweaks.presets")
    /// The serial queue on which large commits are validated, which waits for no disk.
    let planQueue = DispatchQueue(label: "tweaks.plans")

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
        memory = MemoryAccount(limit: limits.memoryBytes)
        registry.limitHistory(bytes: memory.historyShare)
        tokens = hooks.tokens?()
        let own = hooks.ownTokens
        if !own.isEmpty { tokens = (tokens ?? TokenTable()).adding(own) }
        loginThrottle = LoginThrottle(delays: limits.authenticationDelay)
        commitRate = CommitRate(registry.revision, at: hooks.now)
        store = registry.store
        durability = DurabilityTracker(store, hooks.audit, mailbox, auditWait: limits.auditWait)
    }

    func execute(_ request: Request, for session: Session) -> Outcome {
        do throws(TweakError) {
            return try perform(request, session)
        } catch {
            return refusal(error, of: request, session)
        }
    }

    func refusal(_ error: TweakError, of request: Request, _ session: Session) -> Outcome {
        let error = error.code == .unknownTweak ? unquotedPath(request, session) ?? error : error
        if request.command.effect == .isQueued { session.batch?.fail(error) }
        notifyDenied(error, request.command.name, session)
        return .reply(.error(error))
    }

    private func perform(_ request: Request, _ session: Session) throws(TweakError) -> Outcome {
        try authorize(request, session)
        switch request.command {
        case .help: return .reply(help(request[0], session))
        case .ls: return try list(request[0], session)
        case .get: return try get(request.words, session)
        case .set: return try set(request, session)
        case .keep: return try keep(request.words, session)
        case .reset: return try reset(request.words, session)
        case .check: return .reply(try check(request, session))
        case .find: return try find(request.words, session)
        case .modified: return try modified(request, session)
        case .describe: return .reply(try describe(request.word, session))
        case .explain: return .reply(try explain(request.word, session))
        case .export: return try export(request, session)
        case .run: return try run(request, session)
        case .import: return try importAssignments(request, session)
        case .begin: return .reply(try begin(request.number, session))
        case .commit: return try commit(session)
        case .abort: return .reply(try abort(session))
        case .undo: return try undoOrRedo(.undo, request, session)
        case .redo: return try undoOrRedo(.redo, request, session)
        case .history: return try history(request.number.map { Int(clamping: $0) } ?? 20, session)
        case .drag: return .reply(drag(!request.keywords.contains(.off), session))
        case .preview: return try preview(request, session)
        case .watch: return try watch(request, session)
        case .unwatch: return try unwatch(request, session)
        case .samples: return .reply(try samples(request, session))
        case .save: return try save(request.word, request[1], session)
        case .load: return try load(request, session)
        case .swap: return try swap(request.word, force: request.keywords.contains(.force), session)
        case .diff: return try diff(request.word, request[1], session)
        case .presets: return try presets(session)
        case .delete: return try delete(request.word, session)
        case .auth: return try authenticate(request.proof, session)
        case .as: return .reply(try setPersonName(request[0], session))
        case .whoami: return .reply(whoami(session))
        case .drop: return .reply(try drop(request.words, session))
        case .request: return try self.request(request.words, session)
        case .sessions: return .list
        case .panel: return .panel(request.keywords.first)
        case .kick: return .kick(request.number ?? 0)
        case .reload: return try reload(request.keywords.contains(.dry), session)
        case .conflicts: return .reply(conflicts())
        case .stats: return try stats(session)
        case .hello: return .reply(hello(request.keywords.contains(.json), session))
        case .complete: return try complete(request.word, session)
        case .json: return .reply(json(request.keywords, session))
        case .prompt: return .reply(prompt(!request.keywords.contains(.off), session))
        case .ping: return .reply(.ok("pong", [("pong", .bool(true))]))
        case .quit: return .quit(.ok())
        }
    }

    /// Counts a refusal, and the limit behind it.
    func count(_ error: TweakError) {
        metrics.refused += 1
        if let limit = error.limit { metrics.hit(limit) }
    }

    func view(_ session: Session) -> TweakView { TweakView(registry, session.grants.rights) }

    /// The error of a nearly correct line. It repeats no value that may be meant for a secret.
    func error(for correction: Correction, _ session: Session) -> TweakError {
        let view = view(session)
        let correction = correction.meant { view[$0] != nil }
        guard let tweak = view[correction.path] else {
            return correction.error(.session(showsValue: false, isText: true))
        }
        return correction.error(
            .session(
                showsValue: !tweak.flags.contains(.secret), isText: tweak.node.takesWords,
                isList: tweak.node.takesList, isSwitch: tweak.node.isSwitch))
    }

    /// The error of `get Shop/Pool/Queue limit`, where that is one path.
    private func unquotedPath(_ request: Request, _ session: Session) -> TweakError? {
        var words = request.words
        if case .assign(let text)? = request.change { words.append(text) }
        guard (2...16).contains(words.count), words.reduce(0, { $0 + $1.utf8.count }) <= 1_024 else { return nil }
        let view = view(session)
        for start in words.indices {
            for end in words.indices where end > start {
                let part = Array(words[start...end])
                if view[part.joined(separator: " ")] != nil { return request.command.blanksError(part, .unknownTweak) }
            }
        }
        return nil
    }

    /// The tweak or action with this path, or `unknown-tweak`.
    func lookUp(_ path: String, _ session: Session) throws(TweakError) -> AnyTweak {
        let view = view(session)
        if let tweak = view[path] { return tweak }
        guard let meant = try view.resolve(path, visiting: Sweep.short) else {
            throw TweakError(
                .ambiguous, "\(Quoting.excerpt(path)) is a pattern; name one of the tweaks that it matches")
        }
        let example = meant.first.map { ", such as \($0.path.token)" } ?? ""
        let many = meant.count == 1 ? "1 tweak; name it" : "\(meant.count) tweaks; name one of them"
        throw TweakError(.ambiguous, "\(Quoting.excerpt(path)) names \(many)\(example)")
    }
}

/// Identifies a server and its start.
struct ServerIdentity: Sendable {
    let name: String
    let processID: Int32
    /// Random for each start, so that clients detect a restart.
    let instance: String
    let startedAt: Moment
}

/// The counters of a server.
struct ServerMetrics {
    var sessions = 0
    var accepted: UInt64 = 0
    var requests: UInt64 = 0
    var refused: UInt64 = 0
    private(set) var limitsHit: [TweakLimit: UInt64] = [:]

    mutating func hit(_ limit: TweakLimit) { limitsHit[limit, default: 0] += 1 }
}

extension TweakError {
    /// The error of an exceeded limit.
    static func tooMany(_ limit: TweakLimit, _ text: String) -> TweakError { TweakError(.tooMany, text, limit: limit) }
}

extension String {
    /// The text with spaces up to a width.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
