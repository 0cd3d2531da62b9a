// Parses values by the kinds that builds declare, and collects the builds that would refuse them.

import Tweaks

/// The assignments of a command, validated.
package struct FleetProposal: Sendable {
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
        let more = refusals.count > 1 ? " (and \(refusals.count - 1) more refusals)" : ""
        throw FleetRefusal(.refused, "\(first.text)\(more); check lists them, and --force sets it anyway")
    }
}

extension FleetOperator {
    /// Parses texts as values of the kinds that builds declare for their paths.
    /// - Parameter allowsNew: Also allows paths that no build has.
    package func propose(
        _ texts: [TextAssignment], allowsNew: Bool
    ) async throws(FleetRefusal) -> FleetProposal {
        let view = try await readState()
        let statuses = try await instanceStatuses()
        let catalog = BuildCatalog(try await range(.prefix(keys.builds)), keys, statuses.live)
        var (assignments, notes): ([FleetAssignment], [String]) = ([], [])
        for text in texts {
            let (assignment, note) = try Self.typed(text, view, catalog, allowsNew: allowsNew)
            assignments.append(assignment)
            if let note { notes.append(note) }
        }
        if catalog.undeclaredProcesses > 0 {
            notes.append(
                "\(catalog.undeclaredProcesses.processes) of builds without declarations here: these are not checked")
        }
        return FleetProposal(
            assignments: assignments, refusals: assignments.flatMap(catalog.refusals), notes: notes,
            builds: catalog.entries.count, live: statuses.live.count)
    }

    private static func typed(
        _ text: TextAssignment, _ view: OperatorView, _ catalog: BuildCatalog, allowsNew: Bool
    ) throws(FleetRefusal) -> (FleetAssignment, note: String?) {
        let path = text.path
        let kinds = catalog.kinds(of: path)
        guard let first = kinds.first else { return try undeclared(text, view, catalog, allowsNew: allowsNew) }
        for kind in kinds {
            guard let value = TweakValue(parsing: text.text, as: kind.kind, of: kind.component) else { continue }
            return (FleetAssignment(path, value), nil)
        }
        let kind = first.kind.phrase + (first.component.map { " of \($0.rawValue)" } ?? "")
        throw FleetRefusal(
            .refused,
            "\(path.token): \(Quoting.excerpt(text.text)) is not \(kind), which builds declare it to be; "
                + "write it as export does")
    }

    /// Parses a value for a path that no build has: by the kind of the fleet's value, otherwise by the form of the
    /// text.
    private static func undeclared(
        _ text: TextAssignment, _ view: OperatorView, _ catalog: BuildCatalog, allowsNew: Bool
    ) throws(FleetRefusal) -> (FleetAssignment, note: String?) {
        let path = text.path
        guard allowsNew || catalog.isPartial else {
            let why = catalog.entries.isEmpty ? "no build has declared anything yet" : "no build has it"
            throw FleetRefusal(.refused, "\(path.token): \(why); correct the path, or use --new")
        }
        if let known = view.value(path) {
            guard let value = TweakValue(parsing: text.text, as: known.kind, of: known.componentKind) else {
                throw FleetRefusal(
                    .refused,
                    "\(path.token): \(Quoting.excerpt(text.text)) is not \(known.kind.phrase), as the "
                        + "fleet's value is; reset it first to set another kind")
            }
            return (FleetAssignment(path, value), "\(path.token): no build has it; taken as the fleet's value is")
        }
        let value = TweakValue(inferring: text.text, isQuoted: text.isQuoted)
        return (FleetAssignment(path, value), "\(path.token): no build has it; taken as \(value.kind.phrase)")
    }
}
