// Defines a timing curve: a cubic Bézier or steps, as in CSS, with its texts.

/// A timing curve: how far a motion has come after a part of its time, as CSS writes it.
///
/// ```swift
/// static let fade = Tweak("Card", "Drop", "Fade", TweakCurve.easeOut)
/// static let bounce = Tweak("Card", "Drop", "Bounce", TweakCurve(0.3, 1.5, 0.6, 1))
/// static let ticks = Tweak("Card", "Drop", "Ticks", TweakCurve.steps(4, .end))
///
/// card.alpha = Card.fade.value.value(at: elapsed / duration)
/// ```
/// It is written `cubic-bezier(0.3,1.5,0.6,1)` or `steps(4,end)`. The names of CSS, such as `ease-out`, are read, and so
/// are blanks between the numbers. Every curve is valid: initializers limit what is out of range.
public struct TweakCurve: Hashable, Sendable {
    /// What a curve is made of.
    public enum Shape: Hashable, Sendable {
        /// A cubic Bézier curve from (0, 0) to (1, 1) by its control points: times of 0…1, progress of -1,000…1,000.
        case bezier(x1: Double, y1: Double, x2: Double, y2: Double)
        /// 1…1,000 equal parts of the time, each with one progress.
        case steps(Int, StepPosition)
    }

    /// Where a curve of steps jumps: at the ends of its time, or only between its parts.
    public enum StepPosition: String, Hashable, Sendable, CaseIterable {
        /// At the start of each part, first at 0: `start` or `jump-start`.
        case start
        /// At the end of each part, last at 1: `end` or `jump-end`.
        case end
        /// Neither at 0 nor at 1, so that the first part has the progress 0 and the last part 1; at least two parts.
        case jumpNone = "jump-none"
        /// At 0 and at 1.
        case jumpBoth = "jump-both"

        /// How many jumps a curve of so many parts has.
        fileprivate func jumps(_ count: Int) -> Int {
            switch self {
            case .start, .end: count
            case .jumpNone: count - 1
            case .jumpBoth: count + 1
            }
        }

        /// The least number of parts.
        fileprivate var leastCount: Int { self == .jumpNone ? 2 : 1 }
    }

    /// The times of control points.
    private static let times = 0.0...1
    /// The progress of control points.
    private static let progress = -1_000.0...1_000
    private static let mostSteps = 1_000

    /// A cubic Bézier curve or steps.
    public let shape: Shape

    private init(_ shape: Shape) { self.shape = shape }

    /// A cubic Bézier curve, CSS's `cubic-bezier(x1, y1, x2, y2)`.
    ///
    /// Numbers out of range are limited to it, and NaN becomes 0.
    /// - Parameters:
    ///   - x1: The time of the first control point, 0…1.
    ///   - y1: The progress at the first control point, -1,000…1,000; below 0 moves back first.
    ///   - x2: The time of the second control point, 0…1.
    ///   - y2: The progress at the second control point, -1,000…1,000; above 1 overshoots.
    public init(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double) {
        shape = .bezier(
            x1: Self.limited(x1, to: Self.times), y1: Self.limited(y1, to: Self.progress),
            x2: Self.limited(x2, to: Self.times), y2: Self.limited(y2, to: Self.progress))
    }

    private static func limited(_ number: Double, to range: ClosedRange<Double>) -> Double {
        // The sum makes 0 of -0.
        number.isNaN ? 0 : min(max(number, range.lowerBound), range.upperBound) + 0
    }

    /// Equal parts of the time, each with one progress: CSS's `steps(count, position)`.
    /// - Parameters:
    ///   - count: The number of parts: 1…1,000, for `jumpNone` 2…1,000. Others are limited to that.
    ///   - position: Where it jumps.
    public static func steps(_ count: Int, _ position: StepPosition = .end) -> TweakCurve {
        TweakCurve(.steps(min(max(count, position.leastCount), mostSteps), position))
    }

