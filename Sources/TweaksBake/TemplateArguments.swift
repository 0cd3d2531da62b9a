// Changes the arguments of a group's template, and adds those that are left out.

import Tweaks

/// A part of a group with its new default.
struct TemplatePart {
    /// As the template names it: `base delay`.
    let name: String
    let old: TweakValue
    let new: TweakValue
    let shape: ValueShape
}

/// A template of the package: the labels of its initializer, and the values of a template without arguments.
struct BuiltInTemplate: Sendable {
    let name: String
    /// In the order of the initializer.
    let labels: [String]
    let defaults: [TweakValue]
    /// Whether its initializer has no labels.
    var isUnlabeled = false
    /// The static members, with the values of the parts.
    var members: [String: [TweakValue]] = [:]

    static let all = [spring, ease, shadow, retryPolicy, timeouts, rateLimit]

    private static let spring = {
        let template = TweakSpring()
        return BuiltInTemplate(
            name: "TweakSpring", labels: ["response", "dampingFraction"],
            defaults: [.duration(template.response), .number(template.dampingFraction)])
    }()

    private static let ease = BuiltInTemplate(
        name: "TweakEase", labels: ["x1", "y1", "x2", "y2"], defaults: [], isUnlabeled: true,
        members: [
            "standard": values(.standard), "linear": values(.linear), "in": values(.in), "out": values(.out),
            "inOut": values(.inOut),
        ])

    private static func values(_ ease: TweakEase) -> [TweakValue] {
        [ease.x1, ease.y1, ease.x2, ease.y2].map(TweakValue.number)
    }

    private static let shadow = {
        let template = TweakShadow()
        return BuiltInTemplate(
            name: "TweakShadow", labels: ["color", "x", "y", "radius", "opacity"],
            defaults: [.color(template.color)]
                + [template.x, template.y, template.radius, template.opacity].map(TweakValue.number))
    }()

    private static let retryPolicy = {
        let template = TweakRetryPolicy()
        return BuiltInTemplate(
            name: "TweakRetryPolicy", labels: ["attempts", "baseDelay", "factor", "maxDelay", "jitter"],
            defaults: [
                .int(Int64(template.attempts)), .duration(template.baseDelay), .number(template.factor),
                .duration(template.maxDelay), .number(template.jitter),
            ])
    }()

    private static let timeouts = {
        let template = TweakTimeouts()
        return BuiltInTemplate(
            name: "TweakTimeouts", labels: ["connect", "read", "total"],
            defaults: [template.connect, template.read, template.total].map(TweakValue.duration))
    }()

    private static let rateLimit = {
        let template = TweakRateLimit()
        return BuiltInTemplate(
            name: "TweakRateLimit", labels: ["rate", "burst"],
            defaults: [.number(template.rate), .int(Int64(template.burst))])
    }()
}

/// The edits that give a template other values.
struct TemplateArguments {
    private let source: SwiftSource
    private let reader: SwiftReader
    private let spelling: SwiftSpelling

    init(_ reader: SwiftReader) {
        source = reader.source
        self.reader = reader
        spelling = SwiftSpelling(source: reader.source, type: "")
    }

    /// - Throws: The reason why one of the parts cannot be written; then none is.
    func edits(_ literal: SwiftLiteral, _ parts: [TemplatePart]) throws(BakeRefusal) -> [SourceEdit] {
        switch literal {
        case .member(let type, let name, let range):
            guard let template = BuiltInTemplate.all.first(where: { $0.name == type.last }),
                let values = template.members[name]
            else { throw .notALiteral }
            let text = try constant(template, type, values, parts)
            return text == source.text(range) ? [] : [SourceEdit(range: range, text: text)]
        case .call(let call):
            let template = BuiltInTemplate.all.first { $0.name == call.name }
            if let template, template.isUnlabeled { return try unlabeledEdits(call, template, parts) }
            return try edits(call, template, parts)
        default: throw .notALiteral
        }
    }

    /// A template that replaces a constant: another constant with these values, or a call.
    private func constant(
        _ template: BuiltInTemplate, _ type: [String], _ old: [TweakValue], _ parts: [TemplatePart]
    ) throws(BakeRefusal) -> String {
        var values = old
        for part in parts {
            guard let position = template.labels.firstIndex(of: part.name) else { throw .notALiteral }
            guard values[position] == part.old else { throw .differs(from: part.old) }
            values[position] = part.new
        }
        let name = type.joined(separator: ".")
        if let member = template.members.filter({ $0.value == values }).keys.min() { return "\(name).\(member)" }
        return "\(name)(\(values.map(\.text).joined(separator: ", ")))"
    }

