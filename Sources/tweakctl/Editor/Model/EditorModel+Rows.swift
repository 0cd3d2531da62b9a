// Builds the rows of the list with their counts, filters them, moves the selection, and counts temporary values down.

import Tweaks
import TweaksSystem
import TweaksWire

/// A row of the tree.
enum EditorRow: Equatable {
    case category(String)
    /// The category and the collection, as in a path.
    case collection(String)
    /// The index in `tweaks`.
    case tweak(Int)
}

extension EditorModel {
    /// The selected tweak; nil on a group.
    var selectedTweak: EditorTweak? { selectedPosition.map { tweaks[$0] } }

    var selectedPosition: Int? {
        if rows.indices.contains(cursor), case .tweak(let position) = rows[cursor] { position } else { nil }
    }

    /// A name of the row that stays the same when other rows change.
    func identity(of row: EditorRow) -> String {
        switch row {
        case .category(let name): name
        case .collection(let path): path
        case .tweak(let position): tweaks[position].path
        }
    }

    var isFiltered: Bool { !search.isEmpty || showsOnlyModified }

    /// Rebuilds the rows and keeps the selection, if that row still exists.
    mutating func arrange() {
        arrange(selecting: selectedIdentity)
    }

    /// The identity of the selected row; nil without rows.
    var selectedIdentity: String? { rows.indices.contains(cursor) ? identity(of: rows[cursor]) : nil }

    /// - Parameter selected: The identity of the row to select. If a folded group hides it, the group is selected.
    mutating func arrange(selecting selected: String?) {
        let query = FindQuery(search.split(whereSeparator: \.isWhitespace).map { String($0) })
        rows = query.isEmpty ? tree : Self.matches(query, among: tweaks).filter { isShown($0) }.map(EditorRow.tweak)
        if let selected, let place = place(of: selected) { cursor = place }
        cursor = min(max(cursor, 0), max(rows.count - 1, 0))
        scroll()
        selectionChanged()
    }

    /// The row of this name; otherwise the folded group that hides it, or the next row of an open group.
    private func place(of name: String) -> Int? {
        let all = rows.map { identity(of: $0) }
        if let place = all.firstIndex(of: name) { return place }
        guard let group = all.lastIndex(where: { name.hasPrefix($0 + "/") }) else { return nil }
        let isOpen = !folded.contains(all[group]) && rows.indices.contains(group + 1) && !rows[group + 1].isHeading
        return isOpen ? group + 1 : group
    }

    /// The matching tweaks, best first. The search is local, so that a slow connection does not delay it.
    static func matches(_ query: FindQuery, among tweaks: [EditorTweak]) -> [Int] {
        let index = FindIndex(
            count: tweaks.count,
            tweaks.lazy.map { tweak in
                FindIndex.Subject(
                    tweak.path, (tweak.parts[0], tweak.parts[1], tweak.parts[2]),
                    [tweak.help, tweak.unit] + tweak.choices + tweak.choiceLabels)
            })
        return query.run(index) {
            tweaks[$0].path
        } value: {
            tweaks[$0].isSecret ? nil : tweaks[$0].value
        }.best
    }

    private func isShown(_ position: Int) -> Bool { !showsOnlyModified || tweaks[position].isModified }

    private var tree: [EditorRow] {
        var rows: [EditorRow] = []
        var category: String?
        var collection: String?
        for (position, tweak) in tweaks.enumerated() where isShown(position) {
            if tweak.parts[0] != category {
                category = tweak.parts[0]
                collection = nil
                rows.append(.category(tweak.parts[0]))
            }
            if folded.contains(tweak.parts[0]) { continue }
            if tweak.collection != collection {
                collection = tweak.collection
                rows.append(.collection(tweak.collection))
            }
            if !folded.contains(tweak.collection) { rows.append(.tweak(position)) }
        }
        return rows
    }

    // MARK: Navigation

    /// Selects a row; beyond the ends the first or the last one.
    mutating func go(to row: Int) {
        let wanted = min(max(row, 0), max(rows.count - 1, 0))
        if wanted == cursor { return }
        cursor = wanted
        scroll()
        selectionChanged()
    }

    /// Scrolls the selected row into view, with its headings if they fit.
    mutating func scroll() {
        let height = max(EditorLayout(size).listRows, 1)
        top = min(max(top, 0), max(rows.count - height, 0))
        if cursor < top { top = cursor }
        while top > 0, cursor - top < height - 1, rows[top - 1].isHeading, cursor <= top + 1 { top -= 1 }
        if cursor >= top + height { top = cursor - height + 1 }
    }

    /// Selects the next or the previous collection with rows.
    mutating func goToCollection(_ direction: Int) {
        let starts = rows.indices.filter { position in
            position == 0 || !rows[position].isHeading && rows[position - 1].isHeading
                || isFoldedHeading(rows[position])
        }
        let next = direction > 0 ? starts.first { $0 > cursor } : starts.last { $0 < cursor }
        if let next { go(to: next) }
    }

    private func isFoldedHeading(_ row: EditorRow) -> Bool { row.isHeading && folded.contains(identity(of: row)) }

