// Requests to replies: the dispatch of all commands.

import Tweaks
import TweaksWire

/// Carries out requests on a registry for the sessions of one server. Lives on the I/O thread.
final class Executor {
    /// What comes of a request.
    enum Outcome {
        case reply(Reply)
        /// The reply comes when the action ends.
        case running
        /// The reply is the last one.
        case quit(Reply)
    }

    let registry: TweakRegistry
    let identity: ServerIdentity
    let limits: TweakServerLimits
    let hub: WatchHub
    let mailbox: Mailbox
    var figures = ServerFigures()

    init(
        registry: TweakRegistry, identity: ServerIdentity, limits: TweakServerLimits, hub: WatchHub, mailbox: Mailbox
    ) {
        self.registry = registry
        self.identity = identity
        self.limits = limits
        self.hub = hub
        self.mailbox = mailbox
    }

    /// Carries out one request.
    func execute(_ request: Request, for session: Session) -> Outcome {
        do throws(TweakError) {
            return try perform(request, session)
        } catch {
            if session.batch != nil, request.isChange { session.batch?.fail(error) }
            return .reply(.error(error))
        }
    }

    private func perform(_ request: Request, _ session: Session) throws(TweakError) -> Outcome {
        switch request {
        case .get(let patterns): return .reply(try get(patterns))
        case .set(let path, let change): return .reply(try set(path, change, session))
        case .reset(let patterns): return .reply(try reset(patterns, session))
        case .check(let path, let change): return .reply(try check(path, change))
        case .list(let prefix): return .reply(try list(prefix))
        case .modified(let pattern): return .reply(try modified(pattern))
        case .export(let pattern): return .reply(try export(pattern))
        case .find(let words): return .reply(find(words))
        case .describe(let path): return .reply(try describe(path))
        case .explain(let path): return .reply(try explain(path))
        case .watch(let patterns, let since): return .reply(try watch(patterns, since: since, session))
        case .unwatch(let pattern): return .reply(try unwatch(pattern, session))
        case .run(let path, let arguments): return try run(path, arguments, session)
        case .begin(let revision): return .reply(try begin(revision, session))
        case .commit: return .reply(try commit(session))
        case .abort: return .reply(try abort(session))
        case .quit: return .quit(.ok())
        default: return .reply(about(request, session))
        }
    }

    /// The tweak or action with this path, or `unknown-tweak`.
    func lookUp(_ path: String) throws(TweakError) -> AnyTweak {
        if let tweak = registry[path] { return tweak }
        let meant = try registry.resolve(path)
        let example = meant.first.map { ", such as \($0.path.token)" } ?? ""
        throw TweakError(
            .ambiguous, "\(Quoting.excerpt(path)) names \(meant.count) tweaks; name one of them\(example)")
    }
}

extension Request {
    /// Whether an error in it spoils an open batch.
    fileprivate var isChange: Bool {
        switch self {
        case .set, .reset: true
        default: false
        }
    }
}

/// Who a server is.
struct ServerIdentity: Sendable {
    let name: String
    let processID: Int32
    /// Random for each start, so that clients notice a restart.
    let instance: String
    let startedAt: ContinuousClock.Instant
}

/// What a server counts.
struct ServerFigures {
    var sessions = 0
    var accepted: UInt64 = 0
    var requests: UInt64 = 0
    var refused: UInt64 = 0
    /// How often each limit was hit.
    var limitsHit: [TweakError.Code: UInt64] = [:]
}