    private func unlabeledEdits(
        _ call: SwiftLiteralCall, _ template: BuiltInTemplate, _ parts: [TemplatePart]
    ) throws(BakeRefusal) -> [SourceEdit] {
        var edits: [SourceEdit] = []
        for part in parts {
            guard call.arguments.count == template.labels.count, call.arguments.allSatisfy({ $0.label == nil }),
                let position = template.labels.firstIndex(of: part.name)
            else { throw .notALiteral }
            edits += try self.edits(call.arguments[position], part)
        }
        return edits
    }

    private func edits(
        _ call: SwiftLiteralCall, _ template: BuiltInTemplate?, _ parts: [TemplatePart]
    ) throws(BakeRefusal) -> [SourceEdit] {
        var edits: [SourceEdit] = []
        var missing: [String: TemplatePart] = [:]
        for part in parts {
            let label = template == nil ? label(of: part.name) : Self.camelCase(part.name)
            if let argument = call[label] {
                edits += try self.edits(argument, part)
            } else {
                missing[label] = part
            }
        }
        if missing.isEmpty { return edits }
        guard let template else {
            let label = missing.keys.sorted()[0]
            throw BakeRefusal("has its default in the declaration of \(call.name), as \(label); write it there by hand")
        }
        return try edits + insertions(call, template, missing)
    }

    private func edits(
        _ argument: SwiftLiteralCall.Argument, _ part: TemplatePart
    ) throws(BakeRefusal) -> [SourceEdit] {
        guard let literal = argument.literal, literal.value(part.shape) != nil else { throw .notALiteral }
        guard literal.equals(part.old, part.shape) else { throw .differs(from: part.old) }
        return try spelling.edits(literal, to: part.new, part.shape)
    }

    /// The arguments that are added, each in its place in the order of the initializer.
    private func insertions(
        _ call: SwiftLiteralCall, _ template: BuiltInTemplate, _ missing: [String: TemplatePart]
    ) throws(BakeRefusal) -> [SourceEdit] {
        // `TweakSpring(stiffness:damping:)` computes its parts.
        guard call.arguments.allSatisfy({ $0.label.map(template.labels.contains) ?? false }) else { throw .notALiteral }
        var edits: [SourceEdit] = []
        var leading: [String] = []
        var last: SwiftLiteralCall.Argument?
        var added = ""
        for (label, standard) in zip(template.labels, template.defaults) {
            if let argument = call[label] {
                if let last, !added.isEmpty { edits.append(Self.insertion(at: last.range.upperBound, added)) }
                last = argument
                added = ""
            } else if let part = missing[label] {
                guard part.old == standard else { throw .differs(from: part.old) }
                let text = "\(label): \(try SwiftSpelling.text(part.new))"
                if last == nil { leading.append(text) } else { added += ", \(text)" }
            }
        }
        if let last, !added.isEmpty { edits.append(Self.insertion(at: last.range.upperBound, added)) }
        let text = leading.joined(separator: ", ")
        if let first = call.arguments.first, !text.isEmpty {
            edits.append(Self.insertion(at: first.start, text + ", "))
        }
        if call.arguments.isEmpty { edits.append(Self.insertion(at: call.end, text)) }
        return edits
    }

    private static func insertion(at position: Int, _ text: String) -> SourceEdit {
        SourceEdit(range: position..<position, text: text)
    }

    /// The label of a part of a template of the program: the property of its `TweakPart` if the file has it.
    private func label(of part: String) -> String {
        for call in reader.calls(["TweakPart"]) {
            guard call.unlabeled.count >= 2, case let name = call.unlabeled[0].tokens, name.count == 1,
                case .string(let shape) = reader.group.tokens[name.lowerBound].kind,
                SwiftString.text(source.bytes[reader.group.tokens[name.lowerBound].range], shape) == part,
                let property = reader.word(call.unlabeled[1].tokens.upperBound - 1)
            else { continue }
            return property
        }
        return Self.camelCase(part)
    }

    /// `baseDelay` of `base delay`.
    static func camelCase(_ name: String) -> String {
        let words = name.split(separator: " ")
        return words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}

extension BakeRefusal {
    static let notALiteral = BakeRefusal("has a default that is not written out as a value; write the new one by hand")

    static func differs(from value: TweakValue) -> BakeRefusal {
        BakeRefusal("has another default there than \(value.text) in the process; \(rebuild)")
    }
}
