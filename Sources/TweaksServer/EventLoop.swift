// The I/O thread: waits for sockets, and lets each ready session go on.

import Tweaks
import TweaksWire

/// One thread's loop over listeners and sessions. Made and used on that thread alone; it never blocks on a client.
final class EventLoop {
    let poller: Poller
    let mailbox: Mailbox
    let listeners: [Listener]
    let registry: TweakRegistry
    let limits: TweakServerLimits
    let executor: Executor
    let hub: WatchHub
    let sessions = SessionTable()
    var timers = Timers()
    /// The first of those, or earlier.
    var nextDeadline: Moment?
    /// Sessions that can go on without new input, in the order of their turns: the rest of long replies, lines that
    /// already came.
    var runnable: [SessionID] = []
    /// Sessions whose lines were run in this round, but nothing sent yet, because watchers have to be told, too.
    var answered: [Session] = []
    /// Whether any are among those two.
    private var hasQueued = false
    var crowd = Crowd()
    var expiry = Expiry()
    var isStopping = false
    private let clock: @Sendable () -> ContinuousClock.Instant
    /// When the clock was looked at last: once in a round, and again after each piece of longer work.
    private(set) var now: Moment
    /// From so many bytes on, input waits for its turn.
    private static let longInput = 2_048
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)

    /// Newcomers, and what becomes of them where there are too many.
    struct Crowd {
        /// Connections that have not sent a line, oldest first; entries may be out of date.
        var strangers: [SessionID] = []
        /// Sessions without a token where one is required, oldest first; entries may be out of date.
        var unauthenticated: [SessionID] = []
        /// By user: the session that was let in although there was no room, because it may do everything.
        var keptPlaces: [String: SessionID] = [:]
        /// Set aside so that, when there are no more descriptors, one can be spent on saying so.
        var spare: Descriptor?
        /// Accepting pauses for a moment, for want of descriptors.
        var isPaused = false
    }

    /// When tokens end that sessions have shown.
    struct Expiry {
        /// The first of them, in milliseconds since 1970.
        var first: Int64?
        /// When that is looked at again even if nothing happens.
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
        clock = hooks.clock
        now = hooks.now
        hub = WatchHub(registry: registry, now: now) { mailbox.wake() }
        executor = Executor(
            registry: registry, identity: identity, limits: limits, hub: hub, mailbox: mailbox, hooks: hooks)
        crowd.spare = Self.makeSpare()
        executor.places = listeners.map(\.facts)
    }

    deinit { scratch.deallocate() }

    /// Runs until it was told to stop and every session has ended.
    func run() {
        while !isStopping || sessions.count > 0 {
            turn()
        }
    }

    /// One round: wait, look at the clock, serve what is ready, tell watchers, do what is due.
    /// - Parameter patience: How many milliseconds it may wait, if there is nothing to do; nil: as long as it takes.
    /// - Returns: Whether a socket was ready or another thread had called.
    @discardableResult
    func turn(patience: Int32? = nil) -> Bool {
        sessions.beginRound()
        let ready = poller.wait(milliseconds: Self.shorter(timeout(), patience))
        mailbox.awaken()
        look()
        for position in 0..<ready { serve(poller[position]) }
        for message in mailbox.takeAll() { handle(message) }
        if hasQueued { advanceRunnable() }
        // Before those are told who watch: the disk begins meanwhile.
        executor.endRound()
        expireTokens()
        if hub.isFollowed || hasQueued { tellWatchers() }
        relieveMemory()
        if executor.commitRate.dueAt <= now { executor.noteCommits(now) }
        if let nextDeadline, nextDeadline <= now { handleTimers() }
        if let deadline = executor.evidence.deadline, deadline <= now {
            executor.evidence.giveUp()
            settle()
        }
        if hasQueued { hasQueued = !runnable.isEmpty || !answered.isEmpty }
        // What came of telling them, too.
        executor.endRound()
        return ready > 0
    }

    /// Looks at the clock.
    @discardableResult
    func look() -> Moment {
        now = Moment(clock())
        return now
    }

    /// Lets the next of those go on that have much to do, and comes back soon: whoever asks for little meanwhile waits for
    /// one turn of theirs, not for all of them.
    private func advanceRunnable() {
        if runnable.isEmpty { return }
        let roundEnds = look() + turnTime
        var served = 0
        for id in runnable {
            served += 1
            guard let session = session(id) else { continue }
            session.connection.isRunnable = false
            advance(session)
            // After a slice of a long reply others are looked at, as after a long time.
            if session.replies.rest != nil || look() >= roundEnds { break }
        }
        // Those who can still go on have put themselves at the end.
        runnable.removeFirst(served)
    }

    /// How long one session is served before the others have their turn. Watchers are told once a round, which takes the
    /// longer the more there are; so rounds are longer then.
    var turnTime: Duration { hub.isFollowed ? limits.watchedTurn : limits.turn }

    /// Gives a session a turn.
    func enqueue(_ session: Session) {
        if session.connection.isRunnable { return }
        session.connection.isRunnable = true
        runnable.append(session.id)
        hasQueued = true
    }

    /// Whether something can go on without new input. What sockets hold is not known here.
    var hasWork: Bool { hasQueued || !mailbox.isEmpty || hub.isReady }

    /// How long to sleep: not at all while something is waiting.
    private func timeout() -> Int32 {
        mailbox.fallAsleep()
        if hasWork { return 0 }
        let next = Self.earlier(
            Self.earlier(nextDeadline, executor.evidence.deadline), hub.isFollowed ? hub.nextFigures() : nil)
        guard let next else { return -1 }
        // Rounded up, or the last fraction of a millisecond would be spent spinning.
        let attoseconds = (next - now).attoseconds
        return attoseconds <= 0 ? 0 : Int32(clamping: (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    /// Of two times in milliseconds, where -1 is for ever.
    private static func shorter(_ time: Int32, _ other: Int32?) -> Int32 {
        guard let other else { return time }
        return time < 0 ? other : min(time, other)
    }

    private static func earlier(_ time: Moment?, _ other: Moment?) -> Moment? {
        guard let time, let other else { return time ?? other }
        return min(time, other)
    }

    private func serve(_ event: PollEvent) {
        guard let session = sessions[event.descriptor] else {
            if event.descriptor == mailbox.waker.descriptor { return mailbox.waker.reset() }
            let listener = listeners.first { $0.descriptor.number == event.descriptor }
            return listener.map(accept) ?? ()
        }
        // The event may be meant for an earlier owner of the number; if not, the kernel says so again.
        if sessions.isFromThisRound(session) { return }
        if event.isGone, !event.isReadable { return close(session) }
        // Its turn comes; what more it has to say can wait.
        if session.connection.isRunnable { return }
        if event.isReadable { receive(session) }
        // Who says or is told much at once takes turns with others like that.
        if session.isOpen, session.dialect.inputCount > Self.longInput || session.replies.rest != nil {
            return enqueue(session)
        }
        // With watchers about, replies and events of one round are sent together.
        if !hub.isFollowed { return advance(session) }
        runRequests(session, until: now + turnTime)
        tellLater([session])
    }

    /// Has sessions go on when those have been told who watch.
    func tellLater(_ sessions: [Session]) {
        answered += sessions
        hasQueued = true
    }

    /// The session, if it has not ended since.
    func session(_ id: SessionID) -> Session? {
        guard let session = sessions[id.descriptor], session.id == id else { return nil }
        return session
    }

    private func tellWatchers() {
        let told = hub.distribute(unsentLimit: limits.unsentBytes)
        let toldFigures = hub.distributeFigures(now: now, unsentLimit: limits.unsentBytes)
        let replied = answered
        answered = []
        // Whoever are fewer go first: that makes the shortest waiting on the whole.
        for session in told.count < replied.count ? told + replied : replied + told { advance(session) }
        for session in toldFigures { advance(session) }
    }
}
