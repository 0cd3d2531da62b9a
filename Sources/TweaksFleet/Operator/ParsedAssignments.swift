// Parses the values of a command by the kinds that builds declare, and finds the builds that would refuse them.

package import Tweaks

/// The assignments of a command, validated.
package struct ParsedAssignments: Sendable {
    package let assignments: [FleetAssignment]
    package let refusals: [BuildRefusal]
    /// Hints for the operator.
    package let notes: [String]
    /// The number of builds, and of live processes.
    package let builds: Int
    package let live: Int

    /// Throws if builds would refuse a value.
    package func check() throws(FleetRefusal) {
        guard let first = refusals.first else { return }
        let more = refusals.count > 1 ? " (and \(refusals.count - 1) more)" : ""
        throw FleetRefusal("\(first.text)\(more); check lists them, and --force sets it anyway")
    }
}

extension FleetOperator {
    /// Parses texts as values of the kinds that builds declare for their paths; throws at the first that is none.
    /// - Parameter allowsNew: Also allows paths that no build has.
    package func parse(
        _ texts: [TextAssignment], allowsNew: Bool
    ) async throws(FleetRefusal) -> ParsedAssignments {
        let (parsed, problems) = try await examine(texts, allowsNew: allowsNew)
        if let first = problems.first { throw FleetRefusal(first.reason) }
        return parsed
    }

    /// The same, but leaves out the texts that are no such values, and returns them as problems, by index.
    package func examine(
        _ texts: [TextAssignment], allowsNew: Bool
    ) async throws(FleetRefusal) -> (parsed: ParsedAssignments, problems: [(index: Int, reason: String)]) {
        let view = try await readState()
        let statuses = try await instanceStatuses()
        let catalog = BuildCatalog(try await range(.prefix(keys.builds)), keys, statuses.live)
        var assignments: [FleetAssignment] = []
        var notes: [String] = []
        var problems: [(index: Int, reason: String)] = []
        for (index, text) in texts.enumerated() {
            do throws(FleetRefusal) {
                let (assignment, note) = try Self.typed(text, view, catalog, allowsNew: allowsNew)
                assignments.append(assignment)
                if let note { notes.append(note) }
            } catch {
                problems.append((index, error.description))
            }
        }
        if catalog.undeclaredProcesses > 0 {
            notes.append(
                "\(catalog.undeclaredProcesses.processes) of builds without declarations here: these are not checked")
        }
        let parsed = ParsedAssignments(
            assignments: assignments, refusals: assignments.flatMap(catalog.refusals), notes: notes,
            builds: catalog.entries.count, live: statuses.live.count)
        return (parsed, problems)
    }

    private static func typed(
        _ text: TextAssignment, _ view: OperatorView, _ catalog: BuildCatalog, allowsNew: Bool
    ) throws(FleetRefusal) -> (FleetAssignment, note: String?) {
        let path = text.path
        let definitions = catalog.definitions(of: path)
        guard let first = definitions.first else {
            return try undeclared(text, view, catalog, allowsNew: allowsNew)
        }
        for definition in definitions {
            let (kind, component) = (definition.kind, definition.component?.kind)
            guard let value = TweakValue(parsing: text.text, as: kind, of: component) else { continue }
            return (FleetAssignment(path, value), nil)
        }
        let shown = "\(path.token): \(Quoting.excerpt(text.text))"
        if let range = first.rangeBeyond(text.text) {
            throw FleetRefusal("\(shown) is out of range; builds declare \(range)")
        }
        let kind = first.kind.phrase + (first.component.map { " of \($0.kind.rawValue)" } ?? "")
        throw FleetRefusal("\(shown) is not \(kind), which builds declare it to be; write it as export does")
    }

