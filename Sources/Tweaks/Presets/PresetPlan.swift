// What a preset says, judged against the tweaks that there are: what it would set, and everything that is in its way.

/// A preset's lines, judged. Makes no change; the batch that comes of it goes the way of all others.
package struct PresetPlan: Sendable {
    private struct Step: Sendable {
        let node: TweakNode
        let change: TweakBatch.Change
    }

    private var steps: [Step] = []
    /// Lines that cannot be taken, in order.
    package private(set) var problems: [ConfigProblem]
    /// Overridden tweaks that no line names, in the order of all listings, with their values. Secrets are not among
    /// them: no preset holds one, and none takes one away.
    package private(set) var lacking: [(node: TweakNode, value: TweakValue)] = []
    /// The same that may not be reset by who asks.
    package private(set) var untouchable: [(node: TweakNode, value: TweakValue)] = []
    private var lines: [ObjectIdentifier: Int] = [:]
    private var unknown = 0

    /// Judges; the program's own checks may run here, so never under a lock, nor on a thread that others wait for.
    /// - Parameter view: What somebody sees of the registry: he is told of nothing else, and changes nothing else.
    package init(_ preset: Preset, _ view: TweakView) {
        let preset = preset.seen(in: view)
        problems = preset.problems
        for entry in preset.entries {
            do throws(TweakError) {
                try add(entry, view)
            } catch {
                problems.append(ConfigProblem(line: entry.line, error: error))
            }
        }
        problems.sort { $0.line < $1.line }
        findLacking(view)
    }

    private mutating func add(_ entry: ConfigEntry, _ view: TweakView) throws(TweakError) {
        guard let node = view.node(orFormerly: entry.path) else { throw notThere(entry.path, view) }
        let first = lines[ObjectIdentifier(node)]
        lines[ObjectIdentifier(node)] = first ?? entry.line
        if !view.rights.allows(.write, node.path) { throw view.rights.denied(.write, node.path) }
        let (prepared, adjustment) = try node.preparePreset(entry.text)
        if let first {
            throw TweakError(
                .conflict, "\(node.path.token) is assigned in line \(first) already; keep one of them",
                path: node.path)
        }
        steps.append(Step(node: node, change: .judged(prepared, adjustment)))
    }

    /// Looking for what may have been meant compares with everything there is, so not for each of very many.
    private mutating func notThere(_ path: String, _ view: TweakView) -> TweakError {
        unknown += 1
        if unknown <= 20 { return view.unknown(path) }
        return TweakError(.unknownTweak, "there is no tweak \(Quoting.excerpt(path)); see ls or find")
    }

    private mutating func findLacking(_ view: TweakView) {
        let snapshot = view.registry.snapshot()
        for node in view.listing.nodes where !node.isSecret && snapshot.isOverridden(node) {
            guard lines[ObjectIdentifier(node)] == nil, let value = snapshot.value(of: node) else { continue }
            if view.rights.allows(.write, node.path) {
                lacking.append((node, value))
            } else {
                untouchable.append((node, value))
            }
        }
    }

    /// The changes that the good lines ask for.
    /// - Parameter only: Also resets what no line names.
    package func batch(only: Bool) -> (batch: TweakBatch, nodes: [TweakNode]) {
        let resets = only ? lacking.map { Step(node: $0.node, change: .reset) } : []
        var batch = TweakBatch()
        let all = (steps + resets).sorted { TweakListing.precedes($0.node, $1.node) }
        for step in all { batch.append(step.node, step.change) }
        return (batch, all.map(\.node))
    }
}

extension TweakNode {
    /// The value of a preset's line, judged as any other.
    func preparePreset(_ text: String) throws(TweakError) -> (prepared: Prepared, adjustment: TweakAdjustment) {
        if !isSettable { throw notSettable }
        if isSecret {
            throw TweakError(
                .badValue, "\(path.token) is a secret, and presets hold none; take the line out, and set it by hand",
                path: path)
        }
        return try prepare(try read(text, from: .file))
    }
}
