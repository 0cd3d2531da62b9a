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
    func applyConfigFile(
        _ lines: KeyValuePairs<String, String>, _ policy: ConfigPolicy = ConfigPolicy(), commit: Bool = true
    ) -> (problems: ConfigProblems, difference: ConfigDifference) {
        applyConfigFile([ConfigEntry].lines(lines), policy, commit: commit)
    }
}

extension Preset {
    init(lines: KeyValuePairs<String, String>, problems: [ConfigProblem] = []) {
        self.init(heading: PresetHeading(), entries: .lines(lines), problems: problems)
    }
}
