// What the server says, and what the editor learns from it.

import Tweaks
import TweaksTerminal
import TweaksWire

extension EditorModel {
    // MARK: Connection

    /// A connection is there; the questions to begin with.
    mutating func connected() {
        link = .live
        want(.send(["hello 1"], .hello, answer: 0))
        readAll("watch *")
    }

    /// It has ended. What is typed stays; what was under way is not known to have arrived.
    mutating func lost() {
        link = .lost
        underWay = [:]
        ownRevisions = []
        reading = (false, false)
        (stale, isReadingFact) = ([], false)
        (layersDue, statsDue, tweakCount) = (nil, nil, nil)
        for position in tweaks.indices { tweaks[position].wanted = nil }
        if case .typing(var prompt) = mode, prompt.isSent {
            prompt.isSent = false
            prompt.problem = "the connection was lost before the answer; Enter sends it again"
            mode = .typing(prompt)
        }
    }

    private mutating func greet(_ answer: Answer) {
        if answer.isRefusal { return say(answer.complaint, .bad) }
        let (isBack, before) = (instance != nil, instance)
        instance = answer.fact("instance") ?? "unknown"
        name = answer.fact("name") ?? name
        processID = answer.fact("pid") ?? ""
        // What was typed meanwhile can be sent now.
        if isBack, case .typing(var prompt) = mode {
            prompt.problem = nil
            mode = .typing(prompt)
        }
        if isBack { say(instance == before ? "\(name) is back" : "\(name) was restarted", .good) }
    }

    // MARK: Answers

    /// The answer to a request.
    mutating func hear(_ answer: Answer, for ask: Ask) {
        if let revision = answer.revision {
            self.revision = max(self.revision, revision)
            if !answer.isUnchanged { ownRevisions.insert(revision) }
            if ownRevisions.count > 128 { ownRevisions = ownRevisions.filter { revision < 64 || $0 > revision - 64 } }
        }
        switch ask {
        case .nothing, .token: break
        case .hello: greet(answer)
        case .facts: takeFacts(answer)
        case .stats: takeStats(answer)
        case .fact(let path): takeFact(answer, path)
        case .change(let path): settle(path, answer)
        case .typed: settleTyped(answer)
        case .layers(let path): if path == layers.path, !answer.isRefusal { layers.lines = answer.body.map(Self.row) }
        case .deed(let done, let insisting): conclude(answer, done, insisting)
        case .run(let path): takeRun(answer, path)
        case .page(let title):
            if answer.isRefusal { return say(answer.complaint, .bad) }
            let isOverPresets = if case .presets = mode { true } else { false }
            mode = .reading(Page(title: title, lines: answer.body.map(Self.row), isOverPresets: isOverPresets))
        case .presets: takePresets(answer)
        }
    }

    private mutating func takePresets(_ answer: Answer) {
        let cursor = if case .presets(let list) = mode { list.cursor } else { Int?.none }
        if answer.isRefusal {
            if cursor != nil { mode = .browsing }
            return say(answer.complaint, .bad)
        }
        presets.cursor = cursor ?? presets.cursor
        presets = PresetList(answer.body, after: presets)
        if cursor != nil { mode = .presets(presets) }
    }

    private static func row(_ line: String) -> String { line.hasPrefix("  ") ? String(line.dropFirst(2)) : line }

    /// All tweaks, anew; what was shown about them stays.
    private mutating func takeFacts(_ answer: Answer) {
        defer { if reading.isStale { readAll() } }
        reading.isUnderWay = false
        guard let json = JSON(answer.status), let list = json["tweaks"] else {
            return say(answer.complaint, .bad)
        }
        // Rows know tweaks by their places, which are about to change.
        let selected = selectedIdentity
        let known = Dictionary(tweaks.map { ($0.path, $0) }) { first, _ in first }
        tweaks = list.elements.compactMap { json in
            guard var tweak = EditorTweak(json, now: now) else { return nil }
            if let old = known[tweak.path] { (tweak.wanted, tweak.news) = (old.wanted, old.news) }
            return tweak
        }
        positions = Dictionary(tweaks.enumerated().map { ($1.path, $0) }) { first, _ in first }
        widths.name = tweaks.map { TextWidth.of($0.parts[2]) }.max() ?? 0
        widths.path = tweaks.map { TextWidth.of($0.path) }.max() ?? 0
        count()
        if let number = json["rev"]?.wholeNumber { revision = number }
        let isFirst = rows.isEmpty
        arrange(selecting: selected)
        // The first thing to be seen is a tweak, not a heading.
        if isFirst, let first = rows.firstIndex(where: { !$0.isHeading }) { go(to: first) }
        if statsDue == nil { statsDue = now + Self.statsInterval }
    }

    private static let statsInterval = Duration.seconds(2)

    private mutating func takeStats(_ answer: Answer) {
        statsDue = now + Self.statsInterval
        guard let count = answer.fact("tweaks") else { return }
        if count != tweakCount ?? String(tweaks.count) { readAll() }
        tweakCount = count
    }

