// Finds the lists that modules have put into the program, in the linker's section of that name.

import Tweaks
import TweaksSystem

#if canImport(Darwin)
    import MachO
#endif

extension TweakDaemon {
    /// Declares the tweaks of all modules that have a `TweakList`. A start does it; what serves nothing, a test or a tool,
    /// calls it to list all of them.
    ///
    /// On Linux these are the modules in the same binary as this one. What a program loads at run time is declared by
    /// naming it: `Plugin.all.register()`.
    public static func registerLists() {
        if FrozenTrait.isOn { return }
        for list in lists { list() }
    }

    #if canImport(Darwin)
        private static var lists: [TweakList] {
            (0..<_dyld_image_count()).flatMap { image -> [TweakList] in
                guard let header = _dyld_get_image_header(image) else { return [] }
                return header.withMemoryRebound(to: mach_header_64.self, capacity: 1) { header in
                    var size: UInt = 0
                    let start = getsectiondata(header, "__DATA", "__tweaks", &size)
                    return gathered(UnsafeRawPointer(start), size: Int(size))
                }
            }
        }
    #else
        private static var lists: [TweakList] {
            guard let start = tweaks_lists_start(), let end = tweaks_lists_end() else { return [] }
            return gathered(start, size: end - start)
        }
    #endif

    /// The pointers of a section.
    private static func gathered(_ start: UnsafeRawPointer?, size: Int) -> [TweakList] {
        UnsafeRawBufferPointer(start: start, count: size).bindMemory(to: TweakList?.self).compactMap(\.self)
    }
}
