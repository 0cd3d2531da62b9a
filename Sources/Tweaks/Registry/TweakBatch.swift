// The changes that one commit will make.

/// Collects changes; nothing is checked or changed before the commit, and then all of it or nothing.
///
/// The same tweak named twice: the last one wins.
public struct TweakBatch: Sendable {
    /// What is asked of one tweak.
    package enum Change: Sendable {
        case set(TweakValue)
        /// A value that was judged for this very tweak before, away from those who wait.
        indirect case judged(Prepared, TweakAdjustment)
        /// Added to the current value: int, number or duration.
        case add(TweakValue)
        /// Taken from the current value: int, number or duration.
        case subtract(TweakValue)
        /// The other of `true` and `false`.
        case toggle
        /// Removes override and temporary override.
        case reset
        /// Makes the temporary override the override.
        case keep
        /// Puts back what was set once.
        indirect case restore(SetLayers)
    }

    enum Target: Sendable {
        case node(TweakNode)
        case path(String)
        case pattern(String)
    }

    /// What is asked; a change with a lifetime is temporary.
    typealias Entry = (target: Target, change: Change, lifetime: Duration?)

    var entries: [Entry] = []

    package init() {}

    /// How many changes were asked for; a pattern counts as one.
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
    ///   - value: Of the tweak's own kind; an `.int` does for a number.
    ///   - lifetime: With one it is the temporary override that is set; more than nothing and up to a year.
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

// MARK: - Going back

extension TweakBatch {
    /// Removes the override of a tweak: the next layer applies.
    public mutating func reset<Value>(_ tweak: Tweak<Value>) { append(tweak.node, .reset) }

    /// Removes the override of a tweak: the next layer applies.
    public mutating func reset(_ tweak: AnyTweak) { append(tweak.node, .reset) }

    /// Removes the overrides of several tweaks: a group's, a collection's, a category's, a list's. Actions and figures
    /// among them are left out.
    public mutating func reset(_ tweaks: some TweakHandle) {
        for tweak in tweaks.tweaks where tweak.node.isSettable { reset(tweak) }
    }

    /// Removes the overrides of all tweaks that a pattern names: `Content/Text/Size`, `Content`, `*/Text/?ize`, `*`.
    ///
    /// Actions and figures among several are left out; the commit refuses one that is named alone, and a pattern other
    /// than `*` that names nothing.
    public mutating func reset(_ pattern: String) { entries.append((.pattern(pattern), .reset, nil)) }

    /// Makes the temporary overrides of all tweaks that a pattern names their overrides, which stay.
    ///
    /// Of several, those that have one; the commit refuses one without that is named alone, and a pattern other than
    /// `*` that names nothing.
    public mutating func keep(_ pattern: String) { entries.append((.pattern(pattern), .keep, nil)) }
}
