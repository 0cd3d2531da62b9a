// One thing that a session watches, and which changes that concerns.

import Tweaks

/// A path, a pattern, or the word `modified`, as a session watches it.
struct Watch {
    /// What is watched.
    enum Subject: Hashable {
        /// Whatever differs from its default, or comes to do so.
        case modified
        case pattern(String)

        var text: String {
            switch self {
            case .modified: "modified"
            case .pattern(let text): text
            }
        }
    }

    let subject: Subject
    /// The path, where the text is one: then that tweak alone.
    let path: TweakPath?
    /// Nil where it is a path, or `modified`.
    let pattern: TweakPattern?
    /// Changes up to this record of the stream were part of the reply to `watch`.
    var since: UInt64

    init(_ subject: Subject, _ view: TweakView, since: UInt64) {
        self.subject = subject
        if case .pattern(let text) = subject {
            path = view[text]?.path
            pattern = path == nil ? TweakPattern(text) : nil
        } else {
            path = nil
            pattern = nil
        }
        self.since = since
    }

    /// Whether changes of a tweak can be news.
    func matches(_ node: TweakNode) -> Bool {
        // Only what can be set can be modified.
        if subject == .modified { return node.isSettable }
        return path.map { $0 == node.path } ?? pattern?.matches(node.path) ?? false
    }

    /// Whether this change is news: for `modified` that it leads away from the default, or back, or from one value to
    /// another beside it; and always that it was no part of the reply to `watch`.
    func wants(_ change: WatchedChange) -> Bool {
        guard change.sequence > since, matches(change.node) else { return false }
        if change.node.isSecret { return true }
        let standard = change.node.defaultValue
        return subject != .modified || change.new != standard || change.old != standard
    }
}
