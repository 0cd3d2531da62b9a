// Files of state as text alone, without a disk: what remains of them when they are read and written again.

import Tweaks

/// Reads files of state and writes them again. What is read twice has to say the same both times.
package enum StateText {
    /// The overrides file that says what was understood of another one; nil where that cannot be taken.
    package static func overrides(_ bytes: [UInt8], time: some StorageTime) -> [UInt8]? {
        let anchor = TimeAnchor(time)
        guard let file = try? OverridesFile(bytes, anchor) else { return nil }
        let lines = file.entries.map { $0.stored.flatMap { OverridesFile.line($0, anchor) } ?? $0.text }
        return OverridesFile.text(program: file.program, revision: file.revision, lines: lines, aside: file.allAside)
    }

    /// The history file that says what was understood of another one; nil where that cannot be taken.
    package static func history(_ bytes: [UInt8], time: some StorageTime) -> [UInt8]? {
        let anchor = TimeAnchor(time)
        guard let reading = try? HistoryReading(bytes, anchor) else { return nil }
        return reading.records.reduce(HistoryLines.head(program: "")) {
            $0 + HistoryLines.line($1, anchor, temporaries: anchor)
        }
    }

    /// Whether a preset can be taken, whatever its lines are worth.
    package static func isPreset(_ bytes: [UInt8]) -> Bool {
        guard let name = try? PresetName("fuzz") else { return false }
        return (try? PresetFile.preset(bytes, name: name)) != nil
    }
}
