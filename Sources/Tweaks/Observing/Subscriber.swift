// Implements an observer with its newest undelivered change.

public import Synchronization

/// A change to be delivered; observers with the same pending change share the object.
final class PendingChange: Sendable {
    let node: TweakNode
    /// The value that the observer last received.
    let old: Prepared
    let new: Prepared
    let origin: TweakOrigin
    let revision: UInt64

    init(node: TweakNode, old: Prepared, new: Prepared, origin: TweakOrigin, revision: UInt64) {
        self.node = node
        self.old = old
        self.new = new
        self.origin = origin
        self.revision = revision
    }

    /// The same change, folded with an earlier one that the observer has not received.
    func folding(_ earlier: PendingChange) -> PendingChange {
        PendingChange(node: node, old: earlier.old, new: new, origin: origin, revision: revision)
    }
}

/// One observer: never runs concurrently with itself, never receives an older value after a newer one, always receives
/// the last one.
@usableFromInline
package final class Subscriber: Sendable {
    /// The context in which an observer runs.
    enum Context {
        /// On any thread, at once: it runs no code of the program, but wakes a task or thread that does.
        case anywhere
        /// On the delivering thread; for changes from outside, on a thread of the executor.
        case thread
        /// On its actor.
        case actor
    }

    /// The closure that it runs. In a structure, since the lock would otherwise re-wrap the closure at each access.
    fileprivate struct Call {
        let body: @Sendable (PendingChange?) -> Void
    }

    fileprivate struct State {
        var call: Call?
        var pending: PendingChange?
        /// The tweak whose change is being delivered.
        var shown: TweakNode?
        /// The number of hops that have not yet run on its actor.
        var hops: UInt8 = 0
        /// Whether its delivery is counted as waiting for its actor.
        var isWaitingForActor = false

        var isDue: Bool { call != nil && (pending != nil || shown != nil) }
    }

    /// The number of changes so far; a cache of derived values compares it to detect that it is stale.
    @usableFromInline let noted = Atomic(0)
    let context: Context
    /// Whether it ends when an object is released.
    let hasOwner: Bool
    /// The tweaks that it follows; empty if the tweaks own it.
    let nodes: [TweakNode]
    /// Whether it only counts changes; then it continues with the other tweaks when one is removed.
    private let isCounter: Bool
    private let ended = Atomic(false)
    private let state: Mutex<State>
    /// Whether it receives all changes, because it follows several tweaks or reads the value itself: then changes do
    /// not cancel out.
    private let seesAll: Bool
    private weak let registry: TweakRegistry?
    // Weak: an actor that has bound its own object must be releasable.
    private weak let actor: (any Actor)?
    // Unsafe: the object may not be Sendable, but it is only compared with nil, which is safe on any thread.
    nonisolated(unsafe) private weak let owner: AnyObject?

    /// - Parameters:
    ///   - nodes: The tweaks; `start` adds it to them.
    ///   - actor: The actor on which it runs; nil for the delivering thread.
    ///   - owner: The object with whose release it ends.
    ///   - runsNoCode: Whether it only wakes a task or thread, and runs no code of the program.
    ///   - seesAll: Whether it also runs for changes that cancel each other out.
    ///   - call: Runs for each change after folding, and, unless it is on an actor, with nil when a tweak is removed or
    ///     the registry is released.
    init(
        _ nodes: [TweakNode] = [], of registry: TweakRegistry? = nil, on actor: (any Actor)? = nil,
        owner: AnyObject? = nil, runsNoCode: Bool = false, seesAll: Bool = false,
        call: (@Sendable (PendingChange?) -> Void)?
    ) {
        context = actor != nil ? .actor : runsNoCode ? .anywhere : .thread
        hasOwner = owner != nil
        isCounter = call == nil
        self.nodes = nodes
        self.registry = registry
        self.actor = actor
        self.owner = owner
        self.seesAll = seesAll
        state = Mutex(State(call: call.map { Call(body: $0) }))
    }

    var isEnded: Bool { ended.load(ordering: .acquiring) }

    /// Whether its owner was released. Must not be read under a lock: this may be the owner's last reference.
    var isOwnerGone: Bool { hasOwner && owner == nil }

    /// The tweak whose change is being delivered; nil while it does not run.
    package var shown: TweakNode? { state.withLock { $0.shown } }

    // MARK: Under the registry's lock

    /// Counts a change, before its value becomes visible.
    func count() { noted.add(1, ordering: .releasing) }

    /// Adds a change, in order of revision, and folds it with a pending one.
    /// - Returns: The replaced change, to be released after the lock: it may own a value of the program.
    func enqueue(_ change: PendingChange) -> PendingChange? {
        state.withLock { state in
            guard state.call != nil else { return nil }
            guard let waiting = state.pending else {
                state.pending = change
                return nil
            }
            // The value is the one that it last received: for this observer nothing has changed.
            let isNone = !seesAll && waiting.old.value == change.new.value
            state.pending = isNone ? nil : seesAll ? change : change.folding(waiting)
            return waiting
        }
    }

    /// Removes and returns the pending change, for an observer that has just read the values.
    func takeWaiting() -> PendingChange? {
        state.withLock { state in
            defer { state.pending = nil }
            return state.pending
        }
    }

    // MARK: Starting and ending

    /// Starts to follow its tweaks. Ends and returns false if one of them is no longer registered.
    @discardableResult
    func start() -> Bool {
        if registry?.add(self) == true { return true }
        cancel()
        return false
    }

    /// Ends it: no more calls start, and its tweaks drop it.
    func cancel() { if close() != nil { registry?.remove(self, from: nodes) } }

    /// Ends it because one of its tweaks was removed: notifies it with nil, and removes it from the other tweaks.
    func end() {
        noted.add(1, ordering: .releasing)
        guard !isCounter, let call = close() else { return }
        if context != .actor { call?.body(nil) }
        if nodes.count > 1 { registry?.remove(self, from: nodes) }
    }

    /// Ends it. Returns nil if it had ended before. The closure is released by the caller, outside the lock: it may own
    /// objects of the program.
    private func close() -> Call?? {
        if ended.exchange(true, ordering: .acquiringAndReleasing) { return nil }
        let held = state.withLock { state in
            defer { (state.call, state.pending) = (nil, nil) }
            return (state.call, state.pending, state.isWaitingForActor)
        }
        if held.2 { registry?.actorDeliveries.update(self) }
        return .some(held.0)
    }
}

