// Defines the typed handle with which a program declares, reads and sets a tweak.

/// A declared value that can be changed while the program runs.
///
/// Declare it once, as a `static let`; read it anywhere, on any thread: a read costs about as much as reading a plain
/// variable.
///
/// ```swift
/// enum Look {
///     static let size = Tweak("Content", "Text", "Size", 60.0, in: 10...100, step: 0.5, unit: "pt")
/// }
/// draw(at: Look.size.value)
/// ```
///
/// Or as a property: the wrapped value is the value, `$size` is the handle. This tweak does not exist until an instance
/// of the structure does.
///
/// ```swift
/// struct Look { @Tweak("Content", "Text", "Size", in: 10...100) var size = 60.0 }
/// ```
@frozen
@propertyWrapper
public struct Tweak<Value: TweakStorable>: Sendable {
    // With the trait `Frozen` it only stores its default; see Frozen.swift.
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

    /// The current value. Reading never blocks, except on a very short lock for strings.
    ///
    /// Setting it sets the override with the origin `code`: a value beyond the range is clamped, one off a step becomes
    /// the nearest step. A value that cannot be corrected (NaN, a text that the validator refuses, a frozen process)
    /// changes nothing: use ``set(_:)`` to get the error. Observers have run when the setter returns.
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

    /// Sets the override with the origin `code`.
    ///
    /// Observers have run on this thread when it returns, unless another thread is just running them: then that thread
    /// delivers the newest value. A figure (`readOnly`) is published instead.
    /// - Returns: The outcome: old and new value, whether it was clamped or snapped, the revision.
    /// - Throws: ``TweakError`` with `out-of-range`, `bad-value`, `not-a-choice`, `read-only` or, if the tweak was
    ///   removed, `unknown-tweak`. Then nothing has changed.
    @discardableResult
    @_specialize(where Value == Double)
    @_specialize(where Value == Int)
    @_specialize(where Value == Bool)
    public func set(_ value: Value) throws(TweakError) -> TweakOutcome {
        try registry.change(node, .set(erase(value)))
    }

    /// Sets the temporary override. When it expires, the next layer applies; the expiry survives a restart.
    ///
    /// ```swift
    /// try Page.width.set(1_200, for: .seconds(600))
    /// ```
    /// - Parameters:
    ///   - value: The temporary value.
    ///   - lifetime: More than zero and at most one year.
    /// - Throws: ``TweakError`` as ``set(_:)``; `out-of-range` for another lifetime.
    @discardableResult
    public func set(_ value: Value, for lifetime: Duration) throws(TweakError) -> TweakOutcome {
        try registry.change(node, .set(erase(value)), for: lifetime)
    }

    /// Makes the temporary override permanent.
    /// - Throws: ``TweakError`` with code `conflict` if there is none.
    @discardableResult
    public func keep() throws(TweakError) -> TweakOutcome {
        try registry.change(node, .keep)
    }

    /// The remaining time of the temporary override; nil without one.
    public var timeLeft: Duration? { registry.timeLeft(node) }

    /// Removes the override: the next layer applies. Has no effect on a removed tweak.
    /// - Returns: The outcome; nil if the tweak was removed or is a figure, or if the process is frozen.
    @discardableResult
    public func reset() -> TweakOutcome? {
        try? registry.change(node, .reset)
    }

    /// The distance between values, counted from the lower bound, or from the default without one. The default and the
    /// upper bound need not be on a step. Nil for points and lists: see ``AnyTweak/step``.
    public var step: Value? { node.definition.step.flatMap { core?.convert($0) } }

    /// How clients lay out the range on a slider.
    public var scale: TweakScale { node.definition.scale }

    /// The allowed values; empty if any value is allowed.
    public var choices: [TweakChoice<Value>] {
        guard let core, core.choices.isEmpty else { return core?.choices ?? [] }
        return Value.tweakChoices
    }

    /// Category, collection and name.
    public var path: TweakPath { node.path }

    /// Whether the current value differs from the default; false for a figure.
    public var isModified: Bool { erased.isModified }

    /// The type-erased handle, with layers, bounds and everything else that listings show.
    public var erased: AnyTweak { AnyTweak(node: node, registry: registry) }

    var core: TypedCore<Value>? {
        node.core as? TypedCore<Value>
    }

    /// Type-erases a value of this tweak.
    func erase(_ value: Value) -> TweakValue {
        // Fast path: casts and existentials are expensive compared with a set of a number.
        if node.definition.kind != .choice, !node.isRelative { return value.tweakErased }
        return core?.erase(value) ?? value.tweakErased
    }
}

extension Tweak where Value: TweakBounded {
    /// The accepted values; nil without a limit.
    public var range: TweakRange<Value>? {
        guard let (lower, upper) = node.definition.bounds, lower != nil || upper != nil else { return nil }
        return TweakRange(lowerBound: lower.flatMap { Value($0) }, upperBound: upper.flatMap { Value($0) })
    }
}

#if !Frozen
    extension Tweak {
        /// The default from the declaration.
        public var defaultValue: Value { core?.defaultValue ?? load() }

        @inlinable
        func load() -> Value { cell.load() }

        @usableFromInline
        func assign(_ value: Value) {
            // The setter ignores errors by contract; `set` throws them.
            _ = try? registry.change(node, .set(erase(value)), policy: .snap)
        }
    }
#endif
