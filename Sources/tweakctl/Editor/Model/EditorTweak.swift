// Holds the editor's copy of a tweak: its definition, its value, its layers, and what a step changes.

import Tweaks
import TweaksWire

/// One tweak of the process.
struct EditorTweak: Equatable {
    let path: String
    /// Category, collection, name.
    let parts: [String]
    let kind: TweakKind
    /// The kind of a list's elements, or of an optional's value.
    let component: TweakKind?
    /// Nil for an action, and for a secret.
    var value: TweakValue?
    /// Whether a secret has a value.
    var isSet = false
    var isModified = false
    var defaultValue: TweakValue?
    var lower: TweakValue?
    var upper: TweakValue?
    var step: TweakValue?
    var scale = TweakScale.linear
    var unit: String?
    var help: String?
    var choices: [String] = []
    /// The label of each choice, nil where it has none.
    var choiceLabels: [String?] = []
    var flags: [String] = []
    /// The end of the temporary override; nil without one.
    var end: ContinuousClock.Instant?
    /// The requested value, until the answer arrives.
    var requested: TweakValue?
    /// A recent change by others.
    var recentChange: RecentChange?

    /// A change by others.
    struct RecentChange: Equatable {
        let origin: String
        /// The time until which it is marked.
        let end: ContinuousClock.Instant
    }

    /// Parses an object of `get` or `watch`; nil if it is invalid.
    init?(_ json: JSON, now: ContinuousClock.Instant) {
        guard let path = json["path"]?.string, let kind = json["kind"]?.string.flatMap(TweakKind.init(rawValue:)) else {
            return nil
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
        guard parts.count == 3, Quoting.isSafe(path) else { return nil }
        self.path = path
        self.parts = parts
        self.kind = kind
        let component = json["of"]?.string.flatMap(TweakKind.init(rawValue:))
        self.component = component
        // The bounds of a list apply to its elements.
        let part = component ?? kind
        // What is set counts here, and not what a preview shows.
        value = (json["settled"] ?? json["value"]).flatMap { TweakValue($0, as: kind, of: component) }
        isSet = json["set"]?.isTrue ?? false
        isModified = json["modified"]?.isTrue ?? false
        defaultValue = json["default"].flatMap { TweakValue($0, as: kind, of: component) }
        lower = json["min"].flatMap { TweakValue($0, as: part) }
        upper = json["max"].flatMap { TweakValue($0, as: part) }
        step = json["step"].flatMap { TweakValue($0, as: kind == .point ? .number : part) }
        scale = json["scale"]?.string.flatMap(TweakScale.init(rawValue:)) ?? .linear
        unit = json["unit"]?.string.map(Quoting.sanitized)
        help = json["help"]?.string.map(Quoting.sanitized)
        let named = json["choices"]?.elements.filter { $0["name"]?.string != nil } ?? []
        choices = named.compactMap { $0["name"]?.string }
        choiceLabels = named.map { $0["label"]?.string.map(Quoting.sanitized) }
        end = json["timeLeft"]?.string.flatMap { Self.end($0, now) }
        flags = json["flags"]?.elements.compactMap { $0.string.map(Quoting.sanitized) } ?? []
    }

    /// The end of a remaining time. It is capped at the longest lifetime that a process grants.
    static func end(_ text: String, _ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard case .duration(let left)? = TweakValue(parsing: text, as: .duration) else { return nil }
        return now + min(left, TweakNode.maxLifetime)
    }

    // MARK: Properties

    var isSecret: Bool { flags.contains("secret") }
    var isReadOnly: Bool { flags.contains("read-only") }
    var collection: String { parts[0] + "/" + parts[1] }

    /// The path as a token of a request.
    var token: String { Quoting.needsQuotes(path) ? Quoting.json(path) : path }

    /// The path with the value that the server has, as it writes them.
    var assignment: String {
        var tweak = self
        tweak.requested = nil
        return "\(token) = \(tweak.shownText)"
    }

    /// The displayed value: the requested one, if there is one.
    var shown: TweakValue? { requested ?? value }

    /// The displayed value as text.
    var shownText: String {
        if kind == .action { return "(action)" }
        if isSecret { return isSet ? "(set)" : "(unset)" }
        return Quoting.sanitized(shown?.text ?? "?")
    }

    var color: TweakColor? {
        if case .color(let color)? = shown { color } else { nil }
    }

    /// The label of a choice; nil if it has none, or one that says the same.
    func label(of choice: String) -> String? {
        guard let position = choices.firstIndex(of: choice), let label = choiceLabels[position] else { return nil }
        return label.isEmpty || label == choice ? nil : label
    }

    /// What follows the value: its unit, the label of the choice, or the opacity of a translucent color.
    var suffix: String? {
        switch shown {
        case .choice(let name)?: label(of: name)
        case .color(let color)? where color.alpha8 < 255: "\(min(Int(color.alpha8) * 100 / 255, 99))%"
        default: unit
        }
    }

    /// The bounds as numbers; nil unless there are two with finite numbers between them.
    var range: ClosedRange<Double>? {
        guard let lower = lower?.magnitude, let upper = upper?.magnitude, lower < upper, (upper - lower).isFinite else {
            return nil
        }
        return lower...upper
    }

    /// The position of the value between its bounds, 0…1, on the declared scale; nil unless it has both.
    var fraction: Double? {
        guard let value = shown?.magnitude, let range else { return nil }
        return scale.position(of: value, in: range)
    }

    // MARK: Changing

    /// Applies the value of an event or a reply.
    mutating func apply(_ json: JSON) {
        // A preview sets nothing; its end brings the value that is set.
        if json["layer"]?.string == TweakLayer.preview.name { return }
        if isSecret {
            if let set = json["set"] { isSet = set.isTrue }
        } else if let new = json["value"].flatMap({ TweakValue($0, as: kind, of: component) }) {
            value = new
            isModified = !isReadOnly && defaultValue != nil && new != defaultValue
        }
    }

    /// Keeps what only the editor knows about a tweak that was read again.
    mutating func keepState(of old: EditorTweak) {
        requested = old.requested
        recentChange = old.recentChange
    }
}

/// The layers of one tweak, as `explain` shows them.
struct TweakLayers: Equatable {
    var path = ""
    private(set) var lines: [String] = []
    /// The index of the line with the current value.
    private(set) var current: Int?
    /// Whether that line ends with the remaining time.
    private(set) var hasTimeLeft = false

