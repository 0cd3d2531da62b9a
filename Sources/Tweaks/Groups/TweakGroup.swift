// Declares, reads, sets and observes several tweaks as one value.

import Synchronization

/// Several tweaks that are declared together and used as one value, described by a ``TweakTemplate``.
///
/// ```swift
/// enum Upstream {
///     static let retry = TweakGroup("Upstream", "Payments", TweakRetryPolicy(attempts: 5))
/// }
/// let policy = Upstream.retry.value
/// for attempt in 1...policy.attempts {
///     try await Task.sleep(for: policy.delay(beforeAttempt: attempt))
///     …
/// }
/// ```
///
/// Each part is a separate tweak, `Upstream/Payments/Attempts`, `Upstream/Payments/Base delay` and so on: clients list,
/// set and watch them one by one, or in a batch. The program reads a consistent snapshot of all parts, and a commit
/// that changes several of them runs each observer once.
///
/// With a third name, several groups share a collection, and the name is the prefix of the parts:
/// `TweakGroup("Label", "Text", "Shadow", TweakShadow())` declares `Label/Text/Shadow radius` and so on.
@propertyWrapper
public struct TweakGroup<Template: TweakTemplate>: Sendable {
    @usableFromInline let core: GroupCore<Template>

    /// A group that is the only one in its collection.
    /// - Parameters:
    ///   - category: The first part of the paths.
    ///   - collection: The second part.
    ///   - defaultValue: The value whose properties are the parts' defaults.
    ///   - registry: Where the parts are registered; nil is ``TweakRegistry/shared``.
    ///   - fileID: Where it is declared; leave it out.
    ///   - line: Where it is declared; leave it out.
    public init(
        _ category: String, _ collection: String, _ defaultValue: Template, registry: TweakRegistry? = nil,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(
            wrappedValue: defaultValue, category, collection, nil, registry: registry, fileID: fileID, line: line)
    }

    /// A group whose name is the prefix of its parts' names. The other parameters are those of
    /// ``TweakGroup/init(_:_:_:registry:fileID:line:)``.
    public init(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Template,
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.init(
            wrappedValue: defaultValue, category, collection, name, registry: registry, fileID: fileID, line: line)
    }

    /// As a property wrapper: the wrapped value is the value, `$retry` is the group.
    ///
    /// The group does not exist before an instance with this property does, and all instances share it. For one that
    /// clients are to find from the start, declare a `static let`, and list it: see <doc:DeclaringTweaks>.
    /// - Parameters:
    ///   - wrappedValue: The value whose properties are the parts' defaults.
    ///   - category: The first part of the paths.
    ///   - collection: The second part.
    ///   - name: The prefix of the parts' names; nil for a group that is the only one in its collection.
    ///   - registry: Where the parts are registered; nil is ``TweakRegistry/shared``.
    ///   - fileID: Where it is declared; leave it out.
    ///   - line: Where it is declared; leave it out.
    public init(
        wrappedValue: Template, _ category: String, _ collection: String, _ name: String? = nil,
        registry: TweakRegistry? = nil, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        let place = GroupLocation(
            category: category, collection: collection, prefix: name, registry: registry,
            source: TweakSource(fileID: fileID, line: line), template: Template.templateName)
        core = GroupCore(wrappedValue, place)
    }

    /// The current value: a consistent snapshot of all parts. A read takes one short lock of the group.
    ///
    /// Setting it sets the overrides of all parts in one commit, as code: each is clamped to its range. If clamping is
    /// not enough, nothing changes; use ``set(_:)`` to get the error.
    @inlinable
    public var value: Template {
        get { core.load() }
        nonmutating set { assign(newValue) }
    }

    /// The same as ``value``.
    @inlinable
    public var wrappedValue: Template {
        get { core.load() }
        nonmutating set { assign(newValue) }
    }

    /// The group itself.
    public var projectedValue: TweakGroup<Template> { self }

    /// The declared default.
    public var defaultValue: Template { core.defaultValue }

    /// The parts' tweaks, in the order of the template.
    public var parts: [AnyTweak] { core.parts.map { $0.erased() } }

