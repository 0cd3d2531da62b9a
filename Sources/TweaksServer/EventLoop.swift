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
    /// By descriptor.
    var sessions: [Session?] = []
    var sessionCount = 0
    var nextNumber: UInt64 = 0
    /// Sessions with a higher number were opened in this round.
    private var newestBeforeRound: UInt64 = 0
    var timers = Timers()
    /// Sessions that can go on without new input, in the order of their turns: the rest of long replies, lines that
    /// already came.
    var runnable: [SessionID] = []
    /// Sessions whose lines were run in this round, but nothing sent yet, because watchers have to be told, too.
    var answered: [Session] = []
    /// Connections that have not sent a line, oldest first; entries may be out of date.
    var strangers: [SessionID] = []
    /// Those on which nobody has shown who it is, where that is required, oldest first; entries may be out of date.
    var unauthenticated: [SessionID] = []
    /// By user: the session that was let in although there was no room, because it may do everything.
    var keptPlaces: [String: SessionID] = [:]
    /// Accepting pauses until then, for want of descriptors.
    var acceptsAgainAt: ContinuousClock.Instant?
    var isStopping = false
    /// When the first token ends that some session has shown, in milliseconds since 1970.
    var firstExpiry: Int64?
    /// When that is looked at again even if nothing happens.
    var tokensReviewedAt: ContinuousClock.Instant?
    /// When a stopping loop gives up on what is still under way.
    var stopDeadline: ContinuousClock.Instant?
    /// Set aside so that, when there are no more descriptors, one can be spent on saying so.
    var spare: Descriptor?
    /// By which deadlines go.
    let clock: @Sendable () -> ContinuousClock.Instant
    /// The time of this round: the clock is not asked for every line.
    var now: ContinuousClock.Instant
    /// From so many bytes on, input waits for its turn.
    private static let longInput = 2_048
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)

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
        now = clock()
        hub = WatchHub(registry: registry, now: now) { mailbox.wake() }
        executor = Executor(
            registry: registry, identity: identity, limits: limits, hub: hub, mailbox: mailbox, hooks: hooks)
        spare = Self.makeSpare()
        executor.places = listeners.map(\.facts)
    }

    deinit { scratch.deallocate() }

    /// Runs until it was told to stop and every session has ended.
    func run() {
        while !isStopping || sessionCount > 0 {
            turn()
        }
    }

    /// One round: wait, serve what is ready, tell watchers, look at the clock.
    /// - Parameter patience: How many milliseconds it may wait, if there is nothing to do; nil: as long as it takes.
    /// - Returns: Whether a socket was ready or another thread had called.
    @discardableResult
    func turn(patience: Int32? = nil) -> Bool {
        newestBeforeRound = nextNumber
        var wasCalled = false
        poller.wait(milliseconds: Self.shorter(timeout(), patience)) { event in
            wasCalled = true
            mailbox.awaken()
            now = clock()
            serve(event)
        }
        mailbox.awaken()
        now = clock()
        for message in mailbox.takeAll() { handle(message) }
        advanceRunnable()
        // Before those are told who watch: the disk begins meanwhile.
        executor.endRound()
        expireTokens()
        tellWatchers()
        relieveMemory()
        executor.noteCommits(now)
        handleTimers()
        // What came of telling them, too.
        executor.endRound()
        return wasCalled
    }

    /// Lets the next of those go on that have much to do, and comes back soon: whoever asks for little meanwhile waits for
    /// one turn of theirs, not for all of them.
    private func advanceRunnable() {
        if runnable.isEmpty { return }
        let roundEnds = clock() + turnTime
        var served = 0
        for id in runnable {
            served += 1
            guard let session = session(id) else { continue }
            session.isRunnable = false
            advance(session)
            // After a slice of a long reply others are looked at, as after a long time.
            if session.remainder != nil || clock() >= roundEnds { break }
        }
        // Those who can still go on have put themselves at the end.
        runnable.removeFirst(served)
    }

    /// How long one session is served before the others have their turn. Watchers are told once a round, which takes the
    /// longer the more there are; so rounds are longer then.
    var turnTime: Duration { hub.sessions.isEmpty ? limits.turn : limits.watchedTurn }

    /// Gives a session a turn.
    func enqueue(_ session: Session) {
        if session.isRunnable { return }
        session.isRunnable = true
        runnable.append(session.id)
    }

    /// Whether something can go on without new input. What sockets hold is not known here.
    var hasWork: Bool { !runnable.isEmpty || !answered.isEmpty || !mailbox.isEmpty || hub.isReady }

    /// How long to sleep: not at all while something is waiting.
    private func timeout() -> Int32 {
        mailbox.fallAsleep()
        if hasWork { return 0 }
        var next = timers.next
        // One by one: a list would be allocated for every sleep.
        Self.advance(&next, hub.nextFigures())
        Self.advance(&next, acceptsAgainAt)
        Self.advance(&next, stopDeadline)
        Self.advance(&next, tokensReviewedAt)
        Self.advance(&next, executor.evidence.deadline)
        guard let next else { return -1 }
        let wait = next - clock()
        if wait <= .zero { return 0 }
        // Rounded up, or the last fraction of a millisecond would be spent spinning.
        return Int32(clamping: Int64((wait / .milliseconds(1)).rounded(.up)))
    }

    /// Of two times in milliseconds, where -1 is for ever.
    private static func shorter(_ time: Int32, _ other: Int32?) -> Int32 {
        guard let other else { return time }
        return time < 0 ? other : min(time, other)
    }

    /// The earlier of two deadlines.
    private static func advance(_ next: inout ContinuousClock.Instant?, _ other: ContinuousClock.Instant?) {
        if let other, next.map({ other < $0 }) ?? true { next = other }
    }

    private func serve(_ event: PollEvent) {
        if event.descriptor == mailbox.waker.descriptor { return mailbox.waker.reset() }
        if let listener = listeners.first(where: { $0.descriptor.number == event.descriptor }) {
            return accept(from: listener)
        }
        let number = Int(event.descriptor)
        guard sessions.indices.contains(number), let session = sessions[number] else { return }
        // The event may be meant for an earlier owner of the number; if not, the kernel says so again.
        if session.id.number > newestBeforeRound { return }
        if event.isGone, !event.isReadable { return close(session) }
        // Its turn comes; what more it has to say can wait.
        if session.isRunnable { return }
        if event.isReadable { receive(session) }
        // Who says or is told much at once takes turns with others like that.
        if session.isOpen, session.inputCount > Self.longInput || session.remainder != nil { return enqueue(session) }
        // With watchers about, replies and events of one round are sent together.
        if hub.sessions.isEmpty { return advance(session) }
        runLines(session, until: now + turnTime)
        answered.append(session)
    }

    /// The session, if it has not ended since.
    func session(_ id: SessionID) -> Session? {
        let number = Int(id.descriptor)
        guard sessions.indices.contains(number), let session = sessions[number], session.id == id else { return nil }
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
