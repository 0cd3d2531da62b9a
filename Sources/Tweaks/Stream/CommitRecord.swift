// Describes a commit by one flat record, which is made once, under the registry's lock, and read by all that follow it.

/// One commit, as it was made.
package struct CommitRecord: Sendable {
    /// Rises by one from record to record. Revisions do not: what is taken over from files stands at the one before.
    package let sequence: UInt64
    package let revision: UInt64
    let moment: Moment
    package var time: ContinuousClock.Instant { moment.instant }
    package let origin: TweakOrigin
    /// Nil: no commit, but values that tweaks take over from files, or paths whose overrides the disk has to look at.
    package let kind: CommitKind?
    /// The revision of the commit that was taken back or made again.
    package let about: UInt64?
    /// Whether the disk is to have it at once.
    package let isUrgent: Bool
    /// Shared with the history, where it keeps them as they are.
    package let parts: [CommitPart]

    /// Its approximate size in memory, in bytes.
    var heldBytes: Int {
        var bytes = MemoryLayout<CommitRecord>.stride + parts.count * MemoryLayout<CommitPart>.stride
        for index in parts.indices { bytes += parts[index].textBytes }
        return bytes
    }

    /// Whether it was read from a file: its tweaks are known by their paths alone.
    package var isOfEarlierRun: Bool { parts.first.map { $0.subject.node == nil } ?? false }

    /// What it changed, for people; of a secret without the values.
    package var changes: [TweakHistoryEntry.Change] {
        parts.compactMap { part in
            part.isRemembered(kind) ? (part.subject.isSecret ? part.redacted : part).change : nil
        }
    }
}

/// One tweak's part in a commit.
package struct CommitPart: Sendable {
    package let subject: CommitSubject
    /// What was set before and after.
    package let before: SetValues
    package var after: SetValues
    /// The current value before and after; nil where it must not be known.
    package let old: TweakValue?
    package var new: TweakValue?
    /// Where the value after comes from.
    package let layer: TweakLayer
    /// Whether it is told to those who watch values: there is another one, or it is a secret's, of which silence would
    /// confirm a guess.
    package let isNews: Bool
    /// Whether a temporary override was there, or is now.
    let isTemporary: Bool

    package init(
        _ subject: CommitSubject, before: SetValues = SetValues(), after: SetValues = SetValues(),
        old: TweakValue? = nil, new: TweakValue? = nil, layer: TweakLayer = .default, isNews: Bool = false,
        isTemporary: Bool = false
    ) {
        (self.subject, self.before, self.after, self.old, self.new) = (subject, before, after, old, new)
        (self.layer, self.isNews, self.isTemporary) = (layer, isNews, isTemporary)
    }

    /// What it takes in memory, roughly: a long text as much as several short values.
    var weight: Int { if case .string(let text) = new { 1 + text.utf8.count / 256 } else { 1 } }

    /// How long a temporary override was meant to last that this set.
    package var lifetime: Duration? {
        guard let temporary = after.temporary, temporary.expires != before.temporary?.expires else { return nil }
        return temporary.expires - temporary.time
    }

    /// The same without values.
    package var redacted: CommitPart { CommitPart(subject, layer: layer, isNews: isNews, isTemporary: isTemporary) }

    /// Whether history and audit speak of it: what a file has beneath an override changes nothing.
    func isRemembered(_ kind: CommitKind?) -> Bool {
        switch kind {
        case nil: false
        case .reload?: old != new
        case .change?, .undo?, .redo?, .expiry?: true
        }
    }

    package var change: TweakHistoryEntry.Change { .init(path: subject.path, old: old, new: new, lifetime: lifetime) }

    fileprivate var textBytes: Int { (old?.textBytes ?? 0) + (new?.textBytes ?? 0) }
}

/// Which tweak a part of a commit is about.
package enum CommitSubject: Sendable {
    case node(TweakNode)
    /// The one that has this path, or will have it: in a commit of an earlier run, or where only the disk has to look.
    case path(NamedPath)

    /// What is known of a tweak without the tweak.
    package final class NamedPath: Sendable {
        let path: TweakPath
        let isSecret: Bool

        init(_ path: TweakPath, isSecret: Bool) { (self.path, self.isSecret) = (path, isSecret) }
    }

    package static func path(_ path: TweakPath, isSecret: Bool = false) -> CommitSubject {
        .path(NamedPath(path, isSecret: isSecret))
    }

    package var path: TweakPath {
        switch self {
        case .node(let node): node.path
        case .path(let named): named.path
        }
    }

    /// The tweak; nil where only its path is known.
    package var node: TweakNode? { if case .node(let node) = self { node } else { nil } }

    /// Whether the values must not be shown.
    package var isSecret: Bool {
        switch self {
        case .node(let node): node.isSecret
        case .path(let named): named.isSecret
        }
    }

    /// Commits of earlier runs are not merged with anything.
    func isSame(as other: CommitSubject) -> Bool {
        if case .node(let node) = self, case .node(let other) = other { node === other } else { false }
    }
}
