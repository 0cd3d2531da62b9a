// Searches the history backwards as one types, as shells do with Ctrl-R.

import Tweaks

/// A search: what was typed, and where it began.
struct HistorySearch: Equatable {
    fileprivate(set) var text = ""
    /// Whether no further line has the text; the last one found stays.
    fileprivate(set) var hasFailed = false
    /// The line, the cursor and the position in the history before the search.
    fileprivate let start: Start

    fileprivate struct Start: Equatable {
        let characters: [Character]
        let cursor: Int
        let position: Int
    }

    /// The prompt while it lasts.
    var prompt: String { "\(hasFailed ? "not found" : "search") '\(Quoting.sanitized(text))': " }
}

extension LineEditor {
    /// Starts at the newest line.
    mutating func beginSearch() {
        if history.isEmpty { return }
        search = HistorySearch(start: .init(characters: characters, cursor: cursor, position: position))
    }

    /// Handles a key while the search lasts. All keys but those of the search keep the line that was found, and do what
    /// they do with it.
    /// - Returns: Whether the key is handled.
    mutating func handleInSearch(_ key: Key) -> Bool {
        switch key {
        case .character(let character):
            search?.text.append(character)
            find(from: min(position, history.count - 1), by: -1)
        case .backspace:
            if search?.text.isEmpty == false { search?.text.removeLast() }
            find(from: history.count - 1, by: -1)
        case .control("r"): find(from: position - 1, by: -1)
        case .control("s"): find(from: position + 1, by: 1)
        case .control("g"): restore()
        case .escape: search = nil
        default:
            search = nil
            return false
        }
        return true
    }

    /// Shows the next line with the text, and the cursor before the text.
    private mutating func find(from start: Int, by step: Int) {
        guard let text = search?.text else { return }
        if text.isEmpty { return restore(continues: true) }
        var index = start
        while history.indices.contains(index) {
            let line = history[index]
            if let place = line.firstRange(of: text) {
                let cursor = line.distance(from: line.startIndex, to: place.lowerBound)
                show(Array(line), cursor: cursor, position: index)
                search?.hasFailed = false
                return
            }
            index += step
        }
        search?.hasFailed = true
    }

    /// Shows what was there before the search.
    private mutating func restore(continues: Bool = false) {
        guard let start = search?.start else { return }
        show(start.characters, cursor: start.cursor, position: start.position)
        if continues { search?.hasFailed = false } else { search = nil }
    }
}
