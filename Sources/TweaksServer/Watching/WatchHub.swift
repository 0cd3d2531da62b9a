// Who watches what: from a changed tweak to the sessions that want to know.

import Tweaks
import TweaksWire

/// The watching sessions of a server. Touched by the I/O thread alone.
final class WatchHub {
    private let registry: TweakRegistry
    private let wake: @Sendable () -> Void
    /// There only while a session watches, because it costs a commit something.
    private var follower: CommitFollower?
    private(set) var sessions: [Session] = []
    /// Whether a session watches something.
    private(set) var isFollowed = false
    /// Who watches a tweak, found out when it first changes. Emptied whenever anything could make it wrong.
    private var watchers: [ObjectIdentifier: [Session]] = [:]
    private var generation: UInt64 = 0
    /// The figures that somebody watches, with the value that was last sent.
    private var figures: [(node: TweakNode, sent: TweakValue)] = []
    private let figureInterval: Duration = .milliseconds(100)
    private var figuresSentAt: Moment

    /// - Parameter wake: Wakes the I/O thread after a commit made elsewhere.
    init(registry: TweakRegistry, now: Moment, wake: @escaping @Sendable () -> Void) {
        self.registry = registry
        figuresSentAt = now
        self.wake = wake
    }

    /// Whether changes wait to be distributed.
    var isReady: Bool { isFollowed && follower?.hasNews ?? false }

    /// Notes that a session's patterns changed.
    func update(_ session: Session) {
        sessions.removeAll { $0 === session }
        if !session.watches.isEmpty { sessions.append(session) }
        isFollowed = !sessions.isEmpty
        watchers.removeAll()
        if session.watches.isEmpty {
            figures.removeAll { watchers(of: $0.node).isEmpty }
        } else {
            // Before the reply reads their values: what is published from here on is news.
            findFigures { registry.current($0) }
        }
        if sessions.isEmpty {
            follower = nil
        } else if follower == nil {
            follower = registry.follow(.folds, wake)
        }
    }

    /// Sends all committed changes to those who watch.
    /// - Returns: The sessions that were told something.
    func distribute(unsentLimit: Int) -> [Session] {
        guard var batch = follower?.take(), !batch.isEmpty else { return [] }
        // Now, and not before: among what was taken may be the first change of a tweak that has just come.
        forgetIfStale()
        var told = Told()
        while let change = batch.folded?.popFirst() { tell(change, &told, unsentLimit) }
        for record in batch.records { record.forEachChange { tell($0, &told, unsentLimit) } }
        return told.end()
    }

    private func tell(_ change: WatchedChange, _ told: inout Told, _ unsentLimit: Int) {
        let cache = EventCache()
        for session in watchers(of: change.node) where session.wants(change) && session.sees(change.node) {
            session.offer(change, cache, unsentLimit: unsentLimit)
            told.insert(session)
        }
    }

    private func watchers(of node: TweakNode) -> [Session] {
        if let known = watchers[ObjectIdentifier(node)] { return known }
        let found = sessions.filter { session in session.watches.contains { $0.matches(node) } }
        if watchers.count >= 1_024 { watchers.removeAll() }
        watchers[ObjectIdentifier(node)] = found
        return found
    }

    // A removed tweak's identity may be reused by another one.
    private func forgetIfStale() {
        let current = registry.generation
        if current == generation { return }
        generation = current
        watchers.removeAll()
        // Nobody has seen a new one yet, so anything but its default is news.
        findFigures { $0.defaultValue }
    }

    // MARK: Figures

    /// When the watched figures are looked at next; nil while nobody watches one.
    func nextFigures() -> Moment? {
        if sessions.isEmpty { return nil }
        forgetIfStale()
        return figures.isEmpty ? nil : figuresSentAt + figureInterval
    }

    /// Finds the watched figures again. One that is known keeps what was sent last: its change may still be due.
    private func findFigures(sent: (TweakNode) -> TweakValue?) {
        let known = Dictionary(figures.map { (ObjectIdentifier($0.node), $0.sent) }) { first, _ in first }
        let nodes = registry.listing().nodes.filter { node in
            node.definition.flags.contains(.readOnly) && !watchers(of: node).isEmpty
        }
        figures = nodes.compactMap { node in (known[ObjectIdentifier(node)] ?? sent(node)).map { (node, $0) } }
    }

    /// Sends the figures that changed: looked at ten times a second, so that publishing one costs nothing here.
    func distributeFigures(now: Moment, unsentLimit: Int) -> [Session] {
        guard let due = nextFigures(), due <= now else { return [] }
        figuresSentAt = now
        var told = Told()
        let revision = registry.revision
        for position in figures.indices {
            let (node, sent) = figures[position]
            guard let value = registry.current(node), value != sent else { continue }
            figures[position].sent = value
            let change = WatchedChange(node: node, old: sent, new: value, origin: .code, revision: revision)
            let cache = EventCache()
            for session in watchers(of: node) where session.sees(node) {
                session.offer(change, cache, unsentLimit: unsentLimit)
                told.insert(session)
            }
        }
        return told.end()
    }
}

/// The sessions that were told something, each once, in the order of watching.
private struct Told {
    private(set) var sessions: [Session] = []

    mutating func insert(_ session: Session) {
        if session.connection.isTold { return }
        session.connection.isTold = true
        sessions.append(session)
    }

    func end() -> [Session] {
        for session in sessions { session.connection.isTold = false }
        return sessions
    }
}

extension Session {
    /// Whether a change is news to this session: not part of what the reply to `watch` has shown. The page shows layers,
    /// too.
    fileprivate func wants(_ change: WatchedChange) -> Bool {
        (change.isNews || dialect.showsLayers) && watches.contains { $0.wants(change) }
    }
}
