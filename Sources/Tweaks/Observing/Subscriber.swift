// One observer and the newest change it has not seen.

public import Synchronization

/// A change on its way to observers; one object for all that see the same.
final class PendingChange: Sendable {
    let node: TweakNode
    /// What the observer last saw.
    let old: Prepared
    let new: Prepared
    let origin: TweakOrigin
    let revision: UInt64

    init(node: TweakNode, old: Prepared, new: Prepared, origin: TweakOrigin, revision: UInt64) {
        (self.node, self.old, self.new, self.origin, self.revision) = (node, old, new, origin, revision)
    }

    /// The same for an observer that has not seen another one, which came before.
    func folding(_ earlier: PendingChange) -> PendingChange {
        PendingChange(node: node, old: earlier.old, new: new, origin: origin, revision: revision)
    }
}

/// One observer: never run twice at once, never shown an older value after a newer one, always shown the last.
@usableFromInline
package final class Subscriber: Sendable {
    /// Where an observer runs.
    enum Place {
        /// On any thread, at once: it runs none of the program's code, but wakes what does.
        case anywhere
        /// On the thread that delivers; for changes from outside, on one of the executor's.
        case thread
        /// On its actor.
        case actor
    }

    /// What it runs. In a structure, or each lock would wrap the closure anew.
    fileprivate struct Call {
        let body: @Sendable (PendingChange?) -> Void
    }

    fileprivate struct State {
        var call: Call?
        var pending: PendingChange?
        /// The tweak whose change it is being shown.
        var shown: TweakNode?
        /// How many hops have not arrived at its actor.
        var hops: UInt8 = 0
    }

    /// How many changes were noted: who keeps something made from the values sees by it that it is stale.
    @usableFromInline let noted = Atomic(0)
    let place: Place
    /// Whether it ends with an object.
    let hasOwner: Bool
    /// The tweaks that it follows; empty where these keep it themselves.
    let nodes: [TweakNode]
    /// Whether it only counts; then it goes on with the other tweaks when one is gone.
    private let isCounter: Bool
    private let ended = Atomic(false)
    private let state: Mutex<State>
    /// Whether it stands for several tweaks, or looks at the value itself: then no change cancels out another.
    private let seesAll: Bool
    private weak let registry: TweakRegistry?
    // Weakly: an actor that has bound its own object must be able to go.
    private weak let actor: (any Actor)?
    // Unsafe: it may not be Sendable, but is only compared with nil, which is safe on any thread.
    nonisolated(unsafe) private weak let owner: AnyObject?

    /// - Parameters:
    ///   - nodes: The tweaks; `start` adds it to them.
    ///   - actor: Where it runs; nil: on the thread that delivers.
    ///   - owner: The object that it ends with.
    ///   - runsNoCode: Whether it only wakes what runs the program's code.
    ///   - seesAll: Whether it is also run for changes that together come to nothing.
    ///   - call: Runs for each change that is left after folding, and, unless it is on an actor, with nil when a tweak is
    ///     removed or the registry goes.
    init(
        _ nodes: [TweakNode] = [], of registry: TweakRegistry? = nil, on actor: (any Actor)? = nil,
        owner: AnyObject? = nil, runsNoCode: Bool = false, seesAll: Bool = false,
        call: (@Sendable (PendingChange?) -> Void)?
    ) {
        place = actor != nil ? .actor : runsNoCode ? .anywhere : .thread
        (hasOwner, isCounter) = (owner != nil, call == nil)
        (self.nodes, self.registry, self.actor, self.owner, self.seesAll) = (nodes, registry, actor, owner, seesAll)
        state = Mutex(State(call: call.map { Call(body: $0) }))
    }

    var isEnded: Bool { ended.load(ordering: .acquiring) }

    /// Whether the object that it ends with is gone. Never asked under a lock: this may be the object's last reference.
    var isOwnerGone: Bool { hasOwner && owner == nil }

    /// The tweak whose change it is being shown; nil while it does not run.
    package var shown: TweakNode? { state.withLock { $0.shown } }

    // MARK: Under the registry's lock

    /// Counts a change that is about to be made, before any value can be seen.
    func count() { noted.add(1, ordering: .releasing) }

    /// Notes a change, folded into one that still waits, in order of revision.
    /// - Returns: What it takes the place of, to be released after the lock: it may hold a value of the program's.
    func enqueue(_ change: PendingChange) -> PendingChange? {
        state.withLock { state in
            guard state.call != nil else { return nil }
            guard let waiting = state.pending else {
                state.pending = change
                return nil
            }
            // Back to what it last saw: for this observer nothing changed.
            let isNone = !seesAll && waiting.old.value == change.new.value
            state.pending = isNone ? nil : seesAll ? change : change.folding(waiting)
            return waiting
        }
    }

    /// Takes what waits: for an observer that has just looked at the values.
    func takeWaiting() -> PendingChange? {
        state.withLock { state in
            defer { state.pending = nil }
            return state.pending
        }
    }

    // MARK: Beginning and ending

    /// Begins to follow its tweaks; false, and it has ended, when one of them is no longer registered.
    @discardableResult
    func start() -> Bool {
        if registry?.add(self) == true { return true }
        cancel()
        return false
    }

    /// No more calls start, and its tweaks forget it.
    func cancel() { if close() != nil { registry?.remove(self, from: nodes) } }

    /// One of its tweaks is gone: tells it, and the others forget it.
    func end() {
        noted.add(1, ordering: .releasing)
        guard !isCounter, let call = close() else { return }
        if place != .actor { call?.body(nil) }
        if nodes.count > 1 { registry?.remove(self, from: nodes) }
    }

    /// Nil when it had ended before. What it held is released by the caller, outside the lock: that may be anything.
    private func close() -> Call?? {
        if ended.exchange(true, ordering: .acquiringAndReleasing) { return nil }
        let held = state.withLock { state in
            defer { (state.call, state.pending) = (nil, nil) }
            return (state.call, state.pending)
        }
        return .some(held.0)
    }
}

