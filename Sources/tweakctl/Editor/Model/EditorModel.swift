// The editor without a terminal and without a socket: what it knows, and what it wants done.

import Tweaks

/// The size of a terminal.
struct ScreenSize: Equatable {
    var columns: Int
    var rows: Int
}

/// What the editor wants from outside.
enum Effect: Equatable {
    /// Lines for the server, and what the answer to one of them is for.
    case send([String], Ask, answer: Int)
    case redraw, suspend, quit
}

/// What an answer is for.
enum Ask: Equatable {
    case nothing, hello, facts, stats
    /// Who somebody is, which the link asks for itself.
    case token
    /// A value that was changed by keys.
    case change(String)
    /// One tweak read again.
    case fact(String)
    /// Something typed into a prompt, which stays until the answer is there.
    case typed
    case layers(String)
    /// Anything whose answer is worth a line; and the line that does it all the same, where the server knows one.
    case deed(String, insisting: String? = nil)
    case run(String)
    case page(String)
    case presets
}

/// What can be seen and done now.
enum Mode: Equatable {
    case browsing
    case searching(LineEditor)
    case typing(Prompt)
    /// The channel of the colour: red, green, blue, alpha.
    case coloring(String, channel: Int)
    case asking(Question)
    case reading(Page)
    case presets(PresetList)
}

/// The whole state. Keys, answers, events and time go in; effects come out.
struct EditorModel {
    /// How the connection is.
    enum Link: Equatable {
        case connecting, live, lost
    }

    /// A remark above the footer.
    struct Notice: Equatable {
        enum Sort { case plain, good, bad }
        let text: String
        let sort: Sort
        let end: ContinuousClock.Instant
    }

    /// Every call that depends on time is made after this was set.
    var now: ContinuousClock.Instant
    var size: ScreenSize
    var link = Link.connecting
    /// Whether an answer is owed for so long that somebody may wonder.
    var isLate = false
    /// Who it is, as `hello` said.
    var name: String
    let place: String
    var processID = ""
    var instance: String?
    var revision: UInt64 = 0

    var tweaks: [EditorTweak] = []
    var positions: [String: Int] = [:]
    /// How many there are in each group, and in all of them together under an empty name.
    var tallies: [String: Tally] = [:]
    /// Those with news.
    var newsPositions: Set<Int> = []
    /// The widest name, and the widest path.
    var widths = (name: 0, path: 0)
    var rows: [EditorRow] = []
    var cursor = 0
    var top = 0
    var folded: Set<String> = []
    var search = ""
    var showsOnlyModified = false

    var mode = Mode.browsing
    /// The presets as they were seen last, behind a name that is typed and a question.
    var presets = PresetList()
    var notice: Notice?
    var isPasting = false
    /// Values under way, and what is to follow: however long a key is held, one request a tweak.
    var underWay: [String: TweakValue?] = [:]
    /// Revisions that our own requests made, so that their events are not news.
    var ownRevisions: Set<UInt64> = []
    /// The layers of the selected tweak.
    var layers: (path: String, lines: [String]) = ("", [])
    var layersDue: ContinuousClock.Instant?
    var statsDue: ContinuousClock.Instant?
    var tweakCount: String?
    /// All tweaks are being read, and something came meanwhile that may not be among them.
    var reading = (isUnderWay: false, isStale: false)
    /// Tweaks whose facts are to be read again, and whether one of them is being read.
    var stale: Set<String> = []
    var isReadingFact = false
    private var effects: [Effect] = []

    init(name: String, place: String, size: ScreenSize, now: ContinuousClock.Instant) {
        (self.name, self.place, self.size, self.now) = (Quoting.sanitized(name), Quoting.sanitized(place), size, now)
    }

    // MARK: Effects

    /// What is to be done since the last time.
    mutating func takeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }

    mutating func want(_ effect: Effect) { effects.append(effect) }

    /// Sends a request, unless nobody would hear it.
    @discardableResult
    mutating func send(_ line: String, _ ask: Ask) -> Bool {
        guard link == .live else {
            say("not connected; \(name) will be there again, or q quits", .bad)
            return false
        }
        want(.send([line], ask, answer: 0))
        return true
    }

    /// The same with an answer in JSON.
    mutating func sendForFacts(_ line: String, _ ask: Ask) {
        want(.send(["json on", line, "json off"], ask, answer: 1))
    }

    /// Reads all tweaks; once more afterwards, where that is already under way.
    mutating func readAll(_ line: String = "get *") {
        if reading.isUnderWay {
            reading.isStale = true
        } else {
            reading = (true, false)
            sendForFacts(line, .facts)
        }
    }

    /// Shows a remark for a while.
    mutating func say(_ text: String, _ sort: Notice.Sort = .plain) {
        notice = Notice(text: Quoting.sanitized(text), sort: sort, end: now + .seconds(sort == .bad ? 10 : 5))
    }

    // MARK: Time

    /// When something changes by itself; nil for never.
    var deadline: ContinuousClock.Instant? {
        var all = newsPositions.compactMap { tweaks[$0].news?.end } + [notice?.end, nextSecond].compactMap(\.self)
        if link == .live { all += [layersDue, statsDue].compactMap(\.self) }
        return all.min()
    }

    /// Lets go of what was shown long enough, and asks for what is due.
    mutating func tick() {
        if let end = notice?.end, end <= now { notice = nil }
        for position in newsPositions where tweaks[position].news.map({ $0.end <= now }) == true {
            tweaks[position].news = nil
            newsPositions.remove(position)
        }
        endTemporary()
        guard link == .live else { return }
        if let due = layersDue, due <= now { askForLayers() }
        // The server does not say when tweaks register; their number tells.
        if let due = statsDue, due <= now {
            statsDue = nil
            want(.send(["stats"], .stats, answer: 0))
        }
    }

    private mutating func askForLayers() {
        layersDue = nil
        guard let tweak = selectedTweak, tweak.kind != .action else { return }
        want(.send(["explain \(tweak.token)"], .layers(tweak.path), answer: 0))
    }
}
