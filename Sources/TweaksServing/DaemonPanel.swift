// Makes the panel of a daemon, in a program that is built with one.

import TweaksInterface
import TweaksServer

#if Panel
    import TweaksPanel
#endif

enum DaemonPanel {
    /// The panel that a program has switched on; nil without one.
    static func make(_ chosen: TweakPanel, isMovable: Bool) -> (any DaemonFront)? {
        #if Panel
            chosen.isOn ? PanelFront(chosen, isMovable: isMovable) : nil
        #else
            nil
        #endif
    }

    /// What is said where a panel is wanted that the program does not contain.
    static func warning(isWanted: Bool) -> String? {
        #if Panel
            nil
        #else
            isWanted ? "there is no panel: the program is built without the trait Panel of the package Tweaks" : nil
        #endif
    }
}
