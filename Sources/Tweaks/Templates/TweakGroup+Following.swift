// Observes a group as one value: one notification for each commit that changes any of its parts.

import Synchronization

extension TweakGroup {
    /// Calls `handler` after each commit that changed the value, until the result is canceled or released.
    ///
    /// It runs as described at ``Tweak/observe(_:)``, on the closure's actor or on the thread of the change, and
    /// receives the whole value before and after. It ends when a part is removed.
    ///
    /// ```swift
    /// let observation = Upstream.limit.observe { change in bucket.resize(to: change.new.burst) }
    /// ```
    public func observe(
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (TweakChange<Template>) -> Void
    ) -> TweakObservation {
        let (reader, view, itself) = (core.reader, GroupObserverState(), WeakBox<Subscriber>())
        let actor = handler.isolation
        // Unsafe: the cast drops the isolation, so the closure must only be called on its actor.
        let handler = unsafeBitCast(handler, to: (@Sendable (TweakChange<Template>) -> Void).self)
        let subscriber = Subscriber(reader.nodes, of: core.registry, on: actor, seesAll: true) {
            [weak registry = core.registry] change in
            guard let change, let registry, let subscriber = itself.value else { return }
            let (before, now, latest) = view.advance(subscriber, registry)
            let (old, new) = (reader.template(of: before), reader.template(of: now))
            // Each part may have changed and changed back.
            if old == new { return }
            let cause = latest ?? change
            handler(TweakChange(old: old, new: new, origin: cause.origin, revision: cause.revision))
        }
        itself.value = subscriber
        if !view.start(subscriber, core.registry) { subscriber.cancel() }
        return TweakObservation(subscriber)
    }

    /// The current value first, then the value after each commit that changed it; a slow reader gets the newest.
    ///
    /// ```swift
    /// for await timeouts in Upstream.timeouts.values { client.configure(timeouts) }
    /// ```
    public var values: TweakGroupValues<Template> { TweakGroupValues(core: core) }

    /// The same as ``value``, tracked by Swift's Observation; see ``Tweak/observed``.
    @inlinable
    public var observed: Template {
        core.noteRead()
        return core.load()
    }
}
