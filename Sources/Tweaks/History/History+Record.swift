// What the history remembers of a commit: which tweaks, and what they were before and after.

/// What a commit is to the history.
package enum CommitKind: Sendable, Equatable {
    /// Somebody's change. Those of one session to the same tweaks in quick succession, a drag, are one; a step never is.
    /// Those of one gesture are, whatever session they came over and however slowly; 0: it was none.
    case change(session: UInt64, isStep: Bool = false, gesture: UInt64 = 0)
    /// Takes back the commit with this number; the last one of the origin that does so, where it is to be its own.
    case undo(UInt64, session: UInt64 = 0, isMine: Bool = false)
    /// Makes the commit with this number again.
    case redo(UInt64, session: UInt64 = 0, isMine: Bool = false)
    /// The config file.
    case reload
    /// Temporary overrides that have run out.
    case expiry

    /// The session that makes it; nil where it is none.
    package var session: UInt64? {
        switch self {
        case .change(let session, _, _), .undo(_, let session, _), .redo(_, let session, _):
            session == 0 ? nil : session
        case .reload, .expiry: nil
        }
    }
}

extension History {
    /// One tweak's part in a commit.
    struct Part: Sendable {
        let subject: Subject
        /// What was set before and after. Of a secret neither is kept.
        let before: SetValues
        var after: SetValues
        /// The current value before and after; of a secret neither is kept.
        let old: TweakValue?
        var new: TweakValue?

        /// What it takes in memory, roughly: a long text as much as several short values.
        var weight: Int { if case .string(let text) = new { 1 + text.utf8.count / 256 } else { 1 } }

        /// How long a temporary override was meant to last that this set.
        var lifetime: Duration? {
            guard let temporary = after.temporary, temporary.expires != before.temporary?.expires else { return nil }
            return temporary.expires - temporary.time
        }
    }

    /// The parts of a commit. Most have one, for which no list is made.
    struct Parts: Sendable {
        private(set) var first: Part?
        private var rest: [Part] = []

        mutating func append(_ part: Part) {
            if first == nil { first = part } else { rest.append(part) }
        }

        var isEmpty: Bool { first == nil }
        var weight: Int { rest.reduce(first?.weight ?? 0) { $0 + $1.weight } }
        var list: [Part] { first.map { rest.isEmpty ? [$0] : [$0] + rest } ?? [] }

        /// The list, moved and not copied.
        mutating func take() -> [Part] {
            guard let first = first.take() else { return [] }
            defer { rest = [] }
            return rest.isEmpty ? [first] : [first] + rest
        }
    }

    /// Whose part it is.
    enum Subject: Sendable {
        case node(TweakNode)
        /// In a commit of an earlier run: whoever has this path now, or will have it.
        case earlier(Earlier)

        /// What is known of a tweak without the tweak.
        final class Earlier: Sendable {
            let path: TweakPath
            let isSecret: Bool

            init(_ path: TweakPath, isSecret: Bool) { (self.path, self.isSecret) = (path, isSecret) }
        }

        var path: TweakPath {
            switch self {
            case .node(let node): node.path
            case .earlier(let earlier): earlier.path
            }
        }

        /// Whether the values were not to be shown.
        var isSecret: Bool {
            switch self {
            case .node(let node): node.isSecret
            case .earlier(let earlier): earlier.isSecret
            }
        }

        /// Commits of earlier runs are not merged with anything.
        func isSame(as other: Subject) -> Bool {
            if case .node(let node) = self, case .node(let other) = other { node === other } else { false }
        }
    }

    /// One commit, or several that were merged.
    struct Record: Sendable {
        enum Status: Sendable {
            case done
            /// Taken back, and can be made again.
            case undone
            /// Taken back for good.
            case dropped
        }

        var number: UInt64
        var revision: UInt64
        var time: ContinuousClock.Instant
        let origin: TweakOrigin
        var kind: CommitKind
        var parts: [Part]
        var status = Status.done
        /// It has taken in changes though it was not the last: its tweaks are set in turn with others.
        var isInTurn = false
        /// Which commit was the last one when it was taken back.
        var undoneAt: UInt64 = 0

        /// Its size, counted in parts; a long text counts as several.
        var weight: Int { parts.reduce(0) { $0 + $1.weight } }

        var isChange: Bool { if case .change = kind { true } else { false } }

        /// Whether all that it set has run out meanwhile, so that there is nothing to take back.
        func isSpent(_ time: ContinuousClock.Instant) -> Bool {
            parts.allSatisfy { part in
                part.after.temporary != nil && part.after.live(time).temporary == nil
                    && part.before.agrees(with: part.after, at: time)
            }
        }
    }
}
