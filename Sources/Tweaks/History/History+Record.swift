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
    /// One commit, or several that were merged.
    package struct Record: Sendable {
        /// Whether it can be taken back, or made again.
        package enum Status: String, Sendable {
            case done
            /// Taken back, and can be made again.
            case undone
            /// Taken back for good.
            case dropped
        }

        /// Rises from record to record.
        package var number: UInt64
        package var revision: UInt64
        var moment: Moment
        package var time: ContinuousClock.Instant { moment.instant }
        package let origin: TweakOrigin
        package var kind: CommitKind
        package var parts: [CommitPart]
        package var status: Status
        /// It has taken in changes though it was not the last: its tweaks are set in turn with others.
        var isInTurn = false
        /// Which commit was the last one when it was taken back.
        var undoneAt: UInt64 = 0

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
