// Makes values of texts, by what builds declare, and says what builds think of them.

import Tweaks

/// What is to be set, judged.
package struct FleetProposal: Sendable {
    package let assignments: [FleetAssignment]
    package let refusals: [BuildRefusal]
    /// What the operator should know.
    package let notes: [String]
    /// How many builds there are, and processes that live.
    package let builds: Int
    package let live: Int

    /// Refuses what builds would refuse.
    package func check() throws(FleetRefusal) {
        guard let first = refusals.first else { return }
        let more = refusals.count > 1 ? " (and \(refusals.count - 1) more refusals)" : ""
        throw FleetRefusal(.refused, "\(first.text)\(more); check lists them, and --force sets it all the same")
    }
}

extension FleetOperator {
    /// Reads texts as values of the kinds that builds declare for their paths.
    /// - Parameter allowsNew: Also paths that no build has.
    package func propose(
        _ texts: [TextAssignment], allowsNew: Bool
    ) async throws(FleetRefusal) -> FleetProposal {
        let view = try await look()
        let population = try await population()
        let book = BuildBook(try await range(.prefix(keys.builds)), keys, population.live)
        var (assignments, notes): ([FleetAssignment], [String]) = ([], [])
        for text in texts {
            let (assignment, note) = try Self.typed(text, view, book, allowsNew: allowsNew)
            assignments.append(assignment)
            if let note { notes.append(note) }
        }
        if book.undeclared > 0 {
            notes.append("\(book.undeclared.processes) of builds that have declared nothing here: these are not asked")
        }
        return FleetProposal(
            assignments: assignments, refusals: assignments.flatMap(book.refusals), notes: notes,
            builds: book.entries.count, live: population.live.count)
    }

    private static func typed(
        _ text: TextAssignment, _ view: OperatorView, _ book: BuildBook, allowsNew: Bool
    ) throws(FleetRefusal) -> (FleetAssignment, note: String?) {
        let path = text.path
        let kinds = book.kinds(of: path)
        guard let first = kinds.first else { return try undeclared(text, view, book, allowsNew: allowsNew) }
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

    /// A path that no build has: as the fleet's value is, else by the form of the text.
    private static func undeclared(
        _ text: TextAssignment, _ view: OperatorView, _ book: BuildBook, allowsNew: Bool
    ) throws(FleetRefusal) -> (FleetAssignment, note: String?) {
        let path = text.path
        guard allowsNew || book.isPartial else {
            let why = book.entries.isEmpty ? "no build has declared anything yet" : "no build has it"
            throw FleetRefusal(.refused, "\(path.token): \(why); mend the path, or say --new")
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
        let value = TweakValue(form: text.text, isQuoted: text.isQuoted)
        return (FleetAssignment(path, value), "\(path.token): no build has it; taken as \(value.kind.phrase)")
    }
}
