// Keeps presets in memory, behind an optional gate.

import Synchronization
package import Tweaks

/// A preset store whose calls take as long as a test wants.
package final class MemoryPresets: PresetStore {
    private let presets = Mutex<[PresetName: [String]]>([:])
    private let authors = Mutex<[PresetName: String]>([:])
    private let gate: (reached: Gate, goOn: Gate)?

    /// - Parameter gate: Every call opens `reached` and waits for `goOn`.
    package init(_ presets: [String: [String]] = [:], gate: (reached: Gate, goOn: Gate)? = nil) throws {
        self.gate = gate
        for (name, lines) in presets {
            let name = try PresetName(name)
            self.presets.withLock { $0[name] = lines }
        }
    }

    private func wait() {
        gate?.reached.open()
        gate?.goOn.waitBlocking()
    }

    package func list() throws(TweakError) -> [PresetSummary] {
        wait()
        return presets.withLock { $0.keys.sorted() }.map { name in
            var summary = PresetSummary(name: name)
            summary.heading.by = authors.withLock { $0[name] }
            return summary
        }
    }

    private static var missing: TweakError { TweakError(.badValue, "there is no preset", isMissing: true) }

    package func names() -> [String] { presets.withLock { $0.keys.sorted() }.map(\.text) }

    package func read(_ name: PresetName) throws(TweakError) -> Preset {
        wait()
        guard let lines = presets.withLock({ $0[name] }) else { throw Self.missing }
        let entries = lines.enumerated().map { number, line in
            let parts = line.split(separator: " = ").map { String($0) }
            return ConfigEntry(path: parts[0], text: parts[1], line: number + 1, origin: .code)
        }
        return Preset(heading: PresetHeading(), entries: entries, problems: [])
    }

    package func write(
        _ draft: PresetDraft, as name: PresetName, mayReplace: Bool
    ) throws(TweakError) -> PresetSummary? {
        wait()
        defer { authors.withLock { $0[name] = "\(draft.origin)" } }
        return try presets.withLock { presets throws(TweakError) in
            if !mayReplace, presets[name] != nil { throw draft.refusal(name) }
            defer { presets[name] = draft.lines }
            return presets[name].map { _ in PresetSummary(name: name) }
        }
    }

    package func delete(_ name: PresetName) throws(TweakError) {
        wait()
        if presets.withLock({ $0.removeValue(forKey: name) }) == nil { throw Self.missing }
    }
}
