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
    // Not optional: what optionals of these cost to copy is asked of the runtime each time.
    private let oldValue: TweakValue
    private(set) var newValue: TweakValue
    private var layers: Layers
    /// Where the value after comes from.
    package let layer: TweakLayer
    /// Whether it is told to those who watch values: there is another one, or it is a secret's, of which silence would
    /// confirm a guess.
    package let isNews: Bool
    /// Whether a temporary override was there, or is now.
    let isTemporary: Bool

    /// What was set before and after. Every commit copies this, and nearly all of them set an override, which is the
    /// current value then.
    private enum Layers: Sendable {
        /// The values must not be known.
        case redacted
        case none
        /// There was an override already, or there was nothing.
        case override(wasSet: Bool)
        indirect case others(before: SetValues, after: SetValues)
    }

    /// - Parameters:
    ///   - before: What was set before.
    ///   - after: What was set after.
    package init(
        _ subject: CommitSubject, before: SetValues, after: SetValues, old: TweakValue, new: TweakValue,
        layer: TweakLayer = .default, isNews: Bool = false, isTemporary: Bool = false
    ) {
        self.init(subject, .others(before: before, after: after), old, new, layer, isNews, isTemporary)
    }

    /// An override that was set where there was an override, or nothing.
    init(
        overridden node: TweakNode, wasSet: Bool, old: TweakValue, new: TweakValue, isNews: Bool, isTemporary: Bool
    ) {
        self.init(.node(node), .override(wasSet: wasSet), old, new, .override, isNews, isTemporary)
    }

    /// A part that tells the current value alone.
    init(
        _ subject: CommitSubject, old: TweakValue, new: TweakValue, layer: TweakLayer, isNews: Bool,
        isTemporary: Bool = false
    ) {
        self.init(subject, .none, old, new, layer, isNews, isTemporary)
    }

    /// A part that tells no values.
    package init(
        _ subject: CommitSubject, layer: TweakLayer = .default, isNews: Bool = false, isTemporary: Bool = false
    ) {
        self.init(subject, .redacted, .bool(false), .bool(false), layer, isNews, isTemporary)
    }

    private init(
        _ subject: CommitSubject, _ layers: Layers, _ old: TweakValue, _ new: TweakValue, _ layer: TweakLayer,
        _ isNews: Bool, _ isTemporary: Bool
    ) {
        self.subject = subject
        self.layers = layers
        oldValue = old
        newValue = new
        self.layer = layer
        self.isNews = isNews
        self.isTemporary = isTemporary
    }

    /// The current value before; nil where it must not be known.
    package var old: TweakValue? { if case .redacted = layers { nil } else { oldValue } }

    /// The current value after; nil where it must not be known.
    package var new: TweakValue? { if case .redacted = layers { nil } else { newValue } }

    /// What was set before.
    package var before: SetValues {
        switch layers {
        case .redacted, .none: SetValues()
        case .override(let wasSet): SetValues(override: wasSet ? oldValue : nil)
        case .others(let before, _): before
        }
    }

    /// What was set after.
    package var after: SetValues {
        switch layers {
        case .redacted, .none: SetValues()
        case .override: SetValues(override: newValue)
        case .others(_, let after): after
        }
    }

    /// Has it end where a later part of the same tweak ends.
    /// - Returns: By how much that raises its weight.
    mutating func extend(to later: CommitPart) -> Int {
        if later.subject.isSecret { return 0 }
        let weight = self.weight
        if later.isPlain {
            extend(to: later.newValue)
        } else {
            (layers, newValue) = (.others(before: before, after: later.after), later.newValue)
        }
        return self.weight - weight
    }

    /// Has it end with an override that was set later.
    mutating func extend(to value: TweakValue) {
        switch layers {
        case .override: break
        case .redacted: return
        case .none, .others: layers = .others(before: before, after: SetValues(override: value))
        }
        newValue = value
    }

    /// Whether an override was set where there was an override, or nothing.
    var isPlain: Bool { if case .override = layers { true } else { false } }

    /// What it takes in memory, roughly: a long text as much as several short values.
    var weight: Int { 1 + (newValue.textBytes ?? 0) / 256 }

    /// How long a temporary override was meant to last that this set.
    package var lifetime: Duration? {
        guard case .others(let before, let after) = layers, let temporary = after.temporary,
            temporary.expires != before.temporary?.expires
        else { return nil }
        return temporary.expires - temporary.time
    }

    /// The same without values.
    package var redacted: CommitPart { CommitPart(subject, layer: layer, isNews: isNews, isTemporary: isTemporary) }

    /// Whether history and audit speak of it: what a file has beneath an override changes nothing.
    func isRemembered(_ kind: CommitKind?) -> Bool {
        switch kind {
        case nil: false
        case .reload?: oldValue != newValue
        case .change?, .undo?, .redo?, .expiry?: true
        }
    }

    package var change: TweakHistoryEntry.Change { .init(path: subject.path, old: old, new: new, lifetime: lifetime) }

    fileprivate var textBytes: Int { (oldValue.textBytes ?? 0) + (newValue.textBytes ?? 0) }
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
