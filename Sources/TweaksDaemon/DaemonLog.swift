// Logs a daemon's events: commits and session events in one order, to a handler that may be slow.

#if Server
    import Dispatch
    import Synchronization
    import Tweaks
    import TweaksInterface
    import TweaksSystem

    /// Follows a registry's commits for the log. Events posted to it keep their order among the commits: a session that
    /// commits and disconnects is not logged as disconnected first.
    final class ChangeLog: Sendable {
        /// An event, and the revision of the last commit before it.
        private struct PendingEvent {
            let revision: UInt64
            let event: TweakDaemonEvent
        }

        private let registry: TweakRegistry
        private let log: EventLog
        private let queue = DispatchQueue(label: "tweaks.changes")
        private let reader = Mutex<CommitReader?>(nil)
        private let pending = Mutex<[PendingEvent]>([])
        /// Whether another run is scheduled.
        private let isRunScheduled = Atomic(false)
        /// A program can change a tweak a million times a second; this pause collects such commits into one run of the
        /// queue.
        private static let pause = DispatchTimeInterval.milliseconds(20)

        init(_ registry: TweakRegistry, _ log: EventLog) {
            self.registry = registry
            self.log = log
            let follower = registry.follow(.folds) { [weak self] in self?.wake() }
            reader.withLock { $0 = CommitReader(follower) }
        }

        /// Logs an event that is not a commit. Returns at once.
        func post(_ event: TweakDaemonEvent) {
            let next = PendingEvent(revision: registry.revision, event: event)
            pending.withLock { $0.append(next) }
            wake()
        }

        /// Logs everything up to now and stops following commits.
        func end() {
            // A program that keeps changing tweaks must not delay the end.
            let last = registry.revision
            queue.sync { _ = drain(through: last) }
            reader.withLock { $0 = nil }
            // Other threads can have posted events after commits that are no longer read.
            logEvents { _ in true }
        }

        private func wake() { queue.async { self.run() } }

        /// Logs what is pending, and runs again after a pause until nothing is pending.
        private func run() {
            if !drain() || isRunScheduled.exchange(true, ordering: .relaxed) { return }
            queue.asyncAfter(deadline: .now() + Self.pause) {
                self.isRunScheduled.store(false, ordering: .relaxed)
                self.run()
            }
        }

        /// - Returns: Whether there was a commit.
        private func drain(through end: UInt64 = .max) -> Bool {
            // Commits before this revision have arrived; earlier commits for later events may be in flight.
            let last = pending.withLock { $0.last?.revision }
            var hasCommits = false
            // After a commit, another run follows anyway, so new commits need not wake the queue.
            while let commit = reader.withLock({ reader in
                reader?.next(staysAwake: hasCommits) { origin, moment, changes in
                    hasCommits = true
                    return log.isLeftOut(origin, moment, changes)
                }
            }) {
                logEvents { $0 < commit.revision }
                log.post(.changed(commit))
                if commit.revision >= end { break }
            }
            if let last { logEvents { $0 <= last } }
            return hasCommits
        }

        private func logEvents(where isDue: (UInt64) -> Bool) {
            let due = pending.withLock { pending in
                let due = pending.prefix { isDue($0.revision) }
                pending.removeFirst(due.count)
                return due
            }
            for next in due { log.post(next.event) }
        }
    }

    /// A bounded queue of events for a handler that may be slow.
    final class EventLog: Sendable {
        private struct State {
            var pending: [TweakDaemonEvent] = []
            var dropped = 0
            var isScheduled = false
        }

        /// Above this the handler has stopped working, and further events are dropped.
        private static let limit = 1_000
        /// How long a start or stop waits for a blocked handler, such as one writing to a pipe that is not read.
        private static let flushTimeout = DispatchTimeInterval.seconds(5)
        private static let isHandling = DispatchSpecificKey<Bool>()

        private let queue = DispatchQueue(label: "tweaks.events")
        private let state = Mutex(State())
        private let handler: @Sendable (TweakDaemonEvent) -> Void
        /// Whether the handler would ignore a commit with this origin, time and number of changes.
        let isLeftOut: @Sendable (TweakOrigin, Moment, Int) -> Bool

        init(
            isLeftOut: @escaping @Sendable (TweakOrigin, Moment, Int) -> Bool = { _, _, _ in false },
            _ handler: @escaping @Sendable (TweakDaemonEvent) -> Void
        ) {
            self.handler = handler
            self.isLeftOut = isLeftOut
            queue.setSpecific(key: Self.isHandling, value: true)
        }

        /// Creates a log that writes to standard error, for a program without a handler of its own.
        convenience init(linesOf name: String, _ settings: LogSettings) {
            // More important events have lower priorities.
            let lowest = settings.level
            let omitsChanges = TweakDaemonEvent.Level.info.priority > lowest.priority
            // The reader of the log may have closed the pipe, which must not end the process.
            let limiter = TweakLogLimiter(entries: { entry, event in
                settings.write(entry, event?.level ?? (omitsChanges ? .warning : .info), program: name)
            })
            self.init(
                isLeftOut: { omitsChanges || Self.isUnlogged($0) || limiter.omits($2, of: $0, at: $1) }
            ) { event in
                if case .changed(let commit) = event, Self.isUnlogged(commit.origin) { return }
                if event.level.priority <= lowest.priority { limiter.write(event) }
            }
        }

        /// The program's own changes are not logged; changes by the config file are logged by the reload.
        private static func isUnlogged(_ origin: TweakOrigin) -> Bool { origin == .code || origin == .configFile }

        /// Queues an event. Returns at once.
        func post(_ event: TweakDaemonEvent) {
            let mustSchedule = state.withLock { state in
                if state.pending.count >= Self.limit {
                    state.dropped += 1
                } else {
                    state.pending.append(event)
                }
                defer { state.isScheduled = true }
                return !state.isScheduled
            }
            if mustSchedule { queue.async { self.drain() } }
        }

        /// Returns when all events so far are handled, or the handler seems to be stuck; at once if called by the
        /// handler.
        func flush() {
            if DispatchQueue.getSpecific(key: Self.isHandling) == true { return }
            let isDone = DispatchSemaphore(value: 0)
            queue.async {
                self.drain()
                isDone.signal()
            }
            _ = isDone.wait(timeout: .now() + Self.flushTimeout)
        }

        private func drain() {
            while true {
                let (events, dropped) = state.withLock { state in
                    defer { state = State(isScheduled: !state.pending.isEmpty) }
                    return (state.pending, state.dropped)
                }
                if events.isEmpty { return }
                for event in events { handler(event) }
                if dropped > 0 { handler(.warning("\(dropped) events were not logged: the log is too slow")) }
            }
        }
    }
#endif
