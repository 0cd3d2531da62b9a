// Lists presets and handles the keys of the preset page.

import Tweaks

/// The presets of the server.
struct PresetList: Equatable {
    struct Preset: Equatable {
        let name: String
        let about: String
    }

    private(set) var presets: [Preset] = []
    /// Whether the server has sent the list.
    private(set) var isKnown = false
    var cursor = 0
    /// The name to select when the list arrives: the preset that was used last.
    var preferredName: String?

    init() {}

    /// Parses rows like `  NAME  12 tweaks, saved … by …`, and keeps the selection of the old list.
    init(_ body: [String], after old: PresetList) {
        isKnown = true
        presets = body.compactMap { line in
            guard let name = line.split(separator: " ", maxSplits: 1).first, line.hasPrefix("  ") else { return nil }
            let about = line.dropFirst(2 + name.count).drop { $0 == " " }
            return Preset(name: String(name), about: String(about))
        }
        let place = presets.firstIndex { $0.name == old.preferredName ?? old.selected?.name }
        cursor = place ?? min(old.cursor, max(presets.count - 1, 0))
    }

    var selected: Preset? { presets.indices.contains(cursor) ? presets[cursor] : nil }
}

extension EditorModel {
    /// Handles a key on the preset page.
    mutating func choose(_ list: PresetList, _ key: Key) {
        var list = list
        let command = KeyTable.command(for: key, in: KeyTable.presets)
        switch command {
        case .up?: list.cursor = max(list.cursor - 1, 0)
        case .down?: list.cursor = max(min(list.cursor + 1, list.presets.count - 1), 0)
        case .save?:
            presets = list
            return begin(Prompt(presetNamed: list.selected?.name ?? "", among: list.presets.map(\.name)))
        case .back?:
            mode = .browsing
            return
        default:
            if key == .control("c") { return emit(.quit) }
            presets = list
            if let command, let preset = list.selected { return use(preset.name, command) }
        }
        mode = .presets(list)
    }

    private mutating func use(_ name: String, _ command: EditorCommand) {
        let token = CommandText.token(name)
        switch command {
        case .enter:
            mode = .browsing
            send("load \(token)", .command("loaded \(name)", forced: "load \(token) partly"))
        case .swap:
            mode = .browsing
            send("swap \(token)", .command("swapped with \(name)", forced: "swap \(token) force"))
        // Closing the page returns to the list of presets.
        case .difference: send("diff \(token)", .page("compared with \(name)"))
        case .delete: mode = .asking(Question(text: "delete the preset \(name)?", action: .delete(name)))
        default: break
        }
    }
}