    init(path: String = "") { self.path = path }

    mutating func show(_ answer: Answer) {
        lines = answer.lines
        let layers = answer["layers"]?.elements ?? []
        current = layers.firstIndex { $0["current"]?.isTrue ?? false }.flatMap { $0 < lines.count ? $0 : nil }
        hasTimeLeft = current.map { layers[$0]["timeLeft"] != nil } ?? false
    }
}

extension TweakValue {
    /// A number, an int, or a duration in nanoseconds, as a Double.
    var magnitude: Double? {
        switch self {
        case .int(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .number(let value): value
        case .duration(let value): value / .nanoseconds(1)
        default: nil
        }
    }
}

/// The size of a step.
enum StepSize {
    case fine, normal, coarse

    fileprivate var factor: Double {
        switch self {
        case .fine: 0.1
        case .normal: 1
        case .coarse: 10
        }
    }
}

/// Steps values.
enum ValueStepper {
    /// The value one step away, clamped to the bounds; nil if the kind has no steps.
    static func stepped(_ tweak: EditorTweak, _ direction: Int, _ stepSize: StepSize) -> TweakValue? {
        switch tweak.shown {
        case .bool?: .bool(direction > 0)
        case .choice(let name)?: choice(tweak, name, direction, wraps: false)
        case .int?, .unsigned?: whole(tweak, direction, stepSize).flatMap { TweakValue(whole: $0) }
        case .duration?:
            whole(tweak, direction, stepSize).flatMap { Int64(exactly: $0) }.map { .duration(.nanoseconds($0)) }
        case .number(let value)?: .number(real(value, tweak, direction, stepSize))
        default: nil
        }
    }

    /// The opposite bool, or the next choice, from the last to the first.
    static func flipped(_ tweak: EditorTweak) -> TweakValue? {
        switch tweak.shown {
        case .bool(let value)?: .bool(!value)
        case .choice(let name)?: choice(tweak, name, 1, wraps: true)
        default: nil
        }
    }

