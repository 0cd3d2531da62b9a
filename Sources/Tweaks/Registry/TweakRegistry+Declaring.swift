// Registration: the same path again is the same tweak, or a conflict, or a programmer's error.

import Synchronization

/// What a declaration says beyond path and default; each public declaration form fills one of these.
@usableFromInline
struct TweakShape<Value: TweakConvertible>: Sendable {
    var lower: Value?
    var upper: Value?
    var step: Value?
    var scale: TweakScale = .linear
    var choices: [TweakChoice<Value>] = []
    var maxLength: Int?
    var validate: (@Sendable (String) -> String?)?
    var policy: TweakPolicy = .reject
    var unit: String?
    var help: String?
    /// The path that it had in earlier versions of the program.
    var formerly: String?
    var flags: TweakFlags = []
}

extension TweakRegistry {
    /// Registers a tweak, or finds the one with this path.
    func declare<Value: TweakConvertible>(
        _ path: TweakPath, _ defaultValue: Value, _ shape: TweakShape<Value>, _ source: TweakSource
    ) throws(TweakError) -> Tweak<Value> {
        let spare = callSites.spareCell(path, Value.self)
        let core = TypedCore(defaultValue, choices: shape.choices, cell: spare)
        let definition = try shape.definition(defaultValue: defaultValue, path: path)
        let erased = core.erase(defaultValue)
        let prepared = Prepared(value: erased, typed: try check(erased, definition, core, path))
        let formerly = try shape.formerly.map { former throws(TweakError) in [try TweakPath(former)] } ?? []
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

extension TweakShape {
    /// The facts without types, checked for sense.
    func definition(defaultValue: Value, path: TweakPath) throws(TweakError) -> TweakDefinition {
        try self.definition(defaultValue.erased.kind, default: defaultValue.erased, path: path)
    }

    /// The same for a value that may have no default.
    func definition(
        _ kind: TweakKind, default standard: TweakValue? = nil, path: TweakPath
    ) throws(TweakError) -> TweakDefinition {
        let choices = choices.isEmpty ? Value.tweakChoices : choices
        let kind = choices.isEmpty ? kind : .choice
        try check(kind, path)
        let definition = TweakDefinition(
            kind: kind, limits: try limits(kind, standard, path), scale: scale,
            choices: choices.map { TweakChoice($0.name, name: $0.name, label: $0.label) }, maxLength: maxLength,
            validate: validate, policy: policy, unit: unit, help: help, flags: flags)
        try definition.checkTexts(path)
        return definition
    }

    /// Refuses what values of this kind do not have.
    private func check(_ kind: TweakKind, _ path: TweakPath) throws(TweakError) {
        let remark: String? =
            if step != nil, ![.int, .number, .duration].contains(kind) {
                "a step is for numbers and durations, and this is \(kind.phrase)"
            } else if maxLength != nil || validate != nil, kind != .string {
                "maxLength and validate are for text, and this is \(kind.phrase)"
            } else if scale != .linear, lower == nil || upper == nil {
                "a logarithmic scale needs a range with both bounds"
            } else {
                nil
            }
        if let remark { throw TweakError(.usage, "\(path.token): \(remark)", path: path) }
    }

    private func limits(
        _ kind: TweakKind, _ standard: TweakValue?, _ path: TweakPath
    ) throws(TweakError) -> TweakLimits {
        let type = Value.tweakTypeBounds
        let lower = lower?.erased ?? type.lower
        let upper = upper?.erased ?? type.upper
        for case let bound? in [lower, upper, step?.erased] where bound.whole == nil && bound.real == nil {
            throw TweakError(.usage, "\(path.token): bounds and step must be whole nanoseconds in 64 bits", path: path)
        }
        if lower == nil, upper == nil, step == nil { return .none }
        // What is refused for its step would tell what a secret is counted from.
        let step = flags.contains(.secret) ? nil : step?.erased
        let standard = step == nil ? nil : standard
        let limits: TweakLimits =
            switch kind {
            case .int, .duration:
                .whole(lower: lower?.whole, upper: upper?.whole, step: step?.whole, default: standard?.whole)
            case .number: .real(lower: lower?.real, upper: upper?.real, step: step?.real, default: standard?.real)
            default: .none
            }
        try limits.check(path)
        return limits
    }
}

extension TweakLimits {
    fileprivate func check(_ path: TweakPath) throws(TweakError) {
        switch self {
        case .none: return
        case .whole(_, _, let step, _):
            if let step, step <= 0 { throw TweakError(.usage, "\(path.token): a step must be above 0", path: path) }
        case .real(let lower, let upper, let step, _):
            let isFinite = [lower, upper, step].allSatisfy { $0?.isFinite ?? true }
            if !isFinite || step.map({ $0 <= 0 }) == true {
                throw TweakError(.usage, "\(path.token): bounds must be finite, a step above 0", path: path)
            }
        }
    }
}

extension TweakDefinition {
    func checkTexts(_ path: TweakPath) throws(TweakError) {
        if let scalar = path.joined.invisibleScalar {
            throw TweakError(
                .usage,
                "the name \(Quoting.excerpt(path.joined)) holds \(scalar.codePoint), which does not show; take it out",
                path: path)
        }
        let texts = [unit, help] + choices.flatMap { [$0.name, $0.label] }
        for case let text? in texts where !Quoting.isSafe(text) {
            throw TweakError(
                .usage,
                "\(path.token): \(Quoting.excerpt(text)) holds control or bidirectional characters; "
                    + "names, units, choices and help must not", path: path)
        }
        if Set(choices.map(\.name)).count < choices.count {
            throw TweakError(.usage, "\(path.token): two choices have the same name", path: path)
        }
    }
}

extension TweakValue {
    fileprivate var real: Double? {
        if case .number(let value) = self { value } else { nil }
    }
}