    /// CSS's `linear`: an even motion.
    public static var linear: TweakCurve { TweakCurve(0, 0, 1, 1) }
    /// CSS's `ease`: fast at first, slow at the end.
    public static var ease: TweakCurve { TweakCurve(0.25, 0.1, 0.25, 1) }
    /// CSS's `ease-in`: slow at first.
    public static var easeIn: TweakCurve { TweakCurve(0.42, 0, 1, 1) }
    /// CSS's `ease-out`: slow at the end.
    public static var easeOut: TweakCurve { TweakCurve(0, 0, 0.58, 1) }
    /// CSS's `ease-in-out`: slow at both ends.
    public static var easeInOut: TweakCurve { TweakCurve(0.42, 0, 0.58, 1) }
    /// CSS's `step-start`: at its end from the start on.
    public static var stepStart: TweakCurve { .steps(1, .start) }
    /// CSS's `step-end`: at its start until the end.
    public static var stepEnd: TweakCurve { .steps(1, .end) }

    /// The progress after a part of the time: 0 before the start and for NaN, 1 from the end on.
    ///
    /// In between it may be below 0 and above 1. It is exact to 1e-6, also where a curve is vertical.
    ///
    /// ```swift
    /// TweakCurve.easeInOut.value(at: 0.5)  // 0.5
    /// TweakCurve.steps(4).value(at: 0.6)  // 0.5
    /// ```
    /// - Parameter time: The part of the time that is over, 0…1.
    public func value(at time: Double) -> Double {
        guard time >= 0 else { return 0 }
        guard time < 1 else { return 1 }
        switch shape {
        case .bezier(let x1, let y1, let x2, let y2):
            return time > 0 ? BezierSolver(x1: x1, x2: x2).value(at: time, y1: y1, y2: y2) : 0
        case .steps(let count, let position):
            let isFirst = position == .start || position == .jumpBoth
            let step = (time * Double(count)).rounded(.down) + (isFirst ? 1 : 0)
            return min(step / Double(position.jumps(count)), 1)
        }
    }
}

// MARK: - Texts

extension TweakCurve: CustomStringConvertible {
    /// `cubic-bezier(0.3,1.5,0.6,1)` or `steps(4,end)`, which reads back as the same curve.
    public var description: String {
        switch shape {
        case .bezier(let x1, let y1, let x2, let y2):
            var text = "cubic-bezier("
            for number in [x1, y1, x2, y2] { text += TweakValue.shortest(number) + "," }
            text.removeLast()
            return text + ")"
        case .steps(let count, let position): return "steps(" + String(count) + "," + position.rawValue + ")"
        }
    }
}

extension TweakCurve {
    /// A curve from CSS notation: `cubic-bezier()`, `steps()`, `linear`, `ease`, `ease-in`, `ease-out`, `ease-in-out`,
    /// `step-start` and `step-end`. Nil for other text, and for numbers out of range.
    ///
    /// ```swift
    /// TweakCurve("cubic-bezier(.2, 0, 0, 1)"); TweakCurve("steps(4, jump-both)"); TweakCurve("ease-in-out")
    /// ```
    /// - Parameter text: The text, in upper or lower case.
    public init?(_ text: String) {
        guard let curve = try? Self.read(text) else { return nil }
        self = curve
    }

    /// The names that CSS has for curves.
    static let names = ["linear", "ease", "ease-in", "ease-out", "ease-in-out", "step-start", "step-end"]

    private init?(named name: String) {
        switch name {
        case "linear": self = .linear
        case "ease": self = .ease
        case "ease-in": self = .easeIn
        case "ease-out": self = .easeOut
        case "ease-in-out": self = .easeInOut
        case "step-start": self = .stepStart
        case "step-end": self = .stepEnd
        default: return nil
        }
    }

    /// Why a text is not a curve; empty where there is nothing to tell.
    struct Mistake: Error {
        let text: String

