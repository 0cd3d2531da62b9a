// Defines the registry: look-up, reading and removal of a program's tweaks.

import Synchronization

/// A set of tweaks, keyed by category, collection and name.
///
/// Declarations use ``shared`` unless they name another registry. Create any number of others, above all for tests.
/// A registry can be used on any thread.
///
/// ```swift
/// for category in TweakRegistry.shared.categories {
///     for tweak in category.collections.flatMap(\.tweaks) { print(tweak) }
/// }
/// ```
public final class TweakRegistry: Sendable {
    /// The registry that declarations use by default.
    public static let shared = TweakRegistry()

    let state = GuardedState()
    /// The storage of the overrides; nil without one.
    let storage = Mutex<(any TweakStore)?>(nil)
    @usableFromInline let callSites = CallSiteTable()
    private let now: @Sendable () -> Moment
    /// Fires when a temporary override expires.
    let alarm: ExpiryAlarm
    /// The observers that wait for their actors.
    package let actorDeliveries: ActorDeliveries

    /// An empty registry.
    public convenience init() { self.init(now: { .now }) }

    /// An empty registry with an injected clock, for tests.
    /// - Parameters:
    ///   - now: Returns the current time.
    ///   - sleep: Returns when the given time is reached; throws when its task is canceled.
    package init(
        now: @escaping @Sendable () -> Moment,
        sleep: @escaping @Sendable (Moment) async throws -> Void = {
            try await Task.sleep(until: $0.instant, tolerance: .zero, clock: .continuous)
        }
    ) {
        self.now = now
        alarm = ExpiryAlarm(sleep: sleep)
        actorDeliveries = ActorDeliveries(clock: now)
    }

    deinit {
        let (observers, stream) = state.withLock { state in (state.observers.flatMap(\.all), state.stream) }
        for observer in observers { observer.end() }
        endStoring()
        stream.end()
    }

    /// The current time, used as the time stamp of layers.
    package var currentTime: Moment { now() }

    /// The number of commits that changed something.
    public var revision: UInt64 { state.withLock { $0.revision } }

    /// The number of registered tweaks and actions.
    public var count: Int { state.withLock { $0.nodes.count - $0.freeSlots.count } }

    /// Raised whenever a tweak is registered or removed: while it stays the same, an index of the tweaks is up to date.
    ///
    /// ```swift
    /// if registry.generation != index.generation { index = Index(of: registry) }
    /// ```
    public var generation: UInt64 { state.withLock { $0.generation } }

    package var isFrozen: Bool { state.withLock { $0.isFrozen } }

    /// Runs the observers of changes from outside the program; without it they run on the committing thread.
    package var observerExecutor: (any ObserverExecutor)? {
        get { state.withLock { $0.observerExecutor } }
        set { state.withLock { $0.observerExecutor = newValue } }
    }
}

// MARK: - Looking up

extension TweakRegistry {
    /// The tweak or action with this path, written `category/collection/name`; nil if there is none.
    public subscript(path: String) -> AnyTweak? {
        path.withBytes { lookUp($0) }
    }

    /// The tweak or action with this path; nil if there is none.
    public subscript(path: TweakPath) -> AnyTweak? {
        path.withBytes { lookUp($0) }
    }

    /// The tweak whose joined path has these bytes.
    package func lookUp(_ path: UnsafeBufferPointer<UInt8>) -> AnyTweak? {
        node(path).map { AnyTweak(node: $0, registry: self) }
    }

    /// The tweak or action whose joined path has these bytes.
    package func node(_ path: UnsafeBufferPointer<UInt8>) -> TweakNode? {
        state.withLock { $0.node(path) }
    }

    /// The tweak with this path, its current value, and the remaining time of a temporary value; read under one lock.
    /// Nil for one in a preview, of which there is more to say.
    package func read(
        _ path: UnsafeBufferPointer<UInt8>
    ) -> (node: TweakNode, value: TweakValue?, timeLeft: Duration?)? {
        let found = state.withLock { state -> (TweakNode, TweakValue?, Moment?)? in
            guard let slot = state.index.find(path, in: state.nodes), let node = state.nodes[slot],
                state.preview?[node] == nil
            else { return nil }
            return (node, state.current(node)?.value, state.overlays[slot].end)
        }
        return found.map { ($0, $1, $2.map { timeLeft($0) }) }
    }

    /// The time until a time, at least zero.
    package func timeLeft(_ end: Moment) -> Duration { max(end - currentTime, .zero) }

    /// The current value, as the program reads it; nil for an action.
    package func current(_ node: TweakNode) -> TweakValue? {
        state.withLock { state in
            (state.holds(node) ? state.shown(node) : node.defaultPrepared)?.value
        }
    }

    /// The value that is set, which a preview may hide; nil for an action.
    package func settled(_ node: TweakNode) -> TweakValue? {
        state.withLock { state in
            (state.holds(node) ? state.current(node) : node.defaultPrepared)?.value
        }
    }
}

// MARK: - Removing

extension TweakRegistry {
    /// Removes a tweak or action. Its observers end, its sequences finish, its handles read the default from now on.
    /// - Returns: False if there was none with this path.
    @discardableResult
    public func remove(_ path: TweakPath) -> Bool {
        let removed = state.withLock { state -> (TweakNode, [Subscriber])? in
            guard let node = state.node(path) else { return nil }
            return (node, state.remove(node))
        }
        guard let (node, observers) = removed else { return false }
        callSites.remove(node)
        for observer in observers { observer.end() }
        return true
    }

    /// Removes all tweaks and actions; the registry stays usable.
    public func removeAll() {
        let observers = state.withLock { state in
            state.nodes.compactMap { $0 }.flatMap { state.remove($0) }
        }
        callSites.removeAll()
        for observer in observers { observer.end() }
    }
}
