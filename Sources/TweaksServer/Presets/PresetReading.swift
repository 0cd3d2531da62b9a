// Holds a preset that was read and validated, and composes its reply.

import Tweaks
import TweaksWire

/// The result of reading a preset.
struct PresetReading: Sendable {
    enum Purpose: Sendable {
        case load(only: Bool, partly: Bool)
        case swap
    }

    /// The maximum number of kept overrides to list in text mode; JSON lists all.
    private static let maxListed = 20

    let name: PresetName
    let purpose: Purpose
    let plan: PresetPlan
    /// The changes and their tweaks.
    let batch: TweakBatch
    let nodes: [TweakNode]
    /// Nil if the commit will have to validate them again.
    let prepared: PreparedBatch?
    /// The skipped lines and the overrides that stay, as lines and as JSON fields.
    private(set) var remarks: [String] = []
    private(set) var fields: [(String, JSON)] = []

    /// Prepares the commit and its reply, so that little is left for the I/O thread.
    init(name: PresetName, purpose: Purpose, plan: PresetPlan, _ registry: TweakRegistry) {
        self.name = name
        self.purpose = purpose
        self.plan = plan
        let isOnly = if case .load(let only, _) = purpose { only } else { true }
        (batch, nodes) = plan.batch(only: isOnly)
        prepared = try? registry.prepare(batch)
        remarks = remarkLines
        fields = remarkFields
    }

    /// Whether invalid lines are skipped.
    var isPartly: Bool { if case .load(_, let partly) = purpose { partly } else { false } }

    /// Whether all other overrides are reset.
    var isOnly: Bool { if case .load(let only, _) = purpose { only } else { true } }

    /// The words after the revision in the status line.
    var words: String {
        if case .swap = purpose { return "swapped to \(name); swap \(name) goes back" }
        if plan.problems.isEmpty { return "loaded \(name)" }
        return "loaded \(name), without \(plan.badLines.of("line"))"
    }

    /// The overrides that the preset does not name, in listing order.
    private var lacking: [(node: TweakNode, value: TweakValue)] {
        if plan.protectedOverrides.isEmpty { return plan.overridesNotInPreset }
        return (plan.overridesNotInPreset + plan.protectedOverrides).sorted { TweakListing.precedes($0.node, $1.node) }
    }

    private var remarkLines: [String] {
        var lines = plan.problems.map { "left out, line \($0.line): \($0.error)" }
        if isOnly { return lines + untouched }
        for (node, value) in lacking.prefix(Self.maxListed) {
            lines.append("\(node.path.token) keeps its override \(value.text); \(name) does not name it")
        }
        let rest = lacking.count - Self.maxListed
        if rest > 0 { lines.append("… and \(rest) more keep their overrides; diff \(name) lists them") }
        return lines
    }

    /// The overrides that should have been reset, and which the session may not change.
    private var untouched: [String] {
        let names = plan.protectedOverrides.prefix(Self.maxListed).map {
            "\($0.node.path.token) keeps its override \($0.value.text); this session may not reset it"
        }
        let rest = plan.protectedOverrides.count - Self.maxListed
        return rest > 0 ? names + ["… and \(rest) more keep their overrides"] : names
    }

    private var remarkFields: [(String, JSON)] {
        var fields: [(String, JSON)] = [("loaded", .string(name.text))]
        if case .swap = purpose { fields = [("swapped", .string(name.text))] }
        if !plan.problems.isEmpty { fields.append(("leftOut", .array(plan.problems.map(\.json)))) }
        let kept = isOnly ? plan.protectedOverrides : lacking
        if !kept.isEmpty { fields.append(("lacking", .array(kept.map { .string($0.node.path.joined) }))) }
        return fields
    }
}

extension Int {
    /// `1 line`, `2 lines`.
    func of(_ word: String) -> String { "\(self) \(word)\(self == 1 ? "" : "s")" }
}

extension ConfigProblem {
    /// The JSON form of a problem.
    var json: JSON {
        .object([
            ("line", .count(line)), ("code", .string(error.code.rawValue)), ("message", .string(error.message)),
        ])
    }
}
