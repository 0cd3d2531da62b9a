// Holds the editor's state, without terminal and socket, and collects the effects that it requests.

import Tweaks

/// The size of a terminal.
struct ScreenSize: Equatable {
    var columns: Int
    var rows: Int
}

/// An effect that the model requests.
enum Effect: Equatable {
    /// Sends lines; the answer to the one at index `answer` is of interest.
    case send([String], RequestKind, answer: Int)
    case redraw, suspend, quit
}

/// The kind of a request, which decides how its answer is handled.
enum RequestKind: Equatable {
    case nothing, hello, allTweaks, stats
    /// That answers have their text, too.
    case text
    /// An authentication, which the link sends and handles itself.
    case token
    /// A value changed by keys.
    case change(String)
    /// Reading one tweak again.
    case tweak(String)
    /// Text typed into a prompt, which stays open until the answer arrives.
    case typed
    case layers(String)
    /// A command whose answer is shown as a notice; and the line that overrides a refusal, if there is one.
    case command(String, forced: String? = nil)
    case run(String)
    case page(String)
    case presets
    /// An undo or redo, of an own change or of one that was confirmed; if there is none, another one is offered.
    case step(HistoryDirection, revision: UInt64?)
    /// The history, for the change that would be undone or redone.
    case nextStep(HistoryDirection)
    /// The history, for a server that takes no revision: the step is done if it still is that of this revision.
    case confirmedStep(HistoryDirection, revision: UInt64)

    /// Whether the revision of its answer may be that of a change which it made. An answer that only reads has the
    /// newest revision, which may be another client's.
    var makesChange: Bool {
        switch self {
        case .change, .typed, .command, .run, .step: true
        case .nothing, .hello, .allTweaks, .stats, .text, .token, .tweak, .layers, .page, .presets, .nextStep,
            .confirmedStep:
            false
        }
    }
}

/// The current screen and its key bindings.
enum Mode: Equatable {
    case browsing
    case searching(LineEditor)
    case typing(Prompt)
    /// The path of the color, and the channel: red, green, blue, alpha.
    case coloring(String, channel: Int)
    case asking(Question)
    case reading(Page)
    case presets(PresetList)
}

/// The editor's state. It handles keys, answers, events and time, and requests effects.
struct EditorModel {
    /// The state of the connection.
    enum Link: Equatable {
        case connecting, live, lost
    }

    /// A temporary message above the footer.
    struct Notice: Equatable {
        enum Sort { case plain, good, bad }
        let text: String
        let sort: Sort
        let end: ContinuousClock.Instant
    }

    /// The current time; must be set before each call that depends on it.
    var now: ContinuousClock.Instant
    /// The time of day, in milliseconds since 1970; set together with ``now``.
    var wallTime: Int64
    var size: ScreenSize
    var link = Link.connecting
    /// Whether an answer is overdue.
    var isLate = false
    /// The name of the process, from `hello`.
    var name: String
    let place: String
    var processID = ""
    var instance: String?
    var revision: UInt64 = 0

    var tweaks: [EditorTweak] = []
    var positions: [String: Int] = [:]
    /// The counts of each group; the empty name has the totals.
    var groupCounts: [String: GroupCounts] = [:]
    /// The indices of tweaks with a recent change by others.
    var recentlyChanged: Set<Int> = []
    /// The widths of the widest name and the widest path.
    var widths = (name: 0, path: 0)
    var rows: [EditorRow] = []
    var cursor = 0
    var top = 0
    var folded: Set<String> = []
    var search = ""
    var showsOnlyModified = false

