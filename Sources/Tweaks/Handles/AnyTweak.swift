// A tweak or action without its static type, for listings and tools.

import Synchronization

/// A tweak or action of a registry, whatever its type.
public struct AnyTweak: Sendable {
    package let node: TweakNode
    package let registry: TweakRegistry

    /// Category, collection and name.
    public var path: TweakPath { node.path }
    /// What it holds, or `.action`.
    public var kind: TweakKind { node.definition.kind }
    /// The current value; nil for an action.
    public var value: TweakValue? { registry.current(node) }
    /// What the code says; nil for an action.
    public var defaultValue: TweakValue? { node.defaultValue }
    /// What it is for, in a line.
    public var help: String? { node.definition.help }
    /// What its number counts, `pt` or `requests/s`.
    public var unit: String? { node.definition.unit }
    /// Secret, read-only, needs a restart.
    public var flags: TweakFlags { node.definition.flags }
    /// What happens to values from outside that break range or step.
    public var policy: TweakPolicy { node.definition.policy }
    /// The smallest value, where there is one.
    public var lowerBound: TweakValue? { node.definition.bounds?.lower }
    /// The largest value, where there is one.
    public var upperBound: TweakValue? { node.definition.bounds?.upper }
    /// The step between values, where there is one; counted from the lower bound, or else from the default. The default and
    /// the upper bound need not be on one.
    public var step: TweakValue? { node.definition.step }
    /// How clients lay out the range on a slider.
    public var scale: TweakScale { node.definition.scale }
    /// The values of a choice: what is typed, and what people are shown.
    public var choices: [TweakChoice<String>] { node.definition.choices }
    /// Where in the program it is declared.
    public var source: TweakSource { node.source }
    /// Whether the current value differs from the default; never for a figure.
    public var isModified: Bool { !flags.contains(.readOnly) && value != defaultValue }

    /// All layers that are present, lowest first; the last one is the current value. Empty for an action.
    public var layers: [TweakLayerValue] { registry.layers(node) }

    /// Sets the override.
    /// - Throws: ``TweakError``; then nothing changed.
    @discardableResult
    public func set(_ value: TweakValue) throws(TweakError) -> TweakOutcome {
        try registry.change(node, .set(value))
    }

    /// Sets the temporary override: after a while what lies beneath shows again, also after a restart.
    /// - Parameters:
    ///   - value: The value that shows meanwhile.
    ///   - lifetime: More than nothing and up to a year.
    /// - Throws: ``TweakError``; then nothing changed.
    @discardableResult
    public func set(_ value: TweakValue, for lifetime: Duration) throws(TweakError) -> TweakOutcome {
        try registry.change(node, .set(value), for: lifetime)
    }

    /// Makes the temporary override the override, which stays.
    /// - Throws: ``TweakError`` with code `conflict` when there is none.
    @discardableResult
    public func keep() throws(TweakError) -> TweakOutcome {
        try registry.change(node, .keep)
    }

    /// What remains of the temporary override; nil without one.
    public var timeLeft: Duration? { registry.timeLeft(node) }

    /// Sets the override from text as the protocol writes it, without quotes around strings.
    /// - Throws: ``TweakError``; then nothing changed.
    @discardableResult
    public func set(text: String) throws(TweakError) -> TweakOutcome {
        try set(node.read(text, from: .file))
    }

    /// Removes the override: what lies beneath shows again.
    @discardableResult
    public func reset() throws(TweakError) -> TweakOutcome {
        try registry.change(node, .reset)
    }

    /// Runs an action once and returns its text.
    /// - Throws: ``TweakError``: `not-an-action`, `unknown-tweak` when it was removed, what its arguments are
    ///   refused with, `busy`, `timeout` or `action-failed`.
    public func run(_ arguments: [String] = []) async throws(TweakError) -> String {
        try await run(arguments, on: nil)
    }

    /// The same with a place of the caller's for body and clock.
    package func run(_ arguments: [String], on executor: (any TaskExecutor)?) async throws(TweakError) -> String {
        guard let runner = node.runner else { throw notAnAction }
        if !registry.state.withLock({ $0.holds(node) }) { throw node.gone }
        let arguments = try runner.signature?.check(arguments) ?? TweakArguments(arguments)
        return try await runner.run(arguments, path: path, on: executor)
    }

    package var notAnAction: TweakError {
        TweakError(
            .notAnAction, "\(path.token) is \(kind.phrase), not an action; see get \(path.token)", path: path)
    }
}

extension AnyTweak: CustomStringConvertible {
    /// `Content/Text/Size = 72`, `Player/Audio/Mute = (action)`; of a secret only whether it is set.
    public var description: String { "\(path.token) = \(node.shownText(value))" }
}

extension TweakNode {
    /// A value of this tweak as people may see it.
    package func shownText(_ value: TweakValue?) -> String {
        guard let value else { return "(action)" }
        guard definition.flags.contains(.secret) else { return value.text }
        return isSet(value) ? "(set)" : "(unset)"
    }

    /// Appends the same as UTF-8.
    package func appendShown(_ value: TweakValue?, to bytes: inout [UInt8]) {
        if let value, !definition.flags.contains(.secret) { return value.append(to: &bytes) }
        bytes.append(contentsOf: shownText(value).utf8)
    }

    /// Whether a secret counts as set: it is neither empty text nor zero.
    ///
    /// It is not compared with the default, which may be as secret: a guess that is right must not show.
    package func isSet(_ value: TweakValue) -> Bool {
        value.kind.rules.isSet(value)
    }
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

    func layers(_ node: TweakNode) -> [TweakLayerValue] {
        guard let value = node.defaultValue else { return [] }
        let entries = state.withLock { $0.holds(node) ? $0.overlays[node.slot].entries : [] }
        let base = TweakLayerValue(
            layer: .default, value: value, origin: .code, time: node.declaredAt, expires: nil,
            isSecret: node.isSecret)
        return [base]
            + entries.map {
                TweakLayerValue(
                    layer: $0.layer, value: $0.prepared.value, origin: $0.origin, time: $0.time, expires: $0.expires,
                    isSecret: node.isSecret)
            }
    }
}
