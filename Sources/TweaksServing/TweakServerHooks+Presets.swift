// Connects the server's hooks to the preset folder, which is beside the overrides.

import TweaksInterface
import Tweaks
import TweaksServer
import TweaksStorage

extension DaemonSettings {
    /// The preset folder; nil in a frozen process, which uses no files.
    func presets(_ limits: TweakServerLimits, _ store: OverrideStore?) -> PresetFolder? {
        var most = PresetFolder.Limits()
        (most.presets, most.bytes) = (limits.presets, limits.presetBytes)
        guard !isFrozen, let stateDirectory else { return nil }
        return PresetFolder(
            directory: stateDirectory, program: name, limits: most, holder: { [weak store] in store?.info.holder })
    }
}

extension TweakServerHooks {
    /// The same hooks with presets, and with preset names for `complete`.
    func with(_ presets: PresetFolder?) -> TweakServerHooks {
        guard let presets else { return self }
        var hooks = self
        hooks.presets = presets
        hooks.presetNames = { presets.names() }
        return hooks
    }
}
