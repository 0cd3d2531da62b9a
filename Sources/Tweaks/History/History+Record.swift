// Defines the history's record of a commit: its tweaks, and their values before and after.

/// The kind of a commit, as far as the history distinguishes it.
package enum CommitKind: Sendable, Equatable {
    /// An ordinary change. Changes of one session to the same tweaks in quick succession (a drag) are merged, except
    /// steps. Changes of one gesture are merged across sessions and regardless of their speed; gesture 0 means none.
    case change(session: UInt64, isStep: Bool = false, gesture: UInt64 = 0)
    /// Undoes the commit with this number; with `isMine`, only if it is the last one of the same origin.
    case undo(UInt64, session: UInt64 = 0, isMine: Bool = false)
    /// Redoes the commit with this number.
    case redo(UInt64, session: UInt64 = 0, isMine: Bool = false)
    /// A reload of the config file.
    case reload
    /// The expiry of temporary overrides.
    case expiry

    /// The session that made it; nil without one.
    package var session: UInt64? {
        switch self {
        case .change(let session, _, _), .undo(_, let session, _), .redo(_, let session, _):
            session == 0 ? nil : session
        case .reload, .expiry: nil
        }
    }
}

extension History {
    /// One commit, or several that were merged.
    package struct Record: Sendable {
        /// Whether it can be undone or redone.
        package enum Status: String, Sendable {
            case done
            /// Undone; can be redone.
            case undone
            /// Undone; can no longer be redone.
            case dropped
        }

        /// Increases from record to record.
        package var number: UInt64
        package var revision: UInt64
        var moment: Moment
        package var time: ContinuousClock.Instant { moment.instant }
        package private(set) var origin: TweakOrigin
        package var kind: CommitKind
        package var parts: [CommitPart]
        package var status: Status
        /// Whether changes were merged into it although it was not the last record: its tweaks are set in turn with
        /// others.
        var isInterleaved = false
        /// The number of the last record at the time of the undo.
        var undoneAt: UInt64 = 0
        /// The number of its client in this history.
        var client = 0

        package init(
            number: UInt64, revision: UInt64, time: ContinuousClock.Instant, origin: TweakOrigin, kind: CommitKind,
            status: Status = .done, parts: [CommitPart]
        ) {
            self.init(number, revision, Moment(time), origin, kind, status, parts)
        }

        init(
            _ number: UInt64, _ revision: UInt64, _ moment: Moment, _ origin: TweakOrigin, _ kind: CommitKind,
            _ status: Status, _ parts: [CommitPart]
        ) {
            (self.number, self.revision, self.moment, self.origin) = (number, revision, moment, origin)
            (self.kind, self.status, self.parts) = (kind, status, parts)
        }

        /// Its size, in parts; a long text counts as several.
        var weight: Int { parts.reduce(0) { $0 + $1.weight } }

        /// Whether changes of another origin can be merged into it: a client's display name does not matter.
        func isBySameClient(as other: TweakOrigin) -> Bool { origin == other || origin.identity == other.identity }

        /// Removes the client's display name if it is not that of another origin.
        mutating func share(with other: TweakOrigin) { if origin != other { origin = origin.named(nil) } }

        var isChange: Bool { if case .change = kind { true } else { false } }

        /// Whether everything that it set has expired, so that there is nothing to undo.
        func hasExpired(_ time: ContinuousClock.Instant) -> Bool {
            parts.allSatisfy { part in
                part.after.temporary != nil && part.after.live(time).temporary == nil
                    && part.before.agrees(with: part.after, at: time)
            }
        }
    }
}
