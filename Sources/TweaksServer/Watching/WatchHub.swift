// Takes changes from the commit stream into the feed, a slice at a time, and notifies the sessions that watch them.

import Tweaks
import TweaksWire

/// The watching sessions of a server. Used on the I/O thread only.
///
/// A change costs one entry in the feed and one count for each audience. Sessions read the feed themselves, each in its
/// own turn; one whose client does not read costs nothing until it does.
final class WatchHub {
    let registry: TweakRegistry
    private let wake: @Sendable () -> Void
    /// Exists only while a session watches, because it adds cost to commits.
    private var follower: CommitFollower?
    private(set) var sessions: [Session] = []
    private(set) var isFollowed = false
    private let feed = EventFeed()
    private var intake = Intake()
    private var audiences: [Audience] = []
    /// The audiences that a tweak matches, computed when it first changes. Cleared when patterns or tweaks change.
    private var routes: [ObjectIdentifier: [Audience]] = [:]
    private var routeCount = 0
    private var generation: UInt64 = 0
    private var dueAudiences: [Audience] = []
    /// Sessions with unread entries, in the order of their turns.
    private var due: [Session] = []
    private var firstDue = 0
    var figures: WatchedFigures
    /// The figures over time, while a session watches anything.
    private(set) var recorder: FigureRecorder

    private static let maxListed = 65_536
    /// The maximum size of `routes`, in audiences.
    private static let maxRoutes = 262_144
    /// The amount of work between two readings of the clock.
    private static let workBetweenClocks = 64

    /// - Parameter wake: Wakes the I/O thread after a commit made elsewhere.
    init(registry: TweakRegistry, limits: TweakServerLimits, now: Moment, wake: @escaping @Sendable () -> Void) {
        self.registry = registry
        self.wake = wake
        figures = WatchedFigures(now)
        let bytes = min(limits.figureBytes, MemoryAccount(limit: limits.memoryBytes).figureShare)
        recorder = FigureRecorder(now, figures: limits.figures, bytes: bytes)
    }

    /// Whether changes wait to be taken in, or sessions for their turns.
    var isReady: Bool {
        isFollowed && (!intake.isEmpty || hasDue || figures.isPolling || follower?.hasUpdates ?? false)
    }

    private var hasDue: Bool { firstDue < due.count }

    var memorySize: Int { feed.memorySize + recorder.memorySize }

    // MARK: Sessions

    /// Updates the hub after a session's patterns or rights changed.
    func update(_ session: Session) {
        let position = session.events.position
        if position?.audience.fits(session) ?? session.watches.isEmpty { return }
        position.map { leave($0.audience, session) }
        session.events.position = nil
        sessions.removeAll { $0 === session }
        if !session.watches.isEmpty { join(session, position) }
        isFollowed = !sessions.isEmpty
        if !isFollowed {
            end()
        } else if follower == nil {
            follower = registry.follow(.folds, wake)
        }
    }

    private func join(_ session: Session, _ position: WatchPosition?) {
        sessions.append(session)
        if recorder.isFull { recorder.isStale = true }
        let known = audiences.first { $0.fits(session) }
        let audience = known ?? Audience(session, feed.end)
        audience.add(session)
        session.events.position = position?.moved(to: audience) ?? WatchPosition(audience, feed)
        if known != nil { return }
        audiences.append(audience)
        forgetRoutes()
        // Before the reply reads their values, so that later publications count as changes.
        figures.find(in: registry, for: [audience]) { registry.current($0) }
    }

    private func leave(_ audience: Audience, _ session: Session) {
        audience.remove(session)
        if !audience.members.isEmpty { return }
        audiences.removeAll { $0 === audience }
        forgetRoutes()
    }

    private func end() {
        follower = nil
        for session in due[firstDue...] { session.connection.isDue = false }
        intake = Intake()
        due = []
        firstDue = 0
        figures.forget()
        feed.compact(unreadFrom: feed.end)
    }

    // MARK: Taking in

    /// Takes committed changes into the feed.
    /// - Parameter isOver: Whether the slice of time has ended.
    func takeIn(until isOver: () -> Bool) {
        var work = 0
        while let change = nextChange() {
            work += add(change)
            if work >= Self.workBetweenClocks {
                work = 0
                if isOver() { break }
            }
        }
        notify()
    }

    private func nextChange() -> WatchedChange? {
        if let change = intake.next() { return change }
        guard isFollowed, let batch = follower?.drain(), !batch.isEmpty else { return nil }
        intake = Intake(batch)
        // Only after the batch is taken: it may contain the first change of a tweak that was just registered.
        forgetIfStale()
        return intake.next()
    }

    /// Adds a change for those that watch it.
    /// - Returns: The amount of work.
    @discardableResult
    func add(_ change: WatchedChange) -> Int {
        var entry: FeedEntry?
        let (found, work) = audiences(of: change.node)
        for audience in found where audience.wants(change) {
            let added = entry ?? feed.append(change, in: registry.layer(change.layer))
            entry = added
            audience.note(added, limit: max(32, Self.maxListed / audiences.count))
            if !audience.isDue {
                audience.isDue = true
                dueAudiences.append(audience)
            }
        }
        if feed.isLarge { trim() }
        return 1 + work + found.count / 8
    }

    private func audiences(of node: TweakNode) -> (audiences: [Audience], work: Int) {
        if let known = routes[ObjectIdentifier(node)] { return (known, 0) }
        let found = audiences.filter { $0.matches(node) }
        if routeCount + found.count + 1 > Self.maxRoutes { forgetRoutes() }
        routes[ObjectIdentifier(node)] = found
        routeCount += found.count + 1
        return (found, audiences.count)
    }