    var mode = Mode.browsing
    /// The cached presets, shown behind a prompt or a question.
    var presets = PresetList()
    var notice: Notice?
    var isPasting = false
    /// The bar on which the mouse button is held.
    var drag: BarDrag?
    /// Whether the server makes one step of undo of the changes.
    var isDragOn = false
    /// Paths with a request in flight, and the next value to send: a key that is held causes one request at a time.
    var inFlight: [String: TweakValue?] = [:]
    /// Revisions of this editor's requests; their events are not marked as changes by others.
    var ownRevisions: Set<UInt64> = []
    /// The layers of the selected tweak.
    var layers = TweakLayers()
    /// Whether answers have their text, too; those of an older server do not.
    var sendsText = false
    var layersDue: ContinuousClock.Instant?
    var statsDue: ContinuousClock.Instant?
    var tweakCount: String?
    /// Whether all tweaks are being read, and whether that must be repeated.
    var reading = (isInProgress: false, isStale: false)
    /// Paths of tweaks to read again.
    var stale: Set<String> = []
    var isReadingTweak = false
    private var effects: [Effect] = []

    init(name: String, place: String, size: ScreenSize, now: ContinuousClock.Instant, wallTime: Int64) {
        self.name = Quoting.sanitized(name)
        self.place = Quoting.sanitized(place)
        self.size = size
        self.now = now
        self.wallTime = wallTime
    }

    // MARK: Effects

    /// Returns and clears the requested effects.
    mutating func takeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }

    mutating func emit(_ effect: Effect) { effects.append(effect) }

    /// Sends a request, if there is a connection.
    @discardableResult
    mutating func send(_ line: String, _ kind: RequestKind) -> Bool {
        guard link == .live else {
            showNotice("not connected to \(name); wait until it reconnects, or quit with q", .bad)
            return false
        }
        emit(.send([line], kind, answer: 0))
        return true
    }

    /// Sends a request whose answer is read and not shown, and is long: without its text.
    mutating func sendForFields(_ line: String, _ kind: RequestKind) {
        emit(.send(["json on", line, Answer.fieldsRequest], kind, answer: 1))
    }

    /// Sends a request whose answer is shown as it is.
    @discardableResult
    mutating func sendForText(_ line: String, _ kind: RequestKind) -> Bool {
        if sendsText || link != .live { return send(line, kind) }
        emit(.send(["json off", line, "json on"], kind, answer: 1))
        return true
    }

    /// Reads all tweaks; if that is in progress, once more afterwards.
    mutating func readAll(_ line: String = "get *") {
        if reading.isInProgress {
            reading.isStale = true
        } else {
            reading = (true, false)
            sendForFields(line, .allTweaks)
        }
    }

    /// Shows a notice for 5 s, an error for 10 s.
    mutating func showNotice(_ text: String, _ sort: Notice.Sort = .plain) {
        notice = Notice(text: Quoting.sanitized(text), sort: sort, end: now + .seconds(sort == .bad ? 10 : 5))
    }

    // MARK: Time

    /// The time of the next timed change; nil if there is none.
    var deadline: ContinuousClock.Instant? {
        var all = recentlyChanged.compactMap { tweaks[$0].recentChange?.end }
        all += [notice?.end, nextSecond, nextAge].compactMap(\.self)
        if link == .live { all += [layersDue, statsDue].compactMap(\.self) }
        return all.min()
    }

    /// Removes expired notices and marks, and sends requests that are due.
    mutating func tick() {
        if let end = notice?.end, end <= now { notice = nil }
        for position in recentlyChanged where tweaks[position].recentChange.map({ $0.end <= now }) == true {
            tweaks[position].recentChange = nil
            recentlyChanged.remove(position)
        }
        endTemporary()
        guard link == .live else { return }
        if let due = layersDue, due <= now { askForLayers() }
        // The server sends no event for new tweaks; a changed count shows that there are some.
        if let due = statsDue, due <= now {
            statsDue = nil
            emit(.send(["stats"], .stats, answer: 0))
        }
    }

    private mutating func askForLayers() {
        layersDue = nil
        guard let tweak = selectedTweak, tweak.kind != .action else { return }
        sendForText("explain \(tweak.token)", .layers(tweak.path))
    }
}
