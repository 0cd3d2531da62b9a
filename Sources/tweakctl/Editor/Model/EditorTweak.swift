// A tweak as the editor knows it: the facts of its server, its value, and what is under way.

import Tweaks
import TweaksWire

/// One tweak of the process.
struct EditorTweak: Equatable {
    let path: String
    /// Category, collection, name.
    let parts: [String]
    let kind: TweakKind
    /// What a list or an optional holds.
    let component: TweakKind?
    /// Nil for an action, and for a secret.
    var value: TweakValue?
    /// Of a secret: whether there is a value.
    var isSet = false
    var isModified = false
    var standard: TweakValue?
    var lower: TweakValue?
    var upper: TweakValue?
    var step: TweakValue?
    var scale = TweakScale.linear
    var unit: String?
    var help: String?
    var choices: [String] = []
    /// What people are shown of them, where that is something else.
    var choiceLabels: [String] = []
    var flags: [String] = []
    /// When a temporary override ends; nil where the value is there for good.
    var end: ContinuousClock.Instant?
    /// What we asked for, until the answer is there.
    var wanted: TweakValue?
    /// Who else changed it a moment ago.
    var news: News?

    /// A change by others.
    struct News: Equatable {
        let origin: String
        /// So long it is shown.
        let end: ContinuousClock.Instant
    }

    /// From one object of `get` or `watch`; nil where it is none.
    init?(_ json: JSON, now: ContinuousClock.Instant) {
        guard let path = json["path"]?.string, let kind = json["kind"]?.string.flatMap(TweakKind.init(rawValue:)) else {
            return nil
        }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map { String($0) }
        guard parts.count == 3, Quoting.isSafe(path) else { return nil }
        (self.path, self.parts, self.kind) = (path, parts, kind)
        let component = json["of"]?.string.flatMap(TweakKind.init(rawValue:))
        self.component = component
        // The bounds of a list are those of its values.
        let part = component ?? kind
        value = json["value"].flatMap { TweakValue($0, as: kind, of: component) }
        isSet = json["set"]?.isTrue ?? false
        isModified = json["modified"]?.isTrue ?? false
        standard = json["default"].flatMap { TweakValue($0, as: kind, of: component) }
        lower = json["min"].flatMap { TweakValue($0, as: part) }
        upper = json["max"].flatMap { TweakValue($0, as: part) }
        step = json["step"].flatMap { TweakValue($0, as: kind == .point ? .number : part) }
        scale = json["scale"]?.string.flatMap(TweakScale.init(rawValue:)) ?? .linear
        unit = json["unit"]?.string.map(Quoting.sanitized)
        help = json["help"]?.string.map(Quoting.sanitized)
        choices = json["choices"]?.elements.compactMap { $0["name"]?.string } ?? []
        choiceLabels = json["choices"]?.elements.compactMap { $0["label"]?.string } ?? []
        end = json["timeLeft"]?.string.flatMap { Self.end($0, now) }
        flags = json["flags"]?.elements.compactMap { $0.string.map(Quoting.sanitized) } ?? []
    }

    /// When a time is over that has begun now. No process gives longer ones than that.
    static func end(_ text: String, _ now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        guard case .duration(let left)? = TweakValue(parsing: text, as: .duration) else { return nil }
        return now + min(left, TweakNode.longestLifetime)
    }

    // MARK: What it is

    var isSecret: Bool { flags.contains("secret") }
    var isReadOnly: Bool { flags.contains("read-only") }
    var collection: String { parts[0] + "/" + parts[1] }

    /// The path as a token of a line.
    var token: String { Quoting.needsQuotes(path) ? Quoting.json(path) : path }

    /// What stands on the screen: what was asked for counts already.
    var shown: TweakValue? { wanted ?? value }

    /// The value as text.
    var shownText: String {
        if kind == .action { return "(action)" }
        if isSecret { return isSet ? "(set)" : "(unset)" }
        return Quoting.sanitized(shown?.text ?? "?")
    }

    var color: TweakColor? {
        if case .color(let color)? = shown { color } else { nil }
    }

    /// Its bounds on one scale; nil where it has not two of them, or no number lies between them.
    var range: ClosedRange<Double>? {
        guard let lower = lower?.magnitude, let upper = upper?.magnitude, lower < upper, (upper - lower).isFinite else {
            return nil
        }
        return lower...upper
    }

    /// Where the value lies between its bounds, 0…1, on the scale that was declared; nil where it has not two of them.
    var fraction: Double? {
        guard let value = shown?.magnitude, let range else { return nil }
        return scale.position(of: value, in: range)
    }

    // MARK: Changing

    /// Takes a new value of an event or a reply, as text without quotes.
    mutating func take(_ text: String) {
        if isSecret {
            isSet = text == "(set)"
        } else if let new = TweakValue(parsing: text, as: kind, of: component) {
            value = new
            isModified = !isReadOnly && standard != nil && new != standard
        }
    }
}

extension TweakValue {
    /// A number, an int or a duration on one scale.
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
