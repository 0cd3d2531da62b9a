// Holds the editor's copy of a tweak: its definition, its value, and pending changes.

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
    /// The labels of choices that have one.
    var choiceLabels: [String] = []
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
        (self.path, self.parts, self.kind) = (path, parts, kind)
        let component = json["of"]?.string.flatMap(TweakKind.init(rawValue:))
        self.component = component
        // The bounds of a list apply to its elements.
        let part = component ?? kind
        value = json["value"].flatMap { TweakValue($0, as: kind, of: component) }
        isSet = json["set"]?.isTrue ?? false
        isModified = json["modified"]?.isTrue ?? false
        defaultValue = json["default"].flatMap { TweakValue($0, as: kind, of: component) }
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

    /// Applies a new value of an event or a reply, as text without quotes.
    mutating func apply(_ text: String) {
        if isSecret {
            isSet = text == "(set)"
        } else if let new = TweakValue(parsing: text, as: kind, of: component) {
            value = new
            isModified = !isReadOnly && defaultValue != nil && new != defaultValue
        }
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