    private func forgetRoutes() { (routes, routeCount) = ([:], 0) }

    // A removed tweak's identity may be reused by another one.
    private func forgetIfStale() {
        let current = registry.generation
        if current == generation { return }
        generation = current
        forgetRoutes()
        recorder.isStale = true
        // A new figure is unseen, so any value but its default is a change.
        figures.renew(in: registry, for: audiences)
    }

    /// Gives the sessions of notified audiences a turn, unless their clients do not read: these get one when they do.
    func notify() {
        for audience in dueAudiences {
            audience.isDue = false
            for session in audience.members where !session.connection.interest.contains(.write) { enqueue(session) }
        }
        dueAudiences.removeAll(keepingCapacity: true)
    }

    func enqueue(_ session: Session) {
        if session.connection.isDue { return }
        session.connection.isDue = true
        due.append(session)
    }

    func nextDue() -> Session? {
        if hasDue {
            let session = due[firstDue]
            firstDue += 1
            session.connection.isDue = false
            return session
        }
        due = []
        firstDue = 0
        if feed.mayShrink { trim() }
        return nil
    }

    func trim() {
        let unread = sessions.lazy.compactMap { $0.events.position }.filter(\.isBehind)
        feed.compact(unreadFrom: unread.reduce(feed.end) { min($0, $1.next) })
        if feed.count == 0 { for audience in audiences { audience.forgetPositions(before: feed.end) } }
    }

    // MARK: Figures

    /// When the figures are checked next; nil if none is watched or recorded.
    func nextFigureCheck() -> Moment? {
        if !isFollowed { return nil }
        let poll = figures.isEmpty && generation == registry.generation ? nil : figures.nextPoll
        guard recorder.isStale || !recorder.isEmpty else { return poll }
        return poll.map { min($0, recorder.nextSample) } ?? recorder.nextSample
    }

    /// Takes in the figures that changed. They are polled ten times a second, so that publishing costs nothing here.
    /// - Parameter isOver: Whether the slice of time has ended.
    func takeInFigures(now: Moment, until isOver: () -> Bool) {
        guard let next = nextFigureCheck(), figures.isPolling || next <= now else { return }
        if !figures.isPolling { forgetIfStale() }
        if figures.isPolling || figures.nextPoll <= now { figures.poll(registry, now, until: isOver) { add($0) } }
        if recorder.nextSample <= now { record(now) }
        notify()
    }

    private func record(_ now: Moment) {
        if recorder.isStale {
            recorder.follow(registry.listing().nodes) { node in audiences.contains { $0.matches(node) } }
        }
        recorder.sample(at: now) { registry.current($0) }
    }
}

/// Changes that were drained from the stream and are not in the feed yet.
private struct Intake {
    private var folded: FoldingQueue?
    private var records: [CommitRecord] = []
    private var record = 0
    private var part = 0

    init() {}

    init(_ batch: CommitStream.Batch) {
        folded = batch.folded
        records = batch.records
    }

    var isEmpty: Bool { folded?.isEmpty ?? true && records.isEmpty }

    mutating func next() -> WatchedChange? {
        if let change = folded?.popFirst() { return change }
        while record < records.count {
            while part < records[record].parts.count {
                defer { part += 1 }
                if let change = WatchedChange(records[record].parts[part], of: records[record]) { return change }
            }
            record += 1
            part = 0
        }
        self = Intake()
        return nil
    }
}

/// The watched figures, with the values last sent. Used on the I/O thread only.
struct WatchedFigures {
    private var figures: [(node: TweakNode, sent: TweakValue)] = []
    private var known: Set<ObjectIdentifier> = []
    private var position = 0
    private(set) var isPolling = false
    private(set) var nextPoll: Moment
    private static let interval: Duration = .milliseconds(100)

    init(_ now: Moment) { nextPoll = now + Self.interval }

    var isEmpty: Bool { figures.isEmpty }

    mutating func forget() { (figures, known, isPolling) = ([], [], false) }

    /// Adds the figures that audiences match. Known ones keep the value last sent: their change may still be due.
    /// - Parameter sent: The value of a figure that its sessions know.
    mutating func find(in registry: TweakRegistry, for audiences: [Audience], sent: (TweakNode) -> TweakValue?) {
        for node in registry.listing().nodes where node.definition.flags.contains(.readOnly) {
            if known.contains(ObjectIdentifier(node)) { continue }
            guard audiences.contains(where: { $0.matches(node) }), let value = sent(node) else { continue }
            known.insert(ObjectIdentifier(node))
            figures.append((node, value))
        }
    }

    /// Finds the figures again after tweaks were registered or removed.
    mutating func renew(in registry: TweakRegistry, for audiences: [Audience]) {
        let sent = Dictionary(figures.map { (ObjectIdentifier($0.node), $0.sent) }) { first, _ in first }
        forget()
        find(in: registry, for: audiences) { sent[ObjectIdentifier($0)] ?? $0.defaultValue }
    }

    /// Reports the figures that changed, or continues to.
    mutating func poll(
        _ registry: TweakRegistry, _ now: Moment, until isOver: () -> Bool, _ report: (WatchedChange) -> Void
    ) {
        if !isPolling {
            isPolling = true
            position = 0
            nextPoll = now + Self.interval
        }
        let revision = registry.revision
        while position < figures.count {
            let (node, sent) = figures[position]
            if let value = registry.current(node), value != sent {
                figures[position].sent = value
                // The highest sequence: no reply to `watch` shows later values.
                report(
                    WatchedChange(
                        node: node, old: sent, new: value, origin: .code, revision: revision, sequence: .max))
            }
            position += 1
            if position.isMultiple(of: 64), isOver() { return }
        }
        isPolling = false
    }
}
