// The inside of a group: its parts, and the value made of them, kept until one of them changes.

public import Synchronization

/// The parts of a group and the value that was last made of them.
@usableFromInline
final class GroupCore<Template: TweakTemplate>: Sendable {
    /// A value, and how many changes it has seen.
    @usableFromInline
    struct Made: Sendable {
        @usableFromInline var value: Template
        @usableFromInline var seen: Int
    }

    @usableFromInline let defaultValue: Template
    let parts: [DeclaredPart<Template>]
    let registry: TweakRegistry
    let reader: GroupReader<Template>
    /// Only counts: it is told of changes under the registry's lock, while they are made.
    @usableFromInline let counter: Subscriber
    @usableFromInline let made: Mutex<Made>
    private let observedPlace = AtomicLazyReference<Observed>()

    init(_ defaultValue: Template, _ place: GroupPlace) {
        self.defaultValue = defaultValue
        parts = Template.parts.map { $0.declare(place, defaultValue) }
        precondition(!parts.isEmpty, "Tweaks: \(place.source): \(Template.self) names no parts")
        registry = place.registry ?? .shared
        let nodes = FrozenTrait.isOn ? [] : parts.map { $0.erased().node }
        reader = GroupReader(defaultValue: defaultValue, nodes: nodes, reads: parts.map(\.read))
        made = Mutex(Made(value: defaultValue, seen: -1))
        counter = Subscriber(nodes, of: registry, runsNoCode: true, call: nil)
        counter.start()
    }

    deinit {
        // Another group may go on with the same tweaks.
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

    /// The current value: all parts as of one moment.
    // Neither the registry's lock nor a part is touched unless one has changed. A commit counts its first change before
    // anybody can see it done, and whoever finds the count changed waits for the commit to be whole.
    @inlinable
    func load() -> Template {
        #if Frozen
            return defaultValue
        #else
            let count = counter.noted.load(ordering: .acquiring)
            return made.withLock { $0.seen == count ? $0.value : nil } ?? make()
        #endif
    }

    /// Makes the value anew.
    @usableFromInline
    func make() -> Template {
        let (prepared, count) = registry.state.withLock { state in
            (state.current(reader.nodes), counter.noted.load(ordering: .acquiring))
        }
        let value = reader.template(of: prepared)
        var made = Made(value: value, seen: count)
        // The old one is released after the lock: its deinit may be anything.
        self.made.withLock { if $0.seen < count { swap(&$0, &made) } }
        return value
    }
}
