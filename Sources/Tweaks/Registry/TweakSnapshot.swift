// Provides a consistent, immutable view of all values at one revision.

import Synchronization

/// All tweaks of a registry at one time; it contains each commit completely or not at all.
///
/// Taking one copies no values; the first write afterwards copies two arrays once.
///
/// ```swift
/// let snapshot = registry.snapshot()
/// let (width, height) = (snapshot[Page.width], snapshot[Page.height])
/// ```
public struct TweakSnapshot: Sendable {
    /// The revision it shows.
    public let revision: UInt64
    /// The last record of the stream that it contains; changes with a higher sequence are newer than the snapshot.
    package let sequence: UInt64
    let nodes: [TweakNode?]
    let overlays: [Overlays]
    let index: PathIndex
    fileprivate let layers: LayerTable
    /// The values that a preview shows in place of these; nil without one.
    fileprivate var preview: TweakPreview?
    /// The size in bytes of all texts that were set at run time.
    let textBytes: Int

    /// The value of a tweak; the default of one that was registered later.
    public subscript<Value>(tweak: Tweak<Value>) -> Value {
        shown(tweak.node)?.typed.value(as: Value.self) ?? tweak.defaultValue
    }

    /// The value of a group at that time; parts that were registered later have their defaults.
    public subscript<Template>(group: TweakGroup<Template>) -> Template {
        let reader = group.core.reader
        return reader.template(
            of: reader.nodes.compactMap { shown($0) ?? $0.defaultPrepared })
    }

    /// The value of a tweak; the default of one that was registered later, nil for an action.
    public subscript(tweak: AnyTweak) -> TweakValue? { value(of: tweak.node) }

    /// The values of all tweaks that a pattern matches, in the order of listings; see ``TweakRegistry/tweaks(matching:)``.
    /// Actions have none.
    public func values(matching pattern: String) -> [(path: TweakPath, value: TweakValue)] {
        TweakListing(nodes, generation: 0).nodes(named: pattern).compactMap { node in
            value(of: node).map { (node.path, $0) }
        }
    }

    /// The value of the tweak with this path; nil if there is none, and for actions.
    public subscript(path: String) -> TweakValue? {
        guard let slot = path.withBytes({ index.find($0, in: nodes) }), let node = nodes[slot] else { return nil }
        return value(of: node)
    }

    /// The value of a node; nil for an action.
    package func value(of node: TweakNode) -> TweakValue? { shown(node)?.value ?? node.defaultValue }

    /// The value above the default that the program reads; nil without one.
    private func shown(_ node: TweakNode) -> Prepared? {
        holds(node) ? preview?[node] ?? overlays[node.slot].top : nil
    }

    /// The value that is set, which a preview may hide; nil for an action.
    package func settled(_ node: TweakNode) -> TweakValue? {
        (holds(node) ? overlays[node.slot].top?.value : nil) ?? node.defaultValue
    }

    /// The same snapshot without the preview: what is set.
    package var settled: TweakSnapshot {
        var settled = self
        settled.preview = nil
        return settled
    }

    /// Whose preview a node is in; nil if it is in none.
    package func preview(of node: TweakNode) -> TweakOrigin? {
        holds(node) && preview?[node] != nil ? preview?.origin : nil
    }

    /// When the value of a node expires; nil if it does not.
    package func expires(_ node: TweakNode) -> Moment? {
        holds(node) ? overlays[node.slot].end : nil
    }

    /// The layer and the origin of a node's value; nil for the default.
    package func source(of node: TweakNode) -> (layer: TweakLayer, origin: TweakOrigin)? {
        holds(node) ? overlays[node.slot].source.map { (layers[$0.layer], $0.origin) } : nil
    }

    /// Whether the value of the layers below its override has changed since the override was set.
    package func hasUnderlyingChange(_ node: TweakNode) -> Bool {
        holds(node) && overlays[node.slot].notes?.underlyingChange != nil
    }

    /// Whether the tweak was registered when the snapshot was taken.
    package func holds(_ node: TweakNode) -> Bool {
        nodes.indices.contains(node.slot) && nodes[node.slot] === node
    }

    /// The revision of the last commit that touched a tweak, or what a preview shows of it.
    package func changedAt(_ node: TweakNode) -> UInt64 {
        holds(node) ? max(overlays[node.slot].changedAt, overlays[node.slot].shownAt) : 0
    }

    /// Whether the value differs from the default; false for a figure.
    ///
    /// For a secret, whether there is any layer above the default: a comparison would confirm a guess of the default.
    package func isModified(_ node: TweakNode) -> Bool {
        if node.definition.flags.contains(.readOnly) { return false }
        return node.isSecret ? holds(node) && overlays[node.slot].topLayer != nil : settled(node) != node.defaultValue
    }

    /// Whether a tweak has an override that is its default, so that removing it changes no value: the program has adopted
    /// it since.
    package func isStale(_ node: TweakNode) -> Bool {
        // That a secret is its default must not be revealed.
        guard holds(node), !node.isSecret, node.isSettable, overlays[node.slot].topLayer == .override,
            let standard = node.defaultValue, overlays[node.slot].top?.value == standard
        else { return false }
        return overlays[node.slot].underlying.map { $0.prepared.value == standard } ?? true
    }
}

extension TweakRegistry {
    /// A consistent view of all values, with its revision, taken on any thread under one short lock. Later changes do not
    /// alter it.
    public func snapshot() -> TweakSnapshot {
        state.withLock { state in
            TweakSnapshot(
                revision: state.revision, sequence: state.sequence, nodes: state.nodes, overlays: state.overlays,
                index: state.index, layers: state.layers, preview: state.preview, textBytes: state.textBytes)
        }
    }
}
