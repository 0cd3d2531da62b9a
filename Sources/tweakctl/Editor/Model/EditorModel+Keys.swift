// What keys do among the tweaks, and where they go otherwise.

import Tweaks

extension EditorModel {
    /// Somebody pressed a key.
    mutating func press(_ key: Key) {
        switch key {
        case .pasteBegin: isPasting = true
        case .pasteEnd: isPasting = false
        case .control("l"): want(.redraw)
        case .control("z") where !isPasting: want(.suspend)
        default:
            notice = nil
            route(key)
        }
    }

    private mutating func route(_ key: Key) {
        switch mode {
        case .searching(let editor): search(editor, key)
        case .typing(let prompt): type(prompt, key)
        // What is pasted is text; as keys it would change whatever its letters stand for.
        case _ where isPasting: break
        case .browsing: browse(KeyTable.deed(key, in: KeyTable.browsing))
        case .coloring(let path, let channel): color(path, channel, KeyTable.deed(key, in: KeyTable.coloring))
        case .asking(let question): answer(question, key)
        case .reading(let page): read(page, key)
        case .presets(let list): choose(list, key)
        }
    }

    private mutating func browse(_ deed: Deed?) {
        guard let deed else { return }
        if walk(deed) || change(deed) { return }
        switch deed {
        case .search:
            mode = .searching(LineEditor(text: search))
        case .onlyModified:
            showsOnlyModified.toggle()
            arrange()
        // At once, as it was seen last: the next key is meant for that page, however slow the line is.
        case .presets: if send("presets", .presets) { mode = .presets(presets) }
        case .history: send("history 200", .page("history"))
        case .explain: if let tweak = selectedTweak { send("explain \(tweak.token)", .page("explain \(tweak.path)")) }
        case .help: mode = .reading(Page(title: "keys", lines: Page.help, isHelp: true))
        case .back: endSearch()
        case .quit: want(.quit)
        default: break
        }
    }

    private mutating func walk(_ deed: Deed) -> Bool {
        let page = max(EditorLayout(size).listRows - 1, 1)
        switch deed {
        case .up: go(to: cursor - 1)
        case .down: go(to: cursor + 1)
        case .pageUp: go(to: cursor - page)
        case .pageDown: go(to: cursor + page)
        case .first: go(to: 0)
        case .last: go(to: rows.count - 1)
        case .nextCollection: goToCollection(1)
        case .previousCollection: goToCollection(-1)
        default: return false
        }
        return true
    }

    // MARK: Search

    private mutating func search(_ editor: LineEditor, _ key: Key) {
        var editor = editor
        switch key {
        case .escape, .control("c"): return endSearch()
        case .enter where !isPasting:
            mode = .browsing
            return
        case .up: return go(to: cursor - 1)
        case .down: return go(to: cursor + 1)
        case .pageUp, .pageDown, .tab, .shiftTab:
            _ = KeyTable.deed(key, in: KeyTable.browsing).map { walk($0) }
            return
        default: _ = editor.handle(isPasting && key == .enter ? " " : key)
        }
        mode = .searching(editor)
        guard editor.text != search else { return }
        search = editor.text
        // The best match is the first one.
        cursor = 0
        top = 0
        arrange(selecting: nil)
    }

    /// All rows again; what was selected stays so.
    private mutating func endSearch() {
        mode = .browsing
        if !isFiltered { return }
        let selected = selectedTweak
        if search.isEmpty { showsOnlyModified = false }
        search = ""
        // What was found shall be seen.
        if let selected { folded.subtract([selected.parts[0], selected.collection]) }
        arrange(selecting: selected?.path)
    }
}
