// Evaluates literals: the value that the program has for what is written.

import Tweaks

/// The kind of a value, and of the values in it.
package struct ValueShape: Equatable, Sendable {
    let kind: TweakKind
    /// The kind of a list's elements, or of an optional's value.
    var component: TweakKind?

    /// The shape of a list's elements, or of an optional's value.
    var inner: ValueShape? { component.map { ValueShape(kind: $0) } }
}

extension SwiftLiteral {
    /// The value of this literal for a tweak of a kind; nil if it has none, or this is no literal of that kind.
    func value(_ shape: ValueShape) -> TweakValue? {
        switch shape.kind {
        case .bool: if case .bool(let value, _) = self { .bool(value) } else { nil }
        case .int: number?.whole
        case .number: number?.real.map(TweakValue.number)
        case .string: text.map(TweakValue.string)
        case .color: color.map(TweakValue.color)
        case .choice: choiceName.map(TweakValue.choice)
        case .duration: duration.map(TweakValue.duration)
        case .point: point.map(TweakValue.point)
        case .curve: curve.map(TweakValue.curve)
        case .list: list(shape)
        case .optional: isNone ? .notSet : shape.inner.flatMap { value($0) }
        case .action: nil
        }
    }

    /// Whether a value is that of this literal, as far as the type of the program can hold it.
    func equals(_ value: TweakValue, _ shape: ValueShape) -> Bool {
        guard let own = self.value(shape) else { return false }
        return Self.isSame(own, value)
    }

    private static func isSame(_ own: TweakValue, _ value: TweakValue) -> Bool {
        switch (own, value) {
        // A `Float` has fewer digits, and its value is the shortest text of them.
        case (.number(let own), .number(let value)): own == value || Double("\(Float(own))") == value
        case (.point(let own), .point(let value)):
            isSame(.number(own.x), .number(value.x)) && isSame(.number(own.y), .number(value.y))
        case (.list(let own), .list(let values)):
            own.count == values.count && zip(own, values).allSatisfy { isSame($0, $1) }
        default: own == value
        }
    }

    var isNone: Bool {
        switch self {
        case .none: true
        case .member(let type, "none", _): type.isEmpty || type == ["Optional"]
        default: false
        }
    }

    /// The literal in `UInt8(3)` or `Port(rawValue: 80)!`, or this one itself.
    var unwrapped: SwiftLiteral {
        if case .call(let call) = self, let inner = call.onlyLiteral { inner } else { self }
    }

    /// Whether it is a number with a point or an exponent.
    var isReal: Bool { number?.isReal ?? false }

    var number: SwiftNumber? {
        if case .number(let number, _) = unwrapped { number } else { nil }
    }

    private var text: String? {
        if case .string(let text, _, _) = unwrapped { text } else { nil }
    }

    private func list(_ shape: ValueShape) -> TweakValue? {
        guard case .list(let elements, _, _) = self else { return nil }
        guard let inner = shape.inner else { return elements.isEmpty ? .list([]) : nil }
        let values = elements.compactMap { $0.value(inner) }
        return values.count == elements.count ? .list(values) : nil
    }

    /// The name that a choice has for this value: of a case, or the text of a value.
    private var choiceName: String? {
        if let color { return TweakValue.color(color).text }
        if let duration { return TweakValue.duration(duration).text }
        return switch unwrapped {
        case .enumCase(let cases, _, let name, _): cases.rawValue(of: name)
        case .member(_, let name, _): name
        case .string(let text, _, _): text
        case .bool(let value, _): TweakValue.bool(value).text
        case .number(let number, _):
            number.isReal ? number.real.map { TweakValue.number($0).text } : number.whole?.text
        default: nil
        }
    }
}

// MARK: - Durations, points, colors

extension SwiftLiteral {
    var duration: Duration? {
        switch self {
        case .member(let type, "zero", _) where Self.isType(type, "Duration"): return .zero
        case .call(let call) where Self.isType(call.type, "Duration"):
            guard call.arguments.count == 1, call.arguments[0].label == nil,
                case .number(let number, _)? = call.arguments[0].literal,
                let unit = DurationUnit(rawValue: call.name)
            else { return nil }
            return unit.duration(number)
        default: return nil
        }
    }

    private var point: TweakPoint? {
        if case .member(_, "zero", _) = self { return .zero }
        guard let numbers = pointNumbers, let x = numbers.0.number?.real, let y = numbers.1.number?.real else {
            return nil
        }
        return TweakPoint(x: x, y: y)
    }

