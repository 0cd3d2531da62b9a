// Describes the tweaks that a build declares, so that operators can check values before they write.

package import Tweaks
import TweaksStorage

/// `builds/HASH`: the declarations of a build.
package struct FleetBuild: Sendable {
    /// The size limit. Over it, defaults and texts for readers are left out, then ranges and lengths, then whole
    /// declarations.
    package static let maxBytes = 256 << 10

    /// How much of each declaration is written.
    private enum Detail: CaseIterable { case everything, rules, kinds }

    /// The declared tweaks, without actions.
    package let definitions: [TweakPath: TweakDefinition]
    /// Their defaults, except for those of secrets; older processes, and large builds, write none.
    package let defaults: [TweakPath: TweakValue]
    /// The tweaks whose numbers are narrower than a double.
    private let widths: [TweakPath: NumberWidth]
    private let actions: Set<TweakPath>
    /// Whether a missing path may still be declared: some were left out, or have kinds unknown to this version.
    package let isPartial: Bool
    /// One line of JSON.
    package let bytes: [UInt8]

    /// The declarations of a program's tweaks.
    package init(_ registry: TweakRegistry) {
        let nodes = registry.listing().nodes.sorted {
            $0.path.joined.utf8.lexicographicallyPrecedes($1.path.joined.utf8)
        }
        var lines: [JSON] = []
        for detail in Detail.allCases where lines.count < nodes.count { lines = Self.lines(nodes, detail) }
        isPartial = lines.count < nodes.count
        bytes = [("cut", .bool(isPartial)), ("tweaks", .array(lines))].line
        let written = nodes.prefix(lines.count)
        actions = Set(written.filter { $0.definition.kind == .action }.map(\.path))
        let values = written.filter { $0.definition.kind != .action }
        definitions = Dictionary(values.map { ($0.path, $0.definition) }) { first, _ in first }
        defaults = values.reduce(into: [:]) { $0[$1.path] = Self.initial($1) == nil ? nil : $1.defaultValue }
        widths = written.reduce(into: [:]) { $0[$1.path] = NumberWidth($1) }
    }

    /// Returns as many declarations as fit.
    private static func lines(_ nodes: [TweakNode], _ detail: Detail) -> [JSON] {
        var lines: [JSON] = []
        var size = 100
        for node in nodes {
            var fields = [("path", .string(node.path.joined))] + node.definition.fields(isBrief: detail == .kinds)
            if detail == .everything { fields += Self.details(of: node) }
            fields.add("bits", NumberWidth(node).map { .int($0.rawValue) })
            let line = JSON.object(fields)
            size += line.text.utf8.count + 1
            if size > maxBytes { break }
            lines.append(line)
        }
        return lines
    }

    /// What operators see of a tweak, and no check needs.
    private static func details(of node: TweakNode) -> [(String, JSON)] {
        let definition = node.definition
        if definition.kind == .action { return [] }
        var fields: [(String, JSON)] = []
        fields.add("initial", initial(node))
        fields.add("unit", definition.unit.map { .text($0) })
        fields.add("help", definition.help.map { .text($0, max: 400) })
        if definition.scale != .linear { fields.add("scale", .string(definition.scale.rawValue)) }
        return fields
    }

    /// The default, unless it is that of a secret or a figure. A long one could make the whole build unreadable.
    private static func initial(_ node: TweakNode) -> JSON? {
        if !node.definition.flags.isDisjoint(with: [.secret, .readOnly]) { return nil }
        return node.defaultValue?.storedJSON.flatMap { $0.text.utf8.count <= 1_024 ? $0 : nil }
    }

    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        let fields = try FleetFields(bytes, max: Self.maxBytes)
        var definitions: [TweakPath: TweakDefinition] = [:]
        var defaults: [TweakPath: TweakValue] = [:]
        var actions: Set<TweakPath> = []
        var widths: [TweakPath: NumberWidth] = [:]
        var isPartial = try fields.flag("cut")
        for element in try fields.elements("tweaks", max: 20_000) {
            let path = try element.path()
            switch TweakKind(rawValue: try element.text("kind")) {
            case .action?: actions.insert(path)
            case nil: isPartial = true
            default:
                let definition = try TweakDefinition(element)
                definitions[path] = definition
                // What is no value of the kind is of a later version.
                defaults[path] = element.json["initial"].flatMap {
                    StoredKind(kind: definition.kind.rawValue, of: definition.component?.kind.rawValue)?.value($0)
                }
            }
            if element.optional("bits") != nil { widths[path] = NumberWidth(rawValue: try element.count("bits")) }
        }
        self.bytes = bytes
        self.definitions = definitions
        self.defaults = defaults
        self.widths = widths
        self.actions = actions
        self.isPartial = isPartial
    }

    /// 16 hexadecimal digits.
    package var hash: String { String(FleetHash.fnv(bytes), radix: 16).padded(to: 16) }

    /// The declaration of a path; nil if the build lacks it or it was left out.
    package func definition(of path: TweakPath) -> TweakDefinition? { definitions[path] }

    /// Returns why the build would refuse a value; nil if it accepts it or lacks the path. Custom checks in the program
    /// are unknown.
    package func validate(_ value: TweakValue, for path: TweakPath) -> String? {
        if actions.contains(path) { return "\(path.token) is an action and has no value" }
        guard let definition = definitions[path] else { return nil }
        if definition.flags.contains(.secret) { return "\(path.token) is secret and takes no value from a fleet" }
        if definition.flags.contains(.readOnly) { return "\(path.token) is a figure that the program publishes" }
        do throws(TweakError) {
            let value = try definition.validate(value, for: path, policy: .reject).value
            guard let width = widths[path], !width.holds(value) else { return nil }
            return "\(path.token): \(definition.shown(value)) does not fit the type that the program uses, of "
                + "\(width.rawValue) bits"
        } catch {
            return error.message
        }
    }
}

