// Displays the progress of a rollout: a block redrawn on a terminal, otherwise one line for each change.

import Synchronization
import Tweaks
import TweaksFleet
import TweaksSystem

/// The display of a rollout in progress.
struct ProgressDisplay {
    let id: String
    let console: FleetConsole
    let now: @Sendable () -> Int64
    private let time: any Time
    /// Lines that the operator has typed below the block since it was drawn.
    let typed = TypedLines()
    /// The lines of the block on the terminal.
    private var drawn: [String] = []
    private var lastPrinted: DriverProgress?
    private var lastPrintedAt: Moment?

    init(
        id: String, console: FleetConsole, now: @escaping @Sendable () -> Int64, time: any Time = SystemTime()
    ) {
        self.id = id
        self.console = console
        self.now = now
        self.time = time
    }

    private var isRedrawn: Bool { console.style.isHumanReadable && console.style.hasColors && !console.isJSON }

    // MARK: Lines

    mutating func printLine(_ text: String) {
        clear()
        if console.isJSON { return console.print(.object([("rollout", .string(id)), ("text", .string(text))])) }
        console.print([Self.line(text, id: id)])
    }

    mutating func printProblem(_ text: String) {
        clear()
        console.output.reportProblem(Self.line(text, id: id))
    }

    /// Names the rollout, unless the text does: a refusal begins with its subject.
    static func line(_ text: String, id: String) -> String {
        text.hasPrefix("rollout \(id) ") ? text : "rollout \(id): \(text)"
    }

    mutating func end() { clear() }

    // MARK: Progress

    mutating func show(_ progress: DriverProgress) {
        if progress.steps.isEmpty { return }
        if isRedrawn { return draw(Self.block(progress, id: id, now: now(), console.style)) }
        guard deservesLine(progress) else { return }
        if console.isJSON { return console.print(Self.json(progress, id: id)) }
        console.print(["rollout \(id): \(Self.line(progress))"])
    }

    /// Whether a progress change deserves a line: times, strata and worst figures are ignored, counts of reports are
    /// printed at most every ten seconds, and at once when all members have reported.
    private mutating func deservesLine(_ progress: DriverProgress) -> Bool {
        var counted = progress
        counted.strata = []
        for position in counted.metrics.indices { counted.metrics[position].worst = nil }
        // The plain text line does not contain them.
        if !console.isJSON { (counted.next, counted.confirmBy) = (nil, nil) }
        if counted == lastPrinted { return false }
        var last = lastPrinted
        last?.reported = counted.reported
        let isRecent = lastPrintedAt.map { time.now - $0 < .seconds(10) } ?? false
        if counted == last, counted.reported < counted.members, isRecent { return false }
        (lastPrinted, lastPrintedAt) = (counted, time.now)
        return true
    }

    private mutating func draw(_ block: [String]) {
        if block == drawn, typed.isEmpty { return }
        clear()
        // Turn off line wrapping, so that the block has as many terminal rows as lines.
        console.printStyled(["\u{1B}[?7l" + block.joined(separator: "\n") + "\u{1B}[?7h"])
        drawn = block
    }

    /// Erases the block.
    private mutating func clear() {
        let typed = typed.reset()
        if drawn.isEmpty { return }
        System.write(Array("\r\u{1B}[\(drawn.count + typed)A\u{1B}[0J".utf8), to: 1)
        drawn = []
    }

    /// `open at 10 %: 5 of 5 reported, 0 refused`
    static func line(_ progress: DriverProgress) -> String {
        let metrics = progress.metrics.map { "; \(metric($0))" }.joined()
        let strata = progress.strata.isEmpty ? "" : "; \(progress.strata.text)"
        return "\(progress.state.rawValue) at \(progress.share.text): \(counts(progress))\(strata)\(metrics)"
    }

    private static func counts(_ progress: DriverProgress) -> String {
        "\(progress.reported) of \(progress.members) reported, \(progress.refused) refused"
            + (progress.left > 0 ? ", \(progress.left) left" : "")
    }

    private static func metric(_ state: MetricSamples.ConditionState) -> String {
        let worst = state.worst.map { ", worst \(TweakValue.number($0).text)" } ?? ""
        return "\(state.condition) on \(state.violators)\(worst)"
    }

    /// The block on a terminal: steps, a bar, counts and the remaining time.
    static func block(_ progress: DriverProgress, id: String, now: Int64, _ style: Style) -> [String] {
        let steps = progress.steps.map { style.paint($0.text, $0 <= progress.share ? .number : .faint) }
        let width = 30
        let filled = min(width, progress.share.hundredths * width / 10_000)
        let (full, empty) = style.hasBlocks ? ("█", "░") : ("#", "-")
        let bar =
            style.paint(String(repeating: full, count: filled), .number)
            + style.paint(String(repeating: empty, count: width - filled), .faint)
        var lines = [
            "rollout \(style.paint(id, .name))  \(steps.joined(separator: " → "))",
            "  \(bar)  \(progress.state.rawValue) at \(progress.share.text)", "  \(counts(progress))",
        ]
        if !progress.strata.isEmpty { lines.append("  \(progress.strata.text)") }
        // One line for each figure: paths are long, and the terminal cuts off the rest.
        lines += progress.metrics.map { "  \(metric($0))" }
        if progress.state == .paused {
            lines.append("  r resumes it, a aborts it; each with the enter key")
        } else if let until = progress.confirmBy {
            lines.append("  \(left(until, now)) to finish it; then it is reverted")
        } else if let next = progress.next {
            let follows =
                switch progress.successor {
                case .step: "next step"
                case .finish: "it finishes"
                case .confirmation: "it asks to be finished"
                case .pause: "it pauses: this is its last step"
                }
            lines.append("  \(follows) \(next > now ? "in \(left(next, now))" : "when all have reported")")
        }
        return lines
    }

    private static func left(_ moment: Int64, _ now: Int64) -> String {
        let seconds = max(0, (moment &- now) / 1_000)
        return seconds < 60 ? "\(seconds) s" : "\(seconds / 60) min \(seconds % 60) s"
    }

    static func json(_ progress: DriverProgress, id: String) -> JSON {
        .object([
            ("rollout", .string(id)), ("state", .string(progress.state.rawValue)),
            ("percent", .number(Double(progress.share.hundredths) / 100)), ("members", .count(progress.members)),
            ("reported", .count(progress.reported)), ("refused", .count(progress.refused)),
            ("left", .count(progress.left)), ("strata", .array(progress.strata.map(\.json))),
            ("next", progress.next.map(JSON.int) ?? .null), ("confirmBy", progress.confirmBy.map(JSON.int) ?? .null),
            (
                "figures",
                .array(
                    progress.metrics.map {
                        .object([
                            ("condition", .string($0.condition)), ("hurt", .count($0.violators)),
                            ("worst", $0.worst.map(JSON.number) ?? .null),
                        ])
                    })
            ),
        ])
    }
}

/// Counts the lines that another thread reads, and keeps those that are no command.
final class TypedLines: Sendable {
    private let state = Mutex((count: 0, unknown: [String]()))

    var isEmpty: Bool { state.withLock { $0.count == 0 } }

    /// - Parameter unknown: The line, if it is no command.
    func add(unknown: String? = nil) {
        state.withLock { state in
            state.count += 1
            if let unknown { state.unknown.append(unknown) }
        }
    }

    func reset() -> Int {
        state.withLock { state in
            defer { state.count = 0 }
            return state.count
        }
    }

    func takeUnknown() -> [String] {
        state.withLock { state in
            defer { state.unknown = [] }
            return state.unknown
        }
    }
}
