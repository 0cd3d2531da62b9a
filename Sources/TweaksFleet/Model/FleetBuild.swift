// Describes the declarations of a build, so that operators learn what it would refuse before they write.

package import Tweaks

/// `builds/HASH`: what a build declares.
package struct FleetBuild: Sendable {
    /// More than this is not written; what is beyond is left out, and then nothing can be said of missing paths.
    package static let mostBytes = 256 << 10

    private let definitions: [TweakPath: TweakDefinition]
    private let isCut: Bool
    /// One line of JSON.
    package let bytes: [UInt8]

    /// The declarations of a program's tweaks.
    package init(_ registry: TweakRegistry) {
        let nodes = registry.listing().nodes.filter { $0.definition.kind != .action }
        var lines: [JSON] = []
        var (size, isCut) = (100, false)
        for node in nodes.sorted(by: { $0.path.joined.utf8.lexicographicallyPrecedes($1.path.joined.utf8) }) {
            let line = JSON.object([("path", .string(node.path.joined))] + node.definition.fields)
            size += line.text.utf8.count + 1
            if size > Self.mostBytes {
                isCut = true
                break
            }
            lines.append(line)
        }
        bytes = [("cut", .bool(isCut)), ("tweaks", .array(lines))].line
        definitions = Dictionary(nodes.map { ($0.path, $0.definition) }) { first, _ in first }
        self.isCut = isCut
    }

    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        let fields = try FleetFields(bytes, most: Self.mostBytes + 1_024)
        var definitions: [TweakPath: TweakDefinition] = [:]
        for element in try fields.elements("tweaks", most: 20_000) {
            definitions[try element.path()] = try TweakDefinition(element)
        }
        (self.bytes, self.definitions, isCut) = (bytes, definitions, fields.json["cut"]?.isTrue ?? false)
    }

    /// 16 hexadecimal digits.
    package var hash: String {
        let digits = String(FleetHash.fnv(bytes), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// How a path is declared; nil where this build lacks it, or too much was left out to say.
    package func definition(of path: TweakPath) -> TweakDefinition? { definitions[path] }

    /// Whether nothing is known of paths that are missing here.
    package var isPartial: Bool { isCut }

    /// Why the build would refuse a value; nil where it takes it, or lacks the path. A program's own check is not known.
    package func judge(_ value: TweakValue, for path: TweakPath) -> String? {
        guard let definition = definitions[path] else { return nil }
        if definition.flags.contains(.secret) { return "\(path.token) is secret and takes no value from a fleet" }
        if definition.flags.contains(.readOnly) { return "\(path.token) is a figure that the program publishes" }
        do throws(TweakError) {
            _ = try definition.judge(value, for: path, policy: .reject)
            return nil
        } catch {
            return error.message
        }
    }
}

extension TweakDefinition {
    fileprivate var fields: [(String, JSON)] {
        var fields: [(String, JSON)] = [("kind", .string(kind.rawValue))]
        switch limits {
        case .none: break
        case .whole(let lower, let upper, let step, let standard):
            for (name, value) in [("min", lower), ("max", upper), ("step", step), ("default", standard)] {
                fields.add(name, value.map { .literal("\($0)") })
            }
        case .real(let lower, let upper, let step, let standard):
            for (name, value) in [("min", lower), ("max", upper), ("step", step), ("default", standard)] {
                fields.add(name, value.map { .number($0) })
            }
        }
        if !choices.isEmpty { fields.add("choices", .array(choices.map { .string($0.name) })) }
        fields.add("minLength", minLength.map { .count($0) })
        fields.add("maxLength", maxLength.map { .count($0) })
        if flags.contains(.secret) { fields.add("secret", .bool(true)) }
        if flags.contains(.readOnly) { fields.add("readOnly", .bool(true)) }
        if !components.isEmpty { fields.add("components", .array(components.map { .object($0.fields) })) }
        return fields
    }

    fileprivate init(_ fields: FleetFields, depth: Int = 0) throws(FleetProblem) {
        guard depth < 4, let kind = TweakKind(rawValue: try fields.text("kind")), kind != .action else {
            throw FleetProblem("“kind” is none that this version knows")
        }
        var components: [TweakDefinition] = []
        for element in try fields.elements("components", most: 2) {
            components.append(try TweakDefinition(element, depth: depth + 1))
        }
        // A list or a point without what it holds would be no definition.
        let wanted = kind == .point ? 2 : kind == .list || kind == .optional ? 1 : 0
        guard components.count == wanted else {
            throw FleetProblem("“components” is not that of kind \(kind.rawValue)")
        }
        var flags: TweakFlags = []
        if fields.json["secret"]?.isTrue ?? false { flags.insert(.secret) }
        if fields.json["readOnly"]?.isTrue ?? false { flags.insert(.readOnly) }
        self.init(
            kind: kind, limits: try Self.limits(fields, kind),
            choices: (fields.json["choices"]?.elements ?? []).compactMap(\.string).map { TweakChoice($0, name: $0) },
            minLength: try Self.length("minLength", fields), maxLength: try Self.length("maxLength", fields),
            flags: flags, components: components)
    }

    private static func length(_ name: String, _ fields: FleetFields) throws(FleetProblem) -> Int? {
        fields.optional(name) == nil ? nil : Int(min(try fields.count(name), Int64(Int32.max)))
    }

    private static func limits(_ fields: FleetFields, _ kind: TweakKind) throws(FleetProblem) -> TweakLimits {
        func texts() throws(FleetProblem) -> [String?] {
            var texts: [String?] = []
            for name in ["min", "max", "step", "default"] {
                switch fields.optional(name) {
                case nil: texts.append(nil)
                case .literal(let text)?: texts.append(text)
                default: throw FleetProblem("“\(name)” is not a number")
                }
            }
            return texts
        }
        let texts = try texts()
        if texts.allSatisfy({ $0 == nil }) { return .none }
        switch kind {
        case .int, .duration:
            let numbers = texts.map { $0.flatMap { Int128($0) } }
            // Beyond 64 bits no step or bound is one that could be declared; sums of two stay in range.
            guard numbers.allSatisfy({ $0.map { (-1 << 65...1 << 65).contains($0) } ?? true }), numbers[2] != 0 else {
                throw FleetProblem("a bound is beyond 64 bits")
            }
            return .whole(
                lower: numbers[0], upper: numbers[1], step: numbers[2].map { max(1, $0) }, default: numbers[3])
        case .number:
            let numbers = texts.map { $0.flatMap { Double($0) } }
            guard numbers[2].map({ $0 > 0 && $0.isFinite }) ?? true else { throw FleetProblem("“step” is not above 0") }
            return .real(lower: numbers[0], upper: numbers[1], step: numbers[2], default: numbers[3])
        default: return .none
        }
    }
}
