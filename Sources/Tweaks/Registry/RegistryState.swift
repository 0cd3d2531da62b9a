// Everything about a registry that changes, kept under its one lock.

/// The state of a registry. All of it is guarded by the registry's mutex; nothing here calls a program's code.
struct RegistryState {
    var index = PathIndex()
    /// By slot. A removed tweak leaves nil behind, and its slot to the next one.
    var nodes: [TweakNode?] = []
    /// By slot, apart from the nodes so that a snapshot is a copy of two arrays.
    var overlays: [Overlays] = []
    /// How many bytes the texts have that people have set.
    var textBytes = 0
    /// By slot.
    var observers: [ObserverList] = []
    var freeSlots: [Int] = []
    var revision: UInt64 = 0
    /// Rises with each registration and removal.
    var generation: UInt64 = 0
    var listing: TweakListing?
    /// Made of that, for those who see a part of it.
    var partialListings = PartialListings()
    var lookAlikes = LookAlikes()
    var conflicts: [TweakConflict] = []
    var conflictHandlers: [ConflictHandler] = []
    /// Where those read what was committed who follow it.
    let stream = CommitStream()
    /// The last record of it.
    var sequence: UInt64 = 0
    var observerExecutor: (any ObserverExecutor)?
    /// Values from files for tweaks that are not registered.
    var held: [TweakPath: HeldLayers] = [:]
    /// Rises whenever `held` changes.
    var heldGeneration: UInt64 = 0
    /// Former paths of registered tweaks.
    var formerly: [TweakPath: TweakNode] = [:]
    var store: (any TweakStore)?
    /// Follows the stream for the store.
    var storeFollower: CommitFollower?
    var history = History()
    /// When temporary overrides end.
    var expiries = ExpirySchedule()
    /// Whether a value that changes in the config file drops the override above it.
    var fileWins = false
    var unfitHandlers: [@Sendable (TweakPath, AsideEntry) -> Void] = []
    var isFrozen = FrozenTrait.isOn
    /// What was given up and may hold the program's objects: `GuardedState` releases it when the lock is free.
    var released: [any Sendable] = []

    func node(_ path: TweakPath) -> TweakNode? { path.withBytes { node($0) } }

    /// The tweak whose joined path has these bytes, or is the same text in another normalization.
    func node(_ path: UnsafeBufferPointer<UInt8>) -> TweakNode? {
        if let slot = index.find(path, in: nodes) { return nodes[slot] }
        return lookAlikes.isEmpty ? nil : lookAlikes.node(spelled: String(decoding: path, as: UTF8.self))
    }

    /// Whether this very tweak is registered now.
    func holds(_ node: TweakNode) -> Bool {
        nodes.indices.contains(node.slot) && nodes[node.slot] === node
    }

    /// The current value; nil for an action.
    func current(_ node: TweakNode) -> Prepared? { overlays[node.slot].top ?? node.defaultPrepared }

    mutating func add(_ make: (_ slot: Int, _ sequence: UInt64) -> TweakNode) -> TweakNode {
        let slot = freeSlots.popLast() ?? nodes.count
        let node = make(slot, generation)
        if slot == nodes.count {
            nodes.append(node)
            overlays.append(Overlays())
            observers.append(ObserverList())
        } else {
            nodes[slot] = node
            overlays[slot] = Overlays()
        }
        index.insert(slot, in: nodes)
        lookAlikes.add(node)
        for path in node.formerly { formerly[path] = node }
        generation += 1
        forgetListings()
        return node
    }

    /// Removes a tweak and returns its observers, to be ended after the lock.
    mutating func remove(_ node: TweakNode) -> [Subscriber] {
        guard holds(node) else { return [] }
        released.append(node)
        spareLayers(of: node)
        if let prepared = node.defaultPrepared { store(prepared, in: node) }
        index.remove(node.slot, in: nodes)
        lookAlikes.remove(node)
        nodes[node.slot] = nil
        hold(node)
        for path in node.formerly where formerly[path] === node { formerly[path] = nil }
        expiries.move(node, from: overlays[node.slot][.temporaryOverride]?.end, to: nil)
        textBytes -= heldText(node)
        overlays[node.slot] = Overlays()
        freeSlots.append(node.slot)
        generation += 1
        forgetListings()
        defer { observers[node.slot] = ObserverList() }
        return observers[node.slot].all
    }
    private mutating func forgetListings() {
        listing = nil
        partialListings = PartialListings()
    }
}
