// Finds the tweak lists of all modules in the linker's section of that name.

import Tweaks
import TweaksSystem

#if canImport(Darwin)
    import MachO
#endif

extension TweakDaemon {
    /// Declares the tweaks of all modules that have a `TweakList`. Starting a daemon calls it; a test or a tool that
    /// serves nothing calls it to list all tweaks.
    ///
    /// On Linux these are the modules in the same binary as this one. Code loaded at run time registers its list
    /// explicitly: `Plugin.all.register()`.
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
