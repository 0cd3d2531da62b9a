// Reads the parts of a group at one moment and builds a value from them.

import Synchronization

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
        registry.state.withLock { state in
            let isComplete = state.add(subscriber)
            if isComplete { delivered.withLock { $0 = state.current(subscriber.nodes) } }
            return isComplete
        }
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
    /// The current values of several tweaks; the default of a removed one.
    func current(_ nodes: [TweakNode]) -> [Prepared] {
        nodes.compactMap { holds($0) ? current($0) : $0.defaultPrepared }
    }
}
