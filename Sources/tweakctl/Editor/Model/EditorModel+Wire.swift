// Handles answers and events of the server.

import Tweaks
import TweaksSystem
import TweaksWire

extension EditorModel {
    // MARK: Connection

    /// Sends the first requests on a new connection.
    mutating func connected() {
        link = .live
        emit(.send(["hello 1"], .hello, answer: 0))
        readAll("watch *")
    }

    /// Handles a lost connection. Typed text stays; requests in flight may or may not have arrived.
    mutating func lost() {
        link = .lost
        inFlight = [:]
        ownRevisions = []
        reading = (false, false)
        (stale, isReadingTweak) = ([], false)
        (layersDue, statsDue, tweakCount) = (nil, nil, nil)
        for position in tweaks.indices { tweaks[position].requested = nil }
        if case .typing(var prompt) = mode, prompt.isSent {
            prompt.isSent = false
            prompt.problem = "the connection was lost before the answer; Enter sends it again"
            mode = .typing(prompt)
        }
    }

    private mutating func greet(_ answer: Answer) {
        if answer.isRefusal { return showNotice(answer.complaint, .bad) }
        let (isBack, before) = (instance != nil, instance)
        instance = answer.field("instance") ?? "unknown"
        name = answer.field("name") ?? name
        processID = answer.field("pid") ?? ""
        // Text typed while disconnected can be sent now.
        if isBack, case .typing(var prompt) = mode {
            prompt.problem = nil
            mode = .typing(prompt)
        }
        if isBack { showNotice(instance == before ? "\(name) is back" : "\(name) was restarted", .good) }
    }

    // MARK: Answers

    /// Handles the answer to a request.
    mutating func receive(_ answer: Answer, for kind: RequestKind) {
        if let revision = answer.revision {
            self.revision = max(self.revision, revision)
            if !answer.isUnchanged { ownRevisions.insert(revision) }
            if ownRevisions.count > 128 { ownRevisions = ownRevisions.filter { revision < 64 || $0 > revision - 64 } }
        }
        switch kind {
        case .nothing, .token: break
        case .hello: greet(answer)
        case .allTweaks: handleTweaks(answer)
        case .stats: handleStats(answer)
        case .tweak(let path): handleTweak(answer, path)
        case .change(let path): finishChange(path, answer)
        case .typed: finishTyped(answer)
        case .layers(let path): if path == layers.path, !answer.isRefusal { layers.lines = answer.body.map(Self.row) }
        case .command(let done, let forced): handleResult(answer, done, forced)
        case .run(let path): handleRun(answer, path)
        case .page(let title):
            if answer.isRefusal { return showNotice(answer.complaint, .bad) }
            let isOverPresets = if case .presets = mode { true } else { false }
            mode = .reading(Page(title: title, lines: answer.body.map(Self.row), isOverPresets: isOverPresets))
        case .presets: handlePresets(answer)
        }
    }

    private mutating func handlePresets(_ answer: Answer) {
        let cursor = if case .presets(let list) = mode { list.cursor } else { Int?.none }
        if answer.isRefusal {
            if cursor != nil { mode = .browsing }
            return showNotice(answer.complaint, .bad)
        }
        presets.cursor = cursor ?? presets.cursor
        presets = PresetList(answer.body, after: presets)
        if cursor != nil { mode = .presets(presets) }
    }

    private static func row(_ line: String) -> String { line.hasPrefix("  ") ? String(line.dropFirst(2)) : line }

    /// Replaces all tweaks; pending values and change marks stay.
    private mutating func handleTweaks(_ answer: Answer) {
        defer { if reading.isStale { readAll() } }
        reading.isInProgress = false
        guard let json = JSON(answer.status), let list = json["tweaks"] else {
            return showNotice(answer.complaint, .bad)
        }
        // Rows refer to tweaks by index, and the indices are about to change.
        let selected = selectedIdentity
        let known = Dictionary(tweaks.map { ($0.path, $0) }) { first, _ in first }
        tweaks = list.elements.compactMap { json in
            guard var tweak = EditorTweak(json, now: now) else { return nil }
            if let old = known[tweak.path] { (tweak.requested, tweak.recentChange) = (old.requested, old.recentChange) }
            return tweak
        }
        positions = Dictionary(tweaks.enumerated().map { ($1.path, $0) }) { first, _ in first }
        widths.name = tweaks.map { TextWidth.of($0.parts[2]) }.max() ?? 0
        widths.path = tweaks.map { TextWidth.of($0.path) }.max() ?? 0
        count()
        if let number = json["rev"]?.wholeNumber { revision = number }
        let isFirst = rows.isEmpty
        arrange(selecting: selected)
        // Selects the first tweak instead of a heading.
        if isFirst, let first = rows.firstIndex(where: { !$0.isHeading }) { go(to: first) }
        if statsDue == nil { statsDue = now + Self.statsInterval }
    }

    private static let statsInterval = Duration.seconds(2)

    private mutating func handleStats(_ answer: Answer) {
        statsDue = now + Self.statsInterval
        guard let count = answer.field("tweaks") else { return }
        if count != tweakCount ?? String(tweaks.count) { readAll() }
        tweakCount = count
    }

