// Declares the storage of presets, and the types that the registry and the server exchange with it.

/// The storage of presets. TweaksStorage implements it and the server uses it, without depending on each other.
///
/// Each call may wait for a disk, so do not call it on a shared thread.
package protocol PresetStore: AnyObject, Sendable {
    /// All presets, sorted by name.
    func list() throws(TweakError) -> [PresetSummary]

    /// Their names, for completion; empty if they cannot be read.
    func names() -> [String]

    /// Reads a preset. Problems in its lines are part of the result.
    func read(_ name: PresetName) throws(TweakError) -> Preset

    /// Saves a preset, replacing one of the same name.
    /// - Parameter mayReplace: If false, replacing is an error.
    /// - Returns: The replaced preset.
    func write(_ draft: PresetDraft, as name: PresetName, mayReplace: Bool) throws(TweakError) -> PresetSummary?

    /// Removes a preset.
    func delete(_ name: PresetName) throws(TweakError)
}

/// The header of a preset file; every field is optional.
package struct PresetHeading: Sendable, Equatable {
    package var program: String?
    /// When it was saved, as text in UTC.
    package var saved: String?
    package var by: String?
    /// The pattern that it was saved with.
    package var pattern: String?

    package init() {}
}

/// A parsed preset. Its values are not validated yet.
package struct Preset: Sendable {
    package let heading: PresetHeading
    package let entries: [ConfigEntry]
    /// The lines that are not assignments.
    package let problems: [ConfigProblem]

    package init(heading: PresetHeading, entries: [ConfigEntry], problems: [ConfigProblem]) {
        self.heading = heading
        self.entries = entries
        self.problems = problems
    }
}

extension Preset {
    /// The visible lines, renumbered as if there were no others. Lines that are not assignments name no path to check,
    /// so only a session that can read everything gets them.
    func visible(in view: TweakView) -> Preset {
        if view.isWhole { return self }
        var hidden = problems.map(\.line)
        var visible: [ConfigEntry] = []
        for entry in entries {
            if view.includes(entry) { visible.append(entry) } else { hidden.append(entry.line) }
        }
        hidden.sort()
        var before = 0
        let renumbered = visible.map { entry in
            while before < hidden.count, hidden[before] < entry.line { before += 1 }
            return ConfigEntry(path: entry.path, text: entry.text, line: entry.line - before, origin: entry.origin)
        }
        return Preset(heading: heading, entries: renumbered, problems: [])
    }
}

extension TweakView {
    /// Whether a line names a visible tweak, or a path that would be visible.
    fileprivate func includes(_ entry: ConfigEntry) -> Bool {
        node(orFormerly: entry.path) != nil || (try? TweakPath(entry.path)).map(canSee) ?? false
    }
}

/// One preset in a list.
package struct PresetSummary: Sendable, Equatable {
    package let name: PresetName
    package var heading = PresetHeading()
    /// The number of values.
    package var tweaks = 0
    /// The number of lines that are not assignments.
    package var badLines = 0
    /// The error if it cannot be read.
    package var failure: String?

    package init(name: PresetName) { self.name = name }
}

/// Values to save as a preset.
package struct PresetDraft: Sendable {
    /// An assignment for each tweak, in listing order.
    package fileprivate(set) var lines: [String] = []
    /// The number of overridden tweaks that are omitted because they are secrets.
    package fileprivate(set) var secrets = 0
    /// The tweaks that are omitted because their values exceed the line limit.
    package fileprivate(set) var tooLong: [TweakPath] = []
    package let origin: TweakOrigin
    package let pattern: String?
}

extension PresetDraft {
    /// The error for replacing a preset without write access to all tweaks.
    package func refusal(_ name: PresetName) -> TweakError {
        TweakError(
            .denied,
            "preset \(name) exists, and replacing it takes write access to all tweaks; save under another name")
    }
}

extension TweakSnapshot {
    /// The current values of the overridden tweaks among `nodes`, temporary overrides included.
    /// - Parameter lineLimit: The maximum length of a line in bytes.
    package func draft(
        of nodes: [TweakNode], pattern: String?, origin: TweakOrigin, lineLimit: Int
    ) -> PresetDraft {
        var draft = PresetDraft(origin: origin, pattern: pattern)
        for node in nodes where isOverridden(node) {
            guard let value = settled(node) else { continue }
            if node.isSecret {
                draft.secrets += 1
                continue
            }
            let line = "\(node.path.token) = \(value.text)"
            if line.utf8.count > lineLimit { draft.tooLong.append(node.path) } else { draft.lines.append(line) }
        }
        return draft
    }

    /// Whether it has an override or a temporary override.
    func isOverridden(_ node: TweakNode) -> Bool {
        node.isSettable && holds(node) && overlays[node.slot].topOverride != nil
    }
}
