// Writes colors and durations in the form of those that they replace.

import Tweaks

/// The edits that give a literal another color.
struct ColorSpelling {
    let source: SwiftSource

    /// `TweakColor(0xFF8800)`, or with four channels if it is not opaque.
    static func fresh(_ color: TweakColor) -> String {
        if color.alpha8 == 255 { return "TweakColor(0x\(hexadecimal(color).prefix(6)))" }
        let channels = zip(["red8", "green8", "blue8", "alpha8"], color.channels).map { "\($0): \($1)" }
        return "TweakColor(\(channels.joined(separator: ", ")))"
    }

    func edits(_ literal: SwiftLiteral, to color: TweakColor) throws(BakeRefusal) -> [SourceEdit] {
        switch literal {
        case .member(let type, _, let range):
            let name = TweakColor.named.filter { $0.value == color }.keys.min()
            let text = name.map { (type + [$0]).dotted } ?? Self.fresh(color)
            return [SourceEdit(range: range, text: text)]
        case .call(let call):
            switch ColorForm(call) {
            case .code(let number): return [code(number, call, color)]
            case .text(let old): return try text(old, call, color)
            case .bytes: return channels(call, color, suffix: "8") { String($0) }
            case .fractions: return channels(call, color, suffix: "", Self.fraction)
            case nil: throw SwiftSpelling.unknownForm
            }
        default: throw SwiftSpelling.unknownForm
        }
    }

    /// Eight digits.
    private static func hexadecimal(_ color: TweakColor) -> Substring { color.description.dropFirst() }

    private func code(_ number: SwiftNumber, _ call: SwiftLiteralCall, _ color: TweakColor) -> SourceEdit {
        guard color.alpha8 == 255 else { return SourceEdit(range: call.range, text: Self.fresh(color)) }
        let code = color.channels.prefix(3).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        var text = number.spelling(of: .int(code)) ?? ""
        // A color has its leading zeros.
        if number.radix == 16, !number.text.utf8.contains(UInt8(ascii: "_")) {
            let digits = text.dropFirst(2)
            text = "0x" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
        }
        return SourceEdit(range: call.arguments[0].range, text: text)
    }

    private func text(_ old: String, _ call: SwiftLiteralCall, _ color: TweakColor) throws(BakeRefusal) -> [SourceEdit]
    {
        guard case .string(_, let shape, let range)? = call.onlyLiteral else { throw SwiftSpelling.unknownForm }
        let digits = String(Self.hexadecimal(color).prefix(color.alpha8 == 255 && old.utf8.count < 9 ? 6 : 8))
        let isLower = old.utf8.contains { (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) } && old.hasPrefix("#")
        let text = SwiftString.literal(
            "#" + (isLower ? digits.lowercased() : digits), like: shape, indentation: [], lineEnd: source.lineEnd)
        return [SourceEdit(range: range, text: text)]
    }

    /// The edits of the channels that differ; a missing alpha is added.
    private func channels(
        _ call: SwiftLiteralCall, _ color: TweakColor, suffix: String, _ text: (UInt8) -> String
    ) -> [SourceEdit] {
        let old = SwiftLiteral.call(call).color?.channels ?? []
        var edits: [SourceEdit] = []
        for (position, name) in ["red", "green", "blue", "alpha"].enumerated() {
            let channel = color.channels[position]
            if position < old.count, old[position] == channel { continue }
            if let argument = call[name + suffix] {
                edits.append(SourceEdit(range: argument.range, text: text(channel)))
            } else {
                edits.append(SourceEdit(range: call.end..<call.end, text: ", \(name)\(suffix): \(text(channel))"))
            }
        }
        return edits
    }

    /// The shortest decimal that is rounded to a channel.
    private static func fraction(_ channel: UInt8) -> String {
        var scale = 1.0
        while true {
            let value = (Double(channel) / 255 * scale).rounded() / scale
            if UInt8((value * 255).rounded()) == channel { return TweakValue.shortest(value) }
            scale *= 10
        }
    }
}

extension TweakColor {
    fileprivate var channels: [UInt8] { [red8, green8, blue8, alpha8] }
}

/// The form of a literal duration.
struct DurationSpelling {
    private let type: [String]
    private let unit: DurationUnit?
    private let number: SwiftNumber

    /// Nil for a literal that is no duration.
    init?(_ literal: SwiftLiteral) {
        switch literal {
        case .member(let type, "zero", _):
            self.type = type
            unit = nil
            number = SwiftNumber(text: "0", isNegative: false)
        case .call(let call):
            guard case .number(let number, _)? = call.onlyLiteral else { return nil }
            type = call.type
            unit = DurationUnit(rawValue: call.name)
            self.number = number
        default: return nil
        }
    }

    /// A duration in the same unit if that is exact, else in the largest unit of which it is a whole number.
    func text(of duration: Duration) -> String? {
        guard let nanoseconds = duration.exactNanoseconds else { return nil }
        if let unit {
            if nanoseconds.isMultiple(of: unit.nanoseconds) {
                let count = nanoseconds / unit.nanoseconds
                return text(unit, number.isReal ? .number(Double(count)) : .int(count))
            }
            let real = Double(nanoseconds) / Double(unit.nanoseconds)
            if number.isReal, unit.duration(real) == duration { return text(unit, .number(real)) }
        }
        guard let unit = DurationUnit.largest(of: nanoseconds) else { return nil }
        let whole = SwiftNumber(text: number.isReal ? "0" : number.text, isNegative: false)
        return Self.text(type, unit, whole.spelling(of: .int(nanoseconds / unit.nanoseconds)))
    }

    private func text(_ unit: DurationUnit, _ value: TweakValue) -> String? {
        Self.text(type, unit, number.spelling(of: value))
    }

    private static func text(_ type: [String], _ unit: DurationUnit, _ number: String?) -> String? {
        number.map { "\((type + [unit.rawValue]).dotted)(\($0))" }
    }

    /// A duration in its largest unit.
    static func fresh(_ duration: Duration) -> String? {
        guard let nanoseconds = duration.exactNanoseconds, let unit = DurationUnit.largest(of: nanoseconds) else {
            return nil
        }
        return ".\(unit.rawValue)(\(nanoseconds / unit.nanoseconds))"
    }
}

extension DurationUnit {
    /// The largest unit of which a duration is a whole number.
    fileprivate static func largest(of nanoseconds: Int64) -> DurationUnit? {
        allCases.first { nanoseconds.isMultiple(of: $0.nanoseconds) }
    }

    /// What Swift makes of a number of this unit.
    fileprivate func duration(_ number: Double) -> Duration {
        switch self {
        case .seconds: .seconds(number)
        case .milliseconds: .milliseconds(number)
        case .microseconds: .microseconds(number)
        case .nanoseconds: .nanoseconds(Int64(number))
        }
    }
}
