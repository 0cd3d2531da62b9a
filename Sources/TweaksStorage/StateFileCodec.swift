// Reads and rewrites state files in memory, for tests of the file formats.

import Tweaks

/// Round trips of state files. Reading the result must give the same content again.
package enum StateFileCodec {
    /// Parses and rewrites an overrides file; nil if it is malformed.
    package static func overrides(_ bytes: [UInt8], time: some StorageTime) -> [UInt8]? {
        let anchor = TimeAnchor(time)
        guard let file = try? OverridesFile(bytes, anchor) else { return nil }
        let lines = file.entries.map { $0.stored.flatMap { OverridesFile.line($0, anchor) } ?? $0.text }
        return OverridesFile.text(
            program: file.program, revision: file.revision, lines: lines, quarantined: file.allQuarantined)
    }

    /// Parses and rewrites a history file; nil if it is malformed.
    package static func history(_ bytes: [UInt8], time: some StorageTime) -> [UInt8]? {
        let anchor = TimeAnchor(time)
        guard let reading = try? HistoryDecoder(bytes, anchor) else { return nil }
        return reading.records.reduce(HistoryFormat.head(program: "")) {
            $0 + HistoryFormat.line($1, anchor, temporaries: anchor)
        }
    }

    /// Whether a preset can be read, regardless of the validity of its lines.
    package static func isPreset(_ bytes: [UInt8]) -> Bool {
        guard let name = try? PresetName("fuzz") else { return false }
        return (try? PresetFile.preset(bytes, name: name)) != nil
    }
}
