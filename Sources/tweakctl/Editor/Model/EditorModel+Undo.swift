// Undoes and redoes the user's own last change, and a change of another client only after confirmation.

import Tweaks

/// Undo or redo, as its command is written.
enum HistoryDirection: String, Equatable {
    case undo, redo
}

extension EditorModel {
    /// Undoes or redoes the user's last change; with a revision, the last one of any client, if it is that one.
    mutating func step(_ direction: HistoryDirection, revision: UInt64? = nil) {
        send("\(direction) \(revision.map { "\($0)" } ?? "mine")", .step(direction, revision: revision))
    }

    /// Handles the answer to that.
    mutating func finishStep(_ direction: HistoryDirection, _ revision: UInt64?, _ answer: Answer) {
        switch answer.errorCode {
        // Without a path: there is no own change, or the confirmed one is no longer the last.
        case .conflict where !answer.canBeForced && answer["error"]?["path"]?.string == nil:
            if link == .live { sendForFields("history 200", .nextStep(direction)) }
        // An older server takes no revision, and without one it also undoes what has come after the question.
        case .usage where revision != nil:
            guard let revision, link == .live else { return }
            sendForFields("history 200", .confirmedStep(direction, revision: revision))
        default:
            let forced = revision.map { "force \($0)" } ?? "mine force"
            handleResult(answer, direction.rawValue, "\(direction) \(forced)")
        }
    }

    /// Does a confirmed step without its revision, if the history still names that one.
    mutating func finishConfirmedStep(_ direction: HistoryDirection, _ revision: UInt64, _ answer: Answer) {
        if answer.isRefusal { return showNotice(answer.complaint, .bad) }
        guard answer["\(direction)es"]?.wholeNumber == revision else {
            return showNotice(
                "the change to \(direction) is no longer that of revision \(revision); nothing changed", .bad)
        }
        send(direction.rawValue, .command(direction.rawValue, forced: nil))
    }

    /// Offers the change that the history names as the next one.
    mutating func offerStep(_ direction: HistoryDirection, _ answer: Answer) {
        if answer.isRefusal { return showNotice(answer.complaint, .bad) }
        guard let revision = answer["\(direction)es"]?.wholeNumber else {
            return showNotice("there is nothing to \(direction)")
        }
        switch mode {
        case .browsing, .coloring: break
        // A key has opened something else while the answer was on its way.
        default: return showNotice("there is no change of yours to \(direction)")
        }
        let entry = answer["history"]?.elements.first { $0["rev"]?.wholeNumber == revision }
        let text = Quoting.sanitized("\(direction) \(entry.map(summary) ?? "the change") in revision \(revision)?")
        mode = .asking(Question(text: text, action: .step(direction, revision)))
    }

    /// `uid 1000's change of A/B/C, 1 → 2 and 3 more,`.
    private func summary(_ entry: JSON) -> String {
        let owner = "\(entry["by"]?.string ?? "another client")'s change"
        let changes = entry["changes"]?.elements ?? []
        guard let first = changes.first, let path = first["path"]?.string else { return owner }
        let more = changes.count > 1 ? " and \(changes.count - 1) more" : ""
        guard let was = text(first["was"], of: path), let value = text(first["value"], of: path) else {
            return "\(owner) of \(path)\(more)"
        }
        return "\(owner) of \(path), \(was) → \(value)\(more),"
    }

    /// The text of a value of the history; nil for that of a secret.
    private func text(_ json: JSON?, of path: String) -> String? {
        guard let json, json.text != JSON.null.text else { return nil }
        let tweak = positions[path].map { tweaks[$0] }
        let value = tweak.flatMap { TweakValue(json, as: $0.kind, of: $0.component) }
        return (value?.text ?? json.text).fitted(to: 40)
    }
}
