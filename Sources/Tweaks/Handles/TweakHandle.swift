// Defines the protocol of all handles, so that tweaks of any type fit in one list.

/// A declared tweak, group or action of any type, or several of them.
///
/// Statics are lazy: a module keeps a list of its handles beside the declarations and passes it to the server.
public protocol TweakHandle: Sendable {
    /// The tweaks that it represents: a tweak or action itself, or the parts of a group.
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
