// Binds properties of objects, and the state of actors, to tweaks.

/// When a binding first writes.
public enum TweakBindingStart: Sendable {
    /// At once, then on each change.
    case now
    /// Only on changes.
    case onChange
}

/// A binding of a property to a tweak, or an observer of an actor. It ends with its object; cancel it to end it earlier.
public struct TweakBinding: Sendable {
    let subscriber: Subscriber

    /// Ends the binding: no more writes start.
    public func cancel() { subscriber.cancel() }
}

/// The actor of an object that is not `Sendable`.
///
/// A compiler error that mentions this type means that an object is bound outside any actor: make the object
/// `Sendable`, or bind it in code that is isolated to the object's actor, such as a method of a `@MainActor` class.
public typealias ActorOfNonSendableObject = any Actor

extension Tweak {
    /// Keeps a property equal to the tweak. The object is held weakly, and the binding ends with it.
    ///
    /// The property is written on the actor on which the binding is made: at once if the change is made there, soon
    /// after if it is made elsewhere. The newest value wins; if several changes wait for a busy actor, the property is
    /// written once. Outside any actor it is written on the thread of the change; see ``observe(_:)``. Code on the main
    /// actor that never suspends delays its own bindings: `await` something, or read ``value``.
    ///
    /// After the object's release, a few hundred bytes of the binding remain until the tweak changes next or another
    /// object is bound to it.
    ///
    /// ```swift
    /// Look.alpha.bind(to: view, \.alpha, when: .onChange)
    /// ```
    /// - Parameters:
    ///   - object: The object with the property; held weakly.
    ///   - keyPath: The property.
    ///   - when: Whether to write it at once, too.
    ///   - isolation: The actor to write on; leave it out.
    @discardableResult
    public func bind<Object: AnyObject & Sendable>(
        to object: Object, _ keyPath: any ReferenceWritableKeyPath<Object, Value> & Sendable,
        when: TweakBindingStart = .now, isolation: isolated (any Actor)? = #isolation
    ) -> TweakBinding {
        if when == .now { object[keyPath: keyPath] = cell.load() }
        return bind(object, on: isolation) { [weak object, cell] change in
            if change != nil { object?[keyPath: keyPath] = cell.load() }
        }
    }

    /// Keeps a property equal to the tweak, for objects that stay on one actor.
    ///
    /// Otherwise as the other form. Does not compile outside an actor, since the object is not `Sendable`.
    @discardableResult
    public func bind<Object: AnyObject>(
        to object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>,
        when: TweakBindingStart = .now, isolation: isolated ActorOfNonSendableObject = #isolation
    ) -> TweakBinding {
        if when == .now { object[keyPath: keyPath] = cell.load() }
        let write: (PendingChange?) -> Void = { [weak object, cell] change in
            if change != nil { object?[keyPath: keyPath] = cell.load() }
        }
        // Unsafe: the closure is not Sendable, but is only called on that actor.
        return bind(object, on: isolation, unsafeBitCast(write, to: (@Sendable (PendingChange?) -> Void).self))
    }

    private func bind(
        _ object: AnyObject, on actor: (any Actor)?, _ write: @escaping @Sendable (PendingChange?) -> Void
    ) -> TweakBinding {
        // Receives all changes: it writes the current value, which may be newer than the delivered change.
        let subscriber = Subscriber([node], of: registry, on: actor, owner: object, seesAll: true, call: write)
        subscriber.start()
        return TweakBinding(subscriber: subscriber)
    }
}

// MARK: - Actors

extension Tweak {
    /// Calls `handler` on an actor after each change of the current value, for as long as the actor lives.
    ///
    /// The actor is held weakly, so that the result need not be stored, and an actor can observe in its initializer. The
    /// handler may use and change the actor's state. Otherwise it runs as described at ``observe(_:)``: before the setter
    /// returns if the change is made on that actor, soon after if it is made elsewhere, never two at once, and the newest
    /// change wins. There is no initial call; see ``bind(on:when:_:)``.
    ///
    /// ```swift
    /// actor Workers {
    ///     init() { Pool.size.observe(on: self) { workers, change in workers.resize(to: change.new) } }
    /// }
    /// ```
    /// - Parameters:
    ///   - actor: The actor on which the handler runs.
    ///   - handler: Receives the actor and each change.
    /// - Returns: The binding, to end it before the actor is released.
    @discardableResult
    public func observe<A: Actor>(
        on actor: A, _ handler: @escaping @Sendable (isolated A, TweakChange<Value>) -> Void
    ) -> TweakBinding {
        let subscriber = Subscriber([node], of: registry, on: actor, owner: actor) { [weak actor] change in
            guard let actor, let change, let old = change.old.typed.value(as: Value.self),
                let new = change.new.typed.value(as: Value.self)
            else { return }
            let seen = TweakChange(old: old, new: new, origin: change.origin, revision: change.revision)
            actor.assumeIsolated { handler($0, seen) }
        }
        subscriber.start()
        return TweakBinding(subscriber: subscriber)
    }

    /// Keeps state of an actor equal to the tweak, for as long as the actor lives.
    ///
    /// It writes the current value first: at once if this code runs on the actor, soon after if it does not, as in an
    /// actor's synchronous initializer. Then it writes after each change, as ``observe(on:_:)``.
    ///
    /// ```swift
    /// actor Workers {
    ///     private var limit = 0
    ///     init() { Pool.size.bind(on: self) { workers, size in workers.limit = size } }
    /// }
    /// ```
    /// - Parameters:
    ///   - actor: The actor on which the value is written; held weakly.
    ///   - when: Whether to write the current value, too.
    ///   - write: Receives the actor and the value.
    @discardableResult
    public func bind<A: Actor>(
        on actor: A, when: TweakBindingStart = .now, _ write: @escaping @Sendable (isolated A, Value) -> Void
    ) -> TweakBinding {
        // Receives all changes: it writes the current value, which may be newer than the delivered change.
        let subscriber = Subscriber([node], of: registry, on: actor, owner: actor, seesAll: true) {
            [weak actor, cell] change in
            guard let actor, change != nil else { return }
            let value = cell.load()
            actor.assumeIsolated { write($0, value) }
        }
        let hasStarted = subscriber.start()
        if FrozenTrait.isOn, when == .now {
            // Nothing observes or changes the tweak.
            let value = load()
            Task { await write(actor, value) }
        } else if hasStarted, when == .now {
            subscriber.runNow(registry)
        }
        return TweakBinding(subscriber: subscriber)
    }
}

extension Subscriber {
    /// Runs the observer once on its actor, as if its first tweak had been set to the same value.
    func runNow(_ registry: TweakRegistry) {
        guard let node = nodes.first, let current = registry.state.withLock({ $0.current([node]) }).first else {
            return
        }
        _ = enqueue(PendingChange(node: node, old: current, new: current, origin: .code, revision: registry.revision))
        runOnActor()
    }
}