    /// Folds or unfolds a group.
    mutating func fold(_ wanted: Bool? = nil) {
        guard rows.indices.contains(cursor), rows[cursor].isHeading else { return }
        let name = identity(of: rows[cursor])
        if wanted ?? !folded.contains(name) { folded.insert(name) } else { folded.remove(name) }
        arrange()
    }

    /// Schedules a request for the layers of the selected tweak; the delay skips it while keys repeat.
    mutating func selectionChanged() {
        guard let tweak = selectedTweak, tweak.kind != .action else {
            layersDue = nil
            return
        }
        if layers.path != tweak.path { layers = TweakLayers(path: tweak.path) }
        layersDue = now + .milliseconds(120)
    }
}

extension EditorRow {
    var isHeading: Bool {
        if case .tweak = self { false } else { true }
    }
}

/// The counts of a group.
struct GroupCounts: Equatable {
    var all = 0
    var modified = 0
}

extension EditorModel {
    /// The counts of a category or a collection; the empty name has the totals.
    func counts(of group: String) -> GroupCounts { groupCounts[group] ?? GroupCounts() }

    /// Recounts everything.
    mutating func count() {
        groupCounts = [:]
        for tweak in tweaks {
            for group in tweak.groups {
                groupCounts[group, default: GroupCounts()].all += 1
                if tweak.isModified { groupCounts[group, default: GroupCounts()].modified += 1 }
            }
        }
        recentlyChanged = Set(tweaks.indices.filter { tweaks[$0].recentChange != nil })
    }

    /// Updates a tweak and the counts of its groups.
    mutating func update(_ position: Int, _ change: (inout EditorTweak) -> Void) {
        let was = tweaks[position].isModified
        change(&tweaks[position])
        let tweak = tweaks[position]
        if tweak.isModified == was { return }
        for group in tweak.groups { groupCounts[group, default: GroupCounts()].modified += was ? -1 : 1 }
        if showsOnlyModified { arrange() }
    }
}

extension EditorTweak {
    fileprivate var groups: [String] { ["", parts[0], collection] }
}

extension EditorModel {
    /// The visible rows.
    var visibleRows: Range<Int> {
        let end = min(top + EditorLayout(size).listRows, rows.count)
        return min(top, end)..<end
    }

    /// The remaining whole seconds of a temporary override, rounded up; nil without one.
    func secondsLeft(of tweak: EditorTweak) -> Int64? {
        guard let end = tweak.end, end > now else { return nil }
        return Int64(((end - now) / .seconds(1)).rounded(.up))
    }

    // MARK: Counting down

    /// The time of the next change of a visible countdown; nil without one, so that there are no needless wakeups.
    var nextSecond: ContinuousClock.Instant? {
        visibleTemporary.compactMap { position in
            guard let left = secondsLeft(of: tweaks[position]), let end = tweaks[position].end else { return nil }
            return end - .seconds(left - 1)
        }.min()
    }

    private var visibleTemporary: [Int] {
        visibleRows.compactMap { row in
            if case .tweak(let position) = rows[row], tweaks[position].end != nil { position } else { nil }
        }
    }

    /// Removes countdowns that have ended. If the value changes, an event follows.
    mutating func endTemporary() {
        for position in visibleTemporary where secondsLeft(of: tweaks[position]) == nil {
            tweaks[position].end = nil
            if position == selectedPosition { selectionChanged() }
        }
    }

    /// The time at which an age on the screen changes next; nil if none is shown.
    var nextAge: ContinuousClock.Instant? {
        let lines =
            switch mode {
            case .reading(let page): page.isOutput ? [] : page.lines
            case .presets(let list): list.presets.map(\.about)
            default: layers.lines
            }
        let times = lines.compactMap { Age.timeUntilChange(of: $0, now: wallTime) }
        return times.min().map { now + .milliseconds(max($0, 1)) }
    }

    // MARK: Reading again

    /// The maximum number of single requests; for more, all tweaks are read at once.
    private static let mostStale = 64

    /// Reads a tweak again, one at a time: an event does not tell whether a value is temporary, or a secret modified.
    /// Further changes in the meantime are covered by one more request.
    mutating func readAgain(_ position: Int) {
        stale.insert(tweaks[position].path)
        if stale.count > Self.mostStale {
            stale = []
            readAll()
        }
        readNextStale()
    }

    private mutating func readNextStale() {
        guard !isReadingTweak, link == .live, let path = stale.popFirst() else { return }
        guard let position = positions[path] else { return readNextStale() }
        isReadingTweak = true
        sendForFields("get \(tweaks[position].token)", .tweak(path))
    }

    /// Handles the answer to that request.
    mutating func handleTweak(_ answer: Answer, _ path: String) {
        isReadingTweak = false
        defer { readNextStale() }
        guard let position = positions[path], let json = answer.tweaks.first,
            var tweak = EditorTweak(json, now: now)
        else { return }
        tweak.keepState(of: tweaks[position])
        update(position) { $0 = tweak }
    }
}
