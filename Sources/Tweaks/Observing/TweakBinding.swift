// A property that follows a tweak.

import Synchronization

/// When a binding first writes.
public enum TweakBindingStart: Sendable {
    /// At once, then on each change.
    case now
    /// Only on changes.
    case onChange
}

/// A property that follows a tweak. It ends with its object; cancel it to end it earlier.
public struct TweakBinding: Sendable {
    private let subscriber: Subscriber
    private let remove: @Sendable (Subscriber) -> Void

    init<Value>(_ subscriber: Subscriber, _ tweak: Tweak<Value>) {
        self.subscriber = subscriber
        let node = tweak.node
        remove = { [weak registry = tweak.registry] subscriber in registry?.remove(subscriber, from: node) }
    }

    /// Ends the binding: no more writes start.
    public func cancel() {
        if subscriber.cancel() { remove(subscriber) }
    }
}

extension Tweak {
    /// Keeps a property equal to the tweak. The object is held weakly, and the binding ends with it.
    ///
    /// The property is written on the actor the binding is made on: at once if the change is made there, soon after
    /// if it is made elsewhere; the newest value wins. Outside any actor it is written on the thread of the change.
    /// Code on the main actor that never suspends keeps its own bindings waiting: `await` something, or read
    /// ``value``.
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
        let cell = cell
        let write: @Sendable (Object) -> Void = { $0[keyPath: keyPath] = cell.load() }
        if when == .now { write(object) }
        if isolation == nil { return bind(object, write) }
        let body = Self.isolated { [weak object] in
            _ = isolation
            if let object { Delivery.joined { write(object) } }
        }
        return bind(object, body)
    }

    /// Keeps a property equal to the tweak, for objects that stay on one actor.
    ///
    /// As the other form; the compiler refuses it outside an actor.
    @discardableResult
    public func bind<Object: AnyObject>(
        to object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>,
        when: TweakBindingStart = .now, isolation: isolated any Actor = #isolation
    ) -> TweakBinding {
        let cell = cell
        if when == .now { object[keyPath: keyPath] = cell.load() }
        let target = IsolatedTarget(object, keyPath)
        let body = Self.isolated {
            _ = isolation
            Delivery.joined { target.write(cell.load()) }
        }
        return bind(target.weakly, body)
    }

    /// The closure itself, isolated to the actor that it captures: as an argument, by this attribute. A `@Sendable`
    /// closure that is merely assigned to a variable is isolated to nothing, and would be run anywhere.
    private static func isolated(
        @_inheritActorContext _ body: @escaping @isolated(any) @Sendable () async -> Void
    ) -> @isolated(any) @Sendable () async -> Void { body }

    /// Writes on the thread of the change.
    private func bind<Object: AnyObject & Sendable>(
        _ object: Object, _ write: @escaping @Sendable (Object) -> Void
    ) -> TweakBinding {
        makeBinding { [weak object] in
            guard let object else { return false }
            write(object)
            return true
        }
    }

    /// Writes on the binding's actor.
    private func bind<Object: AnyObject & Sendable>(
        _ object: Object, _ body: @escaping @isolated(any) @Sendable () async -> Void
    ) -> TweakBinding {
        makeBinding { [weak object] in
            if object == nil { return false }
            Self.run(body)
            return true
        }
    }

    private func bind(
        _ isAlive: @escaping @Sendable () -> Bool, _ body: @escaping @isolated(any) @Sendable () async -> Void
    ) -> TweakBinding {
        makeBinding {
            guard isAlive() else { return false }
            Self.run(body)
            return true
        }
    }

    /// Inline when already on the actor, otherwise by a hop. The closure itself is passed: wrapped in another one it
    /// would always hop.
    private static func run(_ body: @escaping @isolated(any) @Sendable () async -> Void) {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            Task.immediate(operation: body)
        } else {
            Task(operation: body)
        }
    }

    /// - Parameter write: False when the object is gone.
    private func makeBinding(_ write: @escaping @Sendable () -> Bool) -> TweakBinding {
        let (node, box) = (node, WeakBox<Subscriber>())
        // It writes the newest value, which may be newer than the change it is run for: so it has to see every change.
        let subscriber = Subscriber(seesAll: true) { [weak registry] _ in
            if write() { return }
            guard let subscriber = box.value, subscriber.cancel() else { return }
            registry?.remove(subscriber, from: node)
        }
        box.value = subscriber
        if !registry.add(subscriber, to: node) { subscriber.cancel() }
        return TweakBinding(subscriber, self)
    }
}

/// An object that is only touched on the actor which the binding was made on.
// Unchecked: `write` is called by a closure isolated to that actor alone; from elsewhere only the weak reference is
// looked at, which the runtime makes safe.
private final class IsolatedTarget<Object: AnyObject, Value>: @unchecked Sendable {
    private weak let object: Object?
    private let keyPath: ReferenceWritableKeyPath<Object, Value>

    init(_ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>) {
        self.object = object
        self.keyPath = keyPath
    }

    func write(_ value: Value) { object?[keyPath: keyPath] = value }

    /// Says whether the object still lives.
    var weakly: @Sendable () -> Bool {
        { self.object != nil }
    }
}
