// Reads timing curves from literals, and writes others in their place.

import Tweaks

extension SwiftLiteral {
    /// The curve of `TweakCurve(0.2, 0, 0, 1)`, `.steps(4, .end)`, `.easeOut` or `TweakCurve("ease")!`.
    var curve: TweakCurve? {
        switch self {
        case .member(let type, let name, _) where Self.isType(type, "TweakCurve"): return TweakCurve.named[name]
        case .call(let call) where call.name == "steps" && Self.isType(call.type, "TweakCurve"):
            return call.steps
        case .call(let call) where call.isCurve:
            if case .string(let text, _, _)? = call.onlyLiteral { return TweakCurve(text) }
            let numbers = call.curveNumbers?.compactMap(\.number?.real) ?? []
            return numbers.count == 4 ? TweakCurve(numbers[0], numbers[1], numbers[2], numbers[3]) : nil
        default: return nil
        }
    }

    /// A position of steps by its name.
    fileprivate var stepPosition: TweakCurve.StepPosition? {
        switch self {
        case .member(_, let name, _), .enumCase(_, _, let name, _):
            TweakCurve.StepPosition.allCases.first { "\($0)" == name }
        default: nil
        }
    }
}

extension SwiftLiteralCall {
    fileprivate var isCurve: Bool { name == "TweakCurve" || name == "init" && type.isEmpty }

    /// The literals of `TweakCurve(0.2, 0, 0, 1)`.
    fileprivate var curveNumbers: [SwiftLiteral]? {
        let numbers = arguments.compactMap { $0.label == nil ? $0.literal : nil }
        return isCurve && arguments.count == 4 && numbers.count == 4 ? numbers : nil
    }

    /// The curve of `steps(4)` and `steps(4, .end)`.
    fileprivate var steps: TweakCurve? {
        guard (1...2).contains(arguments.count), arguments.allSatisfy({ $0.label == nil }),
            case .int(let count)? = arguments[0].literal?.number?.whole, let count = Int(exactly: count)
        else { return nil }
        if arguments.count == 1 { return .steps(count) }
        return arguments[1].literal?.stepPosition.map { .steps(count, $0) }
    }
}

/// The edits that give a literal another curve.
enum CurveSpelling {
    /// The numbers in their style where there are four before and after; else `.easeOut`, `TweakCurve(0.2, 0, 0, 1)` or
    /// `.steps(4, .end)`.
    static func edits(
        _ literal: SwiftLiteral, to curve: TweakCurve, _ spelling: SwiftSpelling
    ) throws(BakeRefusal) -> [SourceEdit] {
        if case .call(let call) = literal, let old = call.curveNumbers,
            case .bezier(let x1, let y1, let x2, let y2) = curve.shape
        {
            var edits: [SourceEdit] = []
            for (literal, number) in zip(old, [x1, y1, x2, y2]) {
                edits += try spelling.edits(literal, to: .number(number), ValueShape(kind: .number))
            }
            return edits
        }
        switch literal {
        case .member(let type, _, let range): return [SourceEdit(range: range, text: text(curve, type))]
        case .call(let call) where call.name == "steps":
            return [SourceEdit(range: call.range, text: text(curve, call.type))]
        case .call(let call): return [SourceEdit(range: call.range, text: fresh(curve))]
        default: throw SwiftSpelling.unknownForm
        }
    }

    /// The text of a curve without a literal whose style it could have.
    static func fresh(_ curve: TweakCurve) -> String { text(curve, ["TweakCurve"]) }

    /// - Parameter type: The names before a member; empty where the type is known without them.
    private static func text(_ curve: TweakCurve, _ type: [String]) -> String {
        if let name = TweakCurve.named.filter({ $0.value == curve }).keys.min() { return (type + [name]).dotted }
        switch curve.shape {
        case .bezier(let x1, let y1, let x2, let y2):
            let name = type.isEmpty ? "TweakCurve" : type.joined(separator: ".")
            return "\(name)(\([x1, y1, x2, y2].map(TweakValue.shortest).joined(separator: ", ")))"
        case .steps(let count, let position): return "\((type + ["steps"]).dotted)(\(count), .\(position))"
        }
    }
}

extension TweakCurve {
    /// The static members of the type.
    fileprivate static let named: [String: TweakCurve] = [
        "linear": .linear, "ease": .ease, "easeIn": .easeIn, "easeOut": .easeOut, "easeInOut": .easeInOut,
        "stepStart": .stepStart, "stepEnd": .stepEnd,
    ]
}