    private static func choice(_ tweak: EditorTweak, _ name: String, _ direction: Int, wraps: Bool) -> TweakValue? {
        let count = tweak.choices.count
        guard count > 0 else { return nil }
        let position = (tweak.choices.firstIndex(of: name) ?? (direction > 0 ? -1 : count)) + direction
        let wanted = wraps ? (position + count) % count : min(max(position, 0), count - 1)
        return .choice(tweak.choices[wanted])
    }

    // MARK: Positions on a bar

    /// The value at a position between the bounds, 0…1: a multiple of the step, or else with as few digits as
    /// distinguish it from those of adjacent cells. Nil without bounds.
    static func value(of tweak: EditorTweak, at place: Double, cells: Int) -> TweakValue? {
        guard tweak.fraction != nil, let range = tweak.range else { return nil }
        if place <= 0 { return tweak.lower }
        if place >= 1 { return tweak.upper }
        let target = tweak.scale.value(at: place, in: range)
        let unit = round((tweak.scale.value(at: place + 1 / Double(cells), in: range) - target).magnitude / 5)
        guard let value = tweak.shown?.whole else {
            let step = tweak.step?.magnitude ?? 0
            let origin = step > 0 ? range.lowerBound : 0
            let size = step > 0 ? step : unit
            let count = ((target - origin) / size).rounded()
            if !count.isFinite { return nil }
            let nearest = Decimals.multiple(count, of: size, from: origin)
            return .number(min(max(nearest, range.lowerBound), range.upperBound))
        }
        return whole(value, tweak, near: target, unit: unit)
    }

    private static func whole(_ value: Int128, _ tweak: EditorTweak, near target: Double, unit: Double) -> TweakValue? {
        guard let lower = tweak.lower?.whole, let upper = tweak.upper?.whole,
            let nearest = Int128(exactly: target.rounded())
        else { return nil }
        let step = max(tweak.step?.whole ?? Int128(exactly: unit.rounded()) ?? 1, 1)
        let origin = tweak.step == nil ? 0 : lower
        let distance = nearest - origin + step / 2
        let below = nearest + step / 2 - ((distance % step) + step) % step
        let wanted = min(max(below, lower), upper)
        if tweak.kind != .duration { return TweakValue(whole: wanted) }
        return Int64(exactly: wanted).map { .duration(.nanoseconds($0)) }
    }

    // MARK: Step size

    /// The step if none is declared: a round hundredth of the range. Ints step by 1.
    private static func step(_ tweak: EditorTweak, _ stepSize: StepSize) -> Double {
        if tweak.kind == .int { return stepSize == .coarse ? 10 : 1 }
        let least = tweak.kind == .duration ? 1.0 : 0
        return max(least, Decimals.product(natural(tweak), stepSize.factor))
    }

    private static func natural(_ tweak: EditorTweak) -> Double {
        if let lower = tweak.lower?.magnitude, let upper = tweak.upper?.magnitude, upper > lower {
            return round((upper - lower) / 100)
        }
        let size = abs(tweak.shown?.magnitude ?? 0)
        if size == 0 { return tweak.kind == .duration ? 10_000_000 : 0.1 }
        return round(size / 50)
    }

    /// The largest 1, 2 or 5 times a power of ten that is not above the number.
    static func round(_ number: Double) -> Double {
        // A double that is a rounding error below a round number counts as that number.
        guard number > 0, number.isFinite,
            let decimal = ExactDecimal(min(number * (1 + 1e-9), .greatestFiniteMagnitude)),
            let first = decimal.digits.first
        else { return 1 }
        let digit = first >= 5 ? 5 : first >= 2 ? 2 : 1
        return Double("\(digit)e\(decimal.exponent + decimal.digits.count - 1)") ?? 1
    }

    // MARK: Stepping

