// Reading the parts of a group at one moment, and making a value of them.

import Synchronization

/// Makes a template's value of its parts' values. It keeps neither the group nor the registry.
struct GroupReader<Template: TweakTemplate>: Sendable {
    let defaultValue: Template
    /// Empty with the trait `Frozen`: nothing is registered.
    let nodes: [TweakNode]
    let reads: [@Sendable (Prepared, inout Template) -> Void]

    // Never under a lock: properties of a template may be computed, by anything.
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

/// What one observer of a group was last shown.
final class GroupView: Sendable {
    private let shown = Mutex<[Prepared]>([])

    /// Starts an observer of all tweaks with what they are. False when one of them is gone.
    func start(_ subscriber: Subscriber, _ registry: TweakRegistry) -> Bool {
        registry.state.withLock { state in
            let isComplete = state.add(subscriber)
            if isComplete { shown.withLock { $0 = state.current(subscriber.nodes) } }
            return isComplete
        }
    }

    /// The values before and now, with the change that waits for the observer: one that led to just these values.
    func look(
        _ subscriber: Subscriber, _ registry: TweakRegistry
    ) -> (old: [Prepared], new: [Prepared], change: PendingChange?) {
        registry.state.withLock { state in
            let new = state.current(subscriber.nodes)
            let old = shown.withLock { shown in
                defer { shown = new }
                return shown
            }
            return (old, new, subscriber.takeWaiting())
        }
    }
}

extension RegistryState {
    /// The current values of several tweaks; the default of one that is gone.
    func current(_ nodes: [TweakNode]) -> [Prepared] {
        nodes.compactMap { holds($0) ? current($0) : $0.defaultPrepared }
    }
}
