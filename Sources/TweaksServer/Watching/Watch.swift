// Represents one watched subject of a session, and selects its changes.

import Tweaks

/// A path, a pattern, or the word `modified`, as a session watches it.
struct Watch {
    /// The watched subject.
    enum Subject: Hashable {
        /// All tweaks that differ from their defaults, or begin to.
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
    /// The path, if the text is one; then only that tweak is watched.
    let path: TweakPath?
    /// Nil for a path or `modified`.
    let pattern: TweakPattern?
    /// Changes up to this sequence were part of the reply to `watch`.
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

    /// The same watch after a reply has shown its values.
    func answered(at sequence: UInt64) -> Watch {
        var watch = self
        watch.since = sequence
        return watch
    }

    /// Whether changes of a tweak can concern this watch.
    func matches(_ node: TweakNode) -> Bool {
        // Only settable tweaks can be modified.
        if subject == .modified { return node.isSettable }
        return path.map { $0 == node.path } ?? pattern?.matches(node.path) ?? false
    }

    /// Whether this change is an event: for `modified` only if the old or the new value differs from the default.
    func selects(_ change: WatchedChange) -> Bool {
        guard matches(change.node) else { return false }
        if change.node.isSecret { return true }
        let standard = change.node.defaultValue
        return subject != .modified || change.new != standard || change.old != standard
    }
}

/// Selects the tweaks that the reply to `watch` shows and counts.
struct WatchSelection {
    /// The subjects of the request.
    var added: [Watch] = []
    /// All subjects of the session.
    let all: [Watch]
    /// The revision from which the client resumes; nil if it has seen no values.
    var since: UInt64?
    let snapshot: TweakSnapshot

    /// The number of patterns to which each tweak is compared.
    var patternCount: Int { added.count + all.count }

    /// Whether the reply shows a tweak.
    ///
    /// A client that resumes from an earlier revision also needs the tweaks that stopped being modified since.
    func shows(_ node: TweakNode) -> Bool {
        guard let since else { return names(node, added) { snapshot.isModified(node) } }
        // Figures change without a revision, so the time of their change is unknown.
        let isNew = node.definition.flags.contains(.readOnly) || snapshot.changedAt(node) > since
        return isNew && names(node, added) { node.isSettable }
    }

    /// Whether the session watches a tweak now.
    func counts(_ node: TweakNode) -> Bool { names(node, all) { snapshot.isModified(node) } }

    private func names(_ node: TweakNode, _ watches: [Watch], _ isModified: () -> Bool) -> Bool {
        watches.contains { $0.subject == .modified ? isModified() : $0.matches(node) }
    }
}
