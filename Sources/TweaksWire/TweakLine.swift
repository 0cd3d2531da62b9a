// One tweak in a reply: PATH = VALUE and what explains it, as text and as JSON.

package import Tweaks

/// A tweak with a value, as a body line of a reply.
package struct TweakLine: Sendable {
    /// What stands after the value.
    package enum Note: Sendable {
        /// Nothing: an assignment as `export` prints it.
        case none
        /// Kind, range, step, unit, default where the value differs, flags.
        case explained
        /// The value before, and what was asked for where that was something else.
        case was(TweakValue, TweakAdjustment)
    }

    package let node: TweakNode
    /// Nil for an action.
    package let value: TweakValue?
    package let note: Note
    /// What remains of a temporary override; nil where the value is there for good.
    package let timeLeft: Duration?
    /// Where the value comes from, for programs; nil where it is the default, or nobody wants to know.
    package var source: (layer: TweakLayer, origin: TweakOrigin)?
    /// For programs: the file beneath the override has changed since; explain says how.
    package var isInConflict = false
    /// For programs: whether it counts as modified; nil: as the value says. A secret's must not tell.
    package var modified: Bool?
    /// For programs: what goes without saying is left out, a default that is the value, and that it is not modified.
    package var isBrief = false

    package init(_ node: TweakNode, _ value: TweakValue?, _ note: Note, timeLeft: Duration? = nil) {
        self.node = node
        self.value = value
        self.note = note
        self.timeLeft = timeLeft
    }

    private var isSecret: Bool { node.definition.flags.contains(.secret) }

    // MARK: Text

    /// `PATH = VALUE      # explanation`.
    /// - Parameter column: Where the comment begins, if the assignment is not longer.
    package func append(to bytes: inout [UInt8], column: Int = TweakLine.column) {
        let start = bytes.count
        let texts = node.texts
        bytes.append(contentsOf: texts.assignment)
        append(value, to: &bytes)
        switch note {
        case .none: return
        case .explained:
            Self.pad(&bytes, to: start + column)
            bytes.append(contentsOf: texts.summary)
            if let standard = shownDefault {
                bytes.append(", default ")
                standard.append(to: &bytes)
            }
            bytes.append(contentsOf: texts.flags)
            if let timeLeft { bytes.append(", temporary, \(TimeLeft.text(timeLeft)) left") }
        case .was(let old, let adjustment):
            Self.pad(&bytes, to: start + column)
            bytes.append("was ")
            append(old, to: &bytes)
            append(adjustment, to: &bytes)
            if let timeLeft { bytes.append(", for \(TimeLeft.text(timeLeft))") }
        }
    }

    /// The text of a value; whole numbers, the most frequent, the short way.
    private func append(_ value: TweakValue?, to bytes: inout [UInt8]) {
        if !isSecret {
            switch value {
            case .int(let number): return bytes.append(decimal: number)
            case .unsigned(let number): return bytes.append(decimal: number)
            case .number(let number):
                if number.magnitude < 0x1p53, let whole = Int64(exactly: number) { return bytes.append(decimal: whole) }
            default: break
            }
        }
        node.appendShown(value, to: &bytes)
    }

    /// Where the comment of a line begins that stands alone.
    package static let column = 28

    /// As many lines as people see at once.
    private static let screenful = 50

    /// Where the comments of several lines begin: behind the longest assignment of the first ones, unless that is very
    /// long.
    package static func column(of lines: some Sequence<TweakLine>) -> Int {
        lines.prefix(screenful).reduce(column) { max($0, $1.width ?? 0) }
    }

    /// How long the assignment is; nil where it is too long to go by.
    private var width: Int? {
        if case .string(let text) = value, text.utf8.count > 60, !isSecret { return nil }
        let width = node.texts.assignment.count + node.shownText(value).count + 1
        return width <= 60 ? width : nil
    }

    private static func pad(_ bytes: inout [UInt8], to end: Int) {
        repeat { bytes.append(UInt8(ascii: " ")) } while bytes.count < end
        bytes.append(UInt8(ascii: "#"))
        bytes.append(UInt8(ascii: " "))
    }

    /// The default, where the value differs from it.
    private var shownDefault: TweakValue? {
        let flags = node.definition.flags
        guard let standard = node.defaultValue, value != standard, !flags.contains(.readOnly) else { return nil }
        return isSecret ? nil : standard
    }

    private func append(_ adjustment: TweakAdjustment, to bytes: inout [UInt8]) {
        switch adjustment {
        case .none: break
        case .clamped(let wanted): append(", clamped", from: wanted, to: &bytes)
        case .snapped(let wanted): append(", snapped", from: wanted, to: &bytes)
        }
    }

    private func append(_ word: String, from wanted: TweakValue, to bytes: inout [UInt8]) {
        bytes.append(word)
        if isSecret { return }
        bytes.append(" from ")
        wanted.append(to: &bytes)
    }

    // MARK: JSON

    /// The same as the fields of an object.
    package var json: JSON {
        var fields: [(String, JSON)] = [
            ("path", .string(node.path.joined)), ("kind", .string(node.definition.kind.rawValue)),
        ]
        append(value, as: "value", to: &fields)
        switch note {
        case .none: break
        case .explained:
            let facts = node.facts(isModified: isModified)
            fields += (isBrief && !isModified ? facts.filter { $0.0 != "default" && $0.0 != "modified" } : facts)
            fields += sourceFields
        case .was(let old, let adjustment):
            append(old, as: "was", to: &fields)
            switch adjustment {
            case .none: break
            case .clamped(let wanted): append(wanted, as: "clampedFrom", to: &fields)
            case .snapped(let wanted): append(wanted, as: "snappedFrom", to: &fields)
            }
        }
        if let timeLeft { fields += TimeLeft.fields(timeLeft) }
        return .object(fields)
    }

    private var sourceFields: [(String, JSON)] {
        guard let source, !node.definition.flags.contains(.readOnly) else { return [] }
        return [("layer", .string(source.layer.description)), ("by", .string(source.origin.description))]
            + (isInConflict ? [("conflict", .bool(true))] : [])
    }

    private var isModified: Bool {
        modified ?? (!node.definition.flags.contains(.readOnly) && value != node.defaultValue)
    }

    private func append(_ value: TweakValue?, as name: String, to fields: inout [(String, JSON)]) {
        guard let value else { return }
        if isSecret {
            fields.append((name, .null))
            if name == "value" { fields.append(("set", .bool(node.isSet(value)))) }
        } else {
            fields.append((name, value.json))
        }
    }
}

