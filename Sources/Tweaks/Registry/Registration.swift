// Registers tweaks and actions; a repeated path returns the same tweak, reports a conflict, or throws.

extension TweakRegistry {
    /// Declares a tweak; an invalid declaration is a programmer error and stops the program.
    @_semantics("optimize.sil.specialize.generic.never")
    func declared<Value>(
        _ category: String, _ collection: String, _ name: String, _ defaultValue: Value, _ shape: TweakShape<Value>,
        _ source: TweakSource, _ role: TemplateRole? = nil
    ) -> Tweak<Value> {
        do {
            return try declare(TweakPath(category, collection, name), defaultValue, shape, source, role)
        } catch {
            fatalError("Tweaks: \(source): \(error)")
        }
    }

    /// Registers a tweak, or finds the one with this path.
    @_semantics("optimize.sil.specialize.generic.never")
    func declare<Value>(
        _ path: TweakPath, _ defaultValue: Value, _ shape: TweakShape<Value>, _ source: TweakSource,
        _ role: TemplateRole? = nil
    ) throws(TweakError) -> Tweak<Value> {
        let isText = Value.tweakFormat != nil
        let (defaultValue, shape) = isText ? (defaultValue.asWritten, shape.asWritten) : (defaultValue, shape)
        let reused = callSites.reusableCell(path, Value.self)
        let core = TypedCore(defaultValue, choices: shape.choices ?? [], relative: shape.relative, cell: reused)
        let definition = try shape.definition(default: defaultValue, path: path)
        let erased = core.erase(defaultValue)
        let prepared = Prepared(value: erased, typed: try check(erased, definition, core, path))
        let formerly = try shape.info.formerly.map { former throws(TweakError) in [try TweakPath(former)] } ?? []
        let node = register(path, source) { slot, sequence in
            TweakNode(
                path: path, definition: definition, source: source, formerly: formerly, slot: slot,
                sequence: sequence, declaredAt: currentTime, role: role, content: .value(core, default: prepared))
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

    func register(
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
        let node = state.withLock { state -> TweakNode? in
            if let known = state.node(path) { return known }
            return state.pending.isEmpty && state.claims.isEmpty ? state.add(make) : nil
        }
        return node ?? registerPending(path, make)
    }

    private func mismatch(_ node: TweakNode, _ wanted: String, _ source: TweakSource) -> TweakError {
        TweakError(
            .conflict,
            "\(node.path.token) is declared at \(source) as \(wanted), but at \(node.source) as another type "
                + "(kind \(node.definition.kind.rawValue)); give one of them another name",
            path: node.path)
    }

    /// Compares two declarations of a path. With a closed list any Swift type becomes a choice, so the kinds may differ
    /// although the types are the same.
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

    /// Validates the default like any other value.
    /// - Returns: The default in the form that the cell stores.
    @_semantics("optimize.sil.specialize.generic.never")
    private func check<Value>(
        _ erased: TweakValue, _ definition: TweakDefinition, _ core: TypedCore<Value>, _ path: TweakPath
    ) throws(TweakError) -> TypedValue {
        let validated: ValidatedValue
        do {
            validated = try definition.validate(erased, for: path, policy: .reject)
        } catch {
            let text = "the default of \(error.message); change the default or what is allowed"
            throw TweakError(error.code, text, path: path)
        }
        guard let typed = core.typed(core.defaultValue), let prepared = core.prepare(validated.value),
            prepared.typed.value(as: Value.self) == core.defaultValue
        else {
            throw TweakError(
                .badValue,
                "the default of \(path.token) cannot be stored exactly as \(definition.kind.rawValue); "
                    + "integers have 64 bits, durations a resolution of 1 ns, and the init?(_:) of an own type "
                    + "must return the same value for its erased value", path: path)
        }
        return typed
    }
}

extension TweakStorable {
    /// The value that this one's text makes: a date to the millisecond, `Locale.autoupdatingCurrent` as the locale of now.
    fileprivate var asWritten: Self { Self.tweakTyped(tweakErased) ?? self }
}

extension TweakShape {
    /// With the choices that their texts make, so that a default which is one of them stays it.
    fileprivate var asWritten: Self {
        var shape = self
        shape.choices = choices?.map { TweakChoice($0.value.asWritten, name: $0.name, label: $0.label) }
        return shape
    }
}
