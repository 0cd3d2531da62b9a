// Describes the tweaks that a build declares, so that operators can check values before they write.

package import Tweaks

/// `builds/HASH`: the declarations of a build.
package struct FleetBuild: Sendable {
    /// The size limit. Over it, ranges and lengths are left out, then whole declarations.
    package static let maxBytes = 256 << 10

    private let definitions: [TweakPath: TweakDefinition]
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
        var lines = Self.lines(nodes, isBrief: false)
        if lines.count < nodes.count { lines = Self.lines(nodes, isBrief: true) }
        isPartial = lines.count < nodes.count
        bytes = [("cut", .bool(isPartial)), ("tweaks", .array(lines))].line
        let written = nodes.prefix(lines.count)
        actions = Set(written.filter { $0.definition.kind == .action }.map(\.path))
        definitions = Dictionary(
            written.filter { $0.definition.kind != .action }.map { ($0.path, $0.definition) }
        ) { first, _ in first }
    }

    /// Returns as many declarations as fit.
    private static func lines(_ nodes: [TweakNode], isBrief: Bool) -> [JSON] {
        var (lines, size): ([JSON], Int) = ([], 100)
        for node in nodes {
            let line = JSON.object([("path", .string(node.path.joined))] + node.definition.fields(isBrief: isBrief))
            size += line.text.utf8.count + 1
            if size > maxBytes { break }
            lines.append(line)
        }
        return lines
    }

    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        let fields = try FleetFields(bytes, max: Self.maxBytes)
        var (definitions, actions): ([TweakPath: TweakDefinition], Set<TweakPath>) = ([:], [])
        var isPartial = try fields.flag("cut")
        for element in try fields.elements("tweaks", max: 20_000) {
            let path = try element.path()
            switch TweakKind(rawValue: try element.text("kind")) {
            case .action?: actions.insert(path)
            case nil: isPartial = true
            default: definitions[path] = try TweakDefinition(element)
            }
        }
        (self.bytes, self.definitions, self.actions, self.isPartial) = (bytes, definitions, actions, isPartial)
    }

    /// 16 hexadecimal digits.
    package var hash: String {
        let digits = String(FleetHash.fnv(bytes), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

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
            _ = try definition.validate(value, for: path, policy: .reject)
            return nil
        } catch {
            return error.message
        }
    }
}
