// Draws the last values of a figure in the terminal.

import Tweaks
import TweaksSystem
import TweaksWire

/// `plot PATH [--seconds N]`.
struct PlotCommand {
    private let target: Target
    private let console: Console
    private let path: String
    private let seconds: Int64

    /// The usage line.
    static let usage = "[NAME] plot PATH [--seconds N]"
    static let standardSeconds: Int64 = 300

    /// - Parameter words: The words after the process's name; nil where they are another command.
    init?(_ words: [String], _ target: Target, _ console: Console) throws(Failure) {
        guard words.first == Verb.plot.rawValue else { return nil }
        var rest = words.dropFirst()
        var seconds = Self.standardSeconds
        if let option = rest.firstIndex(of: "--seconds") {
            guard option + 1 < rest.endIndex, let number = Int64(rest[option + 1]), number > 0 else {
                throw Failure(.usage, "plot: --seconds needs a number, such as 60; use tweakctl \(Self.usage)")
            }
            seconds = number
            rest.removeSubrange(option...(option + 1))
        }
        if let word = rest.first(where: { $0.hasPrefix("-") }) {
            throw Invocation.notAnOption(word, of: "plot", ["--seconds"], or: "use tweakctl \(Self.usage)")
        }
        guard let path = rest.first, rest.count == 1 else {
            throw Failure(.usage, "plot: name one figure; use tweakctl \(Self.usage)")
        }
        self.target = target
        self.console = console
        self.path = path
        self.seconds = seconds
    }

    func run() throws(Failure) -> ExitCode {
        let connection = try target.connect()
        try target.switchToJSON(connection)
        let line = "\(Command.samples.name) \(CommandText.token(path)) \(seconds)"
        let answer = try target.ask(line, on: connection)
        if console.isJSON || answer.isRefusal {
            if !console.isJSON { throw Failure(.refused, "plot: \(answer.complaint)") }
            console.report(answer)
            return answer.isRefusal ? .refused : .ok
        }
        guard let samples = FigureSamples(answer, seconds) else {
            throw Failure(
                .refused,
                "plot: there are no values of \(Quoting.excerpt(path)) in the last \(seconds) s; a process keeps them while "
                    + "a page or a watcher is there: open one, such as tweakctl NAME watch PATTERN, and plot again")
        }
        let size = Terminal.size
        console.print(samples.lines(columns: size.columns, rows: min(max(size.rows - 4, 6), 14)))
        return .ok
    }
}

/// The answer to `samples`, of any server.
struct FigureSamples {
    private let path: String
    private let unit: String
    private let kind: TweakKind
    private let plot: Plot

    /// Nil without a sample.
    init?(_ answer: Answer, _ seconds: Int64) {
        let kind = answer["kind"]?.string.flatMap(TweakKind.init(rawValue:)) ?? .number
        let points = (answer["samples"]?.elements ?? []).compactMap { sample -> Plot.Point? in
            guard let time = sample["time"]?.string.flatMap(TimeText.parse),
                let value = Self.number(sample["value"], kind)
            else { return nil }
            return Plot.Point(time: time, value: value)
        }
        guard let last = points.last else { return nil }
        self.kind = kind
        path = Quoting.sanitized(answer["path"]?.string ?? "")
        unit = answer["unit"]?.string.map { " " + Quoting.sanitized($0) } ?? ""
        let period = Int64(clamping: min(answer["period"]?.wholeNumber ?? 1, 3_600))
        plot = Plot(
            points: points, lower: Self.number(answer["min"], kind), upper: Self.number(answer["max"], kind),
            end: answer["now"]?.string.flatMap(TimeText.parse) ?? last.time,
            length: min(seconds, 1_000_000) * 1_000, gap: period * 2_500
        ) { Self.text($0, kind) }
    }

    /// The chart, below the newest value and the extremes.
    func lines(columns: Int, rows: Int) -> [String] {
        let values = plot.points.map(\.value)
        let texts = [values.last, values.min(), values.max()].map { $0.map { Self.text($0, kind) } ?? "" }
        let title = "\(path) = \(texts[0])\(unit)   lowest \(texts[1]), highest \(texts[2])"
        return [title] + plot.lines(columns: columns, rows: rows)
    }

    /// A number, of a duration its nanoseconds; nil for other values.
    private static func number(_ json: JSON?, _ kind: TweakKind) -> Double? {
        let number: Double? =
            switch json.flatMap({ TweakValue($0, as: kind) }) {
            case .number(let value)?: value
            case let value?: value.whole.map { Double($0) }
            case nil: nil
            }
        return number.flatMap { $0.isFinite ? $0 : nil }
    }

    /// A number with four digits.
    private static func text(_ number: Double, _ kind: TweakKind) -> String {
        let rounded = rounded(number)
        guard kind == .duration else { return TweakValue.number(rounded).text }
        return Int64(exactly: rounded.rounded()).map { TweakValue.duration(.nanoseconds($0)).text } ?? ""
    }

    private static func rounded(_ number: Double) -> Double {
        // Powers of ten, which are exact up to 10²².
        var scale = 1.0
        while abs(number) / scale >= 10_000 { scale *= 10 }
        if scale > 1 { return (number / scale).rounded() * scale }
        while number != 0, abs(number) * scale < 1_000, scale < 1e22 { scale *= 10 }
        return (number * scale).rounded() / scale
    }
}
