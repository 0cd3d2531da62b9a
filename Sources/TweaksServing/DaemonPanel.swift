// Creates a daemon's panel if the program is built with one.

import TweaksInterface
import TweaksServer

#if Panel
    import TweaksPanel
#endif

enum DaemonPanel {
    /// The panel that a program has enabled; nil without one.
    static func make(_ chosen: TweakPanel, isMovable: Bool, keepsOrigin: Bool) -> (any DaemonEndpoint)? {
        #if Panel
            chosen.isOn ? PanelEndpoint(chosen, isMovable: isMovable, keepsOrigin: keepsOrigin) : nil
        #else
            nil
        #endif
    }

    /// The warning for a program that enables a panel but was built without one; nil otherwise.
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

extension TweakPanel.Origin {
    /// Whether the page's address is kept over a restart. On a developer's own machine a reloaded page goes on working;
    /// elsewhere other users may listen at the port meanwhile.
    func isKept(hasTokens: Bool, isService: Bool, isRoot: Bool) -> Bool {
        switch self {
        case .automatic: !hasTokens && !isService && !isRoot
        case .perStart: false
        case .kept: true
        }
    }
}
