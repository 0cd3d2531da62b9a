// Counts down temporary overrides, and re-reads tweaks whose events are incomplete.

import Tweaks
import TweaksWire

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
        sendForJSON("get \(tweaks[position].token)", .tweak(path))
    }

    /// Handles the answer to that request.
    mutating func handleTweak(_ answer: Answer, _ path: String) {
        isReadingTweak = false
        defer { readNextStale() }
        guard let position = positions[path], let json = JSON(answer.status)?["tweaks"]?.elements.first,
            var tweak = EditorTweak(json, now: now)
        else { return }
        (tweak.requested, tweak.recentChange) = (tweaks[position].requested, tweaks[position].recentChange)
        update(position) { $0 = tweak }
    }
}
