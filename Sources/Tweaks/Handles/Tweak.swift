// The handle that a program declares, reads and sets.

/// A declared value that people can change while the program runs.
///
/// Declare it once, as a `static let`; read it anywhere, on any thread: a read costs about as much as one of a plain
/// variable.
///
/// ```swift
/// enum Look {
///     static let size = Tweak("Content", "Text", "Size", 60.0, in: 10...100, step: 0.5, unit: "pt")
/// }
/// draw(at: Look.size.value)
/// ```
///
/// Or as a property: the wrapped value is the value, `$size` is the handle.
///
/// ```swift
/// struct Look { @Tweak("Content", "Text", "Size", in: 10...100) var size = 60.0 }
/// ```
@frozen
@propertyWrapper
public struct Tweak<Value: TweakStorable>: Sendable {
    // With the trait `Frozen` it is its default; see Tweak+Frozen.swift.
    #if Frozen
        @usableFromInline let constant: Value
        @usableFromInline let declaration: FrozenDeclaration<Value>
    #else
        @usableFromInline let cell: Value.TweakStorage
        @usableFromInline let node: TweakNode
        @usableFromInline let registry: TweakRegistry

        @usableFromInline
        init(cell: Value.TweakStorage, node: TweakNode, registry: TweakRegistry) {
            self.cell = cell
            self.node = node
            self.registry = registry
        }
    #endif

    /// The current value. Reading never blocks on anything but a very short lock for strings.
    ///
    /// Setting it sets the override, as code: beyond the range it is clamped, off-step it becomes the nearest step.
    /// What cannot be mended that way (NaN, a text that its check refuses, a frozen process) changes nothing: use
    /// ``set(_:)`` to be told. Observers have run when it returns.
    @inlinable
    public var value: Value {
        get { load() }
        nonmutating set { assign(newValue) }
    }

    /// The same as ``value``.
    @inlinable
    public var wrappedValue: Value {
        get { load() }
        nonmutating set { assign(newValue) }
    }

    /// The handle itself.
    public var projectedValue: Tweak<Value> { self }

    /// Sets the override, as code.
    ///
    /// Observers have run on this thread when it returns, unless another thread is just running them: then that one
    /// carries the newest value on. A figure (`readOnly`) is published instead.
    /// - Returns: What happened: old and new value, whether it was clamped or snapped, the revision.
    /// - Throws: ``TweakError`` with `out-of-range`, `bad-value`, `not-a-choice`, `read-only` or, when the tweak was
    ///   removed, `unknown-tweak`. Then nothing has changed.
    @discardableResult
    @_specialize(where Value == Double)
    @_specialize(where Value == Int)
    @_specialize(where Value == Bool)
    public func set(_ value: Value) throws(TweakError) -> TweakOutcome {
        try registry.change(node, .set(erase(value)))
    }

    /// Sets the temporary override: after a while what lies beneath shows again, also after a restart.
    ///
    /// ```swift
    /// try Page.width.set(1_200, for: .seconds(600))
    /// ```
    /// - Parameters:
    ///   - value: The value that shows meanwhile.
    ///   - lifetime: More than nothing and up to a year.
    /// - Throws: ``TweakError`` as ``set(_:)``; `out-of-range` for another lifetime.
    @discardableResult
    public func set(_ value: Value, for lifetime: Duration) throws(TweakError) -> TweakOutcome {
        try registry.change(node, .set(erase(value)), for: lifetime)
    }

    /// Makes the temporary override the override, which stays.
    /// - Throws: ``TweakError`` with code `conflict` when there is none.
    @discardableResult
    public func keep() throws(TweakError) -> TweakOutcome {
        try registry.change(node, .keep)
    }

    /// What remains of the temporary override; nil without one.
    public var timeLeft: Duration? { registry.timeLeft(node) }

    /// Removes the override: what lies beneath shows again. A tweak that is gone stays as it is.
    /// - Returns: What happened; nil when the tweak was removed, is a figure, or the process is frozen.
    @discardableResult
    public func reset() -> TweakOutcome? {
        try? registry.change(node, .reset)
    }

    /// The step between values, counted from the lower bound, or from the default where there is none. The default and the
    /// upper bound need not be on one. Nil for points and lists: see ``AnyTweak/step``.
    public var step: Value? { node.definition.step.flatMap { Value.tweakTyped($0) } }

    /// How clients lay out the range on a slider.
    public var scale: TweakScale { node.definition.scale }

    /// The values to choose from; empty where any is allowed.
    public var choices: [TweakChoice<Value>] {
        guard let core, core.choices.isEmpty else { return core?.choices ?? [] }
        return Value.tweakChoices
    }

    /// Category, collection and name.
    public var path: TweakPath { node.path }

    /// Whether the current value differs from the default; never for a figure.
    public var isModified: Bool { erased.isModified }

    /// The handle without its type, with layers, bounds and everything else that listings show.
    public var erased: AnyTweak { AnyTweak(node: node, registry: registry) }

    var core: TypedCore<Value>? {
        node.core as? TypedCore<Value>
    }

    /// A value of this tweak without its type.
    func erase(_ value: Value) -> TweakValue {
        // Asked first: what casts and existentials cost is much beside a set of a number.
        if node.definition.kind != .choice { return value.tweakErased }
        return core?.erase(value) ?? value.tweakErased
    }
}

extension Tweak where Value: TweakBounded {
    /// The values accepted; nil where there is no limit.
    public var range: TweakRange<Value>? {
        guard let (lower, upper) = node.definition.bounds, lower != nil || upper != nil else { return nil }
        return TweakRange(lowerBound: lower.flatMap { Value($0) }, upperBound: upper.flatMap { Value($0) })
    }
}

#if !Frozen
    extension Tweak {
        /// What the code says.
        public var defaultValue: Value { core?.defaultValue ?? load() }

        @inlinable
        func load() -> Value { cell.load() }

        @usableFromInline
        func assign(_ value: Value) {
            // The setter promises silence; `set` is the one that tells.
            _ = try? registry.change(node, .set(erase(value)), policy: .snap)
        }
    }
#endif
