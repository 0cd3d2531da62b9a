// Presets as the registry and the server see them, and the place where they are kept.

/// Where presets are kept. Storage implements it and the server asks; neither knows the other.
///
/// Each call may wait for a disk, so none of them belongs on a thread that others wait for.
package protocol PresetStore: AnyObject, Sendable {
    /// All there are, by name.
    func list() throws(TweakError) -> [PresetSummary]

    /// Their names, for completion; none where they cannot be read.
    func names() -> [String]

    /// Reads one. What is wrong with its lines is part of it.
    func read(_ name: PresetName) throws(TweakError) -> Preset

    /// Keeps one, in place of another of this name.
    /// - Parameter mayReplace: Else it is refused where there is another one.
    /// - Returns: What there was before.
    func write(_ draft: PresetDraft, as name: PresetName, mayReplace: Bool) throws(TweakError) -> PresetSummary?

    /// Removes one.
    func delete(_ name: PresetName) throws(TweakError)
}

/// What stands above a preset's lines, as far as somebody has written it there.
package struct PresetHeading: Sendable, Equatable {
    package var program: String?
    /// When it was saved, as text in UTC.
    package var saved: String?
    package var by: String?
    /// The pattern that it was saved with.
    package var pattern: String?

    package init() {}
}

/// A preset that was read. What its values are worth is for the registry to say.
package struct Preset: Sendable {
    package let heading: PresetHeading
    package let entries: [ConfigEntry]
    /// The lines that are no assignments.
    package let problems: [ConfigProblem]

    package init(heading: PresetHeading, entries: [ConfigEntry], problems: [ConfigProblem]) {
        self.heading = heading
        self.entries = entries
        self.problems = problems
    }
}

extension Preset {
    /// The lines of which somebody may know, numbered as if there were no others. A line that is no assignment names
    /// nothing that could be judged, so only who sees everything is told of it.
    func seen(in view: TweakView) -> Preset {
        if view.isWhole { return self }
        var hidden = problems.map(\.line)
        var seen: [ConfigEntry] = []
        for entry in entries {
            if view.holds(entry) { seen.append(entry) } else { hidden.append(entry.line) }
        }
        hidden.sort()
        var before = 0
        let renumbered = seen.map { entry in
            while before < hidden.count, hidden[before] < entry.line { before += 1 }
            return ConfigEntry(path: entry.path, text: entry.text, line: entry.line - before, origin: entry.origin)
        }
        return Preset(heading: heading, entries: renumbered, problems: [])
    }
}

extension TweakView {
    /// Whether a line is about a tweak that is seen, or a path that would be.
    fileprivate func holds(_ entry: ConfigEntry) -> Bool {
        node(orFormerly: entry.path) != nil || (try? TweakPath(entry.path)).map(knows) ?? false
    }
}

/// One preset in a list.
package struct PresetSummary: Sendable, Equatable {
    package let name: PresetName
    package var heading = PresetHeading()
    /// How many values it has.
    package var tweaks = 0
    /// How many of its lines are no assignments.
    package var badLines = 0
    /// Why it cannot be read.
    package var failure: String?

    package init(name: PresetName) { self.name = name }
}

/// Values that are to be kept under a name.
package struct PresetDraft: Sendable {
    /// An assignment for each tweak, in the order of all listings.
    package fileprivate(set) var lines: [String] = []
    /// Overridden tweaks that are left out, because they are secrets.
    package fileprivate(set) var secrets = 0
    /// Those that are left out, because no line holds their value.
    package fileprivate(set) var tooLong: [TweakPath] = []
    package let origin: TweakOrigin
    package let pattern: String?
}

extension PresetDraft {
    /// Why it may not take the place of another one, of which its author may not see all.
    package func refusal(_ name: PresetName) -> TweakError {
        TweakError(
            .denied,
            "there is a preset \(name) already, and only who may write everything can replace it; save under another "
                + "name")
    }
}

extension TweakSnapshot {
    /// The current values of those tweaks among some that have an override, for good or for a while.
    /// - Parameter lineLimit: How many bytes a line may have.
    package func draft(
        of nodes: [TweakNode], pattern: String?, origin: TweakOrigin, lineLimit: Int
    ) -> PresetDraft {
        var draft = PresetDraft(origin: origin, pattern: pattern)
        for node in nodes where isOverridden(node) {
            guard let value = value(of: node) else { continue }
            if node.isSecret {
                draft.secrets += 1
                continue
            }
            let line = "\(node.path.token) = \(value.text)"
            if line.utf8.count > lineLimit { draft.tooLong.append(node.path) } else { draft.lines.append(line) }
        }
        return draft
    }

    /// Whether somebody has set it, for good or for a while.
    func isOverridden(_ node: TweakNode) -> Bool {
        node.isSettable && holds(node) && overlays[node.slot].topOverride != nil
    }
}

extension Overlays {
    /// The override that shows, be it a temporary one; nil where there is none.
    var topOverride: Entry? { entries.last.flatMap { $0.layer >= .override ? $0 : nil } }
}
