// Registers a module's tweaks in every program that links it.

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
