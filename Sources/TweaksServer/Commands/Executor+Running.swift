// Handles the command run: executes actions.

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
        let (tweak, arguments) = (try lookUp(request.word, session), Array(request.words.dropFirst()))
        if tweak.kind != .action { throw tweak.notAnAction }
        try require(.run, tweak.node, session)
        if arguments.count > limits.actionArguments {
            throw TweakError(
                .tooMany,
                "\(tweak.path.token): an action takes at most \(limits.actionArguments) arguments; quote what belongs "
                    + "together", path: tweak.path, limit: .actionArguments)
        }
        try refuseRunIfBusy(session)
        let (id, mailbox, limit) = (session.id, mailbox, limits.actionOutputBytes)
        runs[id] = Task(executorPreference: ActionExecutor.shared) {
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

    /// Cancels all running actions.
    func cancelRuns() {
        for run in runs.values { run.cancel() }
        runs = [:]
    }

    /// The reply to a finished action: its text as body lines.
    func reply(_ result: Result<ActionOutput, TweakError>) -> Reply {
        switch result {
        case .failure(let error): return .error(error)
        case .success(let output):
            let (text, lines) = (output.text, output.lines)
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
}
