// The changes that one commit will make.

/// Collects changes; nothing is checked or changed before the commit, and then all of it or nothing.
///
/// The same tweak named twice: the last one wins.
public struct TweakBatch: Sendable {
    /// What is asked of one tweak.
    package enum Change: Sendable {
        case set(TweakValue)
        /// A value that was judged for this very tweak before, away from those who wait.
        case judged(Prepared, TweakAdjustment)
        /// Added to the current value: int, number or duration.
        case add(TweakValue)
        /// The other of `true` and `false`.
        case toggle
        /// Removes override and temporary override.
        case reset
        /// Makes the temporary override the override.
        case keep
        /// Puts back what was set once.
        case restore(SetLayers)
    }

    enum Target: Sendable {
        case path(String)
        case node(TweakNode)
    }

    /// A change with a lifetime is temporary.
    var entries: [(target: Target, change: Change, lifetime: Duration?)] = []

    package init() {}

    /// How many changes were asked for.
    public var count: Int { entries.count }

    /// Sets the override of a tweak.
    public mutating func set(_ path: String, _ value: TweakValue) {
        entries.append((.path(path), .set(value), nil))
    }

    /// Sets the override of a tweak.
    public mutating func set<Value>(_ tweak: Tweak<Value>, _ value: Value) {
        entries.append((.node(tweak.node), .set(tweak.erase(value)), nil))
    }

    /// Sets the temporary override of a tweak: after a while what lies beneath shows again.
    public mutating func set(_ path: String, _ value: TweakValue, for lifetime: Duration) {
        entries.append((.path(path), .set(value), lifetime))
    }

    /// Sets the temporary override of a tweak: after a while what lies beneath shows again.
    public mutating func set<Value>(_ tweak: Tweak<Value>, _ value: Value, for lifetime: Duration) {
        entries.append((.node(tweak.node), .set(tweak.erase(value)), lifetime))
    }

    /// Makes a tweak's temporary override its override, which stays.
    public mutating func keep(_ path: String) {
        entries.append((.path(path), .keep, nil))
    }

    /// Removes the override of a tweak: what lies beneath shows again.
    public mutating func reset(_ path: String) {
        entries.append((.path(path), .reset, nil))
    }

    /// Removes the override of a tweak: what lies beneath shows again.
    public mutating func reset<Value>(_ tweak: Tweak<Value>) {
        entries.append((.node(tweak.node), .reset, nil))
    }

    package mutating func append(_ node: TweakNode, _ change: Change, for lifetime: Duration? = nil) {
        entries.append((.node(node), change, lifetime))
    }
}
