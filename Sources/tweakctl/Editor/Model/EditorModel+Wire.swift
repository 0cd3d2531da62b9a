// Handles answers and events of the server.

import Tweaks
import TweaksSystem
import TweaksWire

extension EditorModel {
    // MARK: Connection

    /// Sends the first requests on a new connection.
    mutating func connected() {
        link = .live
        sendsText = false
        emit(.send(["json on", Answer.fieldsRequest], .text, answer: 1))
        emit(.send(["hello 1"], .hello, answer: 0))
        readAll("watch *")
    }

    /// Handles a lost connection. Typed text stays; requests in flight may or may not have arrived.
    mutating func lost() {
        link = .lost
        inFlight = [:]
        isDragOn = false
        ownRevisions = []
        reading = (false, false)
        stale = []
        isReadingTweak = false
        layersDue = nil
        statsDue = nil
        tweakCount = nil
        for position in tweaks.indices { tweaks[position].requested = nil }
        if case .typing(var prompt) = mode, prompt.isSent {
            prompt.isSent = false
            prompt.problem = "the connection was lost before the answer; Enter sends it again"
            mode = .typing(prompt)
        }
    }

    private mutating func greet(_ answer: Answer) {
        if answer.isRefusal { return showNotice(answer.complaint, .bad) }
        let before = instance
        let isBack = before != nil
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
        let answer = answer.withFields
        if let revision = answer.revision {
            self.revision = max(self.revision, revision)
            if kind.makesChange, !answer.isUnchanged { ownRevisions.insert(revision) }
            if ownRevisions.count > 128 { ownRevisions = ownRevisions.filter { revision < 64 || $0 > revision - 64 } }
        }
        switch kind {
        case .nothing, .token: break
        case .text: sendsText = !answer.isRefusal
        case .hello: greet(answer)
        case .allTweaks: handleTweaks(answer)
        case .stats: handleStats(answer)
        case .tweak(let path): handleTweak(answer, path)
        case .change(let path): finishChange(path, answer)
        case .typed: finishTyped(answer)
        case .layers(let path): if path == layers.path, !answer.isRefusal { layers.show(answer) }
        case .command(let done, let forced): handleResult(answer, done, forced)
        case .run(let path): handleRun(answer, path)
        case .page(let title):
            if answer.isRefusal { return showNotice(answer.complaint, .bad) }
            let isOverPresets = if case .presets = mode { true } else { false }
            mode = .reading(Page(title: title, lines: answer.lines, isOverPresets: isOverPresets))
        case .presets: handlePresets(answer)
        case .step(let direction, let revision): finishStep(direction, revision, answer)
        case .nextStep(let direction): offerStep(direction, answer)
        case .confirmedStep(let direction, let revision): finishConfirmedStep(direction, revision, answer)
        }
    }

    private mutating func handlePresets(_ answer: Answer) {
        let cursor = if case .presets(let list) = mode { list.cursor } else { Int?.none }
        if answer.isRefusal {
            if cursor != nil { mode = .browsing }
            return showNotice(answer.complaint, .bad)
        }
        presets.cursor = cursor ?? presets.cursor
        presets = PresetList(answer, after: presets)
        if cursor != nil { mode = .presets(presets) }
    }

    /// Replaces all tweaks; pending values and change marks stay.
    private mutating func handleTweaks(_ answer: Answer) {
        defer { if reading.isStale { readAll() } }
        reading.isInProgress = false
        guard !answer.isRefusal, let list = answer["tweaks"] else {
            return showNotice(answer.complaint, .bad)
        }
        // Rows refer to tweaks by index, and the indices are about to change.
        let selected = selectedIdentity
        let known = Dictionary(tweaks.map { ($0.path, $0) }) { first, _ in first }
        tweaks = list.elements.compactMap { json in
            guard var tweak = EditorTweak(json, now: now) else { return nil }
            if let old = known[tweak.path] { tweak.keepState(of: old) }
            return tweak
        }
        positions = Dictionary(tweaks.enumerated().map { ($1.path, $0) }) { first, _ in first }
        widths.name = tweaks.map { TextWidth.of($0.parts[2]) }.max() ?? 0
        widths.path = tweaks.map { TextWidth.of($0.path) }.max() ?? 0
        count()
        if let number = answer["rev"]?.wholeNumber { revision = number }
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
        for json in answer.tweaks {
            guard let position = apply(json) else { continue }
            if isPlain { tweaks[position].end = nil } else { readAgain(position) }
        }
    }

