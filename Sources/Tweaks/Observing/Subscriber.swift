// One observer and the newest change it has not seen.

public import Synchronization

/// A change on its way to one observer.
struct PendingChange: Sendable {
    /// What the observer last saw.
    var old: Prepared
    var new: Prepared
    var origin: TweakOrigin
    var revision: UInt64
}

/// One observer: never run twice at once, never shown an older value after a newer one, always shown the last.
@usableFromInline
final class Subscriber: Sendable {
    /// How many changes were noted: who keeps something made from the values sees by it that it is stale.
    @usableFromInline let noted = Atomic(0)
    fileprivate struct State {
        var call: (@Sendable (PendingChange) -> Void)?
        var onEnd: (@Sendable () -> Void)?
        var pending: PendingChange?
        var isRunning = false
        var isQueued = false
    }

    private let state: Mutex<State>
    /// Whether it stands for several tweaks, or looks at the value itself: then no change cancels out another.
    private let seesAll: Bool

    /// - Parameters:
    ///   - seesAll: Whether it is also run for changes that together come to nothing.
    ///   - onEnd: Runs once, when the tweak is removed or the registry goes; not when the observer cancels.
    ///   - call: Runs for each change that is left after folding.
    init(
        seesAll: Bool = false, onEnd: (@Sendable () -> Void)? = nil, call: (@Sendable (PendingChange) -> Void)?
    ) {
        self.seesAll = seesAll
        state = Mutex(State(call: call, onEnd: onEnd))
    }

    /// Counts a change that is about to be made. Called under the registry's lock, before any value can be seen.
    func count() { noted.add(1, ordering: .releasing) }

    /// Notes a change, folded into one that still waits. Called under the registry's lock, in order of revision.
    /// - Returns: What it was folded into, to be released outside that lock.
    func enqueue(_ change: PendingChange) -> PendingChange? {
        state.withLock { state in
            guard state.call != nil else { return nil }
            let waiting = state.pending
            var change = change
            if !seesAll, let waiting { change.old = waiting.old }
            // Back to what it last saw: for this observer nothing changed.
            state.pending = !seesAll && change.old.value == change.new.value ? nil : change
            return waiting
        }
    }

    /// Shows what waits, unless another thread is just doing that: then that one goes on.
    func deliver() {
        while let (call, change) = state.withLock({ $0.take() }) {
            call(change)
            state.withLock { $0.isRunning = false }
        }
    }

    /// Takes what waits: for an observer that has just looked at the values, under the registry's lock.
    func takeWaiting() -> PendingChange? {
        state.withLock { state in
            defer { state.pending = nil }
            return state.pending
        }
    }

    /// True when it was not queued yet; the delivery thread calls `unqueued` before it delivers.
    func queued() -> Bool {
        state.withLock { state in
            defer { state.isQueued = true }
            return !state.isQueued
        }
    }

    /// It has left the queue.
    func unqueued() { state.withLock { $0.isQueued = false } }

    /// No more calls start. Returns whether it was active.
    @discardableResult
    func cancel() -> Bool {
        let ended = state.withLock { state in
            defer { (state.call, state.onEnd, state.pending) = (nil, nil, nil) }
            return (state.call, state.onEnd, state.pending)  // Released after the lock: they may hold anything.
        }
        return withExtendedLifetime(ended) { $0.0 != nil }
    }

    /// The tweak is gone: cancels, and tells the observer.
    func end() {
        noted.add(1, ordering: .releasing)
        let onEnd = state.withLock { $0.onEnd }
        cancel()
        onEnd?()
    }
}

extension Subscriber.State {
    fileprivate mutating func take() -> ((@Sendable (PendingChange) -> Void), PendingChange)? {
        guard !isRunning, let call, let change = pending else { return nil }
        pending = nil
        isRunning = true
        return (call, change)
    }
}
