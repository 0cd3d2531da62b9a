// What Swift's Observation tracks: an object beside a tweak, made when `observed` is first read.

import Observation
import Synchronization

/// Tells Observation of the changes of a tweak, or of a group of tweaks.
///
/// Observers are run after a commit, so the new value is there already when `willSet` is announced: whoever reads in
/// `onChange`, or later, reads the new one.
final class Observed: Observable, Sendable {
    fileprivate struct State {
        /// Tracks those who have read since the last change.
        var recent = ObservationRegistrar()
        var isRead = false
        /// Tracked those who had read before the last change, until the main actor has told them again.
        var passed: ObservationRegistrar?
        /// It changed again meanwhile: the recent ones are due as well.
        var isDue = false
    }

    private let all = ObservationRegistrar()
    private let state = Mutex(State())
    let subscriber: Subscriber

    /// The one property that there is: that something changed.
    private var value: Void { () }

    init() {
        let itself = WeakBox<Observed>()
        // Also what comes to nothing: somebody may have seen the value in between.
        // It keeps no tweaks: one of them may keep it.
        subscriber = Subscriber(seesAll: true) { _ in itself.value?.changed() }
        itself.value = self
    }

    /// Notes a read, just before it.
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
        // Observation begins to track when the closure that reads has returned: whoever is still in it missed this. On
        // the main actor, where views are drawn, that closure has returned by the time we get our turn there.
        if state.withLock({ $0.pass() }) { Task { @MainActor in catchUp() } }
    }

    @MainActor
    private func catchUp() {
        let (passed, recent) = state.withLock { $0.takePassed() }
        passed?.withMutation(of: self, keyPath: \.value) {}
        recent?.withMutation(of: self, keyPath: \.value) {}
    }
}

extension Observed.State {
    /// After a change. True when somebody has to catch up, and nobody has been sent to see to it.
    fileprivate mutating func pass() -> Bool {
        guard isRead else { return false }
        isRead = false
        // One turn of the main actor at a time, however busy that is.
        isDue = passed != nil
        if isDue { return false }
        passed = recent
        recent = ObservationRegistrar()
        return true
    }

    fileprivate mutating func takePassed() -> (ObservationRegistrar?, ObservationRegistrar?) {
        let taken = (passed, isDue ? recent : nil)
        if isDue { recent = ObservationRegistrar() }
        (passed, isDue) = (nil, false)
        return taken
    }
}

extension TweakRegistry {
    /// The object in this place, made and attached to the tweaks where there is none yet.
    func observed(_ place: borrowing AtomicLazyReference<Observed>, _ nodes: [TweakNode]) -> Observed {
        if let known = place.load() { return known }
        // Under the lock: nobody may have it before it hears of changes.
        return state.withLock { state in
            let made = Observed()
            let kept = place.storeIfNil(made)
            if kept === made {
                for node in nodes where state.holds(node) { state.observers[node.slot].append(made.subscriber) }
            }
            return kept
        }
    }
}

extension Tweak {
    /// The same as ``value``, for Swift's Observation: read inside `withObservationTracking`, and so inside a SwiftUI
    /// body, it is tracked, and a change by anybody triggers it.
    ///
    /// ```swift
    /// struct Title: View {
    ///     var body: some View { Text("Tweaks").font(.system(size: Look.size.observed)) }
    /// }
    /// ```
    ///
    /// `onChange` runs where observers do, once the change is made: what it reads is the new value. Observation tracks
    /// from the moment at which the closure that reads has returned; a change in between is made up for on the main
    /// actor, and elsewhere seen with the next one. When changes follow each other closely, `onChange` may run twice for
    /// one of them. To miss none elsewhere, follow ``values``.
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
