// Handles a daemon's signals from the beginning of its start to its end.

#if Server
    import Dispatch
    import Synchronization
    import TweaksInterface
    import TweaksSystem

    /// The signals that a program has assigned to its daemon.
    ///
    /// They are handled before the start reads its first file: a reload that is requested meanwhile is done at the end
    /// of the start, and a stop ends the start. Releasing this restores their dispositions.
    final class DaemonSignals: Sendable {
        private struct State {
            var reloads: SignalWatch?
            var stops: [Int32: SignalWatch] = [:]
            /// What the first signal that has requested a stop leaves to it.
            var grace: StopGrace?
            /// Whether signals reach the running daemon.
            var isConnected = false
            /// Makes the start end sooner.
            var onStop: OnStop?
        }
        // Wrapped in a structure: each access to a bare function in a Mutex would add another wrapper around it.
        private struct OnStop { let body: @Sendable () -> Void }

        /// How long a start may take to end after a stop, and a program to return from ``TweakDaemon/run()`` once
        /// everything is closed.
        private static let grace = Duration.seconds(5)
        /// How long closing may take after a stop: a log that is not read takes five seconds of it, and the default of
        /// Kubernetes is 30 seconds.
        private static let closingGrace = Duration.seconds(15)
        /// How long the signal that has requested a stop is taken for the same one when it comes again: a terminal or
        /// `timeout` sends it to a group of processes, and their parent passes it on.
        private static let echo = Duration.seconds(1)

        /// How often ``TweakDaemon/run()`` has returned to the program, from any of its daemons.
        private static let returns = Atomic(0)

        private let received = Relay<Int32>()
        private let state = Mutex(State())

        /// Starts to handle the signals of a program that is about to start.
        init(_ settings: DaemonSettings, _ signals: TweakDaemon.Signals) {
            // A SIGHUP must not end a process that may be asked to reload: one that has a config file or a source of
            // its own, or runs under a service manager.
            let hasManager = settings.environment.text("NOTIFY_SOCKET") != nil
            let mayReload =
                signals.contains(.reload) && (settings.config != nil || settings.reloadsSources || hasManager)
            let reloads = mayReload ? watch(SIGHUP) : nil
            let numbers = signals.contains(.stop) ? [SIGTERM, SIGINT] : []
            let stops = numbers.compactMap { number in watch(number).map { (number, $0) } }
            state.withLock { state in
                state.reloads = reloads
                state.stops = Dictionary(uniqueKeysWithValues: stops)
            }
            if hasStopped { endStops() }
        }

        /// Watches a signal, except one from a terminal that the process was started to ignore: by `nohup`, or as a
        /// background job of a script.
        private func watch(_ signal: Int32) -> SignalWatch? {
            if signal != SIGTERM, SignalWatch.isIgnored(signal) { return nil }
            return SignalWatch([signal]) { [weak self] in self?.receive($0) }
        }

        private func receive(_ signal: Int32) {
            if signal != SIGHUP { stop(by: signal) }
            received.send(signal)
        }

        /// Begins the stop's grace at the signal: it ends the process if the start or the end is blocked.
        private func stop(by signal: Int32) {
            let (grace, onStop) = state.withLock { state -> (StopGrace?, OnStop?) in
                if state.grace != nil { return (nil, nil) }
                let grace = StopGrace(signal, state.isConnected ? Self.closingGrace : Self.grace)
                state.grace = grace
                return (grace, state.onStop.take())
            }
            guard let grace else { return }
            let before = Self.returns.load(ordering: .sequentiallyConsistent)
            grace.begin(after: Self.echo) { [weak self] in
                self?.endStops(including: signal)
            } isOver: {
                Self.returns.load(ordering: .sequentiallyConsistent) != before
            }
            endStops()
            grace.release()
            onStop?.body()
        }

        // MARK: During the start

        /// Whether a stop was requested.
        var hasStopped: Bool { state.withLock { $0.grace != nil } }

        /// Ends the start if a stop was requested.
        func check() throws(ServerError) {
            if hasStopped { throw ServerError("the start was ended by a signal") }
        }

        /// Calls `body` at a stop, at once if there was one.
        func onStop(_ body: @escaping @Sendable () -> Void) {
            let hasStopped = state.withLock { state in
                if state.grace == nil { state.onStop = OnStop(body: body) }
                return state.grace != nil
            }
            if hasStopped { body() }
        }

        // MARK: Afterwards

        /// Calls `body` for each signal from now on, and for those that have waited for it.
        func connect(_ body: @escaping @Sendable (Int32) -> Void) {
            let (grace, onStop) = state.withLock { state in
                state.isConnected = true
                return (state.grace, state.onStop.take())
            }
            withExtendedLifetime(onStop) {}
            grace?.restart(Self.closingGrace)
            received.connect(body)
        }

        /// Restores the dispositions of the stop signals: another one ends the process at once. That of the signal which
        /// has requested the stop follows, unless it is the one to include.
        func endStops(including signal: Int32? = nil) {
            let stops = state.withLock { state in
                let kept = state.grace.flatMap { $0.signal == signal ? nil : $0.signal }
                defer { state.stops = state.stops.filter { $0.key == kept } }
                return state.stops.filter { $0.key != kept }
            }
            for stop in stops.values { stop.cancel() }
        }

        /// Restores all dispositions; that of a signal which has just requested a stop follows, see `echo`.
        func end() {
            endStops()
            let reloads = state.withLock { $0.reloads.take() }
            reloads?.cancel()
        }

        // MARK: The end of the process

        /// Notes that the program goes on after ``TweakDaemon/run()``: the end of the process is up to it.
        func noteReturn() { Self.returns.add(1, ordering: .sequentiallyConsistent) }

        /// Notes that everything is closed: if a signal has requested that, it ends the process unless the program goes
        /// on in time. Its main actor or all threads of its tasks can be blocked.
        func noteClosed() { state.withLock { $0.grace }?.restart(Self.grace) }
    }

    /// The time that a stop may take from now on. A thread of its own measures it, so that it passes even while the
    /// main actor, the threads of tasks, or the queues of Dispatch are blocked.
    private final class StopGrace: Sendable {
        let signal: Int32
        private let deadline: Mutex<ContinuousClock.Instant>
        private let changes = DispatchSemaphore(value: 0)

        init(_ signal: Int32, _ duration: Duration) {
            self.signal = signal
            deadline = Mutex(.now + duration)
        }

        /// Starts the thread.
        /// - Parameters:
        ///   - afterEcho: Called when the duration of the echo is over.
        ///   - isOver: Whether the program has ended in time; asked once, at the end.
        func begin(
            after echo: Duration, afterEcho: @escaping @Sendable () -> Void, isOver: @escaping @Sendable () -> Bool
        ) {
            let echoEnd = ContinuousClock.now + echo
            SystemThread.start("tweaks.grace") { [self] in
                wait { echoEnd }
                afterEcho()
                wait { deadline.withLock { $0 } }
                if !isOver() { end() }
                // Later signals need this thread, too.
                while true { pause() }
            }
        }

        /// Begins the time anew.
        func restart(_ duration: Duration) {
            deadline.withLock { $0 = .now + duration }
            changes.signal()
        }

        /// Lets the next signal have its effect, once its disposition is the default.
        func release() { changes.signal() }

        /// Ends the process, also one that was started with the signal ignored.
        private func end() {
            var standard = sigaction()
            sigaction(signal, &standard, nil)
            kill(ThisProcess.id, signal)
        }

        private func wait(until end: () -> ContinuousClock.Instant) {
            while true {
                unblock()
                let left = end() - .now
                if left <= .zero { return }
                _ = changes.wait(timeout: .now() + .nanoseconds(Int(left / .nanoseconds(1))))
            }
        }

        /// Dispatch blocks a signal in each thread that the signal has interrupted, and in its own: on a busy machine
        /// that can be all threads, and then no signal ends the process any more.
        private func unblock() {
            var stops = sigset_t()
            sigemptyset(&stops)
            for signal in [SIGTERM, SIGINT] { sigaddset(&stops, signal) }
            pthread_sigmask(SIG_UNBLOCK, &stops, nil)
        }
    }
#endif