    /// Applies the values in an answer.
    /// - Parameter isPlain: Whether it answers a plain `set`; after other commands the tweak is read again, because the
    ///   value may be temporary.
    mutating func apply(_ answer: Answer, isPlain: Bool = false) {
        for row in answer.body.compactMap({ TweakRow($0) }) {
            guard let position = apply(row) else { continue }
            if isPlain { tweaks[position].end = nil } else { readAgain(position) }
        }
    }

    @discardableResult
    private mutating func apply(_ row: TweakRow) -> Int? {
        guard let path = row.plainPath, let position = positions[path], let value = row.plainValue else { return nil }
        update(position) { $0.apply(value) }
        if position == selectedPosition { selectionChanged() }
        return position
    }

    // MARK: Remarks

    /// Shows what else an `ok` reports: a clamped value, or a change that could not be saved.
    mutating func showRemark(of answer: Answer) {
        if let unsaved = answer.status.firstRange(of: " unsaved: ") {
            showNotice("in effect, but not saved: \(answer.status[unsaved.upperBound...])", .bad)
        } else if let unaudited = answer.status.firstRange(of: " unaudited: ") {
            showNotice("in effect, but not in the audit: \(answer.status[unaudited.upperBound...])", .bad)
        } else if let note = answer.body.first.flatMap({ TweakRow($0) })?.note,
            note.contains(", clamped") || note.contains(", snapped")
        {
            showNotice(note)
        }
    }

    /// Shows the result of a command, or why it was refused.
    mutating func report(_ answer: Answer, _ done: String) {
        if answer.isRefusal { return showRefusal(answer) }
        apply(answer)
        let changes = answer.body.compactMap { TweakRow($0) }
        let others = answer.body.filter { $0.hasPrefix("  ") }.map(Self.row)
        var text = answer.resultText ?? done
        if changes.count == 1 {
            text += ": \(changes[0].path) = \(changes[0].value)"
        } else if changes.count > 1 {
            text += ", \(changes.count) tweaks"
        } else if answer.isUnchanged {
            text += ", nothing changed"
        }
        if let advice = answer.advice { text += "; \(advice)" }
        // For example the tweaks that a preset does not name.
        if others.count > 1 { mode = .reading(Page(title: text, lines: others)) }
        showNotice(others.count == 1 ? "\(text); \(others[0])" : text, .good)
        showRemark(of: answer)
        selectionChanged()
    }

    /// Shows a refusal, and the lines that caused it.
    private mutating func showRefusal(_ answer: Answer) {
        showNotice(answer.complaint, .bad)
        if !answer.body.isEmpty { mode = .reading(Page(title: "not done", lines: answer.body.map(Self.row))) }
    }

    /// Turns a refusal that can be overridden into a question.
    private mutating func handleResult(_ answer: Answer, _ done: String, _ forced: String?) {
        guard let forced, answer.isRefusal, let remedy = answer.reason.firstRange(of: "; \(forced) ") else {
            return report(answer, done)
        }
        let question = forced.hasSuffix(" partly") ? "Load the rest?" : "Do it anyway?"
        let text = "\(answer.reason[..<remedy.lowerBound]). \(question)"
        mode = .asking(Question(text: text, action: .force(forced), lines: answer.body.map(Self.row)))
    }

    private mutating func handleRun(_ answer: Answer, _ path: String) {
        if !answer.isRefusal { return show(answer, of: path) }
        showNotice(answer.complaint, .bad)
    }

    // MARK: Events

    /// Handles an event of the watch.
    mutating func receive(event line: String) {
        if line.hasPrefix("{") { return receive(JSON(line)) }
        let words = line.split(separator: " ", maxSplits: 3)
        if words.count > 2, words[2] == "lagged" { return readAll() }
        guard let row = TweakRow(line) else { return }
        markRecentChange(apply(row), revision: row.revision.flatMap { UInt64($0) }, origin: row.origin)
        if positions[row.plainPath ?? ""] == nil { readAll() }
    }

    /// Handles an event in JSON form, which arrives while an answer in JSON is outstanding.
    private mutating func receive(_ json: JSON?) {
        guard let json, let path = json["path"]?.string, let position = positions[path],
            let revision = json["rev"]?.wholeNumber
        else { return readAll() }
        let (kind, component) = (tweaks[position].kind, tweaks[position].component)
        if let value = json["value"].flatMap({ TweakValue($0, as: kind, of: component) }) {
            update(position) { $0.apply(value.choiceName) }
        }
        if let isSet = json["set"] { tweaks[position].isSet = isSet.isTrue }
        markRecentChange(position, revision: revision, origin: json["by"]?.string)
    }

    private mutating func markRecentChange(_ position: Int?, revision: UInt64?, origin: String?) {
        if let revision { self.revision = max(self.revision, revision) }
        guard let position else { return }
        let tweak = tweaks[position]
        let isOwn = revision.map { ownRevisions.contains($0) } ?? false
        if tweak.isSecret || !isOwn && !tweak.isReadOnly { readAgain(position) }
        // Metrics change all the time and are not marked.
        if isOwn || tweak.isReadOnly { return }
        recentlyChanged.insert(position)
        tweaks[position].recentChange = .init(origin: Quoting.sanitized(origin ?? "others"), end: now + .seconds(4))
    }
}
