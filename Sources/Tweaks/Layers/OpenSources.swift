// Opens the sources of a daemon: claims their layers, loads, starts and stops them, and asks them for values.

import Synchronization

/// The sources of one daemon, from the claim of their layers to the stop.
package final class OpenSources: Sendable {
    private struct Opened: Sendable {
        let source: any TweakValueSource
        let claim: LayerClaim
        let sink: TweakSourceSink
    }

    private let registry: TweakRegistry
    private let opened: [Opened]
    private let isStopped = Atomic(false)

    /// Claims the layers, and applies the values that the sources have already.
    /// - Throws: Why a layer cannot be claimed; then no layer is.
    package init(
        _ sources: [any TweakValueSource], of registry: TweakRegistry, _ setting: SourceSetting
    ) throws(TweakError) {
        self.registry = registry
        opened = try registry.claimLayers(of: sources).map { claim in
            Opened(source: claim.source, claim: claim, sink: TweakSourceSink(claim, registry, setting))
        }
        for one in opened {
            one.source.load(one.sink)
            one.claim.isLoaded.store(true, ordering: .releasing)
            registry.askForRegistered(one.claim)
            one.sink.endLoading()
        }
    }

    package var isEmpty: Bool { opened.isEmpty }

    /// Starts to follow the sources.
    /// - Throws: Why one of them does not start; the caller stops all.
    package func start() throws(TweakError) {
        for one in opened {
            do {
                try one.source.start(one.sink)
            } catch {
                let reason = (error as? TweakError)?.message ?? "\(error)"
                throw TweakError(.io, "the source of the layer \(one.claim.layer) does not start: \(reason)")
            }
        }
    }

    /// Asks the sources to look for changes now.
    package func reload() {
        for one in opened where !isStopped.load(ordering: .acquiring) { one.source.reload() }
    }

    /// Tells the sources that the program ends by an error, before they are stopped.
    package func noteFailure() {
        for one in opened { one.sink.noteFailure() }
    }

    /// Stops the sources, and releases their layers. A second call does nothing.
    package func stop() {
        if isStopped.exchange(true, ordering: .acquiringAndReleasing) { return }
        for one in opened {
            one.source.stop()
            registry.release(one.claim)
        }
    }

    /// What `stats` says of the sources; each name begins with that of the layer.
    package var status: [(name: String, value: TweakValue?)] {
        opened.flatMap { one in
            one.source.status.map { (Self.key(one.claim.layer, $0.name), $0.value) }
        }
    }

    /// `featureServiceState` for `state` of the layer `feature service`.
    private static func key(_ layer: TweakLayer, _ name: String) -> String {
        let words = layer.name.split(separator: " ") + (name.isEmpty ? [] : [name[...]])
        let first = words.first.map { String($0) } ?? ""
        return Quoting.sanitized(first + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined())
    }
}

/// A layer that one open source has: the registry asks it for values, and takes them from it alone.
package final class LayerClaim: Sendable {
    let layer: TweakLayer
    let source: any TweakValueSource

    /// Whether the source is loaded, and can be asked.
    fileprivate let isLoaded = Atomic(false)

    fileprivate init(_ source: any TweakValueSource) {
        layer = source.layer
        self.source = source
    }

    /// The type of the source, for errors.
    fileprivate var typeName: String { String(describing: type(of: source)) }

    /// The value that the source has for a tweak under the first of these paths that it knows.
    fileprivate func entry(_ paths: [TweakPath], of tweak: AnyTweak) -> StoredEntry? {
        for path in paths {
            if let entry = source.entry(for: path, of: tweak) {
                return entry.stored(path, layer, at: tweak.registry.currentTime)
            }
        }
        return nil
    }
}

extension TweakRegistry {
    /// Claims the layers of sources, all or none.
    /// - Throws: `bad-value`, `out-of-range` or `conflict` for a name or rank that a source cannot have.
    fileprivate func claimLayers(of sources: [any TweakValueSource]) throws(TweakError) -> [LayerClaim] {
        let claims = sources.map { LayerClaim($0) }
        try state.withLock { state throws(TweakError) in try state.add(claims) }
        return claims
    }

    /// Ends a claim: what its source says afterwards changes nothing. Its values stay.
    fileprivate func release(_ claim: LayerClaim) {
        state.withLock { state in state.claims.removeAll { $0 === claim } }
    }

    /// Asks a source for the values of the tweaks that are registered already.
    fileprivate func askForRegistered(_ claim: LayerClaim) {
        // A source that changes its mind while it is asked, as the environment does, is asked again.
        for round in 1...Self.rounds {
            let (nodes, generation) = state.withLock { state in
                let nodes = state.nodes.compactMap { $0 }
                return (nodes.map { (node: $0, paths: state.askedPaths($0)) }, state.pendingGeneration)
            }
            var values: [TweakPath: StoredEntry] = [:]
            for (node, paths) in nodes {
                values[node.path] = claim.entry(paths, of: AnyTweak(node: node, registry: self))
            }
            if values.isEmpty { return }
            let difference = update(
                claim.layer, to: values, changed: Set(values.keys), by: claim,
                since: round < Self.rounds ? generation : nil, isStart: true, delivery: .executor)
            if !difference.isIgnored { return }
        }
    }

    /// How often sources are asked for one registration, at most.
    static var rounds: Int { 8 }

    /// The values that sources have for a tweak when they are asked: under its path, or else a former one.
    func askSources(_ node: TweakNode) -> [(layer: LayerIndex, entry: StoredEntry)] {
        let (claims, paths) = state.withLock { state in
            let claims = state.claims.compactMap { claim in state.layers.index(of: claim.layer).map { ($0, claim) } }
            return (claims, claims.isEmpty ? [] : state.askedPaths(node))
        }
        return claims.compactMap { index, claim in
            guard claim.isLoaded.load(ordering: .acquiring) else { return nil }
            return claim.entry(paths, of: AnyTweak(node: node, registry: self)).map { (index, $0) }
        }
    }
}

extension RegistryState {
    /// The paths for which a tweak takes values: its own, and former ones that no other tweak has.
    fileprivate func askedPaths(_ node: TweakNode) -> [TweakPath] {
        [node.path] + node.formerly.filter { self.node($0) == nil }
    }

    fileprivate mutating func add(_ added: [LayerClaim]) throws(TweakError) {
        var table = layers
        var all = claims
        for claim in added {
            if let other = all.first(where: { $0.layer == claim.layer }) {
                throw TweakError(
                    .conflict,
                    "the sources \(other.typeName) and \(claim.typeName) have the same layer, \(claim.layer); leave one "
                        + "out, or give each a layer of its own")
            }
            _ = try table.add(claim.layer)
            all.append(claim)
        }
        layers = table
        claims = all
        // A registration that has not asked them begins anew.
        pendingGeneration += 1
    }
}
