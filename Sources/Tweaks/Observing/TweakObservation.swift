// Following one tweak with a closure.

/// A change of a tweak's current value, as its observers see it.
public struct TweakChange<Value: Sendable>: Sendable {
    /// The value that this observer last saw.
    public let old: Value
    /// The value now.
    public let new: Value
    /// Who made the change; where several were folded, the last one.
    public let origin: TweakOrigin
    /// The registry's revision after it.
    public let revision: UInt64
}

/// A running observation; it ends when it is cancelled or let go of.
public final class TweakObservation: Sendable {
    private let subscriber: Subscriber
    private let nodes: [TweakNode]
    private let remove: @Sendable (Subscriber, [TweakNode]) -> Void

    init(_ subscriber: Subscriber, _ nodes: [TweakNode], _ registry: TweakRegistry) {
        self.subscriber = subscriber
        self.nodes = nodes
        // Weakly: an observation that is kept must not keep a registry that is gone.
        remove = { [weak registry] subscriber, nodes in registry?.remove(subscriber, from: nodes) }
    }

    /// Ends the observation: no more calls start. One that runs on another thread may still be finishing.
    public func cancel() {
        // One of several tweaks may have ended it, and the others still know it.
        if subscriber.cancel() || nodes.count > 1 { remove(subscriber, nodes) }
    }

    deinit { cancel() }
}

extension Tweak {
    // Specialized for the types that change most: generic code asks the runtime for `Optional<Value>` at each change.
    /// Calls `handler` after each change of the current value, until the result is cancelled or let go of.
    ///
    /// Changes made by code are delivered on the thread that makes them, before the setter returns; those that come
    /// from a socket, a file or a timer on one delivery thread. The handler is never run twice at once, never sees an
    /// older value after a newer one, and always sees the last; while it is busy, changes are folded into one. It may
    /// set tweaks: what follows from that is delivered when it has returned. There is no first call; see ``values``.
    ///
    /// ```swift
    /// let observation = Look.size.observe { change in print(change.old, "→", change.new, "by", change.origin) }
    /// ```
    @_specialize(where Value == Double)
    @_specialize(where Value == Int)
    @_specialize(where Value == Bool)
    public func observe(_ handler: @escaping @Sendable (TweakChange<Value>) -> Void) -> TweakObservation {
        let subscriber = Subscriber { change in
            guard let old = change.old.typed.value(as: Value.self), let new = change.new.typed.value(as: Value.self)
            else {
                return
            }
            handler(TweakChange(old: old, new: new, origin: change.origin, revision: change.revision))
        }
        if !registry.add(subscriber, to: node) { subscriber.cancel() }
        return TweakObservation(subscriber, [node], registry)
    }
}
