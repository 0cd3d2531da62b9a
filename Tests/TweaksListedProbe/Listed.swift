// Declares tweaks that only the list in the linker's section refers to.

import Tweaks

enum Listed {
    static let first = Tweak("Listed", "Probe", "First", 1)
    static let second = Tweak("Listed", "Probe", "Second", 2)
    static let all: [any TweakHandle] = [first, second]
}

#if objectFormat(MachO)
    @section("__DATA,__tweaks")
#else
    @section("tweaks")
#endif
@used private let tweaks: TweakList = { Listed.all.register() }

enum ListedToo {
    static let third = Tweak("Listed", "Probe", "Third", 3)

    #if objectFormat(MachO)
        @section("__DATA,__tweaks")
    #else
        @section("tweaks")
    #endif
    @used private static let list: TweakList = { third.register() }
}