    /// Parses a value for a path that no build has: by the kind of the fleet's value, otherwise by the form of the
    /// text.
    private static func undeclared(
        _ text: TextAssignment, _ view: OperatorView, _ catalog: BuildCatalog, allowsNew: Bool
    ) throws(FleetRefusal) -> (FleetAssignment, note: String?) {
        let path = text.path
        if let known = view.value(path),
            TweakValue(parsing: text.text, as: known.kind, of: known.componentKind) == known
        {
            return (FleetAssignment(path, known), nil)
        }
        guard allowsNew || catalog.isPartial else {
            let why = catalog.entries.isEmpty ? "no build has declared anything yet" : "no build has it"
            throw FleetRefusal("\(path.token): \(why); correct the path, or use --new")
        }
        if let known = view.value(path) {
            guard let value = TweakValue(parsing: text.text, as: known.kind, of: known.componentKind) else {
                throw FleetRefusal(
                    "\(path.token): \(Quoting.excerpt(text.text)) is not \(known.kind.phrase), as the "
                        + "fleet's value is; reset it first to set another kind")
            }
            return (FleetAssignment(path, value), "\(path.token): no build has it; taken as the fleet's value is")
        }
        let value = TweakValue(inferring: text.text, isQuoted: text.isQuoted)
        return (FleetAssignment(path, value), "\(path.token): no build has it; taken as \(value.kind.phrase)")
    }
}

extension TweakDefinition {
    /// The range of a number, if the text is a number that no value of this kind can have; else nil.
    fileprivate func rangeBeyond(_ text: String) -> String? {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        let isDigit = { (byte: UInt8) in byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
        guard digits.first.map(isDigit) == true else { return nil }
        switch kind {
        case .int where digits.allSatisfy(isDigit): return rangeText ?? "an int, \(Int64.min)...\(Int64.max)"
        case .number where Double(text)?.isInfinite == true:
            return rangeText ?? "a number up to \(Double.greatestFiniteMagnitude)"
        default: return nil
        }
    }
}

/// An assignment as the operator wrote it.
package struct TextAssignment: Hashable, Sendable {
    package var path: TweakPath
    /// The text without its quotes.
    package var text: String
    package var isQuoted: Bool

    package init(path: TweakPath, text: String, isQuoted: Bool = false) {
        self.path = path
        self.text = text
        self.isQuoted = isQuoted
    }
}

extension TweakValue {
    /// Kinds with unambiguous texts, in the order in which they are tried. `0` and `yes` are not booleans here.
    private static let unambiguousKinds: [TweakKind] = [.int, .number, .duration, .point]

    /// Infers `true`, `7`, `1.5`, `250ms`, `#FF8800`, `steps(4)`, `[1, 2]`; anything else is text.
    package init(inferring text: String, isQuoted: Bool = false) {
        let value = isQuoted ? nil : Self.unquoted(text)
        self = value ?? .string(text)
    }