extension TweakNode {
    /// What a panel needs to draw a control, beyond path, kind and value.
    package func facts(isModified: Bool) -> [(String, JSON)] {
        var fields: [(String, JSON)] = []
        if let value = defaultValue, !isSecret { fields.append(("default", value.json)) }
        if definition.kind != .action { fields.append(("modified", .bool(isModified))) }
        fields += definition.facts
        if let signature { fields.append(("arguments", .array(signature.parameters.map(\.json)))) }
        return fields
    }
}

extension TweakDefinition {
    /// What values it takes, and what there is to say of them.
    fileprivate var facts: [(String, JSON)] {
        var fields: [(String, JSON)] = []
        if let component { fields.append(("of", .string(component.kind.rawValue))) }
        if let lower = bounds?.lower { fields.append(("min", lower.json)) }
        if let upper = bounds?.upper { fields.append(("max", upper.json)) }
        if let step { fields.append(("step", step.json)) }
        if scale != .linear { fields.append(("scale", .string(scale.rawValue))) }
        if let minLength { fields.append(("minLength", .count(minLength))) }
        if let maxLength { fields.append(("maxLength", .count(maxLength))) }
        if let unit { fields.append(("unit", .string(unit))) }
        if let help { fields.append(("help", .string(help))) }
        if policy != .reject { fields.append(("policy", .string(policy.rawValue))) }
        let choices = component?.choices ?? choices
        if !choices.isEmpty {
            let choices = choices.map { choice in
                JSON.object([("name", .string(choice.name)), ("label", .text(choice.label))])
            }
            fields.append(("choices", .array(choices)))
        }
        if !flags.isEmpty { fields.append(("flags", .array(flags.words.map(JSON.string)))) }
        return fields
    }
}

extension ActionSignature.Parameter {
    /// What a client needs to ask for it.
    fileprivate var json: JSON {
        .object(
            [("name", .string(name)), ("kind", .string(definition.kind.rawValue))] + definition.facts
                + (defaultValue.map { [("default", $0.json)] } ?? []))
    }
}
