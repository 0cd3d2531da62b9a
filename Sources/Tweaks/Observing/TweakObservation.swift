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

    init(_ subscriber: Subscriber) { self.subscriber = subscriber }

    /// Ends the observation: no more calls start. One that runs on another thread may still be finishing.
    public func cancel() { subscriber.cancel() }

    deinit { cancel() }
}

extension Tweak {
    // Specialized for the types that change most: generic code asks the runtime for `Optional<Value>` at each change.
    /// Calls `handler` after each change of the current value, until the result is cancelled or let go of.
    ///
    /// A closure that belongs to an actor runs there: before the setter returns if the change is made on that actor,
    /// soon after if it is made elsewhere. Any other closure runs on the thread that makes the change, before the setter
    /// returns; for changes that come from a socket, a file or a timer it
    /// has a turn on one of a few threads of the server's, whatever other observers do.
    ///
    /// The handler is never run twice at once, never sees an older value after a newer one, and always sees the last;
    /// while it is busy, or its actor is, changes are folded into one. It may set tweaks: what follows from that is
    /// delivered when it has returned. There is no first call; see ``values``.
    ///
    /// ```swift
    /// let observation = Look.size.observe { change in print(change.old, "→", change.new, "by", change.origin) }
    /// ```
    /// - Parameter handler: Sees each change. It is `@Sendable`, or belongs to the actor on which this is called; then it
    ///   may change what is there: `{ [weak self] change in self?.size = change.new }` in a `@MainActor` class.
    public func observe(
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (TweakChange<Value>) -> Void
    ) -> TweakObservation {
        let actor = handler.isolation
        // Unsafe: without its actor the closure is called there alone.
        return observe(on: actor, unsafeBitCast(handler, to: (@Sendable (TweakChange<Value>) -> Void).self))
    }

    @_specialize(where Value == Double)
    @_specialize(where Value == Int)
    @_specialize(where Value == Bool)
    private func observe(
        on actor: (any Actor)?, _ handler: @escaping @Sendable (TweakChange<Value>) -> Void
    ) -> TweakObservation {
        let subscriber = Subscriber([node], of: registry, on: actor) { change in
            guard let change, let old = change.old.typed.value(as: Value.self),
                let new = change.new.typed.value(as: Value.self)
            else { return }
            handler(TweakChange(old: old, new: new, origin: change.origin, revision: change.revision))
        }
        subscriber.start()
        return TweakObservation(subscriber)
    }
}
