// Handles a daemon's signals from the beginning of its start to its end.

import Dispatch
import Synchronization
import TweaksInterface
import TweaksSystem

/// The signals that a program has assigned to its daemon.
///
/// They are handled before the start reads its first file: a reload that is requested meanwhile is done at the end of the
/// start, and a stop ends the start. Releasing this restores their dispositions.
final class DaemonSignals: Sendable {
    private struct State {
        var reloads: SignalWatch?
        var stops: SignalWatch?
        /// The signal that has requested a stop.
        var stop: Int32?
        /// How often ``TweakDaemon/run()`` had returned by then.
        var returnsBefore = 0
        /// Makes the start end sooner.
        var onStop: OnStop?
    }
    // Wrapped in a structure: each access to a bare function in a Mutex would add another wrapper around it.
    private struct OnStop { let body: @Sendable () -> Void }

    /// How long a program may take to return from ``TweakDaemon/run()`` once everything is closed.
    private static let grace = DispatchTimeInterval.seconds(5)

    /// How often ``TweakDaemon/run()`` has returned to the program, from any of its daemons.
    private static let returns = Atomic(0)

    private let received = Relay<Int32>()
    private let state = Mutex(State())

    /// Starts to handle the signals of a program that is about to start.
    init(_ settings: DaemonSettings, _ signals: TweakDaemon.Signals) {
        // A SIGHUP must not end a process that may be asked to reload: one that has a config file or runs under a service
        // manager.
        let hasManager = settings.environment["NOTIFY_SOCKET"].map { !$0.isEmpty } ?? false
        let mayReload = signals.contains(.reload) && (settings.config != nil || hasManager)
        let reloads = mayReload ? watch([SIGHUP]) : nil
        let stops = signals.contains(.stop) ? watch([SIGTERM, SIGINT]) : nil
        state.withLock { ($0.reloads, $0.stops) = (reloads, stops) }
    }

    /// Watches signals, except those from a terminal that the process was started to ignore: by `nohup`, or as a
    /// background job of a script.
    private func watch(_ signals: [Int32]) -> SignalWatch? {
        let watched = signals.filter { $0 == SIGTERM || !SignalWatch.isIgnored($0) }
        return watched.isEmpty ? nil : SignalWatch(watched) { [weak self] in self?.receive($0) }
    }

    private func receive(_ signal: Int32) {
        let onStop = state.withLock { state -> OnStop? in
            if signal == SIGHUP { return nil }
            if state.stop == nil {
                (state.stop, state.returnsBefore) = (signal, Self.returns.load(ordering: .sequentiallyConsistent))
            }
            return state.onStop.take()
        }
        onStop?.body()
        received.send(signal)
    }

    // MARK: During the start

    /// Whether a stop was requested.
    var hasStopped: Bool { state.withLock { $0.stop != nil } }

    /// Ends the start if a stop was requested.
    func check() throws(ServerError) {
        if hasStopped { throw ServerError("the start was ended by a signal") }
    }

    /// Calls `body` at a stop, at once if there was one.
    func onStop(_ body: @escaping @Sendable () -> Void) {
        let hasStopped = state.withLock { state in
            if state.stop == nil { state.onStop = OnStop(body: body) }
            return state.stop != nil
        }
        if hasStopped { body() }
    }

    // MARK: Afterwards

    /// Calls `body` for each signal from now on, and for those that have waited for it.
    func connect(_ body: @escaping @Sendable (Int32) -> Void) {
        let onStop = state.withLock { $0.onStop.take() }
        withExtendedLifetime(onStop) {}
        received.connect(body)
    }

    /// Restores the disposition of the stop signals: another one ends the process at once.
    func endStops() {
        let stops = state.withLock { $0.stops.take() }
        stops?.cancel()
    }

    /// Restores all dispositions.
    func end() {
        endStops()
        let reloads = state.withLock { $0.reloads.take() }
        reloads?.cancel()
    }

    // MARK: The end of the process

    /// Notes that the program goes on after ``TweakDaemon/run()``: the end of the process is up to it.
    func noteReturn() { Self.returns.add(1, ordering: .sequentiallyConsistent) }

    /// Ends the process by the signal that has stopped the daemon, unless the program goes on in time. Its main actor or
    /// all threads of its tasks can be blocked, and the signal would be without effect.
    func endProcessUnlessReturned() {
        guard let (signal, before) = state.withLock({ state in state.stop.map { ($0, state.returnsBefore) } }) else {
            return
        }
        // Its own queue: it gets a thread even while all others are blocked.
        DispatchQueue(label: "tweaks.grace").asyncAfter(deadline: .now() + Self.grace) { @Sendable in
            if Self.returns.load(ordering: .sequentiallyConsistent) == before { kill(ThisProcess.id, signal) }
        }
    }
}