    private static func whole(_ tweak: EditorTweak, _ direction: Int, _ stepSize: StepSize) -> Int128? {
        guard let value = tweak.shown?.whole else { return nil }
        let wanted: Int128?
        if let range = tweak.range, tweak.isByRatio {
            let target = scaled(Double(value), tweak.scale, range, direction, stepSize, least: 1)
            let next = Int128(exactly: target.rounded()) ?? value
            wanted = next == value ? value + Int128(direction) : next
        } else if let step = tweak.step?.whole, step > 0 {
            wanted = onGrid(value, tweak, step, direction, stepSize)
        } else {
            wanted = value + (Int128(exactly: max(1, step(tweak, stepSize)).rounded()) ?? 1) * Int128(direction)
        }
        let (lower, upper) = (tweak.lower?.whole ?? Int128(Int64.min), tweak.upper?.whole ?? Int128(Int64.max))
        return wanted.map { lower <= upper ? min(max($0, lower), upper) : $0 }
    }

    private static func real(_ value: Double, _ tweak: EditorTweak, _ direction: Int, _ stepSize: StepSize) -> Double {
        let wanted: Double
        if let range = tweak.range, tweak.isByRatio {
            wanted = scaled(value, tweak.scale, range, direction, stepSize, least: 0)
        } else if let step = tweak.step?.magnitude, step > 0 {
            wanted = onGrid(value, tweak, step, direction, stepSize)
        } else {
            let step = step(tweak, stepSize)
            wanted = Decimals.sum(value, direction < 0 ? -step : step)
        }
        let lower = tweak.lower?.magnitude ?? -.greatestFiniteMagnitude
        let upper = tweak.upper?.magnitude ?? .greatestFiniteMagnitude
        guard wanted.isFinite, lower <= upper else { return value }
        return min(max(wanted, lower), upper)
    }

    // Steps count from the lower bound, or from the default where there is none, as the server counts them.

    private static func onGrid(
        _ value: Int128, _ tweak: EditorTweak, _ step: Int128, _ direction: Int, _ stepSize: StepSize
    ) -> Int128 {
        let distance = value - (tweak.lower?.whole ?? tweak.defaultValue?.whole ?? 0)
        let below = value - ((distance % step) + step) % step
        let start = direction < 0 && below != value ? below + step : below
        let next = start + step * Int128(direction) * (stepSize == .coarse ? 10 : 1)
        return stepSize != .coarse ? end(value, next, tweak.defaultValue?.whole) : next
    }

    private static func onGrid(
        _ value: Double, _ tweak: EditorTweak, _ step: Double, _ direction: Int, _ stepSize: StepSize
    ) -> Double {
        let origin = tweak.lower?.magnitude ?? tweak.defaultValue?.magnitude ?? 0
        let steps = (value - origin) / step
        // Rounding errors count as being on a step.
        let start = (steps - steps.rounded()).magnitude < 1e-9 ? steps.rounded() : steps
        let from = start.rounded(direction < 0 ? .up : .down)
        let next = Decimals.multiple(from + Double(direction * (stepSize == .coarse ? 10 : 1)), of: step, from: origin)
        return stepSize != .coarse ? end(value, next, tweak.defaultValue?.magnitude) : next
    }

    /// The end of a single step, which stops at the default: that need not be on a step.
    private static func end<Number: Comparable>(_ value: Number, _ next: Number, _ standard: Number?) -> Number {
        guard let standard, min(value, next) < standard, standard < max(value, next) else { return next }
        return standard
    }

    /// A hundredth of the scale, which is a ratio on a logarithmic one; for a fine or a coarse step, a tenth of that or
    /// ten.
    private static func scaled(
        _ value: Double, _ scale: TweakScale, _ range: ClosedRange<Double>, _ direction: Int, _ stepSize: StepSize,
        least: Double
    ) -> Double {
        let place = scale.position(of: value, in: range) + Double(direction) * stepSize.factor / 100
        if place <= 0 { return range.lowerBound }
        if place >= 1 { return range.upperBound }
        let target = scale.value(at: place, in: range)
        // As few digits as distinguish it from adjacent values.
        let unit = max(least, round((target - value).magnitude / 5))
        return Decimals.product((target / unit).rounded(), unit)
    }
}

extension EditorTweak {
    /// Whether steps are ratios: on a logarithmic scale without a declared step.
    fileprivate var isByRatio: Bool { scale == .logarithmic && step == nil }
}
