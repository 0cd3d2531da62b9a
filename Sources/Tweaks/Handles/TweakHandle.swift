// Declared tweaks of any type in one list.

/// A declared tweak, group or action of any type, or several of them: what lists name and batches reset.
///
/// Statics are lazy: a module keeps such a list beside its declarations, and hands it to what serves them.
public protocol TweakHandle: Sendable {
    /// The tweaks that it stands for: of a tweak or action itself, of a group its parts.
    var tweaks: [AnyTweak] { get }
}

extension Tweak: TweakHandle {
    /// The tweak itself.
    public var tweaks: [AnyTweak] { [erased] }
}

extension TweakAction: TweakHandle {
    /// The action itself.
    public var tweaks: [AnyTweak] { [AnyTweak(node: node, registry: registry)] }
}

extension AnyTweak: TweakHandle {
    /// The tweak itself.
    public var tweaks: [AnyTweak] { [self] }
}

extension Array: TweakHandle where Element == any TweakHandle {
    /// All tweaks of the list.
    public var tweaks: [AnyTweak] { flatMap(\.tweaks) }
}