    /// The two literals of a point: those of `TweakPoint(x: 1, y: 2)`, of a size, or of `SIMD2(1, 2)`.
    var pointNumbers: (SwiftLiteral, SwiftLiteral)? {
        guard case .call(let call) = self, call.arguments.count == 2 else { return nil }
        let labels = call.arguments.map(\.label)
        guard [["x", "y"], ["width", "height"], [nil, nil]].contains(labels), let x = call.arguments[0].literal,
            let y = call.arguments[1].literal
        else { return nil }
        return (x, y)
    }

    var color: TweakColor? {
        switch self {
        case .member(let type, let name, _) where Self.isType(type, "TweakColor"): return TweakColor.named[name]
        case .call(let call) where call.name == "TweakColor" || call.name == "init" && call.type.isEmpty:
            return ColorForm(call)?.color
        default: return nil
        }
    }

    /// Whether the names before a member name a type, or nothing.
    static func isType(_ names: [String], _ type: String) -> Bool { names.isEmpty || names.last == type }
}

/// A function that makes a duration of a number.
enum DurationUnit: String, CaseIterable {
    case seconds, milliseconds, microseconds, nanoseconds

    var nanoseconds: Int64 {
        switch self {
        case .seconds: 1_000_000_000
        case .milliseconds: 1_000_000
        case .microseconds: 1_000
        case .nanoseconds: 1
        }
    }

    /// The duration, to a whole nanosecond; nil beyond 64 bits of them.
    func duration(_ number: SwiftNumber) -> Duration? {
        if !number.isReal, case .int(let count)? = number.whole {
            let (product, overflow) = count.multipliedReportingOverflow(by: nanoseconds)
            return overflow ? nil : .nanoseconds(product)
        }
        guard self != .nanoseconds, let real = number.real else { return nil }
        return Int64(exactly: (real * Double(nanoseconds)).rounded()).map { .nanoseconds($0) }
    }
}

/// A form of writing a color.
enum ColorForm {
    /// `TweakColor(0xFF8800)`
    case code(SwiftNumber)
    /// `TweakColor("#FF8800")!`
    case text(String)
    /// `TweakColor(red8: 255, green8: 136, blue8: 0)`
    case bytes(TweakColor)
    /// `TweakColor(red: 1, green: 0.53, blue: 0)`
    case fractions(TweakColor)

    init?(_ call: SwiftLiteralCall) {
        if let literal = call.onlyLiteral, call.arguments[0].label == nil {
            switch literal {
            case .number(let number, _): self = .code(number)
            case .string(let text, _, _): self = .text(text)
            default: return nil
            }
        } else if let numbers = Self.numbers(call, suffix: "8")?.map({ $0.whole.flatMap(UInt8.init) }),
            case let channels = numbers.compactMap(\.self), channels.count == numbers.count
        {
            self = .bytes(
                TweakColor(
                    red8: channels[0], green8: channels[1], blue8: channels[2],
                    alpha8: channels.count == 4 ? channels[3] : 255))
        } else if let numbers = Self.numbers(call, suffix: "")?.map(\.real),
            case let channels = numbers.compactMap(\.self), channels.count == numbers.count
        {
            let alpha = channels.count == 4 ? channels[3] : 1
            self = .fractions(TweakColor(red: channels[0], green: channels[1], blue: channels[2], alpha: alpha))
        } else {
            return nil
        }
    }

    /// The numbers of the three or four channels.
    private static func numbers(_ call: SwiftLiteralCall, suffix: String) -> [SwiftNumber]? {
        let labels = ["red", "green", "blue", "alpha"].map { $0 + suffix }
        let literals = call.literals(labels) ?? call.literals(Array(labels.prefix(3)))
        let numbers = literals?.compactMap { literal in
            if case .number(let number, _) = literal { number } else { nil }
        }
        return numbers?.count == literals?.count ? numbers : nil
    }

    var color: TweakColor? {
        switch self {
        case .code(let number):
            guard case .int(let code)? = number.whole, (0...0xFF_FFFF).contains(code) else { return nil }
            return TweakColor(UInt32(code))
        case .text(let text): return TweakColor(text)
        case .bytes(let color), .fractions(let color): return color
        }
    }
}

extension TweakColor {
    /// The static members of the type.
    static let named: [String: TweakColor] = [
        "black": .black, "silver": .silver, "gray": .gray, "white": .white, "maroon": .maroon, "red": .red,
        "purple": .purple, "magenta": .magenta, "green": .green, "lime": .lime, "olive": .olive, "yellow": .yellow,
        "navy": .navy, "blue": .blue, "teal": .teal, "cyan": .cyan, "orange": .orange, "brown": .brown, "pink": .pink,
        "indigo": .indigo, "clear": .clear,
    ]
}
