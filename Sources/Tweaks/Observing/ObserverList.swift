// Lists the observers of one tweak, in the order of their registration.

import Synchronization

/// A list with amortized constant time for adding and removing observers.
struct ObserverList {
    /// All observers, including ended ones, which are removed when they are the majority.
    private(set) var all: [Subscriber] = []
    private var ended: Int32 = 0
    /// The index from which the next bindings are checked.
    private var cursor: Int32 = 0

    mutating func append(_ subscriber: Subscriber) { all.append(subscriber) }

    /// Counts an observer as ended.
    mutating func noteEnded() {
        ended += 1
        if Int(ended) <= all.count / 2 { return }
        cursor = Int32(all[..<Int(cursor)].count { !$0.isEnded })
        all = all.filter { !$0.isEnded }
        ended = 0
    }

    /// The next few observers in turn, to check whether their objects still exist.
    mutating func nextFew() -> [Subscriber] {
        let (start, count) = (Int(cursor), min(8, all.count))
        cursor = Int32((start + count) % max(all.count, 1))
        return (0..<count).map { all[(start + $0) % all.count] }
    }
}

extension TweakRegistry {
    /// Adds an observer to its tweaks. Returns false if one of them is no longer registered.
    func add(_ subscriber: Subscriber) -> Bool {
        let isAdded = state.withLock { $0.add(subscriber) }
        if isAdded, subscriber.hasOwner { subscriber.nodes.forEach(endOrphans) }
        return isAdded
    }

    /// Ends bindings whose objects were released: checks a few, and continues while most of them are orphaned.
    func endOrphans(_ node: TweakNode) {
        while true {
            let few = state.withLock { $0.holds(node) ? $0.observers[node.slot].nextFew() : [] }
            let orphans = few.filter { !$0.isEnded && $0.isOwnerGone }
            for orphan in orphans { orphan.cancel() }
            if orphans.count <= few.count / 2 { return }
        }
    }

    /// Removes an ended observer from its tweaks.
    func remove(_ subscriber: Subscriber, from nodes: [TweakNode]) {
        state.withLock { state in
            for node in nodes where state.holds(node) { state.observers[node.slot].noteEnded() }
        }
    }
}

extension RegistryState {
    /// Adds an observer to its tweaks. Returns false if one of them is no longer registered.
    mutating func add(_ subscriber: Subscriber) -> Bool {
        let nodes = subscriber.nodes
        guard !nodes.isEmpty, nodes.allSatisfy({ holds($0) }) else { return false }
        for node in nodes { observers[node.slot].append(subscriber) }
        return true
    }
}
