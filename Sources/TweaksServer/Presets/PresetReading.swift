// A preset that a session asked for, read and judged, and what its reply says of it.

import Tweaks
import TweaksWire

/// What came of reading a preset.
struct PresetReading: Sendable {
    enum Purpose: Sendable {
        case load(only: Bool, partly: Bool)
        case swap
    }

    /// So many overrides are named that a preset leaves alone; programs are told of all.
    private static let mostNamed = 20

    let name: PresetName
    let purpose: Purpose
    let plan: PresetPlan

    /// Whether lines that do not fit are left out.
    var isPartly: Bool { if case .load(_, let partly) = purpose { partly } else { false } }

    /// Whether everything else is reset.
    var isOnly: Bool { if case .load(let only, _) = purpose { only } else { true } }

    /// What the status says behind the revision.
    var words: String {
        if case .swap = purpose { return "swapped to \(name); swap \(name) goes back" }
        if plan.problems.isEmpty { return "loaded \(name)" }
        return "loaded \(name), without \(plan.badLines.of("line"))"
    }

    /// What no line names, in the order of all listings.
    private var lacking: [(node: TweakNode, value: TweakValue)] {
        if plan.untouchable.isEmpty { return plan.lacking }
        return (plan.lacking + plan.untouchable).sorted { TweakListing.precedes($0.node, $1.node) }
    }

    /// What the preset lacks, and its lines that were left out.
    var remarks: [String] {
        var lines = plan.problems.map { "left out, line \($0.line): \($0.error)" }
        if isOnly { return lines + untouched }
        for (node, value) in lacking.prefix(Self.mostNamed) {
            lines.append("\(node.path.token) keeps its override \(value.text); \(name) does not name it")
        }
        let rest = lacking.count - Self.mostNamed
        if rest > 0 { lines.append("… and \(rest) more keep their overrides; diff \(name) lists them") }
        return lines
    }

    /// What should have been reset, and may not be.
    private var untouched: [String] {
        let names = plan.untouchable.prefix(Self.mostNamed).map {
            "\($0.node.path.token) keeps its override \($0.value.text); this session may not reset it"
        }
        let rest = plan.untouchable.count - Self.mostNamed
        return rest > 0 ? names + ["… and \(rest) more keep their overrides"] : names
    }

    /// The same for programs.
    var fields: [(String, JSON)] {
        var fields: [(String, JSON)] = [("loaded", .string(name.text))]
        if case .swap = purpose { fields = [("swapped", .string(name.text))] }
        if !plan.problems.isEmpty { fields.append(("leftOut", .array(plan.problems.map(\.json)))) }
        let kept = isOnly ? plan.untouchable : lacking
        if !kept.isEmpty { fields.append(("lacking", .array(kept.map { .string($0.node.path.joined) }))) }
        return fields
    }
}

extension Int {
    /// `1 line`, `2 lines`.
    func of(_ word: String) -> String { "\(self) \(word)\(self == 1 ? "" : "s")" }
}

extension ConfigProblem {
    /// For programs.
    var json: JSON {
        .object([
            ("line", .count(line)), ("code", .string(error.code.rawValue)), ("message", .string(error.message)),
        ])
    }
}