    /// The values that an answer shows.
    /// - Parameter isPlain: Whether it answers a plain `set`, which is for good; else there may be more to know.
    mutating func take(_ answer: Answer, isPlain: Bool = false) {
        for row in answer.body.compactMap({ TweakRow($0) }) {
            guard let position = take(row) else { continue }
            if isPlain { tweaks[position].end = nil } else { readAgain(position) }
        }
    }

    @discardableResult
    private mutating func take(_ row: TweakRow) -> Int? {
        guard let path = row.plainPath, let position = positions[path], let value = row.plainValue else { return nil }
        update(position) { $0.take(value) }
        if position == selectedPosition { selectionChanged() }
        return position
    }

    // MARK: Remarks

    /// What an `ok` says beyond that: a value that was clamped, a change that could not be saved.
    mutating func remark(_ answer: Answer) {
        if let unsaved = answer.status.firstRange(of: " unsaved: ") {
            say("in effect, but not saved: \(answer.status[unsaved.upperBound...])", .bad)
        } else if let note = answer.body.first.flatMap({ TweakRow($0) })?.note,
            note.contains(", clamped") || note.contains(", snapped")
        {
            say(note)
        }
    }

    /// What was done, or why not.
    mutating func report(_ answer: Answer, _ done: String) {
        if answer.isRefusal { return refuse(answer) }
        take(answer)
        let changes = answer.body.compactMap { TweakRow($0) }
        let others = answer.body.filter { $0.hasPrefix("  ") }.map(Self.row)
        var text = answer.deed ?? done
        if changes.count == 1 {
            text += ": \(changes[0].path) = \(changes[0].value)"
        } else if changes.count > 1 {
            text += ", \(changes.count) tweaks"
        } else if answer.isUnchanged {
            text += ", nothing has changed"
        }
        if let advice = answer.advice { text += "; \(advice)" }
        // What a preset did not name, for one.
        if others.count > 1 { mode = .reading(Page(title: text, lines: others)) }
        say(others.count == 1 ? "\(text); \(others[0])" : text, .good)
        remark(answer)
        selectionChanged()
    }

    /// Why not, and what stands in the way.
    private mutating func refuse(_ answer: Answer) {
        say(answer.complaint, .bad)
        if !answer.body.isEmpty { mode = .reading(Page(title: "not done", lines: answer.body.map(Self.row))) }
    }

    /// A refusal that can be overruled is a question.
    private mutating func conclude(_ answer: Answer, _ done: String, _ insisting: String?) {
        guard let insisting, answer.isRefusal, let remedy = answer.reason.firstRange(of: "; \(insisting) ") else {
            return report(answer, done)
        }
        let question = insisting.hasSuffix(" partly") ? "Load the rest?" : "Do it all the same?"
        let text = "\(answer.reason[..<remedy.lowerBound]). \(question)"
        mode = .asking(Question(text: text, deed: .insist(insisting), lines: answer.body.map(Self.row)))
    }

    private mutating func takeRun(_ answer: Answer, _ path: String) {
        if !answer.isRefusal { return show(answer, of: path) }
        say(answer.complaint, .bad)
    }

    // MARK: Events

    /// News of what is watched.
    mutating func hear(event line: String) {
        if line.hasPrefix("{") { return hear(JSON(line)) }
        let words = line.split(separator: " ", maxSplits: 3)
        if words.count > 2, words[2] == "lagged" { return readAll() }
        guard let row = TweakRow(line) else { return }
        noteNews(take(row), revision: row.revision.flatMap { UInt64($0) }, origin: row.origin)
        if positions[row.plainPath ?? ""] == nil { readAll() }
    }

    /// The same while answers come as JSON.
    private mutating func hear(_ json: JSON?) {
        guard let json, let path = json["path"]?.string, let position = positions[path],
            let revision = json["rev"]?.wholeNumber
        else { return readAll() }
        let (kind, component) = (tweaks[position].kind, tweaks[position].component)
        if let value = json["value"].flatMap({ TweakValue($0, as: kind, of: component) }) {
            update(position) { $0.take(value.choiceName) }
        }
        if let isSet = json["set"] { tweaks[position].isSet = isSet.isTrue }
        noteNews(position, revision: revision, origin: json["by"]?.string)
    }

    private mutating func noteNews(_ position: Int?, revision: UInt64?, origin: String?) {
        if let revision { self.revision = max(self.revision, revision) }
        guard let position else { return }
        let tweak = tweaks[position]
        let isOwn = revision.map { ownRevisions.contains($0) } ?? false
        if tweak.isSecret || !isOwn && !tweak.isReadOnly { readAgain(position) }
        // A figure changes all the time; that is no news.
        if isOwn || tweak.isReadOnly { return }
        newsPositions.insert(position)
        tweaks[position].news = .init(origin: Quoting.sanitized(origin ?? "others"), end: now + .seconds(4))
    }
}
