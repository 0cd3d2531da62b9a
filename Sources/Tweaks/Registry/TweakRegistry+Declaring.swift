// Registration: the same path again is the same tweak, or a conflict, or a programmer's error.

import Synchronization

extension TweakRegistry {
    /// Registers a tweak, or finds the one with this path.
    @_semantics("optimize.sil.specialize.generic.never")
    func declare<Value>(
        _ path: TweakPath, _ defaultValue: Value, _ shape: TweakShape<Value>, _ source: TweakSource
    ) throws(TweakError) -> Tweak<Value> {
        let spare = callSites.spareCell(path, Value.self)
        let core = TypedCore(defaultValue, choices: shape.choices, cell: spare)
        let definition = try shape.definition(default: defaultValue, path: path)
        let erased = core.erase(defaultValue)
        let prepared = Prepared(value: erased, typed: try check(erased, definition, core, path))
        let formerly = try shape.facts.formerly.map { former throws(TweakError) in [try TweakPath(former)] } ?? []
        let node = register(path, source) { slot, sequence in
            TweakNode(
                path: path, definition: definition, source: source, formerly: formerly, slot: slot,
                sequence: sequence, declaredAt: currentTime, content: .value(core, default: prepared))
        }
        guard let known = node.core as? TypedCore<Value>, let knownDefault = node.defaultPrepared else {
            throw mismatch(node, "\(Value.self)", source)
        }
        if known !== core {
            try compare(node, knownDefault.value, definition, erased, source)
        }
        return Tweak(cell: known.cell, node: node, registry: self)
    }

    /// Registers an action, or finds the one with this path.
    func declare(
        _ path: TweakPath, _ runner: ActionRunner, help: String?, flags: TweakFlags, _ source: TweakSource
    ) throws(TweakError) -> TweakNode {
        let definition = TweakDefinition(kind: .action, help: help, flags: flags)
        try definition.checkTexts(path)
        let node = register(path, source) { slot, sequence in
            TweakNode(
                path: path, definition: definition, source: source, slot: slot, sequence: sequence,
                declaredAt: currentTime, content: .action(runner))
        }
        guard let known = node.runner else { throw mismatch(node, "an action", source) }
        if known !== runner, node.source != source {
            report(TweakConflict(path: path, first: node.source, second: source, differences: "another action"))
        }
        return node
    }

    private func register(
        _ path: TweakPath, _ source: TweakSource, _ make: (Int, UInt64) -> TweakNode
    ) -> TweakNode {
        let node = register(path, make)
        if node.path != path {
            let differences = "the name, in another Unicode normalization"
            report(TweakConflict(path: node.path, first: node.source, second: source, differences: differences))
        } else if let other = state.withLock({ $0.lookAlike(of: node) }) {
            let isLater = node.sequence > other.sequence
            report(TweakConflict(isLater ? node : other, looksLike: isLater ? other : node))
        }
        return node
    }

    private func register(_ path: TweakPath, _ make: (Int, UInt64) -> TweakNode) -> TweakNode {
        let isPlain = state.withLock { state -> TweakNode? in
            if let known = state.node(path) { return known }
            return state.held.isEmpty ? state.add(make) : nil
        }
        return isPlain ?? registerHeld(path, make)
    }

    /// Registers a tweak that files may have values for: it has them from its first moment on.
    private func registerHeld(_ path: TweakPath, _ make: (Int, UInt64) -> TweakNode) -> TweakNode {
        // Never in the registry: it judges what is held, outside the lock.
        let trial = make(-1, 0)
        while true {
            let (held, generation) = state.withLock { state in
                (state.heldLayers([path] + trial.formerly, at: currentTime), state.heldGeneration)
            }
            let judged = held.map { JudgedEntry($0.layer, $0.entry, for: trial) }
            var unfit: [(TweakPath, AsideEntry)] = []
            var commit = PendingCommit(nil, .code, currentTime)
            let node = state.withLock { state -> TweakNode? in
                if let known = state.node(path) { return known }
                guard state.heldGeneration == generation else { return nil }
                let node = state.add(make)
                state.install(judged, on: node, &commit)
                state.finish(&commit)
                unfit = state.overlays[node.slot].notes?.aside.map { (path, $0) } ?? []
                return node
            }
            guard let node else { continue }
            deliver(commit, .caller)
            if judged.contains(where: { $0.layer == .temporaryOverride }) { setAlarm() }
            report(unfit)
            return node
        }
    }

    private func mismatch(_ node: TweakNode, _ wanted: String, _ source: TweakSource) -> TweakError {
        TweakError(
            .conflict,
            "\(node.path.token) is declared at \(source) as \(wanted), but at \(node.source) as another type "
                + "(kind \(node.definition.kind.rawValue)); give one of them another name",
            path: node.path)
    }

    /// A closed list makes a choice of any type; so the same Swift type can still be another kind.
    private func compare(
        _ node: TweakNode, _ knownDefault: TweakValue, _ definition: TweakDefinition, _ erased: TweakValue,
        _ source: TweakSource
    ) throws(TweakError) {
        if node.definition.kind != definition.kind {
            throw mismatch(node, "kind \(definition.kind.rawValue)", source)
        }
        if node.definition.agrees(with: definition), knownDefault == erased { return }
        let isSecret = node.definition.flags.union(definition.flags).contains(.secret)
        let differences =
            knownDefault == erased
            ? "range, list or description" : isSecret ? "default" : "default \(knownDefault) and \(erased)"
        report(TweakConflict(path: node.path, first: node.source, second: source, differences: differences))
    }

    /// Checks the default as any value is checked.
    /// - Returns: The default as the cell takes it.
    @_semantics("optimize.sil.specialize.generic.never")
    private func check<Value>(
        _ erased: TweakValue, _ definition: TweakDefinition, _ core: TypedCore<Value>, _ path: TweakPath
    ) throws(TweakError) -> TypedValue {
        let judged: Judged
        do {
            judged = try definition.judge(erased, for: path, policy: .reject)
        } catch {
            throw TweakError(error.code, "the default of \(error.message)", path: path)
        }
        guard let typed = core.typed(core.defaultValue), let prepared = core.prepare(judged.value),
            prepared.typed.value(as: Value.self) == core.defaultValue
        else {
            throw TweakError(
                .badValue,
                "the default of \(path.token) does not survive storing as \(definition.kind.rawValue); "
                    + "integers are held in 64 bits, durations in nanoseconds", path: path)
        }
        return typed
    }
}
