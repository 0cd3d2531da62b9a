// Where the daemon's server keeps presets: beside the overrides.

import TweaksInterface
import Tweaks
import TweaksServer
import TweaksStorage

extension DaemonSettings {
    /// The folder of the presets. A frozen process touches no file.
    func presets(_ limits: TweakServerLimits, _ store: OverrideStore?) -> PresetFolder? {
        var most = PresetFolder.Limits()
        (most.presets, most.bytes) = (limits.presets, limits.presetBytes)
        guard !isFrozen, let stateDirectory else { return nil }
        return PresetFolder(
            directory: stateDirectory, program: name, limits: most, holder: { [weak store] in store?.facts.holder })
    }
}

extension TweakServerHooks {
    /// The same, with presets and their names for `complete`.
    func with(_ presets: PresetFolder?) -> TweakServerHooks {
        guard let presets else { return self }
        var hooks = self
        hooks.presets = presets
        hooks.presetNames = { presets.names() }
        return hooks
    }
}
