// Binds properties of objects to tweaks.

/// When a binding first writes.
public enum TweakBindingStart: Sendable {
    /// At once, then on each change.
    case now
    /// Only on changes.
    case onChange
}

/// A binding of a property to a tweak. It ends with its object; cancel it to end it earlier.
public struct TweakBinding: Sendable {
    fileprivate let subscriber: Subscriber

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
