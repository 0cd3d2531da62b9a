// Following a group: once for each commit, however many of its parts that has changed.

import Synchronization

extension TweakGroup {
    /// Calls `handler` after each commit that changed the value, until the result is cancelled or let go of.
    ///
    /// It runs where and as ``Tweak/observe(_:)`` says, on the actor that the closure belongs to or on the thread of the
    /// change, and sees the whole value before and after. It ends when one of the parts is removed.
    ///
    /// ```swift
    /// let observation = Upstream.limit.observe { change in bucket.resize(to: change.new.burst) }
    /// ```
    public func observe(
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (TweakChange<Template>) -> Void
    ) -> TweakObservation {
        let (reader, view, itself) = (core.reader, GroupView(), WeakBox<Subscriber>())
        let actor = handler.isolation
        // Unsafe: without its actor the closure is called there alone.
        let handler = unsafeBitCast(handler, to: (@Sendable (TweakChange<Template>) -> Void).self)
        let subscriber = Subscriber(reader.nodes, of: core.registry, on: actor, seesAll: true) {
            [weak registry = core.registry] change in
            guard let change, let registry, let subscriber = itself.value else { return }
            let (before, now, latest) = view.look(subscriber, registry)
            let (old, new) = (reader.template(of: before), reader.template(of: now))
            // Each part may have gone there and back.
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

    /// The same as ``value``, for Swift's Observation; see ``Tweak/observed``.
    @inlinable
    public var observed: Template {
        core.noteRead()
        return core.load()
    }
}
