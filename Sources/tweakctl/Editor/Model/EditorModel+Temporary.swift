// What lasts only for a while: the time that is left, and the facts that no event tells.

import Tweaks
import TweaksWire

extension EditorModel {
    /// The rows that are in view.
    var visibleRows: Range<Int> {
        let end = min(top + EditorLayout(size).listRows, rows.count)
        return min(top, end)..<end
    }

    /// Whole seconds that a temporary override still has, rounded up; nil where there is none.
    func secondsLeft(of tweak: EditorTweak) -> Int64? {
        guard let end = tweak.end, end > now else { return nil }
        return Int64(((end - now) / .seconds(1)).rounded(.up))
    }

    // MARK: Counting down

    /// When a time that is in view shows a second less; nil where none is, so that nothing wakes for nothing.
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

    /// What is over is shown no more. The value that shows now comes as an event, if it is another one.
    mutating func endTemporary() {
        for position in visibleTemporary where secondsLeft(of: tweaks[position]) == nil {
            tweaks[position].end = nil
            if position == selectedPosition { selectionChanged() }
        }
    }

    // MARK: Facts

    /// So many single questions at most; more is one question for all.
    private static let mostStale = 64

    /// Asks for the facts of a tweak, one tweak at a time: an event does not say whether a value is temporary, or
    /// a secret modified. However often it changes meanwhile, that is one more question.
    mutating func readAgain(_ position: Int) {
        stale.insert(tweaks[position].path)
        if stale.count > Self.mostStale {
            stale = []
            readAll()
        }
        readNextStale()
    }

    private mutating func readNextStale() {
        guard !isReadingFact, link == .live, let path = stale.popFirst() else { return }
        guard let position = positions[path] else { return readNextStale() }
        isReadingFact = true
        sendForFacts("get \(tweaks[position].token)", .fact(path))
    }

    /// The answer to that.
    mutating func takeFact(_ answer: Answer, _ path: String) {
        isReadingFact = false
        defer { readNextStale() }
        guard let position = positions[path], let json = JSON(answer.status)?["tweaks"]?.elements.first,
            var tweak = EditorTweak(json, now: now)
        else { return }
        (tweak.wanted, tweak.news) = (tweaks[position].wanted, tweaks[position].news)
        update(position) { $0 = tweak }
    }
}
