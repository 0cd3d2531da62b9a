// Stores the parts of a group and caches the value built from them until a part changes.

public import Synchronization

/// The parts of a group and the value last built from them.
@usableFromInline
final class GroupCore<Template: TweakTemplate>: Sendable {
    /// A value, and the change count that it includes.
    @usableFromInline
    struct CachedValue: Sendable {
        @usableFromInline var value: Template
        @usableFromInline var changeCount: Int
    }

    @usableFromInline let defaultValue: Template
    let parts: [DeclaredPart<Template>]
    let registry: TweakRegistry
    let reader: GroupReader<Template>
    /// Only counts changes; the registry notifies it under its lock, while a commit is applied.
    @usableFromInline let counter: Subscriber
    @usableFromInline let cache: Mutex<CachedValue>
    private let observedPlace = AtomicLazyReference<ObservationSource>()

    init(_ defaultValue: Template, _ place: GroupLocation) {
        self.defaultValue = defaultValue
        parts = Template.parts.map { $0.declare(place, defaultValue) }
        precondition(!parts.isEmpty, "Tweaks: \(place.source): \(Template.self) names no parts")
        precondition(
            Quoting.isSafe(place.template),
            "Tweaks: \(place.source): the name of \(Template.self) has invisible characters; remove them")
        registry = place.registry ?? .shared
        let nodes = FrozenTrait.isOn ? [] : parts.map { $0.erased().node }
        reader = GroupReader(defaultValue: defaultValue, nodes: nodes, reads: parts.map(\.read))
        cache = Mutex(CachedValue(value: defaultValue, changeCount: -1))
        counter = Subscriber(nodes, of: registry, runsNoCode: true, call: nil)
        counter.start()
    }

    deinit {
        // The tweaks stay registered: another group may use them.
        counter.cancel()
        guard let observed = observedPlace.load()?.subscriber else { return }
        observed.cancel()
        registry.remove(observed, from: reader.nodes)
    }

    /// Lets `withObservationTracking` track the value.
    @usableFromInline
    func noteRead() {
        #if !Frozen
            registry.observed(observedPlace, reader.nodes).access()
        #endif
    }

    /// The current value: a consistent snapshot of all parts.
    // Takes the registry's lock only after a change. A commit raises the count before any of its changes is visible,
    // and a reader that finds the count changed waits for the whole commit.
    @inlinable
    func load() -> Template {
        #if Frozen
            return defaultValue
        #else
            let count = counter.noted.load(ordering: .acquiring)
            return cache.withLock { $0.changeCount == count ? $0.value : nil } ?? rebuild()
        #endif
    }

    /// Builds the value from the parts and caches it.
    @usableFromInline
    func rebuild() -> Template {
        let (prepared, count) = registry.state.withLock { state in
            (state.current(reader.nodes), counter.noted.load(ordering: .acquiring))
        }
        let value = reader.template(of: prepared)
        var built = CachedValue(value: value, changeCount: count)
        // The old value is released after the lock: its deinit may run the program's code.
        cache.withLock { if $0.changeCount < count { swap(&$0, &built) } }
        return value
    }
}

/// Builds a template's value from its parts' values. It retains neither the group nor the registry.
struct GroupReader<Template: TweakTemplate>: Sendable {
    let defaultValue: Template
    /// Empty with the trait `Frozen`: nothing is registered.
    let nodes: [TweakNode]
    let reads: [@Sendable (Prepared, inout Template) -> Void]

    // Never under a lock: computed properties of a template may run any code.
    func template(of prepared: [Prepared]) -> Template {
        var value = defaultValue
        for (read, prepared) in zip(reads, prepared) { read(prepared, &value) }
        return value
    }

    /// The current value; the default without a registry.
    func read(_ registry: TweakRegistry?) -> Template {
        template(of: registry?.state.withLock { $0.current(nodes) } ?? [])
    }
}

/// The values last delivered to one observer of a group.
final class GroupObserverState: Sendable {
    private let delivered = Mutex<[Prepared]>([])

    /// Adds the observer to all its tweaks and records their current values. False if a tweak was removed.
    func start(_ subscriber: Subscriber, _ registry: TweakRegistry) -> Bool {
        let isComplete = registry.state.withLock { state in
            let isComplete = state.add(subscriber)
            if isComplete { delivered.withLock { $0 = state.current(subscriber.nodes) } }
            return isComplete
        }
        // Not under the lock: this may release the last reference to an actor.
        if isComplete, subscriber.hasOwner { subscriber.nodes.forEach(registry.endOrphans) }
        return isComplete
    }

    /// The values before and now, with the observer's pending change, which led to exactly these values.
    func advance(
        _ subscriber: Subscriber, _ registry: TweakRegistry
    ) -> (old: [Prepared], new: [Prepared], change: PendingChange?) {
        registry.state.withLock { state in
            let new = state.current(subscriber.nodes)
            let old = delivered.withLock { delivered in
                defer { delivered = new }
                return delivered
            }
            return (old, new, subscriber.takeWaiting())
        }
    }
}

extension RegistryState {
    /// The values of several tweaks as the program reads them; the default of a removed one.
    func current(_ nodes: [TweakNode]) -> [Prepared] {
        nodes.compactMap { holds($0) ? shown($0) : $0.defaultPrepared }
    }
}
