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

    /// The warning of a program that wants a panel and does not contain one; nil elsewhere.
    static func warning(isWanted: Bool) -> String? {
        #if Panel
            nil
        #else
            isWanted
                ? "there is no panel: the program is built without the trait Panel; name it at the dependency on Tweaks"
                : nil
        #endif
    }
}