// MARK: - Delivering changes

extension Subscriber {
    /// Delivers pending changes on this thread.
    func deliver() {
        guard var (call, change) = take() else { return }
        while true {
            call.body(change)
            guard let next = takeNext() else { return }
            (call, change) = next
        }
    }

    /// Delivers one change on a thread of the executor. Observers of changes made by that call are scheduled
    /// separately.
    package func turn(on executor: any ObserverExecutor) {
        let (_, next) = Delivery.collecting { deliverOne() }
        for subscriber in next { subscriber.schedule(on: executor) }
        if isWaiting { executor.schedule(self) }
    }

    /// Schedules it, not on this thread if it runs code of the program.
    func schedule(on executor: any ObserverExecutor) {
        switch context {
        case .anywhere: deliver()
        case .thread: executor.schedule(self)
        case .actor: hop()
        }
    }

    /// Delivers the newest change.
    private func deliverOne() {
        guard let (call, change) = take() else { return }
        call.body(change)
        endDelivery()
    }

    /// Removes the newest change, to be delivered. Nil if there is none, or if another thread is delivering one: then
    /// that thread continues.
    private func take() -> (Call, PendingChange)? {
        if isOwnerGone { cancel() }
        return state.withLock { $0.take() }
    }

    /// Removes the next change after a delivery.
    private func takeNext() -> (Call, PendingChange)? {
        if isOwnerGone { cancel() }
        // Released after the lock: this may be the tweak's last reference.
        let (shown, next) = state.withLock { state in (state.shown.take(), state.take()) }
        withExtendedLifetime(shown) {}
        return next
    }

