// A property that follows a tweak.

/// When a binding first writes.
public enum TweakBindingStart: Sendable {
    /// At once, then on each change.
    case now
    /// Only on changes.
    case onChange
}

/// A property that follows a tweak. It ends with its object; cancel it to end it earlier.
public struct TweakBinding: Sendable {
    fileprivate let subscriber: Subscriber

    /// Ends the binding: no more writes start.
    public func cancel() { subscriber.cancel() }
}

/// The actor of an object that is not `Sendable`.
///
/// Where the compiler misses one of these, an object is bound outside any actor: make the object `Sendable`, or bind it in
/// code that is isolated to the actor which the object belongs to, as a method of a `@MainActor` class is.
public typealias ActorOfNonSendableObject = any Actor

extension Tweak {
    /// Keeps a property equal to the tweak. The object is held weakly, and the binding ends with it.
    ///
    /// The property is written on the actor the binding is made on: at once if the change is made there, soon after
    /// if it is made elsewhere; the newest value wins, and however many changes wait for a busy actor, the property is
    /// written once. Outside any actor it is written on the thread of the change; see ``observe(_:)``.
    /// Code on the main actor that never suspends keeps its own bindings waiting: `await` something, or read
    /// ``value``.
    ///
    /// Nothing of the object is kept. What remains of the binding, a few hundred bytes, goes when the tweak changes next
    /// or when others are bound to it.
    ///
    /// ```swift
    /// Look.alpha.bind(to: view, \.alpha, when: .onChange)
    /// ```
    /// - Parameters:
    ///   - object: Whose property follows; held weakly.
    ///   - keyPath: The property.
    ///   - when: Whether it is written at once, too.
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
    /// As the other form; outside an actor the compiler refuses it, since the object is not `Sendable`.
    @discardableResult
    public func bind<Object: AnyObject>(
        to object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>,
        when: TweakBindingStart = .now, isolation: isolated ActorOfNonSendableObject = #isolation
    ) -> TweakBinding {
        if when == .now { object[keyPath: keyPath] = cell.load() }
        let write: (PendingChange?) -> Void = { [weak object, cell] change in
            if change != nil { object?[keyPath: keyPath] = cell.load() }
        }
        // Unsafe: it is not Sendable, and is called on that actor alone.
        return bind(object, on: isolation, unsafeBitCast(write, to: (@Sendable (PendingChange?) -> Void).self))
    }

    private func bind(
        _ object: AnyObject, on actor: (any Actor)?, _ write: @escaping @Sendable (PendingChange?) -> Void
    ) -> TweakBinding {
        // It writes the newest value, which may be newer than the change it is run for: so it has to see every change.
        let subscriber = Subscriber([node], of: registry, on: actor, owner: object, seesAll: true, call: write)
        subscriber.start()
        return TweakBinding(subscriber: subscriber)
    }
}