        init(_ text: String) { self.text = text }
    }

    static func read(_ text: String) throws(Mistake) -> TweakCurve {
        let text = text.lowercased()[...].trimmedBlanks
        if let named = TweakCurve(named: text) { return named }
        guard text.hasSuffix(")"), let open = text.utf8.firstIndex(of: UInt8(ascii: "(")) else {
            throw Mistake(Spelling.nearest(to: text, among: names).map { "did you mean \($0)?" } ?? "")
        }
        let arguments = text[text.index(after: open)...].dropLast()
            .split(separator: ",", maxSplits: 4, omittingEmptySubsequences: false).map(\.trimmedBlanks)
        switch text[..<open] {
        case "cubic-bezier": return try bezier(arguments)
        case "steps": return try steps(arguments)
        default: throw Mistake("")
        }
    }

    private static func bezier(_ arguments: [String]) throws(Mistake) -> TweakCurve {
        guard arguments.count == 4 else { throw Mistake("cubic-bezier has four numbers: x1,y1,x2,y2") }
        var numbers: [Double] = []
        for (position, name) in ["x1", "y1", "x2", "y2"].enumerated() {
            let text = arguments[position]
            guard let number = NumberKind.number(text) else {
                throw Mistake(name + " is " + Quoting.excerpt(text) + ", which is not a number")
            }
            let isTime = position % 2 == 0
            guard (isTime ? times : progress).contains(number) else {
                let range = isTime ? "a time is from 0 to 1" : "a progress is from -1000 to 1000"
                throw Mistake(name + " is " + TweakValue.shortest(number) + "; " + range)
            }
            numbers.append(number)
        }
        return TweakCurve(numbers[0], numbers[1], numbers[2], numbers[3])
    }

    private static func steps(_ arguments: [String]) throws(Mistake) -> TweakCurve {
        let position = arguments.count == 1 ? StepPosition.end : stepPosition(arguments[1])
        guard let position, arguments.count <= 2 else {
            throw Mistake("steps has a count, and one of start, end, jump-none and jump-both")
        }
        let text = arguments[0]
        let isPlain = text.utf8.count <= 9 && text.utf8.allSatisfy(\.isDigit)
        guard isPlain, let count = Int(text), (position.leastCount...mostSteps).contains(count) else {
            let least = String(position.leastCount)
            throw Mistake(
                "the count is " + Quoting.excerpt(text) + "; with " + position.rawValue + " it is from " + least
                    + " to 1000")
        }
        return .steps(count, position)
    }

    private static func stepPosition(_ text: String) -> StepPosition? {
        switch text {
        case "jump-start": .start
        case "jump-end": .end
        default: StepPosition(rawValue: text)
        }
    }
}

// MARK: - The kind

enum CurveKind: KindRules {
    static func parse(_ text: String, of component: TweakKind?) -> TweakValue? {
        TweakCurve(text).map(TweakValue.curve)
    }

    static func text(_ value: TweakValue) -> String {
        if case .curve(let curve) = value { curve.description } else { "" }
    }

    static func remedy(_ definition: TweakDefinition) -> String {
        "write cubic-bezier(x1,y1,x2,y2), steps(4,end) or a CSS name such as ease-out"
    }

    static func names(_ definition: TweakDefinition) -> [String] { TweakCurve.names }

    static func hint(at text: String) -> String? {
        do throws(TweakCurve.Mistake) {
            _ = try TweakCurve.read(text)
            return nil
        } catch {
            return error.text.isEmpty ? nil : error.text
        }
    }
}

extension TweakCurve: TweakConvertible {
    /// From `.curve`.
    public init?(_ value: TweakValue) {
        guard case .curve(let curve) = value else { return nil }
        self = curve
    }
    /// `.curve`.
    public static var tweakKind: TweakKind? { .curve }
    /// `.curve`.
    public var erased: TweakValue { .curve(self) }
}
