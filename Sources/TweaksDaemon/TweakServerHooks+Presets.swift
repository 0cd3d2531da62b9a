// Where the daemon's server keeps presets: beside the overrides.

import Tweaks
import TweaksServer
import TweaksStorage

extension DaemonSettings {
    /// The folder of the presets. A frozen process touches no file.
    func presets(_ limits: TweakServerLimits) -> PresetFolder? {
        var most = PresetFolder.Limits()
        (most.presets, most.bytes) = (limits.presets, limits.presetBytes)
        return isFrozen ? nil : stateDirectory.map { PresetFolder(directory: $0, program: name, limits: most) }
    }
}

extension TweakServerHooks {
    /// The same, with presets and their names for `complete`.
    func with(_ presets: PresetFolder?) -> TweakServerHooks {
        guard let presets else { return self }
        var hooks = self
        hooks.presets = presets
        for command in ["save", "load", "delete", "diff", "swap"] { hooks.completions[command] = { presets.names() } }
        return hooks
    }
}
