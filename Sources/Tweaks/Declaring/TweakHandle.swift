// Defines the protocol of all handles, and registers those of a module in every program that links it.

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

/// The type of a module's entry in the linker section from which programs discover tweaks.
///
/// ```swift
/// #if objectFormat(MachO)
///     @section("__DATA,__tweaks")
/// #else
///     @section("tweaks")
/// #endif
/// @used private let tweaks: TweakList = { Look.all.register() }
/// ```
///
/// It is only a function pointer: nothing runs before `TweakDaemon.start`, which calls the functions of all modules in
/// the same binary. A program need not import the module or name its tweaks; it only has to depend on it. Swift accepts
/// only literal section names, hence the two lines; a program for Linux alone needs the second.
public typealias TweakList = @convention(c) () -> Void

extension TweakHandle {
    /// Forces the declaration of a lazy static, by accessing it. For ``TweakList``.
    @inline(never)
    public func register() {
        // Empty, and not inlined: otherwise the compiler could remove the access to the static.
    }
}

extension Tweak: CustomStringConvertible {
    /// `Content/Text/Size = 60`, the value in the protocol's syntax; for a secret only `(set)` or `(unset)`.
    public var description: String { erased.description }
}

extension TweakAction: CustomStringConvertible {
    /// `Player/Audio/Mute = (action)`.
    public var description: String { AnyTweak(node: node, registry: registry).description }
}

extension TweakGroup: CustomStringConvertible {
    /// Its parts, one per line: `Upstream/Payments/Attempts = 5`.
    public var description: String { parts.map(\.description).joined(separator: "\n") }
}
