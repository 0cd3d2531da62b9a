// Holds the mutable state of a registry, guarded by its only lock, and defers the release of program objects.

import Synchronization

/// The state of a registry, guarded by the registry's mutex; no method calls code of the program.
struct RegistryState {
    var index = PathIndex()
    /// By slot. The slot of a removed tweak is nil and is reused.
    var nodes: [TweakNode?] = []
    /// By slot, apart from the nodes so that a snapshot is a copy of two arrays.
    var overlays: [Overlays] = []
    /// The size in bytes of all texts that were set at run time.
    var textBytes = 0
    /// By slot.
    var observers: [ObserverList] = []
    var freeSlots: [Int] = []
    var revision: UInt64 = 0
    /// Incremented by each registration and removal.
    var generation: UInt64 = 0
    var listing: TweakListing?
    /// The last listing, and the few nodes that were registered since; nil if it is too old, or a node was removed.
    var earlierListing: (listing: TweakListing, added: [TweakNode])?
    /// Derived from `listing`, for clients with access to a part of it.
    var partialListings = PartialListings()
    var lookAlikes = LookAlikes()
    var conflicts: [TweakConflict] = []
    var conflictHandlers: [ConflictHandler] = []
    /// The stream from which followers read the commits.
    let stream = CommitStream()
    /// The sequence of the last record in the stream.
    var sequence: UInt64 = 0
    var observerExecutor: (any ObserverExecutor)?
    var layers = LayerTable()
    /// The layers that open sources have.
    var claims: [LayerClaim] = []
    /// Values for tweaks that are not registered.
    var pending: [TweakPath: PendingLayers] = [:]
    /// Incremented whenever a source changes its values, or the values for unregistered tweaks change.
    var pendingGeneration: UInt64 = 0
    /// Former paths of registered tweaks.
    var formerly: [TweakPath: TweakNode] = [:]
    /// The follower that mirrors the overrides, so that those of a removed tweak wait for its return; nil without one.
    var mirror: CommitFollower?
    var history = History()
    /// The expiry times of temporary overrides.
    var expiries = ExpirySchedule()
    /// The overrides that sources have dropped while they were installed, until they are taken.
    var droppedOverrides: [ObjectIdentifier: TweakValue] = [:]
    var quarantineHandlers: [@Sendable (TweakPath, QuarantinedEntry) -> Void] = []
    /// What the program reads in place of its own values; nil without a preview.
    var preview: TweakPreview?
    var isFrozen = FrozenTrait.isOn
    /// Dropped values that may own objects of the program; `GuardedState` releases them when the lock is free.
    var released: [any Sendable] = []

    func node(_ path: TweakPath) -> TweakNode? { path.withBytes { node($0) } }

    /// The tweak whose joined path has these bytes, or is the same text in another normalization.
    func node(_ path: UnsafeBufferPointer<UInt8>) -> TweakNode? {
        if let slot = index.find(path, in: nodes) { return nodes[slot] }
        return lookAlikes.isEmpty ? nil : lookAlikes.node(spelled: String(decoding: path, as: UTF8.self))
    }

    /// Whether this tweak, and not another one with its path, is registered now.
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
        forgetListings(adding: node)
        return node
    }

    /// Removes a tweak and returns its observers, which the caller ends after the lock is released.
    mutating func remove(_ node: TweakNode) -> [Subscriber] {
        guard holds(node) else { return [] }
        released.append(node)
        deferLayerRelease(of: node)
        if let prepared = node.defaultPrepared { store(prepared, in: node) }
        index.remove(node.slot, in: nodes)
        lookAlikes.remove(node)
        nodes[node.slot] = nil
        keepPending(node)
        for path in node.formerly where formerly[path] === node { formerly[path] = nil }
        expiries.move(node, from: overlays[node.slot][.temporaryOverride]?.end, to: nil)
        textBytes -= overrideTextBytes(node)
        overlays[node.slot] = Overlays()
        freeSlots.append(node.slot)
        generation += 1
        forgetListings()
        defer { observers[node.slot] = ObserverList() }
        return observers[node.slot].all
    }

    /// Beyond this number of new nodes, a listing is sorted anew.
    private static let maxAdded = 4_096

    private mutating func forgetListings(adding node: TweakNode? = nil) {
        if let listing { earlierListing = (listing, []) }
        if let node, earlierListing?.added.count ?? 0 < Self.maxAdded {
            earlierListing?.added.append(node)
        } else {
            earlierListing = nil
        }
        listing = nil
        partialListings = PartialListings()
    }
}

// MARK: - The lock

/// A registry's state behind its only lock.
///
/// Values, closures and objects that the state drops are released after unlocking: their deinitializers run code of
/// the program, which may use the registry.
struct GuardedState: ~Copyable, Sendable {
    private let state = Mutex(RegistryState())

    func withLock<Result, Failure: Error>(
        _ body: (inout sending RegistryState) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        var released: [any Sendable] = []
        defer { withExtendedLifetime(released) {} }
        return try state.withLock { state throws(Failure) in
            defer { state.takeReleased(&released) }
            return try body(&state)
        }
    }
}

extension RegistryState {
    /// Defers the release of a tweak's layer values until the lock is free; called before they change.
    mutating func deferLayerRelease(of node: TweakNode) {
        guard node.holdsObjects else { return }
        for entry in overlays[node.slot].entries { released.append(entry.prepared) }
    }

    /// Stores a value in the cell that the program reads.
    mutating func store(_ prepared: Prepared, in node: TweakNode) {
        node.store(prepared, &released)
    }

    fileprivate mutating func takeReleased(_ taken: inout [any Sendable]) {
        if !history.released.isEmpty {
            released.append(history.released)
            history.released = []
        }
        if !released.isEmpty { swap(&taken, &released) }
    }
}
