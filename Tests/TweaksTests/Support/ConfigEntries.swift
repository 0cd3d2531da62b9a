// Writes the lines of config files and presets as literals.

import Tweaks

extension [ConfigEntry] {
    /// The lines of a file, numbered from 1, with file and number as their origins.
    static func lines(_ lines: KeyValuePairs<String, String>) -> [ConfigEntry] {
        zip(1..., lines).map { number, line in
            ConfigEntry(path: line.key, text: line.value, line: number, origin: TweakOrigin("a.conf:\(number)"))
        }
    }
}

extension TweakRegistry {
    @discardableResult
    func replace(
        _ layer: TweakLayer, with lines: KeyValuePairs<String, String>, _ policy: LayerPolicy = LayerPolicy(),
        isDry: Bool = false
    ) -> LayerDifference {
        replace(layer, with: [ConfigEntry].lines(lines), policy, isDry: isDry)
    }
}

extension Preset {
    init(lines: KeyValuePairs<String, String>, problems: [ConfigProblem] = []) {
        self.init(heading: PresetHeading(), entries: .lines(lines), problems: problems)
    }
}
