// Collects the changes of one commit.

/// A list of changes that a commit checks and applies all or nothing.
///
/// If a tweak occurs twice, the last change wins.
public struct TweakBatch: Sendable {
    /// A requested change of one tweak.
    package enum Change: Sendable {
        case set(TweakValue)
        /// A value that was already validated for this tweak, so that the commit need not.
        indirect case validated(Prepared, TweakAdjustment)
        /// Adds to the current value: int, number or duration. A typed decimal may have more digits than its double.
        indirect case add(TweakValue, exactly: ExactDecimal? = nil)
        /// Subtracts from the current value.
        indirect case subtract(TweakValue, exactly: ExactDecimal? = nil)
        /// Inverts a bool.
        case toggle
        /// Removes override and temporary override.
        case reset
        /// Makes the temporary override the override.
        case keep
        /// Restores earlier overrides.
        indirect case restore(OverrideValues)
    }

    enum Target: Sendable {
        case node(TweakNode)
        case path(String)
        case pattern(String)
    }

    /// A requested change; one with a lifetime is temporary.
    typealias Entry = (target: Target, change: Change, lifetime: Duration?)

    var entries: [Entry] = []

    package init() {}

    /// Changes several tweaks in the same way.
    package init(_ change: Change, of nodes: [TweakNode]) {
        entries = nodes.map { (.node($0), change, nil) }
    }

    /// The number of requested changes; a pattern counts as one.
    public var count: Int { entries.count }

    package mutating func append(_ node: TweakNode, _ change: Change, for lifetime: Duration? = nil) {
        entries.append((.node(node), change, lifetime))
    }
}

// MARK: - Setting

extension TweakBatch {
    /// Sets the override of a tweak.
    /// - Parameters:
    ///   - path: Its path, `category/collection/name`.
    ///   - value: A value of the tweak's kind; an `.int` is accepted for a number.
    ///   - lifetime: If present, sets the temporary override instead; more than zero and at most one year.
    public mutating func set(_ path: String, _ value: TweakValue, for lifetime: Duration? = nil) {
        entries.append((.path(path), .set(value), lifetime))
    }

    /// Sets the override of a tweak; with a lifetime, the temporary override.
    public mutating func set<Value>(_ tweak: Tweak<Value>, _ value: Value, for lifetime: Duration? = nil) {
        append(tweak.node, .set(tweak.erase(value)), for: lifetime)
    }

    /// Sets the override of a tweak; with a lifetime, the temporary override.
    public mutating func set(_ tweak: AnyTweak, _ value: TweakValue, for lifetime: Duration? = nil) {
        append(tweak.node, .set(value), for: lifetime)
    }

    /// Sets the overrides of all parts of a group; with a lifetime, the temporary overrides.
    public mutating func set<Template>(
        _ group: TweakGroup<Template>, _ value: Template, for lifetime: Duration? = nil
    ) {
        for part in group.core.parts { part.set(value, lifetime, &self) }
    }
}

// MARK: - Resetting

extension TweakBatch {
    /// Removes the override of a tweak: the next layer applies.
    public mutating func reset<Value>(_ tweak: Tweak<Value>) { append(tweak.node, .reset) }

    /// Removes the override of a tweak: the next layer applies.
    public mutating func reset(_ tweak: AnyTweak) { append(tweak.node, .reset) }

    /// Removes the overrides of several tweaks: those of a group, a collection, a category or a list. Skips actions and
    /// figures.
    public mutating func reset(_ tweaks: some TweakHandle) {
        for tweak in tweaks.tweaks where tweak.node.isSettable { reset(tweak) }
    }

    /// Removes the overrides of all tweaks that a pattern matches: `Content/Text/Size`, `Content`, `*/Text/?ize`, `*`.
    ///
    /// Actions and figures among several matches are skipped. The commit throws for the full path of an action or
    /// figure, and for a pattern other than `*` that matches nothing.
    public mutating func reset(matching pattern: String) { entries.append((.pattern(pattern), .reset, nil)) }

    /// Removes the override of the tweak with this path. A pattern is accepted, too; see ``reset(matching:)``.
    public mutating func reset(_ path: String) { reset(matching: path) }

    /// Makes the temporary overrides of all tweaks that a pattern matches permanent.
    ///
    /// Tweaks without one among several matches are skipped. The commit throws for the full path of a tweak without
    /// one, and for a pattern other than `*` that matches nothing.
    public mutating func keep(matching pattern: String) { entries.append((.pattern(pattern), .keep, nil)) }

    /// Makes the temporary override of the tweak with this path permanent. A pattern is accepted, too; see
    /// ``keep(matching:)``.
    public mutating func keep(_ path: String) { keep(matching: path) }
}
