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
        /// Tracks the readers before the last change, until the main actor has notified them again.
        var passed: ObservationRegistrar?
        /// Whether it has changed again since then, so that the recent readers must be notified as well.
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
        all.withMutation(of: self, keyPath: \.value) {}
        // Observation starts tracking when the reading closure has returned; a closure that is still running misses
        // this change. On the main actor, where views are drawn, that closure has returned when the task runs.
        if state.withLock({ $0.beginCatchUp() }) {
            deliveries.begin(self)
            Task { @MainActor in catchUp() }
        }
    }

    @MainActor
    private func catchUp() {
        deliveries.end(self)
        let (passed, recent) = state.withLock { $0.takePassed() }
        passed?.withMutation(of: self, keyPath: \.value) {}
        recent?.withMutation(of: self, keyPath: \.value) {}
    }
}

extension ObservationSource.State {
    /// Handles a change. Returns true if readers must be notified again and no task for that is pending.
    fileprivate mutating func beginCatchUp() -> Bool {
        guard isRead else { return false }
        isRead = false
        // At most one pending task on the main actor.
        isDue = passed != nil
        if isDue { return false }
        passed = recent
        recent = ObservationRegistrar()
        return true
    }

    fileprivate mutating func takePassed() -> (ObservationRegistrar?, ObservationRegistrar?) {
        let taken = (passed, isDue ? recent : nil)
        if isDue { recent = ObservationRegistrar() }
        passed = nil
        isDue = false
        return taken
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
    /// `onChange` runs on the thread of the observers, after the change: it reads the new value. Observation tracks
    /// from the time at which the reading closure has returned. A change before that is reported later on the main
    /// actor; elsewhere only with the next change. If changes follow each other closely, `onChange` may run twice for
    /// one of them. To miss none outside the main actor, follow ``values``.
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