    /// Whether the current value of a part differs from its default.
    public var isModified: Bool { parts.contains { $0.isModified } }

    /// Sets the overrides of all parts in one commit, as code.
    /// - Returns: What happened to each part.
    /// - Throws: ``TweakError`` for the first part whose value is refused. Then nothing has changed.
    @discardableResult
    public func set(_ value: Template) throws(TweakError) -> TweakCommitResult {
        try commit { $0.set(self, value) }
    }

    /// Removes the overrides of all parts in one commit: the next layer applies.
    /// - Returns: What happened; nil when a part was removed, or the process is frozen.
    @discardableResult
    public func reset() -> TweakCommitResult? {
        try? commit { $0.reset(self) }
    }

    @usableFromInline
    func assign(_ value: Template) {
        // The setter ignores errors; `set` throws them.
        _ = try? commit(policy: .snap) { $0.set(self, value) }
    }

    private func commit(
        policy: TweakPolicy? = nil, _ change: (inout TweakBatch) -> Void
    ) throws(TweakError) -> TweakCommitResult {
        if FrozenTrait.isOn { throw TweakError(.readOnly, FrozenTrait.reason) }
        var batch = TweakBatch()
        change(&batch)
        return try core.registry.commit(batch, origin: .code, policy: policy, delivery: .caller)
    }
}

extension TweakGroup: TweakHandle {
    /// Category, collection and name of the first part; ``parts`` has them all.
    public var path: TweakPath { parts[0].path }

    /// The same as ``parts``.
    public var tweaks: [AnyTweak] { parts }
}

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
        // Unsafe: the cast drops the isolation, so the closure must only be called on its actor.
        let unisolated = unsafeBitCast(handler, to: (@Sendable (TweakChange<Template>) -> Void).self)
        return TweakObservation(subscriber(on: handler.isolation, unisolated))
    }

    /// Calls `handler` on an actor after each commit that changed the value, for as long as the actor lives; see
    /// ``Tweak/observe(on:_:)``.
    ///
    /// ```swift
    /// actor Client {
    ///     init() { Upstream.timeouts.observe(on: self) { client, change in client.configure(change.new) } }
    /// }
    /// ```
    @discardableResult
    public func observe<A: Actor>(
        on actor: A, _ handler: @escaping @Sendable (isolated A, TweakChange<Template>) -> Void
    ) -> TweakBinding {
        let subscriber = subscriber(on: actor, owner: actor) { [weak actor] change in
            actor?.assumeIsolated { handler($0, change) }
        }
        return TweakBinding(subscriber: subscriber)
    }

    /// Keeps state of an actor equal to the value, for as long as the actor lives; see ``Tweak/bind(on:when:_:)``.
    @discardableResult
    public func bind<A: Actor>(
        on actor: A, when: TweakBindingStart = .now, _ write: @escaping @Sendable (isolated A, Template) -> Void
    ) -> TweakBinding {
        let reader = core.reader
        let subscriber = Subscriber(reader.nodes, of: core.registry, on: actor, owner: actor, seesAll: true) {
            [weak actor, weak registry = core.registry] change in
            guard let actor, let registry, change != nil else { return }
            let value = reader.read(registry)
            actor.assumeIsolated { write($0, value) }
        }
        let hasStarted = subscriber.start()
        if FrozenTrait.isOn, when == .now {
            // Nothing is registered.
            let value = core.defaultValue
            Task { await write(actor, value) }
        } else if hasStarted, when == .now {
            subscriber.runNow(core.registry)
        }
        return TweakBinding(subscriber: subscriber)
    }

    private func subscriber(
        on actor: (any Actor)?, owner: AnyObject? = nil, _ handler: @escaping @Sendable (TweakChange<Template>) -> Void
    ) -> Subscriber {
        let reader = core.reader
        let view = GroupObserverState()
        let itself = WeakBox<Subscriber>()
        let subscriber = Subscriber(reader.nodes, of: core.registry, on: actor, owner: owner, seesAll: true) {
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
        return subscriber
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