    private func endDelivery() {
        // Released after the lock: this may be the tweak's last reference.
        let shown = state.withLock { $0.shown.take() }
        withExtendedLifetime(shown) {}
    }

    private var isWaiting: Bool { state.withLock { $0.pending != nil && $0.shown == nil } }
}

// MARK: - On an actor

extension Subscriber {
    // A waiting hop also delivers later changes. `runOnActor` nevertheless starts another one, since the caller may be
    // on the actor, which cannot be checked. The limit is for threads that set values while the actor is busy.
    private static let maxHops: UInt8 = 4

    /// Delivers the newest change on the actor: at once if this code runs on it, otherwise by a hop.
    func runOnActor() { hop(most: Self.maxHops, immediately: true) }

    /// Delivers the newest change by a hop, by default from outside the actor; one hop at a time.
    private func hop(most: UInt8 = 1, immediately: Bool = false) {
        guard let actor = beginHop(most: most) else { return }
        let body = hopOperation(on: actor)
        if immediately, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            Task.immediate(operation: body)
        } else {
            Task(operation: body)
        }
        // Counts the delivery as waiting, unless it has run on this thread.
        if isDue { registry?.actorDeliveries.add(self) }
    }

    /// Whether a change waits or is being delivered.
    var isDue: Bool { state.withLock { $0.isDue } }

    /// Marks a due delivery as counted; false if it is not due, or counted already.
    func beginsWaiting() -> Bool {
        state.withLock { state in
            guard state.isDue, !state.isWaitingForActor else { return false }
            state.isWaitingForActor = true
            return true
        }
    }

    /// Marks it as no longer counted; false if another change is due.
    func endsWaiting() -> Bool {
        state.withLock { state in
            if state.isDue { return false }
            state.isWaitingForActor = false
            return true
        }
    }

    private func beginHop(most: UInt8) -> (any Actor)? {
        guard !isOwnerGone, let actor else {
            cancel()
            return nil
        }
        let begins = state.withLock { state in
            guard state.pending != nil, state.hops < most else { return false }
            state.hops += 1
            return true
        }
        return begins ? actor : nil
    }

    /// Runs on the actor after a hop.
    private func runAfterHop() {
        state.withLock { $0.hops -= 1 }
        Delivery.within { deliverOne() }
        if state.withLock({ $0.isWaitingForActor }) { registry?.actorDeliveries.update(self) }
        if isWaiting { hop() }
    }

    /// A closure that is isolated to the actor. A task must be created from the closure itself: wrapped in another one
    /// it would always hop.
    private func hopOperation(on actor: any Actor) -> @isolated(any) @Sendable () async -> Void {
        typealias Make = (any Actor, Subscriber) -> @isolated(any) @Sendable () async -> Void
        // Unsafe: called outside the actor, but it accesses no state of the actor; it only creates a closure.
        return unsafeBitCast(Self.makeHopOperation, to: Make.self)(actor, self)
    }

    private static let makeHopOperation:
        @Sendable (isolated any Actor, Subscriber) -> @isolated(any) @Sendable () async -> Void = { actor, subscriber in
            isolated {
                _ = actor
                subscriber.runAfterHop()
            }
        }

    /// Returns the closure, isolated to the actor that it captures because of the parameter's attribute. A `@Sendable`
    /// closure that is only assigned to a variable is not isolated and would run anywhere.
    private static func isolated(
        @_inheritActorContext _ body: @escaping @isolated(any) @Sendable () async -> Void
    ) -> @isolated(any) @Sendable () async -> Void { body }
}

extension Subscriber.State {
    fileprivate mutating func take() -> (Subscriber.Call, PendingChange)? {
        guard shown == nil, let call, let change = pending else { return nil }
        pending = nil
        shown = change.node
        return (call, change)
    }
}
