// The command that runs actions.

import Tweaks
import TweaksWire

extension Executor {
    /// Starts an action in a task of its own; the session gets its reply when it ends.
    func run(_ path: String, _ arguments: [String], _ session: Session) throws(TweakError) -> Outcome {
        let tweak = try lookUp(path)
        if tweak.kind != .action { throw tweak.notAnAction }
        let (id, mailbox) = (session.id, mailbox)
        Task {
            let result: Result<String, TweakError>
            do throws(TweakError) {
                result = .success(try await tweak.run(arguments))
            } catch {
                result = .failure(error)
            }
            mailbox.post(.actionEnded(id, result))
        }
        return .running
    }

    /// The reply to an action that has ended: its text as body lines.
    func reply(_ result: Result<String, TweakError>) -> Reply {
        switch result {
        case .failure(let error): return .error(error)
        case .success(let text):
            let lines =
                text.isEmpty ? [] : text.split(omittingEmptySubsequences: false) { $0.isNewline }.map { String($0) }
            return Reply(
                .ok(words: "", fields: [("output", .string(text))]), listName: "",
                body: lines.isEmpty ? .none : .items([.row(lines: lines, json: .null)]))
        }
    }
}
