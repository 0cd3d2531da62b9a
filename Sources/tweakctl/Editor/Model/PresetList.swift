// The page of presets: which there are, and what keys do with them.

import Tweaks

/// The presets of the server.
struct PresetList: Equatable {
    struct Preset: Equatable {
        let name: String
        let about: String
    }

    private(set) var presets: [Preset] = []
    /// Whether the server has said which there are.
    private(set) var isKnown = false
    var cursor = 0
    /// Which one is to be selected when the list comes again: the one that was used last.
    var wanted: String?

    init() {}

    /// From rows as `  NAME  12 tweaks, saved … by …`, in the place of an older list.
    init(_ body: [String], after old: PresetList) {
        isKnown = true
        presets = body.compactMap { line in
            guard let name = line.split(separator: " ", maxSplits: 1).first, line.hasPrefix("  ") else { return nil }
            let about = line.dropFirst(2 + name.count).drop { $0 == " " }
            return Preset(name: String(name), about: String(about))
        }
        let place = presets.firstIndex { $0.name == old.wanted ?? old.selected?.name }
        cursor = place ?? min(old.cursor, max(presets.count - 1, 0))
    }

    var selected: Preset? { presets.indices.contains(cursor) ? presets[cursor] : nil }
}

extension EditorModel {
    /// A key on the page of presets.
    mutating func choose(_ list: PresetList, _ key: Key) {
        var list = list
        let deed = KeyTable.deed(key, in: KeyTable.presets)
        switch deed {
        case .up?: list.cursor = max(list.cursor - 1, 0)
        case .down?: list.cursor = max(min(list.cursor + 1, list.presets.count - 1), 0)
        case .save?:
            presets = list
            return begin(Prompt(presetNamed: list.selected?.name ?? "", among: list.presets.map(\.name)))
        case .back?:
            mode = .browsing
            return
        default:
            if key == .control("c") { return want(.quit) }
            presets = list
            if let deed, let preset = list.selected { return use(preset.name, deed) }
        }
        mode = .presets(list)
    }

    private mutating func use(_ name: String, _ deed: Deed) {
        let token = CommandText.token(name)
        switch deed {
        case .enter:
            mode = .browsing
            send("load \(token)", .deed("loaded \(name)", insisting: "load \(token) partly"))
        case .swap:
            mode = .browsing
            send("swap \(token)", .deed("swapped with \(name)", insisting: "swap \(token) force"))
        // The page lies over the list, and leads back to it.
        case .difference: send("diff \(token)", .page("compared with \(name)"))
        case .delete: mode = .asking(Question(text: "delete the preset \(name)?", deed: .delete(name)))
        default: break
        }
    }
}