/// The bits of a number that is narrower than a double, such as a `Float`. Older versions do not read them.
private enum NumberWidth: Int64 {
    case half = 16, single = 32

    /// Tries what the program's type has; nil for doubles and other kinds.
    init?(_ node: TweakNode) {
        let definition = node.definition
        guard definition.kind == .number || definition.component?.kind == .number else { return nil }
        let isHeld = { (number: Double) in
            node.holds(definition.kind == .list ? .list([.number(number)]) : .number(number))
        }
        if !isHeld(1) || isHeld(.greatestFiniteMagnitude) { return nil }
        if isHeld(Double(Float.greatestFiniteMagnitude)) { self = .single } else { self = .half }
    }

    /// Whether the numbers of a value round to numbers of this width, and only zero to zero.
    func holds(_ value: TweakValue) -> Bool {
        if case .list(let values) = value { return values.allSatisfy(holds) }
        guard let number = Double(value) else { return true }
        return switch self {
        case .single: Float(number).isFinite && (number == 0 || Float(number) != 0)
        // `Float16` does not exist on all platforms.
        case .half: number.magnitude < 65_520 && (number == 0 || number.magnitude > 0x1p-25)
        }
    }
}

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
        let wanted =
            switch kind {
            case .point: [0, 2]
            case .list, .optional: [1]
            default: [0]
            }
        guard wanted.contains(components.count) else {
            throw FleetProblem("“components” is not that of kind \(kind.rawValue)")
        }
        var flags: TweakFlags = []
        if try fields.flag("secret") { flags.insert(.secret) }
        if try fields.flag("readOnly") { flags.insert(.readOnly) }
        self.init(
            kind: kind, limits: try TweakLimits(fields, kind),
            scale: try fields.optionalText("scale").flatMap { TweakScale(rawValue: $0) } ?? .linear,
            choices: try fields.texts("choices", max: 20_000).map { TweakChoice($0, name: $0) },
            minLength: try Self.length("minLength", fields), maxLength: try Self.length("maxLength", fields),
            unit: try fields.optionalText("unit"), help: try fields.optionalText("help", max: 1_000), flags: flags,
            components: components)
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
