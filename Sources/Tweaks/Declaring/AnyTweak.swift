// Provides a type-erased handle of a tweak or action, for listings and tools.

import Synchronization

/// A type-erased tweak or action of a registry.
public struct AnyTweak: Sendable {
    package let node: TweakNode
    package let registry: TweakRegistry

    /// Category, collection and name.
    public var path: TweakPath { node.path }
    /// The kind of its value, or `.action`.
    public var kind: TweakKind { node.definition.kind }
    /// The current value; nil for an action.
    public var value: TweakValue? { registry.current(node) }
    /// The default from the declaration; nil for an action.
    public var defaultValue: TweakValue? { node.defaultValue }
    /// Its purpose, in one line.
    public var help: String? { node.definition.help }
    /// The unit of its number, `pt` or `requests/s`.
    public var unit: String? { node.definition.unit }
    /// The format of its text, or of the texts in its list or optional; nil for any text, and for other kinds.
    public var format: TweakFormat? { node.definition.shownFormat }
    /// Whether it is secret, is read-only, or needs a restart.
    public var flags: TweakFlags { node.definition.flags }
    /// How values from outside that break range or step are handled.
    public var policy: TweakPolicy { node.definition.policy }
    /// The smallest value; nil without a lower bound.
    public var lowerBound: TweakValue? { node.definition.bounds?.lower }
    /// The largest value; nil without an upper bound.
    public var upperBound: TweakValue? { node.definition.bounds?.upper }
    /// The distance between values, counted from the lower bound, or from the default without one; nil without a step.
    /// The default and the upper bound need not be on a step.
    public var step: TweakValue? { node.definition.step }
    /// How clients lay out the range on a slider.
    public var scale: TweakScale { node.definition.scale }
    /// The values of a choice, each with its name and its display label.
    public var choices: [TweakChoice<String>] { node.definition.choices }
    /// The source location of its declaration.
    public var source: TweakSource { node.source }
    /// Whether the current value differs from the default; false for a figure.
    public var isModified: Bool { !flags.contains(.readOnly) && value != defaultValue }

    /// All layers that are present, lowest first; the last one has the current value. Empty for an action.
    public var layers: [TweakLayerValue] { registry.layers(node) }

    /// Sets the override with the origin `code`, on any thread; observers have run when it returns, as described at
    /// ``Tweak/set(_:)``.
    /// - Parameter value: A value of the tweak's ``kind``; an `.int` is accepted for a number.
    /// - Throws: ``TweakError`` with `bad-value` for another kind, `out-of-range`, `not-a-choice`, `read-only` or
    ///   `unknown-tweak`; then nothing has changed.
    @discardableResult
    public func set(_ value: TweakValue) throws(TweakError) -> TweakOutcome {
        try registry.change(node, .set(value))
    }

    /// Sets the temporary override. When it expires, the next layer applies; the expiry survives a restart.
    /// - Parameters:
    ///   - value: The temporary value.
    ///   - lifetime: More than zero and at most one year.
    /// - Throws: ``TweakError`` as ``set(_:)``; `out-of-range` for another lifetime. Then nothing has changed.
    @discardableResult
    public func set(_ value: TweakValue, for lifetime: Duration) throws(TweakError) -> TweakOutcome {
        try registry.change(node, .set(value), for: lifetime)
    }

    /// Makes the temporary override permanent.
    /// - Throws: ``TweakError`` with code `conflict` if there is none.
    @discardableResult
    public func keep() throws(TweakError) -> TweakOutcome {
        try registry.change(node, .keep)
    }

    /// The remaining time of the temporary override; nil without one.
    public var timeLeft: Duration? { registry.timeLeft(node) }

    /// Sets the override from text in the protocol's syntax, without quotes around strings: `72`, `250ms`, `#FF8800`.
    /// - Throws: ``TweakError`` as ``set(_:)``; `bad-value` for a text that the kind does not parse. Then nothing has
    ///   changed.
    @discardableResult
    public func set(text: String) throws(TweakError) -> TweakOutcome {
        try set(node.read(text, from: .file))
    }

    /// Removes the override: the next layer applies.
    /// - Throws: ``TweakError`` for an action or a figure, for a tweak that was removed, and in a frozen process.
    @discardableResult
    public func reset() throws(TweakError) -> TweakOutcome {
        try registry.change(node, .reset)
    }

    /// Runs an action once and returns its text.
    /// - Throws: ``TweakError``: `not-an-action`, `unknown-tweak` if it was removed, an error for invalid arguments,
    ///   `busy`, `timeout` or `action-failed`.
    public func run(_ arguments: [String] = []) async throws(TweakError) -> String {
        try await run(arguments, on: nil)
    }

    /// Runs an action once; its body and its timeout run on the given executor.
    package func run(_ arguments: [String], on executor: (any TaskExecutor)?) async throws(TweakError) -> String {
        guard let runner = node.runner else { throw notAnAction }
        if !registry.state.withLock({ $0.holds(node) }) { throw node.notRegistered }
        let arguments = try runner.signature?.check(arguments) ?? TweakArguments(arguments)
        return try await runner.run(arguments, path: path, on: executor)
    }

    package var notAnAction: TweakError {
        TweakError(
            .notAnAction, "\(path.token) is \(kind.phrase), not an action; see get \(path.token)", path: path)
    }
}

extension AnyTweak: CustomStringConvertible {
    /// `Content/Text/Size = 72`, `Player/Audio/Mute = (action)`; for a secret only whether it is set.
    public var description: String { "\(path.token) = \(value.map { node.shown($0).text } ?? "(action)")" }
}

extension TweakRegistry {
    /// Changes one tweak on behalf of the program.
    func change(
        _ node: TweakNode, _ change: TweakBatch.Change, for lifetime: Duration? = nil, policy: TweakPolicy? = nil
    ) throws(TweakError) -> TweakOutcome {
        #if Frozen
            return try node.unchanged(by: change)
        #else
            if node.definition.flags.contains(.readOnly), case .set(let value) = change {
                return try publish(node, value)
            }
            return try commit(node, change, for: lifetime, origin: .code, policy: policy, delivery: .caller)
        #endif
    }
}
