// Encodes and decodes the declaration of one tweak in a build.

import Tweaks

extension TweakDefinition {
    /// - Parameter isBrief: Leaves out ranges and lengths.
    func fields(isBrief: Bool) -> [(String, JSON)] {
        var fields: [(String, JSON)] = [("kind", .string(kind.rawValue))]
        if !choices.isEmpty { fields.add("choices", .array(choices.map { .string($0.name) })) }
        if !isBrief {
            fields += limits.fields
            fields.add("minLength", minLength.map { .count($0) })
            fields.add("maxLength", maxLength.map { .count($0) })
        }
        if flags.contains(.secret) { fields.add("secret", .bool(true)) }
        if flags.contains(.readOnly) { fields.add("readOnly", .bool(true)) }
        let parts = components.map { JSON.object($0.fields(isBrief: isBrief)) }
        if !parts.isEmpty { fields.add("components", .array(parts)) }
        return fields
    }

    init(_ fields: FleetFields, depth: Int = 0) throws(FleetProblem) {
        guard depth < 4, let kind = TweakKind(rawValue: try fields.text("kind")), kind != .action else {
            throw FleetProblem("“kind” is none that a tweak of this version has")
        }
        var components: [TweakDefinition] = []
        for element in try fields.elements("components", max: 2) {
            components.append(try TweakDefinition(element, depth: depth + 1))
        }
        // A list needs an element type; a point without limits has no components.
        let wanted = kind == .point ? [0, 2] : kind == .list || kind == .optional ? [1] : [0]
        guard wanted.contains(components.count) else {
            throw FleetProblem("“components” is not that of kind \(kind.rawValue)")
        }
        var flags: TweakFlags = []
        if try fields.flag("secret") { flags.insert(.secret) }
        if try fields.flag("readOnly") { flags.insert(.readOnly) }
        self.init(
            kind: kind, limits: try TweakLimits(fields, kind),
            choices: try fields.texts("choices", max: 20_000).map { TweakChoice($0, name: $0) },
            minLength: try Self.length("minLength", fields), maxLength: try Self.length("maxLength", fields),
            flags: flags, components: components)
    }

    private static func length(_ name: String, _ fields: FleetFields) throws(FleetProblem) -> Int? {
        fields.optional(name) == nil ? nil : Int(min(try fields.count(name), Int64(Int32.max)))
    }
}

extension TweakLimits {
    private static let names = ["min", "max", "step", "default"]

    fileprivate var fields: [(String, JSON)] {
        let numbers: [JSON?] =
            switch self {
            case .none: []
            case .whole(let lower, let upper, let step, let standard):
                [lower, upper, step, standard].map { $0.map { .literal("\($0)") } }
            case .real(let lower, let upper, let step, let standard):
                [lower, upper, step, standard].map { $0.map { .number($0) } }
            }
        return zip(Self.names, numbers).compactMap { name, number in number.map { (name, $0) } }
    }

    fileprivate init(_ fields: FleetFields, _ kind: TweakKind) throws(FleetProblem) {
        guard Self.names.contains(where: { fields.optional($0) != nil }) else {
            self = .none
            return
        }
        switch kind {
        case .int, .duration:
            let numbers = try Self.numbers(fields) { text in Int128(text).flatMap(Self.within65Bits) }
            guard numbers[2].map({ $0 > 0 }) ?? true else { throw FleetProblem("“step” is not above 0") }
            self = .whole(lower: numbers[0], upper: numbers[1], step: numbers[2], default: numbers[3])
        case .number:
            let numbers = try Self.numbers(fields) { text in Double(text).flatMap { $0.isFinite ? $0 : nil } }
            guard numbers[2].map({ $0 > 0 }) ?? true else { throw FleetProblem("“step” is not above 0") }
            self = .real(lower: numbers[0], upper: numbers[1], step: numbers[2], default: numbers[3])
        default: self = .none
        }
    }

    /// Steps and bounds have at most 64 bits; the difference of two 65-bit numbers cannot overflow.
    private static func within65Bits(_ number: Int128) -> Int128? {
        (-1 << 65...1 << 65).contains(number) ? number : nil
    }

    private static func numbers<Number>(
        _ fields: FleetFields, _ parse: (String) -> Number?
    ) throws(FleetProblem) -> [Number?] {
        var numbers: [Number?] = []
        for name in names {
            switch fields.optional(name) {
            case nil: numbers.append(nil)
            case .literal(let text)?:
                guard let number = parse(text) else { throw FleetProblem("“\(name)” is not a number of its kind") }
                numbers.append(number)
            default: throw FleetProblem("“\(name)” is not a number")
            }
        }
        return numbers
    }
}
