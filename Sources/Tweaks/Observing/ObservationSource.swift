// Connects tweaks to Swift's Observation with a tracked object, created when `observed` is first read.

import Observation
import Synchronization

/// The object through which Observation tracks a tweak or a group of tweaks.
///
/// Observers run after a commit, so the new value is current when Observation announces `willSet`: code that reads in
/// `onChange` or later gets the new value.
final class ObservationSource: Observable, Sendable {
    fileprivate struct State {
        /// Tracks the readers since the last change.
        var recent = ObservationRegistrar()
        var isRead = false
        /// Track the readers before each earlier change, until the main actor has notified them again.
        var passed: [ObservationRegistrar] = []
        /// Whether the recent readers must be notified again as well, since too many changes wait for the main actor.
        var isDue = false
    }

    private let all = ObservationRegistrar()
    private let state = Mutex(State())
    let subscriber: Subscriber

    private let deliveries: ActorDeliveries

    /// The only tracked property; it represents the value.
    private var value: Void { () }

    init(_ deliveries: ActorDeliveries) {
        self.deliveries = deliveries
        let weakSelf = WeakBox<ObservationSource>()
        // Receives also changes that cancel out: a reader may have read the value in between.
        // Has no reference to its tweaks, which may own it.
        subscriber = Subscriber(seesAll: true) { _ in weakSelf.value?.changed() }
        weakSelf.value = self
    }

    /// Registers a read; called just before it.
    func access() {
        let recent = state.withLock { state in
            state.isRead = true
            return state.recent
        }
        all.access(self, keyPath: \.value)
        recent.access(self, keyPath: \.value)
    }

    private func changed() {
        // First: a reader that reads again when it is notified gets the new value, and must not be notified once more.
        let passing = state.withLock { $0.takeRecent() }
        all.withMutation(of: self, keyPath: \.value) {}
        // Observation starts tracking when the reading closure has returned; a closure that is still running misses
        // this change. On the main actor, where views are drawn, that closure has returned when the task runs.
        if let passing, state.withLock({ $0.pass(passing) }) {
            deliveries.begin(self)
            Task { @MainActor in catchUp() }
        }
    }

    @MainActor
    private func catchUp() {
        deliveries.end(self)
        for passed in state.withLock({ $0.takePassed() }) { passed.withMutation(of: self, keyPath: \.value) {} }
    }
}

extension ObservationSource.State {
    // Bounds the memory if the main actor does not run for a long time.
    private static let most = 16

    /// Handles a change: removes and returns the registrar of the readers since the last one; nil if there is none.
    fileprivate mutating func takeRecent() -> ObservationRegistrar? {
        guard isRead else { return nil }
        isRead = false
        isDue = passed.count == Self.most
        if isDue { return nil }
        defer { recent = ObservationRegistrar() }
        return recent
    }

    /// Keeps a registrar whose readers have been notified, to notify them again. Returns true if no task for that is
    /// pending.
    fileprivate mutating func pass(_ registrar: ObservationRegistrar) -> Bool {
        passed.append(registrar)
        return passed.count == 1
    }

    fileprivate mutating func takePassed() -> [ObservationRegistrar] {
        defer {
            passed = []
            if isDue { recent = ObservationRegistrar() }
            isDue = false
        }
        return isDue ? passed + [recent] : passed
    }
}

extension TweakRegistry {
    /// Returns the object stored in `place`; creates it and attaches it to the tweaks if there is none yet.
    func observed(_ place: borrowing AtomicLazyReference<ObservationSource>, _ nodes: [TweakNode]) -> ObservationSource
    {
        if let known = place.load() { return known }
        // Under the lock: the object must be attached before another thread can get it.
        return state.withLock { state in
            let made = ObservationSource(actorDeliveries)
            let kept = place.storeIfNil(made)
            if kept === made {
                for node in nodes where state.holds(node) { state.observers[node.slot].append(made.subscriber) }
            }
            return kept
        }
    }
}

extension Tweak {
    /// The same as ``value``, tracked by Swift's Observation: after a read inside `withObservationTracking` or a
    /// SwiftUI body, a change of any origin triggers it.
    ///
    /// ```swift
    /// struct Title: View {
    ///     var body: some View { Text("Tweaks").font(.system(size: Look.size.observed)) }
    /// }
    /// ```
    ///
    /// `onChange` runs on the thread of the observers, after the change: it reads the new value. It runs once for a
    /// change, also where it reads and tracks again at once; only after more than 16 changes for which the main actor
    /// had no time, once more. Observation tracks from the time at which the reading closure has returned. A change
    /// before that is reported later on the main actor; elsewhere only with the next change. To miss none outside the
    /// main actor, follow ``values``.
    @inlinable
    public var observed: Value {
        noteRead()
        return load()
    }

    @usableFromInline
    func noteRead() {
        #if !Frozen
            (node.observed.load() ?? registry.observed(node.observed, [node])).access()
        #endif
    }
}

/// A thread-safe weak reference that can be set later.
final class WeakBox<Object: AnyObject & Sendable>: Sendable {
    private struct Reference { weak var object: Object? }
    private let reference = Mutex(Reference())

    var value: Object? {
        get { reference.withLock { $0.object } }
        set { reference.withLock { $0.object = newValue } }
    }
}
