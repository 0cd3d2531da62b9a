// Delivers SIGHUP, SIGTERM and SIGINT to handlers on a queue, shared by all observers in a process.

#if Server
    import Dispatch
    import Synchronization
    import TweaksSystem

    /// Observes signals until it is canceled or released. Any number of watches can observe the same signal; each is
    /// notified.
    ///
    /// While a signal is observed, its previous disposition has no effect. It is restored when the last watch ends.
    package final class SignalWatch: Sendable {
        private let signals: [Int32]

        /// Starts observing: signals sent after this returns are delivered.
        /// - Parameters:
        ///   - signals: The signal numbers.
        ///   - handler: Called with the number on a queue for this signal. Signals that arrive while it runs are merged
        ///     into one call.
        package init(_ signals: [Int32], handler: @escaping @Sendable (Int32) -> Void) {
            self.signals = signals
            for signal in signals { SignalTable.shared.follow(signal, id: ObjectIdentifier(self), handler) }
        }

        deinit { cancel() }

        /// Whether a signal has no effect on this process apart from watches.
        static func isIgnored(_ signal: Int32) -> Bool { SignalTable.shared.isIgnored(signal) }

        /// Stops new calls. Does not wait for a call in progress, so that a handler can cancel too.
        package func cancel() {
            for signal in signals { SignalTable.shared.remove(signal, id: ObjectIdentifier(self)) }
        }
    }

    /// The handlers of each signal: a process has one disposition per signal.
    private final class SignalTable: Sendable {
        static let shared = SignalTable()

        private struct ObservationSource {
            let source: any DispatchSourceSignal
            let previous: sigaction
            var handlers: [(id: ObjectIdentifier, call: @Sendable (Int32) -> Void)] = []
        }

        private struct State {
            var observed: [Int32: ObservationSource] = [:]
            /// The disposition that Dispatch installs. On Linux it installs its handler only for the first source of a
            /// signal; after restoring another disposition, we must reinstall Dispatch's ourselves.
            var working: [Int32: sigaction] = [:]
        }

        private let state = Mutex(State())

        func follow(_ signal: Int32, id: ObjectIdentifier, _ handler: @escaping @Sendable (Int32) -> Void) {
            state.withLock { state in
                var observed = state.observed[signal] ?? begin(signal, &state.working)
                observed.handlers.append((id, handler))
                state.observed[signal] = observed
            }
        }

        func remove(_ signal: Int32, id: ObjectIdentifier) {
            state.withLock { state in
                guard var observed = state.observed[signal] else { return }
                observed.handlers.removeAll { $0.id == id }
                state.observed[signal] = observed.handlers.isEmpty ? nil : observed
                if observed.handlers.isEmpty { Self.end(observed, signal) }
            }
        }

        func isIgnored(_ signal: Int32) -> Bool {
            state.withLock { state in
                var disposition = sigaction()
                sigaction(signal, nil, &disposition)
                return Self.ignores(state.observed[signal]?.previous ?? disposition)
            }
        }

        private static func ignores(_ disposition: sigaction) -> Bool {
            #if canImport(Darwin)
                let handler = disposition.__sigaction_u.__sa_handler
            #else
                let handler = disposition.__sigaction_handler.sa_handler
            #endif
            // SIG_IGN is a number in place of a function, and functions cannot be compared.
            return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        }

        private func notify(_ signal: Int32) {
            let handlers = state.withLock { $0.observed[signal]?.handlers ?? [] }
            for handler in handlers { handler.call(signal) }
        }

        /// Creates the source and waits until it is active.
        private func begin(_ signal: Int32, _ working: inout [Int32: sigaction]) -> ObservationSource {
            var previous = sigaction()
            sigaction(signal, nil, &previous)
            if var known = working[signal] { sigaction(signal, &known, nil) } else { Self.prepare(signal) }
            // Handlers run on their own queue, because they may block, cancel, or be called while this runs on the main
            // actor. Nothing on the source's queue blocks, so waiting for it while holding the lock is safe.
            let calls = DispatchQueue(label: "tweaks.signal")
            let source = DispatchSource.makeSignalSource(
                signal: signal, queue: DispatchQueue(label: "tweaks.signal.source"))
            let isRegistered = DispatchSemaphore(value: 0)
            let pending = PendingCall()
            // @Sendable, because a plain closure literal would inherit the caller's actor and trap on the queue.
            source.setEventHandler { @Sendable [self] in
                if pending.begins() {
                    calls.async { @Sendable [self] in
                        pending.ends()
                        notify(signal)
                    }
                }
            }
            source.setRegistrationHandler { @Sendable in isRegistered.signal() }
            source.resume()
            isRegistered.wait()
            if working[signal] == nil {
                var installed = sigaction()
                sigaction(signal, nil, &installed)
                working[signal] = installed
            }
            return ObservationSource(source: source, previous: previous)
        }

        /// Restores the disposition after the source is gone: while it exists, it receives signals that should have
        /// their previous effect.
        private static func end(_ observed: ObservationSource, _ signal: Int32) {
            let isGone = DispatchSemaphore(value: 0)
            observed.source.setCancelHandler { @Sendable in isGone.signal() }
            observed.source.cancel()
            isGone.wait()
            var previous = observed.previous
            sigaction(signal, &previous, nil)
        }

        /// Prepares the disposition before the first source of a signal.
        private static func prepare(_ signal: Int32) {
            #if canImport(Darwin)
                // kqueue reports ignored signals too, and without ignoring it the signal would end the process. On
                // Linux, ignoring it would take it from Dispatch sources that the program created earlier.
                var ignoring = sigaction()
                ignoring.__sigaction_u.__sa_handler = SIG_IGN
                sigaction(signal, &ignoring, nil)
            #endif
        }
    }

    /// A scheduled handler call; signals that arrive before it runs are merged into it.
    private final class PendingCall: Sendable {
        private let isPending = Atomic<Bool>(false)

        /// Marks the call as scheduled; true if it was not scheduled before.
        func begins() -> Bool { !isPending.exchange(true, ordering: .acquiringAndReleasing) }

        /// Marks the call as running; from here on, a new signal schedules another one.
        func ends() { isPending.store(false, ordering: .sequentiallyConsistent) }
    }
#endif
