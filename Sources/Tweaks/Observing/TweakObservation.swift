// Observes one tweak with a closure.

/// A change of a tweak's current value, as its observers receive it.
public struct TweakChange<Value: Sendable>: Sendable {
    /// The value that this observer last received.
    public let old: Value
    /// The value now.
    public let new: Value
    /// Who made the change; if several were folded, the last one.
    public let origin: TweakOrigin
    /// The registry's revision after it.
    public let revision: UInt64
}

/// A running observation; it ends when it is canceled or released.
public final class TweakObservation: Sendable {
    private let subscriber: Subscriber

    init(_ subscriber: Subscriber) { self.subscriber = subscriber }

    /// Ends the observation: no more calls start. A call on another thread may still be running.
    public func cancel() { subscriber.cancel() }

    deinit { cancel() }
}

extension Tweak {
    // Specialized for the most frequent types: generic code makes the runtime look up `Optional<Value>` at each change.
    /// Calls `handler` after each change of the current value, until the result is canceled or released.
    ///
    /// A closure that is isolated to an actor runs there: before the setter returns if the change is made on that
    /// actor, soon after if it is made elsewhere. Any other closure runs on the thread that makes the change, before
    /// the setter returns; for changes from a socket, a file or a timer it runs on a thread of the server,
    /// independently of other observers.
    ///
    /// The handler never runs concurrently with itself, never receives an older value after a newer one, and always
    /// receives the last one. While it or its actor is busy, changes are folded into one. It may set tweaks: those
    /// changes are delivered after it has returned. There is no initial call; see ``values``.
    ///
    /// ```swift
    /// let observation = Look.size.observe { change in print(change.old, "→", change.new, "by", change.origin) }
    /// ```
    /// - Parameter handler: Receives each change. It is `@Sendable`, or isolated to the actor on which this is called;
    ///   then it may change the actor's state: `{ [weak self] change in self?.size = change.new }` in a `@MainActor`
    ///   class.
    public func observe(
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (TweakChange<Value>) -> Void
    ) -> TweakObservation {
        let actor = handler.isolation
        // Unsafe: the cast removes the isolation, but the closure is only called on its actor.
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