    private static func unquoted(_ text: String) -> TweakValue? {
        if text.hasPrefix("[") {
            let bools: [TweakKind] = text.contains("true") || text.contains("false") ? [.bool] : []
            let elementKinds = unambiguousKinds + bools + [.string]
            return elementKinds.lazy.compactMap { TweakValue(parsing: text, as: .list, of: $0) }.first
        }
        // Color names are words, so they stay text.
        if text.hasPrefix("#") { return TweakValue(parsing: text, as: .color) }
        // So do the names of curves.
        if text.hasSuffix(")"), let curve = TweakCurve(text) { return .curve(curve) }
        if text == "true" || text == "false" { return .bool(text == "true") }
        return unambiguousKinds.lazy.compactMap { TweakValue(parsing: text, as: $0) }.first
    }
}

/// A build that would refuse a value.
package struct BuildRefusal: Hashable, Sendable {
    package var build: String
    /// The number of processes that run it now.
    package var live: Int
    package var path: TweakPath
    package var reason: String

    package var text: String { "build \(build), \(live.processes), refuses it: \(reason)" }
}

extension Int {
    /// `1 process`, `2 processes`
    package var processes: String { "\(self) \(self == 1 ? "process" : "processes")" }
}

/// The builds of a fleet, sorted by descending number of processes.
package struct BuildCatalog: Sendable {
    package struct Entry: Sendable {
        package var hash: String
        package var live: Int
        package var build: FleetBuild
    }

    package let entries: [Entry]
    /// Unreadable keys, with the reason for each.
    package let unreadable: [[UInt8]: String]
    /// The number of processes whose build has no declarations here.
    package let undeclaredProcesses: Int

    package init(_ result: EtcdRangeResult, _ keys: FleetKeys, _ live: [LiveInstance]) {
        let counts = Dictionary(grouping: live, by: \.status.build).mapValues(\.count)
        var entries: [Entry] = []
        var unreadable: [[UInt8]: String] = [:]
        for pair in result.keys {
            let hash = String(decoding: pair.key.dropFirst(keys.builds.count), as: UTF8.self)
            do throws(FleetProblem) {
                entries.append(Entry(hash: hash, live: counts[hash] ?? 0, build: try FleetBuild(pair.value)))
            } catch {
                unreadable[pair.key] = error.description
            }
        }
        self.entries = entries.sorted { ($1.live, $0.hash) < ($0.live, $1.hash) }
        self.unreadable = unreadable
        undeclaredProcesses = live.count - entries.reduce(0) { $0 + $1.live }
    }

    package var hashes: [String] { entries.map(\.hash) }

    /// Whether a build left out declarations because of the size limit, so that a missing path may still be declared.
    package var isPartial: Bool { entries.contains { $0.build.isPartial } }

    /// Rejects conditions on figures that no build publishes, since missing data would pause the rollout.
    package func check(_ conditions: [MetricCondition]) throws(FleetRefusal) {
        if entries.isEmpty || isPartial { return }
        for condition in conditions where definitions(of: condition.path).isEmpty {
            throw FleetRefusal("--abort-if: no build has \(condition.path.token); correct the path, or use --new")
        }
    }

    /// Whether a build is known to lack a path.
    package func lacks(_ path: TweakPath, build hash: String) -> Bool {
        guard let build = entries.first(where: { $0.hash == hash })?.build, !build.isPartial else { return false }
        return build.definition(of: path) == nil
    }

    /// The declarations of a path, that of the build with the most processes first.
    package func definitions(of path: TweakPath) -> [TweakDefinition] {
        entries.compactMap { $0.build.definition(of: path) }
    }

    /// Returns the builds that would refuse a value. Builds that lack the path accept it, and builds without processes
    /// are ignored if any build has processes.
    package func refusals(of assignment: FleetAssignment) -> [BuildRefusal] {
        let hasLive = entries.contains { $0.live > 0 }
        return entries.filter { $0.live > 0 || !hasLive }.compactMap { entry in
            guard let reason = entry.build.validate(assignment.value, for: assignment.path) else { return nil }
            return BuildRefusal(build: entry.hash, live: entry.live, path: assignment.path, reason: reason)
        }
    }
}

extension FleetOperator {
    /// Reads the builds, with the number of processes that run each.
    package func builds() async throws(FleetRefusal) -> BuildCatalog {
        let statuses = try await instanceStatuses()
        return BuildCatalog(try await range(.prefix(keys.builds)), keys, statuses.live)
    }

    /// Reads the current drivers of rollouts, by rollout ID.
    package func drivers() async throws(FleetRefusal) -> [String: FleetDriver] { try await readDrivers().drivers }

    /// The same with the unreadable keys, and the reason for each.
    package func readDrivers() async throws(FleetRefusal) -> (
        drivers: [String: FleetDriver], unreadable: [[UInt8]: String]
    ) {
        var drivers: [String: FleetDriver] = [:]
        var unreadable: [[UInt8]: String] = [:]
        for pair in try await range(.prefix(keys.drivers)).keys {
            let id = String(decoding: pair.key.dropFirst(keys.drivers.count), as: UTF8.self)
            do throws(FleetProblem) {
                drivers[id] = try FleetDriver(pair.value)
            } catch {
                unreadable[pair.key] = error.description
            }
        }
        return (drivers, unreadable)
    }
}
