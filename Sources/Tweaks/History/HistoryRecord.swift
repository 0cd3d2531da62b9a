// Defines the history's record of a commit: its tweaks, and their override values before and after.

/// The kind of a commit, as far as the history distinguishes it.
package enum CommitKind: Sendable, Equatable {
    /// An ordinary change. Changes of one session to the same tweaks in quick succession (a drag) are merged, except
    /// steps. Changes of one gesture are merged across sessions, regardless of their speed and also those of different
    /// tweaks, such as the parts of a group; gesture 0 means none.
    case change(session: UInt64, isStep: Bool = false, gesture: UInt64 = 0)
    /// Undoes the commit with this number.
    case undo(UInt64, session: UInt64 = 0, Choice = .last)
    /// Redoes the commit with this number.
    case redo(UInt64, session: UInt64 = 0, Choice = .last)
    /// A reload of the config file.
    case reload
    /// The expiry of temporary overrides.
    case expiry
    /// The begin or end of a preview, which the history does not record.
    case preview

    /// How the commit that an undo or redo applies to was chosen; it still has to be that one when the lock is taken.
    package enum Choice: Sendable {
        /// The last one of all.
        case last
        /// The last one of the same origin.
        case mine
        /// The one with a certain revision.
        case named
    }

    /// The session that made it; nil without one.
    package var session: UInt64? {
        switch self {
        case .change(let session, _, _), .undo(_, let session, _), .redo(_, let session, _):
            session == 0 ? nil : session
        case .reload, .expiry, .preview: nil
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
        package var time: Moment
        package private(set) var origin: TweakOrigin
        package var kind: CommitKind
        package var parts: [CommitPart]
        package var status = Status.done
        /// The number of the last record at the time of the undo.
        var undoneAt: UInt64 = 0
        /// The number of its client in this history; nil until it is needed.
        var client: Int?

        /// Its size, in parts; a long text counts as several.
        var weight: Int { parts.reduce(0) { $0 + $1.weight } }

        /// The most tweaks of a gesture, so that it takes little time to find one: further ones begin another record.
        private static let maxGestureParts = 100

        /// Where the tweaks of a commit are among those of this record; nil for one that a gesture adds. Nil as a whole
        /// if the commit cannot be merged into it.
        func places(of new: [CommitPart]) -> [Int?]? {
            let isSame =
                parts.count == new.count && parts.indices.allSatisfy { parts[$0].subject.isSame(as: new[$0].subject) }
            if isSame { return parts.indices.map { $0 } }
            guard case .change(_, _, let gesture) = kind, gesture != 0, parts.count <= Self.maxGestureParts,
                new.count <= Self.maxGestureParts
            else { return nil }
            let places = new.map { part in parts.firstIndex { $0.subject.isSame(as: part.subject) } }
            return parts.count + places.count { $0 == nil } <= Self.maxGestureParts ? places : nil
        }

        /// Notes that a commit was merged into it, whose client can have another display name.
        /// - Returns: Its number.
        mutating func extend(by commit: PendingCommit, _ revision: UInt64) -> UInt64 {
            if origin != commit.origin { origin = origin.named(nil) }
            self.revision = revision
            time = commit.time
            return number
        }

        package var isChange: Bool { if case .change = kind { true } else { false } }

        /// Whether it left everything as it was, as a canceled gesture does: there is nothing to undo.
        var isVoid: Bool {
            isChange && parts.allSatisfy(\.isVoid)
        }

        /// Whether everything that it set has expired, so that there is nothing to undo.
        func hasExpired(_ time: Moment) -> Bool {
            parts.allSatisfy { part in
                part.isVoid
                    || part.after.temporary != nil && part.after.live(time).temporary == nil
                        && part.before.agrees(with: part.after, at: time)
            }
        }
    }
}

extension History.Record {
    package init(
        number: UInt64, revision: UInt64, time: Moment, origin: TweakOrigin, kind: CommitKind,
        status: Status = .done, parts: [CommitPart]
    ) {
        self.init(
            number: number, revision: revision, time: time, origin: origin, kind: kind, parts: parts,
            status: status)
    }
}

// MARK: - Override values

/// Override and temporary override of one tweak, without their origins; nil if absent.
package struct OverrideValues: Sendable {
    package var override: TweakValue?
    package var temporary: Temporary?

    /// A temporary override. Boxed, since few commits have one.
    package final class Temporary: Sendable {
        package let value: TweakValue
        /// When it was set.
        package let time: Moment
        package let expires: Moment

        package init(_ value: TweakValue, time: Moment, expires: Moment) {
            self.value = value
            self.time = time
            self.expires = expires
        }
    }

    package init(override: TweakValue? = nil, temporary: Temporary? = nil) {
        self.override = override
        self.temporary = temporary
    }

    /// The same values without an expired temporary override.
    func live(_ time: Moment) -> OverrideValues {
        guard let temporary, temporary.expires <= time else { return self }
        return OverrideValues(override: override)
    }

    /// Whether the values are the same. An expired override counts as absent.
    func agrees(with other: OverrideValues, at time: Moment) -> Bool {
        override == other.override && live(time).temporary?.value == other.live(time).temporary?.value
    }
}

extension Overlays {
    /// The override values. Read at every commit, so nothing else is copied.
    var overrideValues: OverrideValues {
        guard let layer = topLayer, layer.isOverride else { return OverrideValues() }
        if layer == .override { return OverrideValues(override: top?.value) }
        return OverrideValues(override: self[.override]?.prepared.value, temporary: entries.last?.temporaryValue)
    }
}

extension Overlays.Entry {
    fileprivate var temporaryValue: OverrideValues.Temporary? {
        end.map { OverrideValues.Temporary(prepared.value, time: time, expires: $0) }
    }
}
