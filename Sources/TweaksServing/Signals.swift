// SIGHUP, SIGTERM and SIGINT as calls on a queue, shared by all who follow them in a process.

import TweaksSystem
import Dispatch
import Synchronization

/// Follows signals until it is cancelled or let go of. Any number can follow the same signal; all are told.
///
/// Meanwhile the signal does not do what it would do otherwise. When it is not followed any more, it does so again.
package final class SignalWatch: Sendable {
    private let id: UInt64
    private let signals: [Int32]

    /// Follows from now on: a signal that is sent after this has returned is told.
    /// - Parameters:
    ///   - signals: Their numbers.
    ///   - handler: Called with the number, on a queue of the signal's own. Signals that come faster than it returns
    ///     are told once.
    package init(_ signals: [Int32], handler: @escaping @Sendable (Int32) -> Void) {
        self.signals = signals
        id = SignalTable.shared.newID()
        for signal in signals { SignalTable.shared.follow(signal, id: id, handler) }
    }

    deinit { cancel() }

    /// No more calls, but for one that is on its way already; it waits for none, so that a handler may cancel, too.
    package func cancel() {
        for signal in signals { SignalTable.shared.leave(signal, id: id) }
    }
}

/// The followers of each signal: a process has one disposition for all of them.
private final class SignalTable: Sendable {
    static let shared = SignalTable()

    private struct Followed {
        let source: any DispatchSourceSignal
        let previous: sigaction
        var handlers: [(id: UInt64, call: @Sendable (Int32) -> Void)] = []
    }

    private struct State {
        var followed: [Int32: Followed] = [:]
        /// The disposition that Dispatch works with. On Linux it installs a handler, but for the first source of a
        /// signal only: once we have put back another one, we have to bring Dispatch's back ourselves.
        var working: [Int32: sigaction] = [:]
        var lastID: UInt64 = 0
    }

    private let state = Mutex(State())

    func newID() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    func follow(_ signal: Int32, id: UInt64, _ handler: @escaping @Sendable (Int32) -> Void) {
        state.withLock { state in
            var followed = state.followed[signal] ?? begin(signal, &state.working)
            followed.handlers.append((id, handler))
            state.followed[signal] = followed
        }
    }

    func leave(_ signal: Int32, id: UInt64) {
        state.withLock { state in
            guard var followed = state.followed[signal] else { return }
            followed.handlers.removeAll { $0.id == id }
            state.followed[signal] = followed.handlers.isEmpty ? nil : followed
            if followed.handlers.isEmpty { Self.end(followed, signal) }
        }
    }

    private func tell(_ signal: Int32) {
        let handlers = state.withLock { $0.followed[signal]?.handlers ?? [] }
        for handler in handlers { handler.call(signal) }
    }

    /// Makes the source and waits until it works.
    private func begin(_ signal: Int32, _ working: inout [Int32: sigaction]) -> Followed {
        var previous = sigaction()
        sigaction(signal, nil, &previous)
        if var known = working[signal] { sigaction(signal, &known, nil) } else { Self.prepare(signal) }
        // Handlers may take their time, cancel, or be called when this was called on the main actor; on the source's
        // queue nothing runs that could wait, so that we may wait for it with the lock held.
        let calls = DispatchQueue(label: "tweaks.signal")
        let source = DispatchSource.makeSignalSource(
            signal: signal, queue: DispatchQueue(label: "tweaks.signal.source"))
        let isRegistered = DispatchSemaphore(value: 0)
        let pending = PendingCall()
        // @Sendable, or a literal would inherit the actor of the caller, and trap on the queue.
        source.setEventHandler { @Sendable [self] in
            if pending.begins() {
                calls.async { @Sendable [self] in
                    pending.ends()
                    tell(signal)
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
        return Followed(source: source, previous: previous)
    }

    /// Puts the disposition back when the source is really gone: as long as it is there, it takes signals that are
    /// meant to have their old effect.
    private static func end(_ followed: Followed, _ signal: Int32) {
        let isGone = DispatchSemaphore(value: 0)
        followed.source.setCancelHandler { @Sendable in isGone.signal() }
        followed.source.cancel()
        isGone.wait()
        var previous = followed.previous
        sigaction(signal, &previous, nil)
    }

    /// What has to be done before the first source of a signal.
    private static func prepare(_ signal: Int32) {
        #if canImport(Darwin)
            // kqueue tells of a signal although it is ignored, and if it were not, it would end the process. On Linux
            // ignoring it would take it from Dispatch sources that the program may have made before.
            var ignoring = sigaction()
            ignoring.__sigaction_u.__sa_handler = SIG_IGN
            sigaction(signal, &ignoring, nil)
        #endif
    }
}

/// A call that is on its way: what comes until it is made is told with it.
private final class PendingCall: Sendable {
    private let isPending = Atomic<Bool>(false)

    /// True when there was none.
    func begins() -> Bool { !isPending.exchange(true, ordering: .acquiringAndReleasing) }

    /// It is made now; from here on there is another one.
    func ends() { isPending.store(false, ordering: .sequentiallyConsistent) }
}
