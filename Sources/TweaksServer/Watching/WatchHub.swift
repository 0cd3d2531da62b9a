// Routes changed tweaks to the sessions that watch them.

import Tweaks
import TweaksWire

/// The watching sessions of a server. Used on the I/O thread only.
final class WatchHub {
    private let registry: TweakRegistry
    private let wake: @Sendable () -> Void
    /// Exists only while a session watches, because it adds cost to commits.
    private var follower: CommitFollower?
    private(set) var sessions: [Session] = []
    /// Whether a session watches something.
    private(set) var isFollowed = false
    /// The sessions that watch a tweak, computed when it first changes. Cleared when patterns or tweaks change.
    private var watchers: [ObjectIdentifier: [Session]] = [:]
    private var generation: UInt64 = 0
    /// The watched figures, with the values last sent.
    private var metrics: [(node: TweakNode, sent: TweakValue)] = []
    private let metricInterval: Duration = .milliseconds(100)
    private var metricsSentAt: Moment

    /// - Parameter wake: Wakes the I/O thread after a commit made elsewhere.
    init(registry: TweakRegistry, now: Moment, wake: @escaping @Sendable () -> Void) {
        self.registry = registry
        metricsSentAt = now
        self.wake = wake
    }

    /// Whether changes wait to be distributed.
    var isReady: Bool { isFollowed && follower?.hasUpdates ?? false }

    /// Updates the hub after a session's patterns changed.
    func update(_ session: Session) {
        sessions.removeAll { $0 === session }
        if !session.watches.isEmpty { sessions.append(session) }
        isFollowed = !sessions.isEmpty
        watchers.removeAll()
        if session.watches.isEmpty {
            metrics.removeAll { watchers(of: $0.node).isEmpty }
        } else {
            // Before the reply reads their values, so that later publications count as changes.
            findMetrics { registry.current($0) }
        }
        if sessions.isEmpty {
            follower = nil
        } else if follower == nil {
            follower = registry.follow(.folds, wake)
        }
    }

    /// Sends all committed changes to the watching sessions.
    /// - Returns: The sessions that received something.
    func distribute(unsentLimit: Int) -> [Session] {
        guard var batch = follower?.drain(), !batch.isEmpty else { return [] }
        // Only after the batch is taken: it may contain the first change of a tweak that was just registered.
        forgetIfStale()
        var notified = NotifiedSessions()
        while let change = batch.folded?.popFirst() { deliver(change, &notified, unsentLimit) }
        for record in batch.records { record.forEachChange { deliver($0, &notified, unsentLimit) } }
        return notified.end()
    }

    private func deliver(_ change: WatchedChange, _ notified: inout NotifiedSessions, _ unsentLimit: Int) {
        let cache = EventCache()
        for session in watchers(of: change.node) where session.wants(change) && session.sees(change.node) {
            session.offer(change, cache, unsentLimit: unsentLimit)
            notified.insert(session)
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
        // A new figure is unseen, so any value but its default is a change.
        findMetrics { $0.defaultValue }
    }

    // MARK: Figures

    /// When the watched figures are checked next; nil if none is watched.
    func nextMetricsCheck() -> Moment? {
        if sessions.isEmpty { return nil }
        forgetIfStale()
        return metrics.isEmpty ? nil : metricsSentAt + metricInterval
    }

    /// Finds the watched figures again. Known ones keep the value last sent: their change may still be due.
    private func findMetrics(sent: (TweakNode) -> TweakValue?) {
        let known = Dictionary(metrics.map { (ObjectIdentifier($0.node), $0.sent) }) { first, _ in first }
        let nodes = registry.listing().nodes.filter { node in
            node.definition.flags.contains(.readOnly) && !watchers(of: node).isEmpty
        }
        metrics = nodes.compactMap { node in (known[ObjectIdentifier(node)] ?? sent(node)).map { (node, $0) } }
    }

    /// Sends the figures that changed. They are polled ten times a second, so that publishing costs nothing here.
    func distributeMetrics(now: Moment, unsentLimit: Int) -> [Session] {
        guard let due = nextMetricsCheck(), due <= now else { return [] }
        metricsSentAt = now
        var notified = NotifiedSessions()
        let revision = registry.revision
        for position in metrics.indices {
            let (node, sent) = metrics[position]
            guard let value = registry.current(node), value != sent else { continue }
            metrics[position].sent = value
            let change = WatchedChange(node: node, old: sent, new: value, origin: .code, revision: revision)
            let cache = EventCache()
            for session in watchers(of: node) where session.sees(node) {
                session.offer(change, cache, unsentLimit: unsentLimit)
                notified.insert(session)
            }
        }
        return notified.end()
    }
}

/// The sessions that received something, each once, in the order of watching.
private struct NotifiedSessions {
    private(set) var sessions: [Session] = []

    mutating func insert(_ session: Session) {
        if session.connection.isNotified { return }
        session.connection.isNotified = true
        sessions.append(session)
    }

    func end() -> [Session] {
        for session in sessions { session.connection.isNotified = false }
        return sessions
    }
}

extension Session {
    /// Whether to send a change to this session: not if the reply to `watch` has shown it. The page shows layers as
    /// well.
    fileprivate func wants(_ change: WatchedChange) -> Bool {
        (change.isReported || dialect.showsLayers) && watches.contains { $0.wants(change) }
    }
}
