// Formats one tweak of a reply, PATH = VALUE and its explanation, as text and as JSON.

package import Tweaks

/// A tweak with a value, as a body line of a reply.
package struct TweakLine: Sendable {
    /// The comment after the value.
    package enum Note: Sendable {
        /// None: an assignment as `export` prints it.
        case none
        /// Kind, range, step, unit, default where the value differs, flags.
        case explained
        /// The previous value, and the requested one where it was clamped or snapped.
        case was(TweakValue, TweakAdjustment)
    }

    /// The source of a value. An object: lines are copied, and few have one.
    package final class Source: Sendable {
        package let layer: TweakLayer
        package let origin: TweakOrigin
        fileprivate let isOverridden: Bool
        /// The value that is set and its layer, if a preview shows another one.
        fileprivate let settled: (value: TweakValue, layer: TweakLayer)?

        package init(_ layer: TweakLayer, _ origin: TweakOrigin) {
            self.layer = layer
            self.origin = origin
            isOverridden = layer.isOverride
            settled = nil
        }

        /// The source of a value in a preview.
        /// - Parameter own: The source of the value that is set; nil for the default.
        package init(
            _ own: (layer: TweakLayer, origin: TweakOrigin)?, covering settled: TweakValue?, by origin: TweakOrigin
        ) {
            layer = .preview
            self.origin = origin
            isOverridden = own?.layer.isOverride ?? false
            self.settled = settled.map { ($0, own?.layer ?? .default) }
        }
    }

    package let node: TweakNode
    /// Nil for an action.
    package let value: TweakValue?
    package let note: Note
    /// The remaining time of a temporary override; nil where the value is permanent.
    package let timeLeft: Duration?
    /// The source of the value, for JSON; nil where it is the default, or not requested.
    package var source: Source?
    /// For JSON: the config file's value has changed since the override was set; `explain` has the details.
    package var isInConflict = false
    /// For JSON: whether the override is the default, so that removing it changes no value.
    package var isStale = false
    /// For JSON: whether it counts as modified; nil to compare the value. That of a secret must not reveal its value.
    package var modified: Bool?
    /// For JSON: whether to omit `default` and `modified` of an unmodified tweak.
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
    /// - Parameter column: The column of the comment, unless the assignment is longer.
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
            if let source, let settled = source.settled {
                bytes.append(", \(source.origin), set to ")
                append(settled.value, to: &bytes)
            }
        case .was(let old, let adjustment):
            Self.pad(&bytes, to: start + column)
            bytes.append("was ")
            append(old, to: &bytes)
            append(adjustment, to: &bytes)
            if let timeLeft { bytes.append(", for \(TimeLeft.text(timeLeft))") }
        }
    }

    /// Appends a value; whole numbers, the most frequent, take a shortcut.
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

    /// The column of the comment in a single line.
    package static let column = 28

    /// The number of lines that are aligned with each other.
    private static let screenful = 50

    /// The column of the comments in several lines: after the longest of the first `screenful` assignments of at most
    /// 60 columns.
    package static func column(of lines: some Sequence<TweakLine>) -> Int {
        lines.prefix(screenful).reduce(column) { max($0, $1.width ?? 0) }
    }

    /// The length of the assignment; nil where it is too long to align with.
    private var width: Int? {
        if case .string(let text) = value, text.utf8.count > 60, !isSecret { return nil }
        let width = node.texts.assignment.count + (value.map { node.shown($0).text.count } ?? 8) + 1
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

    /// The tweak as a JSON object.
    package var json: JSON {
        var fields: [(String, JSON)] = [
            ("path", .string(node.path.joined)), ("kind", .string(node.definition.kind.rawValue)),
        ]
        if let value { fields += node.shown(value).fields }
        switch note {
        case .none: break
        case .explained:
            let info = node.info(isModified: isModified)
            fields += (isBrief && !isModified ? info.filter { $0.0 != "default" && $0.0 != "modified" } : info)
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
        return [
            ("layer", .string(source.layer.name)), ("overridden", .bool(source.isOverridden)),
            ("by", .string(source.origin.description)),
        ] + settledFields(source)
            + (isInConflict ? [("conflict", .bool(true))] : []) + (isStale ? [("stale", .bool(true))] : [])
    }

    private func settledFields(_ source: Source) -> [(String, JSON)] {
        guard let (value, layer) = source.settled else { return [] }
        return [("settled", node.shown(value).json), ("settledLayer", .string(layer.name))]
    }

    private var isModified: Bool {
        modified ?? (!node.definition.flags.contains(.readOnly) && value != node.defaultValue)
    }

    private func append(_ value: TweakValue?, as name: String, to fields: inout [(String, JSON)]) {
        if let value { fields.append((name, node.shown(value).json)) }
    }
}

extension TweakNode {
    /// The JSON fields that a panel needs to draw a control, besides path, kind and value.
    package func info(isModified: Bool) -> [(String, JSON)] {
        var fields: [(String, JSON)] = []
        if let value = defaultValue, !isSecret { fields.append(("default", value.json)) }
        if definition.kind != .action { fields.append(("modified", .bool(isModified))) }
        fields += definition.info
        if let signature { fields.append(("arguments", .array(signature.parameters.map(\.json)))) }
        if let role { fields.append(("template", role.json)) }
        return fields
    }
}

extension TemplateRole {
    fileprivate var json: JSON {
        .object([("name", .string(template)), ("path", .string(path)), ("part", .string(part))])
    }
}

extension TweakDefinition {
    /// The JSON fields for bounds, step, lengths, unit, help, policy, choices and flags.
    fileprivate var info: [(String, JSON)] {
        var fields: [(String, JSON)] = []
        if let component { fields.append(("of", .string(component.kind.rawValue))) }
        if let shownFormat { fields.append(("format", .string(shownFormat.name))) }
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
    /// The JSON that a client needs to prompt for it.
    fileprivate var json: JSON {
        .object(
            [("name", .string(name)), ("kind", .string(definition.kind.rawValue))] + definition.info
                + (defaultValue.map { [("default", $0.json)] } ?? []))
    }
}

/// Formats a remaining time as text and as JSON fields.
package enum TimeLeft {
    /// A longer time would overflow 64 bits of nanoseconds.
    private static let longest = Duration.seconds(9_000_000_000)

    /// Whole seconds, `9m59s`; below ten seconds, tenths. Rounded up, so that a time that is left is never `0s`.
    package static func text(_ duration: Duration) -> String {
        rounded(duration, to: duration < .seconds(10) ? 100_000_000 : 1_000_000_000)
    }

    /// JSON fields, with milliseconds.
    package static func fields(_ duration: Duration) -> [(String, JSON)] {
        [("temporary", .bool(true)), ("timeLeft", .string(rounded(duration, to: 1_000_000)))]
    }

    private static func rounded(_ duration: Duration, to unit: Int64) -> String {
        // A file can name any year; such a time is clamped.
        let (seconds, attoseconds) = min(max(duration, .zero), longest).components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        return DurationText.print((nanoseconds + unit - 1) / unit * unit)
    }
}
