// Shows how a rollout goes: one block that is drawn again on a terminal, else one line a change.

import Synchronization
import Tweaks
import TweaksFleet
import TweaksTerminal

/// What is seen of a rollout while it is driven.
struct ProgressDisplay {
    let id: String
    let console: FleetConsole
    let now: @Sendable () -> Int64
    /// Lines that a person has typed since the block was drawn: they stand below it.
    let typed = TypedLines()
    /// Lines of the block that stand on the terminal.
    private var drawn: [String] = []
    private var said: DriverProgress?
    private var saidAt: Int64 = 0

    init(id: String, console: FleetConsole, now: @escaping @Sendable () -> Int64) {
        (self.id, self.console, self.now) = (id, console, now)
    }

    private var isLive: Bool { console.style.isForPeople && console.style.hasColors && !console.isJSON }

    // MARK: Lines

    mutating func say(_ text: String) {
        clear()
        if console.isJSON { return console.print(.object([("rollout", .string(id)), ("text", .string(text))])) }
        console.print(["rollout \(id): \(text)"])
    }

    mutating func complain(_ text: String) {
        clear()
        console.output.complain("rollout \(id): \(text)")
    }

    mutating func end() { clear() }

    // MARK: Progress

    mutating func show(_ progress: DriverProgress) {
        if progress.steps.isEmpty { return }
        if isLive { return draw(Self.block(progress, id: id, now: now(), console.style)) }
        guard isWorthALine(progress) else { return }
        if console.isJSON { return console.print(Self.json(progress, id: id)) }
        console.print(["rollout \(id): \(Self.line(progress))"])
    }

    /// Times and figures change all the time, and members report one by one: that is said now and then. What happens
    /// beside that is, and that all have reported.
    private mutating func isWorthALine(_ progress: DriverProgress) -> Bool {
        var counted = progress
        for position in counted.figures.indices { counted.figures[position].worst = nil }
        // A line for people does not tell them.
        if !console.isJSON { (counted.next, counted.confirmBy) = (nil, nil) }
        if counted == said { return false }
        var last = said
        last?.reported = counted.reported
        if counted == last, counted.reported < counted.members, now() &- saidAt < 10_000 { return false }
        (said, saidAt) = (counted, now())
        return true
    }

    private mutating func draw(_ block: [String]) {
        if block == drawn, typed.isEmpty { return }
        clear()
        // Lines that the terminal would wrap are cut by it, so that the block is as high as it has lines.
        console.printPainted(["\u{1B}[?7l" + block.joined(separator: "\n") + "\u{1B}[?7h"])
        drawn = block
    }

    /// Takes the block away.
    private mutating func clear() {
        let typed = typed.take()
        if drawn.isEmpty { return }
        System.write(Array("\r\u{1B}[\(drawn.count + typed)A\u{1B}[0J".utf8), to: 1)
        drawn = []
    }

    /// `open at 10 %: 5 of 5 reported, 0 refused`
    static func line(_ progress: DriverProgress) -> String {
        let figures = progress.figures.map { "; \(figure($0))" }.joined()
        return "\(progress.state.rawValue) at \(progress.share.text): \(counts(progress))\(figures)"
    }

    private static func counts(_ progress: DriverProgress) -> String {
        "\(progress.reported) of \(progress.members) reported, \(progress.refused) refused"
    }

    private static func figure(_ standing: FigureSamples.Standing) -> String {
        let worst = standing.worst.map { ", worst \(TweakValue.number($0).text)" } ?? ""
        return "\(standing.condition) on \(standing.hurt)\(worst)"
    }

    /// The block on a terminal: steps, a bar, what is counted, the time left.
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
        // A line each: paths are long, and what the terminal cuts off is not read.
        lines += progress.figures.map { "  \(figure($0))" }
        if progress.state == .paused {
            lines.append("  r resumes it, a aborts it; each with the enter key")
        } else if let until = progress.confirmBy {
            lines.append("  \(left(until, now)) to finish it; then it is reverted")
        } else if let next = progress.next {
            lines.append(next > now ? "  next step in \(left(next, now))" : "  next step when all have reported")
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
            ("next", progress.next.map(JSON.int) ?? .null), ("confirmBy", progress.confirmBy.map(JSON.int) ?? .null),
            (
                "figures",
                .array(
                    progress.figures.map {
                        .object([
                            ("condition", .string($0.condition)), ("hurt", .count($0.hurt)),
                            ("worst", $0.worst.map(JSON.number) ?? .null),
                        ])
                    })
            ),
        ])
    }
}

/// Counts lines that another thread reads.
final class TypedLines: Sendable {
    private let count = Atomic<Int>(0)

    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    func add() { count.wrappingAdd(1, ordering: .relaxed) }

    func take() -> Int { count.exchange(0, ordering: .relaxed) }
}