// MARK: - Showing changes

extension Subscriber {
    /// Shows what waits, on this thread.
    func deliver() {
        guard var (call, change) = take() else { return }
        while true {
            call.body(change)
            guard let next = takeNext() else { return }
            (call, change) = next
        }
    }

    /// Gives it a turn on a thread of the executor's: one call. What that leads to has turns of its own.
    package func turn(on executor: any ObserverExecutor) {
        let (_, next) = Delivery.collecting { showOne() }
        for subscriber in next { subscriber.schedule(on: executor) }
        if isWaiting { executor.schedule(self) }
    }

    /// Has it run soon, and not on this thread if it runs the program's code.
    func schedule(on executor: any ObserverExecutor) {
        switch place {
        case .anywhere: deliver()
        case .thread: executor.schedule(self)
        case .actor: hop()
        }
    }

    /// Shows the newest change.
    private func showOne() {
        guard let (call, change) = take() else { return }
        call.body(change)
        endShowing()
    }

    /// Takes the newest change, to be shown. Nil when none waits, or another thread is just showing one: then that one
    /// goes on.
    private func take() -> (Call, PendingChange)? {
        if isOwnerGone { cancel() }
        return state.withLock { $0.take() }
    }

    /// The same after it was shown one.
    private func takeNext() -> (Call, PendingChange)? {
        if isOwnerGone { cancel() }
        // The tweak is released after the lock: this may be its last reference.
        let (shown, next) = state.withLock { state in (state.shown.take(), state.take()) }
        withExtendedLifetime(shown) {}
        return next
    }

    private func endShowing() {
        // The tweak is released after the lock: this may be its last reference.
        let shown = state.withLock { $0.shown.take() }
        withExtendedLifetime(shown) {}
    }

    private var isWaiting: Bool { state.withLock { $0.pending != nil && $0.shown == nil } }
}

// MARK: - On an actor

extension Subscriber {
    // A hop that waits carries later changes on. Only where a set may just be made on the actor another way in is tried,
    // since nothing tells beforehand whether it is; the bound is for threads that set on while the actor is busy.
    private static let mostHops: UInt8 = 4

    /// Shows the newest change on the actor: at once where this code runs on it, otherwise by a hop.
    func offer() {
        guard let actor = beginHop(most: Self.mostHops) else { return }
        let body = arrival(on: actor)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            Task.immediate(operation: body)
        } else {
            Task(operation: body)
        }
    }

    /// The same from where it cannot be the actor: one hop at a time.
    private func hop() {
        guard let actor = beginHop(most: 1) else { return }
        Task(operation: arrival(on: actor))
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

    /// On the actor.
    private func arrive() {
        state.withLock { $0.hops -= 1 }
        Delivery.within { showOne() }
        if isWaiting { hop() }
    }

    /// A closure that is isolated to the actor. The closure itself is what a task is made of: wrapped in another one it
    /// would always hop.
    private func arrival(on actor: any Actor) -> @isolated(any) @Sendable () async -> Void {
        typealias Make = (any Actor, Subscriber) -> @isolated(any) @Sendable () async -> Void
        // Unsafe: it is called outside the actor, and touches nothing of it: it makes a closure.
        return unsafeBitCast(Self.makeArrival, to: Make.self)(actor, self)
    }

    private static let makeArrival:
        @Sendable (isolated any Actor, Subscriber) -> @isolated(any) @Sendable () async -> Void = { actor, subscriber in
            isolated {
                _ = actor
                subscriber.arrive()
            }
        }

    /// The closure itself, isolated to the actor that it captures: as an argument, by this attribute. A `@Sendable`
    /// closure that is merely assigned to a variable is isolated to nothing, and would be run anywhere.
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
