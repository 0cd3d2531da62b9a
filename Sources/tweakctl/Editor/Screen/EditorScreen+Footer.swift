// Draws the footer with the keys that apply now.

import Tweaks
import TweaksSystem

extension EditorScreen {
    /// The keys that apply now; only the most important ones if not all fit.
    var footer: StyledLine {
        let hints = hints
        var room = layout.columns - 1
        var kept: Set<Int> = []
        for (position, hint) in hints.enumerated().sorted(by: { ($0.1.rank, $0.0) < ($1.1.rank, $1.0) }) {
            let width = TextWidth.of(hint.key) + 1 + TextWidth.of(hint.label) + 2
            if width > room { break }
            room -= width
            kept.insert(position)
        }
        var line = StyledLine()
        for (position, hint) in hints.enumerated() where kept.contains(position) {
            line.add(" ")
            line.add(hint.key, .key)
            line.add(" " + hint.label + " ", .faint)
        }
        return line
    }

    private typealias Hint = (key: String, label: String, rank: Int)

    private var hints: [Hint] {
        switch model.mode {
        case .searching: [("Enter", "keep", 1), ("Escape", "all", 1), ("↑ ↓", "choose", 2)]
        case .typing(let prompt):
            [("Enter", verb(of: prompt), 1), ("Escape", "leave", 1)]
                + (prompt.nextField.map { [("Tab", $0, 1)] } ?? [])
                + (choices(of: prompt) ? [("Tab", "next choice", 2)] : [])
        case .asking: [("y", "yes", 1), ("any other key", "no", 1)]
        case .browsing: KeyTable.browsing.compactMap(hint)
        case .coloring: Self.hints(KeyTable.coloring)
        case .reading: Self.hints(KeyTable.reading)
        case .presets: Self.hints(KeyTable.presets)
        }
    }

    private static func hints(_ table: [KeyBinding]) -> [Hint] {
        table.compactMap { binding in binding.label.map { (binding.shown, $0, binding.rank) } }
    }

    private func verb(of prompt: Prompt) -> String {
        switch prompt.purpose {
        case .value, .temporary: "set"
        case .arguments: "run"
        case .preset: prompt.existingNames.contains(prompt.editor.text) ? "replace" : "save"
        }
    }

    private func choices(of prompt: Prompt) -> Bool {
        guard prompt.purpose == .value, let position = model.positions[prompt.path] else { return false }
        return model.tweaks[position].kind == .bool || !model.tweaks[position].choices.isEmpty
    }

    /// The hint of a binding for the selected row; nil where it does not apply.
    private func hint(_ binding: KeyBinding) -> Hint? {
        guard let label = binding.label, let command = binding.commands.first else { return nil }
        let shown = binding.shown.split(separator: " ").count > 2 ? binding.shown : String(binding.shown)
        let tweak = model.selectedTweak
        let isFixed = tweak?.isReadOnly ?? false
        switch command {
        case .move:
            guard let tweak else { return (shown, "fold", 1) }
            return isFixed || [.string, .action, .color, .point, .list].contains(tweak.kind) || tweak.isSecret
                ? nil : (shown, label, 1)
        case .flip:
            guard tweak?.kind == .bool || tweak?.kind == .choice || tweak?.kind == .action, !isFixed else { return nil }
            return (
                shown, tweak?.kind == .bool ? "flip" : tweak?.kind == .choice ? "next" : "with arguments", binding.rank
            )
        case .enter:
            return isFixed ? nil : (shown, tweak == nil ? "fold" : tweak?.kind == .action ? "run" : label, binding.rank)
        case .color: return tweak?.color != nil && !isFixed ? (shown, label, binding.rank) : nil
        case .reset: return tweak?.isModified == true ? (shown, label, binding.rank) : nil
        case .temporary, .explain:
            return tweak == nil || tweak?.kind == .action || isFixed ? nil : (shown, label, binding.rank)
        default: return (binding.shown.split(separator: " ").first.map { String($0) } ?? shown, label, binding.rank)
        }
    }
}
