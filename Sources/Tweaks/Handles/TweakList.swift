// Makes a module's tweaks known to every program that it is linked into.

/// What a module puts into the linker's section of lists, so that programs find its tweaks by themselves.
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
/// It is a pointer to a function and nothing more: nothing runs before `TweakDaemon.start`, which calls those of all
/// modules in the same binary. A program need not import the module, nor name its tweaks; it only has to depend on it.
/// Swift takes no other section names than literal ones, hence the two lines; a program for Linux alone needs the second.
public typealias TweakList = @convention(c) () -> Void

extension TweakHandle {
    /// Makes sure that it is declared: statics are lazy, and asking for one declares it. For ``TweakList``.
    @inline(never)
    public func register() {
        // Nothing is left to do. Inlined, it would let the compiler see that, and leave the static alone.
    }
}
