// Handles run, import and reload, which run the program's actions or read assignments.

import Dispatch
import Tweaks
import TweaksWire

/// Runs actions that clients call.
///
/// The default executor has one thread per core: two blocking actions would stop all others, their time limits, and the
/// program's own tasks. Dispatch adds threads when some block.
private final class ActionExecutor: TaskExecutor {
    static let shared = ActionExecutor()
    private let queue = DispatchQueue(label: "tweaks.actions", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

extension Executor {
    /// Starts an action in a new task; the session gets its reply when the task ends.
    func run(_ request: Request, _ session: Session) throws(TweakError) -> Outcome {
        let tweak = try lookUp(request.word, session)
        let arguments = Array(request.words.dropFirst())
        if tweak.kind != .action { throw tweak.notAnAction }
        try require(.run, tweak.node, session)
        if arguments.count > limits.actionArguments {
            throw TweakError(
                .tooMany,
                "\(tweak.path.token): an action takes at most \(limits.actionArguments) arguments; quote what belongs "
                    + "together", path: tweak.path, limit: .actionArguments)
        }
        try refuseRunIfBusy(session)
        let id = session.id
        let limit = limits.actionOutputBytes
        runs[id] = Task(executorPreference: ActionExecutor.shared) { [mailbox] in
            let result: Result<ActionOutput, TweakError>
            do throws(TweakError) {
                // Truncated here, off the I/O thread: the text may be of any length.
                result = .success(ActionOutput(try await tweak.run(arguments, on: ActionExecutor.shared), limit))
            } catch {
                let text = ActionOutput(error.message, limit).text
                result = .failure(TweakError(error.code, text, path: error.path, limit: error.limit))
            }
            mailbox.post(.actionEnded(id, result))
        }
        return .running(.init(.action))
    }

    func cancelRuns() {
        for run in runs.values { run.cancel() }
        runs = [:]
    }

    func reply(_ result: Result<ActionOutput, TweakError>) -> Reply {
        switch result {
        case .failure(let error): return .error(error)
        case .success(let output):
            let text = output.text
            let lines = output.lines
            var reply = Reply(
                .ok(words: "", fields: [("output", .string(text))]), listName: "",
                body: lines.isEmpty
                    ? .none : .stream { $0 < lines.count ? .row(lines: [lines[$0]], json: .null) : nil })
            reply.streamBytes = 2 * text.utf8.count
            guard let total = output.cutFrom else { return reply }
            metrics.hit(.actionOutputBytes)
            reply.status = .ok(words: "", fields: [("output", .string(text)), ("cutFromBytes", .count(total))])
            reply.remarks = ["… cut: these are \(text.utf8.count) of \(total) bytes"]
            return reply
        }
    }

    // MARK: - Requests to the program

    /// Lets the program answer a request; it may take its time.
    func ask(_ request: ProgramRequest, for session: Session) -> Outcome {
        do throws(TweakError) {
            try authorize(.whole(request.need), session, for: "this request")
            try refuseIfBusy(session)
        } catch {
            return .reply(.error(error))
        }
        let id = session.id
        request.answer { [mailbox] in mailbox.post(.done(id, .reply($0))) }
        return .running()
    }

    // MARK: - reload

    /// Reads the config file on another thread: it may be long, and its observers may be slow.
    func reload(_ dry: Bool, _ session: Session) throws(TweakError) -> Outcome {
        guard let reload = hooks.reload else {
            if registry.isFrozen {
                throw TweakError(.readOnly, "this process is frozen (TWEAKS_FROZEN); it reads no config file")
            }
            throw TweakError(.io, "no config file is named; set TWEAKS_CONFIG, or name one in the program")
        }
        try refuseIfBusy(session)
        let id = session.id
        reload(dry) { [mailbox] in mailbox.post(.done(id, .reply($0))) }
        return .running(.init(.reload))
    }

    // MARK: - import

    /// Validates the assignments off the I/O thread, then commits them.
    func importAssignments(_ request: Request, _ session: Session) throws(TweakError) -> Outcome {
        guard case .assignments(let lines, let problems) = request.payload else {
            throw TweakError(.usage, "import: the assignments are missing; send them")
        }
        let dry = request.keywords.contains(.dry)
        try refuseInBatch(session)
        if lines.count > limits.batchChanges {
            throw .tooMany(
                .batchChanges, "an import holds at most \(limits.batchChanges) assignments; send it in parts")
        }
        try refuseIfBusy(session)
        let view = view(session)
        let origin = session.origin
        return runInBackground(session) {
            let entries = lines.lazy.map {
                ConfigEntry(path: $0.path, text: $0.text, line: $0.line, origin: origin)
            }
            let plan = AssignmentPlan(entries, .import, and: problems, view)
            return .next { executor, session throws(TweakError) in
                try executor.finish(plan, dry: dry, session)
            }
        }
    }

    private func finish(_ plan: AssignmentPlan, dry: Bool, _ session: Session) throws(TweakError) -> Outcome {
        if let refusal = plan.problems.refusal { throw refusal }
        let (batch, nodes) = plan.batch
        if !dry { return try commit(Proposal(batch, nodes: nodes), session) }
        let items = zip(nodes, try registry.forecast(batch)).map { node, forecast in
            Reply.Item.tweak(TweakLine(node, forecast.new, .was(forecast.old, forecast.adjustment)))
        }
        return .reply(.revision(registry.revision, "checked", .items(items)))
    }
}

extension ConfigProblems {
    /// All problems in one error; nil if there are none.
    fileprivate var refusal: TweakError? {
        guard let error = first.first?.error else { return nil }
        let most = AssignmentRules.maxListedProblems
        let lines = Set(first.map(\.line)).count
        var subject = lines == 1 ? "1 line is" : "\(lines) lines are"
        if lines > 1, count > most { subject = "many lines are" }
        let named = first.prefix(most).map { "line \($0.line): \($0.error)" }
        let rest = count > most ? ["… and more; fix these first"] : []
        let text = (["\(subject) wrong; nothing has changed"] + named + rest).joined(separator: "\n")
        // A line may hold an unknown command; import is a known one.
        return TweakError(error.code == .unknownCommand ? .usage : error.code, text, path: error.path)
    }
}

/// The text of an action, truncated to a limit.
struct ActionOutput: Sendable {
    let text: String
    /// The lines for text mode; split here, off the I/O thread, because there may be many.
    let lines: [String]
    /// The full length in bytes; nil if the text is complete.
    let cutFrom: Int?

    init(_ text: String, _ limit: Int) {
        let count = text.utf8.count
        cutFrom = count > limit ? count : nil
        self.text = count > limit ? String(text[..<Self.end(of: text, limit)]) : text
        let parts = self.text.split(omittingEmptySubsequences: false) { $0.isNewline }
        lines = self.text.isEmpty ? [] : parts.map { String($0) }
    }

    /// A character boundary is searched within this many bytes; a longer character is cut between its scalars.
    private static let maxCharacterBytes = 256

    /// The last character boundary within the limit.
    private static func end(of text: String, _ limit: Int) -> String.Index {
        let most = text.utf8.index(text.startIndex, offsetBy: max(0, limit))
        var end = most
        for _ in 0..<maxCharacterBytes where end > text.startIndex {
            if end.samePosition(in: text) != nil { return end }
            end = text.utf8.index(before: end)
        }
        if end == text.startIndex { return end }
        end = most
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return end
    }
}
