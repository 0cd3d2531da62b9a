// Runs the I/O thread: one turn of the loop, from waiting for sockets to deadlines.

import Tweaks
import TweaksWire

/// The event loop over listeners and sessions. Created and used only on the I/O thread; it never blocks on a client.
final class EventLoop {
    let poller: Poller
    let mailbox: Mailbox
    let listeners: [Listener]
    let registry: TweakRegistry
    let limits: TweakServerLimits
    let executor: Executor
    let hub: WatchHub
    let sessions = SessionTable()
    var buffers: BufferSizes
    /// The number of sessions that the buffers suffice for.
    var bufferShares = BufferSizes.leastSessions
    var timers = Timers()
    /// The earliest deadline, or an earlier time.
    var nextDeadline: Moment?
    /// Sessions that can proceed without new input, in the order of their turns: the rest of long replies, lines that
    /// already arrived.
    var runnable: [SessionID] = []
    /// Sessions whose lines ran in this round, and whose replies are sent after watchers are notified.
    var answered: [Session] = []
    /// Whether `runnable` or `answered` holds sessions.
    private var hasQueued = false
    var admission = AdmissionState()
    let readiness: Readiness
    let loopbackUsers = LoopbackUsers()
    var expiry = TokenExpiry()
    var isStopping = false
    /// Whether a timer for the end of a preview exists.
    var hasPreviewTimer = false
    /// The reported problem of a Unix socket, by its path.
    var socketProblems: [String: String] = [:]
    private let clock: @Sendable () -> Moment
    /// The last clock reading: once per round, and after each piece of longer work.
    private(set) var now: Moment
    /// Input of more bytes than this waits for its turn.
    private static let longInput = 2_048
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)

    struct AdmissionState {
        /// By user: the session with full rights that was admitted beyond the limits.
        var reservedSlots: [String: SessionID] = [:]
        /// Kept open so that, when descriptors run out, one can be spent on an error.
        var reserveDescriptor: Descriptor?
        var isPaused = false
    }

    /// When the tokens of sessions expire.
    struct TokenExpiry {
        /// The earliest expiry, in milliseconds since 1970.
        var first: Int64?
        /// When tokens are reviewed next, even in an idle process.
        var reviewedAt: Moment?
    }

    init(
        registry: TweakRegistry, identity: ServerIdentity, listeners: [Listener], limits: TweakServerLimits,
        mailbox: Mailbox, poller: Poller, hooks: TweakServerHooks
    ) {
        self.poller = poller
        self.mailbox = mailbox
        self.listeners = listeners
        self.registry = registry
        self.limits = limits
        buffers = BufferSizes(limits, sessions: bufferShares)
        clock = hooks.clock
        now = hooks.now
        readiness = hooks.readiness ?? Readiness()
        hub = WatchHub(registry: registry, limits: limits, now: now) { mailbox.wake() }
        executor = Executor(
            registry: registry, identity: identity, limits: limits, hub: hub, mailbox: mailbox, hooks: hooks)
        admission.reserveDescriptor = Self.openReserveDescriptor()
        executor.listenerInfo = listeners.map(\.info)
        setListenerBuffers()
        scheduleSocketCheck()
    }

    deinit { scratch.deallocate() }

    /// Runs until it is stopped and every session has ended.
    func run() {
        while !isStopping || sessions.count > 0 {
            turn()
        }
        mailbox.close()
    }

    /// Runs one round: waits, reads the clock, serves ready sockets, notifies watchers, handles deadlines.
    /// - Parameter timeout: The maximum wait in milliseconds if there is nothing to do; nil means unlimited.
    /// - Returns: Whether a socket was ready or another thread woke the loop.
    @discardableResult
    func turn(timeout requested: Int32? = nil) -> Bool {
        sessions.beginRound()
        let ready = poller.wait(milliseconds: Self.shorter(timeout(), requested))
        mailbox.awaken()
        updateClock()
        for position in 0..<ready { serve(poller[position]) }
        for message in mailbox.takeAll() { handle(message) }
        if hasQueued { advanceRunnable() }
        // Before watchers are notified, so that the disk works meanwhile.
        executor.endRound()
        expireTokens()
        if hub.isFollowed || hasQueued { notifyWatchers() }
        enforceMemoryBudget()
        if executor.commitRate.dueAt <= now { executor.commitRate.note(registry.revision, at: now) }
        if let nextDeadline, nextDeadline <= now { handleTimers() }
        if let deadline = executor.durability.deadline, deadline <= now {
            executor.durability.auditTimedOut()
            sendWaitingReplies()
            resumeAudited()
        }
        if hasQueued { hasQueued = !runnable.isEmpty || !answered.isEmpty }
        // Includes the commits made while watchers were notified.
        executor.endRound()
        return ready > 0
    }

    // MARK: Waiting

    /// The time to sleep: zero while something is waiting.
    private func timeout() -> Int32 {
        mailbox.fallAsleep()
        if hasWork { return 0 }
        let next = Self.earlier(
            Self.earlier(nextDeadline, executor.durability.deadline), hub.isFollowed ? hub.nextFigureCheck() : nil)
        guard let next else { return -1 }
        // Rounded up, or the last fraction of a millisecond would be spent spinning.
        let attoseconds = (next - now).attoseconds
        return attoseconds <= 0 ? 0 : Int32(clamping: (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    /// The shorter of two times in milliseconds, where -1 means forever.
    private static func shorter(_ time: Int32, _ other: Int32?) -> Int32 {
        guard let other else { return time }
        return time < 0 ? other : min(time, other)
    }

    private static func earlier(_ time: Moment?, _ other: Moment?) -> Moment? {
        guard let time, let other else { return time ?? other }
        return min(time, other)
    }

    /// Whether something can proceed without new input. Input in sockets is not considered.
    var hasWork: Bool { hasQueued || mailbox.count > 0 || hub.isReady }

    @discardableResult
    func updateClock() -> Moment {
        now = clock()
        return now
    }

    // MARK: Ready sockets

    private func serve(_ event: PollEvent) {
        guard let session = sessions[event.descriptor] else {
            if event.descriptor == mailbox.waker.descriptor { return mailbox.waker.reset() }
            let listener = listeners.first { $0.descriptor.number == event.descriptor }
            return listener.map(accept) ?? ()
        }
        // The event may belong to an earlier owner of the number; if not, the kernel reports it again.
        if sessions.isFromThisRound(session) { return }
        if event.isGone, !event.isReadable { return close(session) }
        // It is queued for a turn; more input can wait.
        if session.connection.isRunnable { return }
        if event.isReadable { receive(session) }
        // Sessions with much input or output take turns.
        if session.isOpen, session.dialect.inputCount > Self.longInput || session.replies.rest != nil {
            return enqueue(session)
        }
        if !hub.isFollowed { return advance(session) }
        // There may be many watchers that have begun to read at once.
        if !event.isReadable, session.hasEvents { return hub.enqueue(session) }
        // With watchers, replies and events of one round are sent together.
        runRequests(session, until: now + turnTime)
        advanceAfterWatchers([session])
    }

    func session(_ id: SessionID) -> Session? {
        guard let session = sessions[id.descriptor], session.id == id else { return nil }
        return session
    }

    // MARK: Queued sessions

    func enqueue(_ session: Session) {
        if session.connection.isRunnable { return }
        session.connection.isRunnable = true
        runnable.append(session.id)
        hasQueued = true
    }

    /// Advances the sessions with much to do, for at most one turn: a client with a small request waits for one turn of
    /// theirs, not for all of them.
    private func advanceRunnable() {
        if runnable.isEmpty { return }
        let roundEnds = updateClock() + turnTime
        var served = 0
        for id in runnable {
            served += 1
            guard let session = session(id) else { continue }
            session.connection.isRunnable = false
            advance(session)
            // After a slice of a long reply other sessions are served, as after a full turn.
            if session.replies.rest != nil || updateClock() >= roundEnds { break }
        }
        // Sessions that can still proceed have enqueued themselves at the end.
        runnable.removeFirst(served)
    }

    /// The length of a session's turn. Watchers are notified once per round, which takes longer the more there are, so
    /// rounds are longer then.
    var turnTime: Duration { hub.isFollowed ? limits.watchedTurn : limits.turn }

    // MARK: Watchers

    func advanceAfterWatchers(_ sessions: [Session]) {
        answered += sessions
        hasQueued = true
    }

    /// Sends the replies of this round, and for one slice of time the events of watchers.
    private func notifyWatchers() {
        takeInChanges()
        let replied = answered
        answered = []
        for session in replied { advance(session, until: now) }
        let ends = updateClock() + turnTime
        while let session = hub.nextDue() {
            if !session.hasBacklog { continue }
            // One slice of bytes each; the rest takes turns with other work.
            advance(session, until: now)
            if updateClock() >= ends { return }
        }
    }

    /// Takes committed changes into the feed of the watchers, for one slice of time.
    func takeInChanges() {
        if !hub.isFollowed { return }
        let ends = now + turnTime
        hub.takeIn { updateClock() >= ends }
        hub.takeInFigures(now: now) { updateClock() >= ends }
    }
}