    /// Applies the value of a tweak in an answer or an event.
    private mutating func apply(_ json: JSON) -> Int? {
        guard let path = json["path"]?.string, let position = positions[path] else { return nil }
        update(position) { $0.apply(json) }
        if position == selectedPosition { selectionChanged() }
        return position
    }

    // MARK: Remarks

    /// Shows what else an `ok` reports: a change that may be lost, or an adjusted value.
    mutating func showRemark(of answer: Answer) {
        if let warning = answer.warning { return showNotice(warning, .bad) }
        guard let tweak = answer.tweaks.first, tweak["clampedFrom"] != nil || tweak["snappedFrom"] != nil else {
            return
        }
        showNotice(answer.body.first.flatMap { TweakRow($0) }?.note ?? "the value was adjusted to fit")
    }

    /// Shows the result of a command, or why it was refused.
    mutating func report(_ answer: Answer, _ done: String) {
        if answer.isRefusal { return showRefusal(answer) }
        apply(answer)
        let changes = answer.tweaks.compactMap { $0["path"]?.string }
        var text = answer.resultText ?? done
        if changes.count == 1 {
            if let position = positions[changes[0]] { text += ": \(tweaks[position].assignment)" }
        } else if changes.count > 1 {
            text += ", \(changes.count) tweaks"
        } else if answer.isUnchanged {
            text += ", nothing changed"
        }
        if answer["swapped"] != nil { text += "; p w goes back" }
        // For example the tweaks that a preset does not name.
        let others = answer.rows
        if others.count > 1 { mode = .reading(Page(title: text, lines: others)) }
        showNotice(others.count == 1 ? "\(text); \(others[0])" : text, .good)
        showRemark(of: answer)
        selectionChanged()
    }

    /// Shows a refusal, and the lines that caused it.
    private mutating func showRefusal(_ answer: Answer) {
        showNotice(answer.complaint, .bad)
        if !answer.problems.isEmpty { mode = .reading(Page(title: "not done", lines: answer.problems)) }
    }

    /// Turns a refusal that can be overridden into a question.
    mutating func handleResult(_ answer: Answer, _ done: String, _ forced: String?) {
        guard let forced, answer.isRefusal, answer.canBeForced else { return report(answer, done) }
        let isPartly = !answer.problems.isEmpty
        let text = "\(answer.reasonAlone). \(isPartly ? "Load the rest?" : "Do it anyway?")"
        mode = .asking(Question(text: text, action: .force(forced), lines: answer.problems))
    }

    private mutating func handleRun(_ answer: Answer, _ path: String) {
        if !answer.isRefusal { return show(answer, of: path) }
        showNotice(answer.complaint, .bad)
    }

    // MARK: Events

    /// Handles an event of the watch. All is read again after one that does not tell what has changed: values were
    /// folded, the tweak is new, or the event arrived while an older server was answering in text.
    mutating func receive(event line: String) {
        guard let json = JSON(line), let position = apply(json), let revision = json["rev"]?.wholeNumber else {
            return readAll()
        }
        self.revision = max(self.revision, revision)
        markRecentChange(position, revision: revision, origin: json["by"]?.string)
    }

    private mutating func markRecentChange(_ position: Int, revision: UInt64, origin: String?) {
        let tweak = tweaks[position]
        let isOwn = ownRevisions.contains(revision)
        if tweak.isSecret || !isOwn && !tweak.isReadOnly { readAgain(position) }
        // Metrics change all the time and are not marked.
        if isOwn || tweak.isReadOnly { return }
        recentlyChanged.insert(position)
        tweaks[position].recentChange = .init(origin: Quoting.sanitized(origin ?? "others"), end: now + .seconds(4))
    }
}
