// Handles key presses in the tweak list and in the search; other modes get their keys routed.

import Tweaks

extension EditorModel {
    /// Handles a key press.
    mutating func press(_ key: Key) {
        switch key {
        case .pasteBegin: isPasting = true
        case .pasteEnd: isPasting = false
        case .control("l"): emit(.redraw)
        case .control("z") where !isPasting: emit(.suspend)
        default:
            notice = nil
            route(key)
        }
    }

    private mutating func route(_ key: Key) {
        switch mode {
        case .searching(let editor): search(editor, key)
        case .typing(let prompt): type(prompt, key)
        // Pasted text must not be interpreted as commands.
        case _ where isPasting: break
        case .browsing: browse(KeyTable.command(for: key, in: KeyTable.browsing))
        case .coloring(let path, let channel): color(path, channel, KeyTable.command(for: key, in: KeyTable.coloring))
        case .asking(let question): answer(question, key)
        case .reading(let page): read(page, key)
        case .presets(let list): choose(list, key)
        }
    }

    private mutating func browse(_ command: EditorCommand?) {
        guard let command else { return }
        if walk(command) || change(command) { return }
        switch command {
        case .search:
            mode = .searching(LineEditor(text: search))
        case .onlyModified:
            showsOnlyModified.toggle()
            arrange()
        // Shows the cached list at once: the next key is meant for that page, however slow the connection is.
        case .presets: if send("presets", .presets) { mode = .presets(presets) }
        case .history: send("history 200", .page("history"))
        case .explain: if let tweak = selectedTweak { send("explain \(tweak.token)", .page("explain \(tweak.path)")) }
        case .help: mode = .reading(Page(title: "keys", lines: Page.help, isHelp: true))
        case .back: endSearch()
        case .quit: emit(.quit)
        default: break
        }
    }

    private mutating func walk(_ command: EditorCommand) -> Bool {
        let page = max(EditorLayout(size).listRows - 1, 1)
        switch command {
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
            _ = KeyTable.command(for: key, in: KeyTable.browsing).map { walk($0) }
            return
        default: _ = editor.handle(isPasting && key == .enter ? " " : key)
        }
        mode = .searching(editor)
        guard editor.text != search else { return }
        search = editor.text
        // The best match is first.
        cursor = 0
        top = 0
        arrange(selecting: nil)
    }

    /// Shows all rows again and keeps the selection.
    private mutating func endSearch() {
        mode = .browsing
        if !isFiltered { return }
        let selected = selectedTweak
        if search.isEmpty { showsOnlyModified = false }
        search = ""
        // Unfolds the groups of the selected tweak, so that it is visible.
        if let selected { folded.subtract([selected.parts[0], selected.collection]) }
        arrange(selecting: selected?.path)
    }
}
