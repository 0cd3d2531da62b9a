// Imports the assignments of a text: all of them in one commit, or none.

import Tweaks
import TweaksWire

extension Executor {
    /// Validates the assignments off the I/O thread, then commits them.
    func importAssignments(_ request: Request, _ session: Session) throws(TweakError) -> Outcome {
        guard case .assignments(let lines, let problems) = request.payload else {
            throw TweakError(.usage, "import: the assignments are missing; send them")
        }
        let dry = request.keywords.contains(.dry)
        try refuseInBatch(session)
        if lines.count > limits.batchChanges {
            throw TweakError(
                .tooMany, "an import holds at most \(limits.batchChanges) assignments; send it in parts",
                limit: .batchChanges)
        }
        try refuseIfBusy(session)
        let (view, id, origin) = (view(session), session.id, session.origin)
        return runInBackground(session) {
            let entries = lines.lazy.map {
                ConfigEntry(path: $0.path, text: $0.text, line: $0.line, origin: origin)
            }
            let plan = AssignmentPlan(entries, .import, and: problems, view)
            return .validated(id) { executor, session in executor.finish(plan, dry: dry, session) }
        }
    }

    private func finish(_ plan: AssignmentPlan, dry: Bool, _ session: Session) -> Outcome {
        do throws(TweakError) {
            if let refusal = plan.problems.refusal { throw refusal }
            let (batch, nodes) = plan.batch
            if !dry { return try commit(Proposal(batch, nodes: nodes), session) }
            let items = zip(nodes, try registry.forecast(batch)).map { node, forecast in
                Reply.Item.tweak(TweakLine(node, forecast.new, .was(forecast.old, forecast.adjustment)))
            }
            return .reply(.revision(registry.revision, "checked", .items(items)))
        } catch {
            notifyDenied(error, "import", session)
            return .reply(.error(error))
        }
    }
}

extension ConfigProblems {
    /// All problems in one error; nil if there are none.
    fileprivate var refusal: TweakError? {
        guard let error = first.first?.error else { return nil }
        let (most, lines) = (AssignmentRules.maxListedProblems, Set(first.map(\.line)).count)
        let subject = lines == 1 ? "1 line is" : count > most ? "many lines are" : "\(lines) lines are"
        let named = first.prefix(most).map { "line \($0.line): \($0.error)" }
        let rest = count > most ? ["… and more; fix these first"] : []
        let text = (["\(subject) wrong; nothing has changed"] + named + rest).joined(separator: "\n")
        // A line may hold an unknown command; import is a known one.
        return TweakError(error.code == .unknownCommand ? .usage : error.code, text, path: error.path)
    }
}
